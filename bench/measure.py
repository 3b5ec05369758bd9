"""What is measured."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from time import perf_counter

import numpy as np
from scipy.integrate import solve_ivp

import torque_lab
from torque_lab.physics import compiled

from . import peers
from .timing import best_times

ROBOTS = ('pendulum', 'double_pendulum', 'three_link', 'ur5')
DT = 1e-3
STEPS = 1000
"""Steps per measured call."""


def start(robot) -> np.ndarray:
    """Where a robot starts; the UR5 swings about hanging, away from its stops."""
    return np.array([0.0, 1.3, 0.3, -1.5, -1.5, 0.0]) if robot.name == 'ur5' else robot.start


def begin(peer, robot) -> None:
    """Put a peer at the start and make a few steps, so that its code is in the caches."""
    peer.reset(start(robot), np.zeros(robot.nv))
    peer.steps(20)


def steps_amortised(name: str, repeats: int, say) -> dict[str, float]:
    """Microseconds per step, many steps per call, by peer."""
    robot = torque_lab.load(name)
    found = peers.available(robot, DT, say)

    times = best_times(
        {key: partial(peer.steps, STEPS) for key, peer in found.items()}, repeats,
        {key: partial(begin, peer, robot) for key, peer in found.items()})
    return {key: value / STEPS * 1e6 for key, value in times.items()}


def steps_from_python(name: str, repeats: int, say) -> dict[str, float]:
    """Microseconds per step, one step per call from Python: ours and MuJoCo's."""
    robot, count = torque_lab.load(name), 200
    found = peers.available(robot, DT, say, (peers.TorqueLab, peers.MuJoCo)).values()

    times = best_times(
        {peer.name: partial(peer.one_by_one, count) for peer in found}, repeats,
        {peer.name: partial(begin, peer, robot) for peer in found})
    return {key: value / count * 1e6 for key, value in times.items()}


def batches(name: str, repeats: int, threads: int, rows: int = 1024, steps: int = 200,
            ) -> dict[str, float]:
    """Million state-steps per second: ours and MuJoCo's rollouts, every state recorded."""
    robot = torque_lab.load(name)
    rng = np.random.default_rng(0)
    x0 = np.concatenate([np.tile(start(robot), (rows, 1)),
                         0.1 * rng.normal(size=(rows, robot.nv))], axis=1)
    works = {
        'torque_lab': lambda: torque_lab.rollout(robot, x0, None, DT, steps, threads=threads),
        'torque_lab, ends only': lambda: torque_lab.rollout(robot, x0, None, DT, steps,
                                                            threads=threads, record=0)}
    with ExitStack() as stack:
        try:
            import mujoco
            from mujoco.rollout import Rollout
            model = peers.MuJoCo(robot, DT).model
            data = [mujoco.MjData(model) for _ in range(threads)]
            full = np.concatenate([np.zeros((rows, 1)), x0], axis=1)
            pool = stack.enter_context(Rollout(nthread=threads if threads > 1 else 0))
            works['MuJoCo'] = lambda: pool.rollout(model, data, full, nstep=steps)
        except ImportError:
            pass  # named before, with the single steps
        times = best_times(works, repeats)
    return {key: rows * steps / value / 1e6 for key, value in times.items()}


def laws(name: str, repeats: int) -> dict[str, float]:
    """Microseconds per call of a law from Python, for one robot."""
    robot = torque_lab.load(name)
    ours, rng = compiled(robot), np.random.default_rng(1)
    q, qd, qdd = (rng.normal(size=robot.nv) for _ in range(3))
    works = {'inverse_dynamics': lambda: ours.inverse_dynamics(q, qd, qdd),
             'mass_matrix': lambda: ours.mass_matrix(q), 'jacobian': lambda: ours.jacobian(q),
             'linearise': lambda: ours.linearise(q, qd)}
    try:
        import pinocchio
        model = pinocchio.buildModelFromXML(peers.bare_urdf(robot))
        data = model.createData()
        at = pinocchio.integrate(model, pinocchio.neutral(model), q)
        works['Pinocchio rnea'] = lambda: pinocchio.rnea(model, data, at, qd, qdd)
    except ImportError:
        pass

    def many(work):
        def run():
            for _ in range(100):
                work()
        return run

    times = best_times({key: many(work) for key, work in works.items()}, repeats)
    return {key: value / 100 * 1e6 for key, value in times.items()}


def accuracy(duration: float, say) -> dict[str, tuple[float, float]]:
    """
    Error of the final state and drift of the energy in J, by peer.

    The double pendulum from (π/2, π/2) at rest, steps of 1 ms, against DOP853.
    """
    robot = torque_lab.load('double_pendulum')
    law, n = compiled(robot).forward_dynamics, robot.nv
    x0 = np.array([np.pi / 2, np.pi / 2, 0.0, 0.0])
    exact = solve_ivp(lambda t, x: np.concatenate([x[n:], law(x[:n], x[n:], np.zeros(n))]),
                      (0, duration), x0, 'DOP853', rtol=2.3e-14, atol=1e-14).y[:, -1]
    results = {}
    for key, peer in peers.available(robot, DT, say).items():
        peer.reset(x0[:n], x0[n:])
        peer.steps(round(duration / DT))
        q, qd = peer.state()
        drift = torque_lab.physics.hamiltonian(robot, q, qd) - torque_lab.physics.hamiltonian(
            robot, x0[:n], x0[n:])
        results[key] = float(np.abs(np.concatenate([q, qd]) - exact).max()), float(drift)
    return results


def energy_drift(duration: float = 60.0) -> float:
    """Largest deviation of the double pendulum's energy over a minute, as part of 117.7 J."""
    simulator = torque_lab.Simulator(torque_lab.load('double_pendulum'))
    simulator.reset([np.pi / 2, 0.0])
    before, worst = simulator.energy.total, 0.0
    for _ in range(round(duration / 0.1)):
        simulator.step([0.0, 0.0], 100)
        worst = max(worst, abs(simulator.energy.total - before))
    return worst / 117.72


def first_step(name: str, repeats: int) -> float:
    """Seconds from a robot to its first step done, compilation included; the best of some."""
    best = float('inf')
    for _ in range(repeats):
        robot = torque_lab.load(name)
        began = perf_counter()
        torque_lab.Simulator(robot).step(np.zeros(robot.nv))
        best = min(best, perf_counter() - began)
    return best


def first_step_of_a_process(name: str) -> float:
    """The same in a new process, the import of the compiler included."""
    code = (f'import time, numpy, torque_lab; robot = torque_lab.load({name!r});'
            'start = time.perf_counter();'
            'torque_lab.Simulator(robot).step(numpy.zeros(robot.nv));'
            'print(time.perf_counter() - start)')
    return float(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                                check=True).stdout)
