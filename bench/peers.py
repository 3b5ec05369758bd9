"""
Simulators on the same robot, with one interface.

Each peer runs with the settings that make it fastest for a free arm: no contacts, no sensors, no
constraint solver where it can be switched off.  Ours runs as it always does, with energies
tracked, limits watched and divergence checked.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import torque_lab
from torque_lab.physics.model import Robot


def bare_urdf(robot: Robot, *, mujoco: bool = False) -> str:
    """URDF text of a robot without shapes, whose files peers would look for."""
    root = ElementTree.fromstring(robot.urdf)
    root[:] = [element for element in root if element.tag in ('link', 'joint')]
    for element in root:
        element[:] = [part for part in element if part.tag not in ('visual', 'collision')]
    if mujoco:
        root.insert(0, ElementTree.fromstring(
            '<mujoco><compiler fusestatic="true" balanceinertia="false"/></mujoco>'))
    return ElementTree.tostring(root, encoding='unicode')


@contextmanager
def silenced():
    """Keep what a C++ library writes to the terminal off the page."""
    sys.stdout.flush()
    kept, sink = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(sink)


class TorqueLab:
    """This project, as it comes."""

    name = 'torque_lab RK4'

    def __init__(self, robot: Robot, dt: float):
        self.simulator = torque_lab.Simulator(robot, 'rk4', dt)
        self.effort = np.zeros(robot.nv)

    def reset(self, q, qd):
        self.simulator.reset(q, qd)

    def steps(self, n):
        self.simulator.step(self.effort, n)

    def one_by_one(self, n):
        step, effort = self.simulator.step, self.effort
        for _ in range(n):
            step(effort)

    def state(self):
        return self.simulator.q, self.simulator.qd


class MuJoCo:
    """MuJoCo with its own RK4 integrator."""

    name, integrator = 'MuJoCo RK4', 'mjINT_RK4'

    def __init__(self, robot: Robot, dt: float):
        import mujoco
        self.mujoco = mujoco
        self.model = model = mujoco.MjModel.from_xml_string(bare_urdf(robot, mujoco=True))
        model.opt.integrator = getattr(mujoco.mjtIntegrator, self.integrator)
        model.opt.timestep = dt
        model.opt.gravity = robot.gravity
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION
        self.data = mujoco.MjData(model)

    def reset(self, q, qd):
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos, self.data.qvel = q, qd

    def steps(self, n):
        self.mujoco.mj_step(self.model, self.data, n)

    def one_by_one(self, n):
        step, model, data = self.mujoco.mj_step, self.model, self.data
        for _ in range(n):
            step(model, data)

    def state(self):
        return self.data.qpos.copy(), self.data.qvel.copy()


class MuJoCoEuler(MuJoCo):
    """MuJoCo with its default integrator."""

    name, integrator = 'MuJoCo Euler', 'mjINT_EULER'


class Pinocchio:
    """Pinocchio's articulated-body algorithm, with RK4 in Python around it."""

    name = 'Pinocchio ABA, RK4 in Python'

    def __init__(self, robot: Robot, dt: float):
        import pinocchio
        self.pin, self.dt = pinocchio, dt
        self.model = pinocchio.buildModelFromXML(bare_urdf(robot))
        self.data, self.tau = self.model.createData(), np.zeros(robot.nv)

    def reset(self, q, qd):
        self.q = self.pin.integrate(self.model, self.pin.neutral(self.model), np.asarray(q))
        self.v, self.turned = np.array(qd, dtype=float), np.array(q, dtype=float)

    def steps(self, n):
        aba, integrate, model, data, tau = (self.pin.aba, self.pin.integrate, self.model,
                                            self.data, self.tau)
        h, q, v, turned = self.dt, self.q, self.v, self.turned
        for _ in range(n):
            a1 = aba(model, data, q, v, tau).copy()
            v2 = v + h / 2 * a1
            a2 = aba(model, data, integrate(model, q, h / 2 * v), v2, tau).copy()
            v3 = v + h / 2 * a2
            a3 = aba(model, data, integrate(model, q, h / 2 * v2), v3, tau).copy()
            v4 = v + h * a3
            a4 = aba(model, data, integrate(model, q, h * v3), v4, tau)
            move = h / 6 * (v + 2 * v2 + 2 * v3 + v4)
            q, turned = integrate(model, q, move), turned + move
            v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        self.q, self.v, self.turned = q, v, turned

    def state(self):
        return self.turned, self.v


class Drake:
    """Drake's continuous plant with its third-order Runge-Kutta at a fixed step."""

    name = 'Drake RK3'

    def __init__(self, robot: Robot, dt: float):
        import pydrake.multibody.parsing as parsing
        import pydrake.multibody.plant as plants
        import pydrake.systems.analysis as analysis
        self.plant = plant = plants.MultibodyPlant(0.0)
        parser = parsing.Parser(plant)
        parser.AddModelsFromString(bare_urdf(robot), 'urdf')
        root = next(iter(robot.frames))
        if plant.HasBodyNamed(root) and root != 'world':
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
        plant.Finalize()
        self.simulator = analysis.Simulator(plant)
        analysis.ResetIntegratorFromFlags(self.simulator, 'runge_kutta3', dt)
        integrator = self.simulator.get_mutable_integrator()
        integrator.set_fixed_step_mode(True)
        self.context, self.dt = self.simulator.get_mutable_context(), dt
        plant.get_actuation_input_port().FixValue(self.context,
                                                  np.zeros(plant.num_actuators()))

    def reset(self, q, qd):
        self.context.SetTime(0.0)
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, qd)
        self.simulator.Initialize()

    def steps(self, n):
        self.simulator.AdvanceTo(self.context.get_time() + n * self.dt)

    def state(self):
        return (self.plant.GetPositions(self.context).copy(),
                self.plant.GetVelocities(self.context).copy())


class Dart:
    """DART (the engine that Gazebo uses by default), semi-implicit Euler."""

    name = 'DART semi-implicit Euler'

    def __init__(self, robot: Robot, dt: float):
        import dartpy as dart
        self.world = dart.World() if hasattr(dart, 'World') else dart.simulation.World()
        loader = getattr(dart, 'utils', dart).DartLoader() if hasattr(dart, 'utils') else (
            dart.io.DartLoader())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'robot.urdf'
            path.write_text(bare_urdf(robot))
            self.skeleton = loader.parseSkeleton(str(path))
        root = self.skeleton.getRootJoint()
        if root.getNumDofs() == 6:  # the loader lets the root float; weld it
            body = self.skeleton.getRootBodyNode()
            weld = dart.dynamics.WeldJoint if hasattr(dart, 'dynamics') else dart.WeldJoint
            try:
                body.changeParentJointType(weld)
            except (AttributeError, TypeError):
                body.moveTo_WeldJoint(None) if hasattr(body, 'moveTo_WeldJoint') else None
        self.world.setGravity(list(robot.gravity))
        self.world.setTimeStep(dt)
        self.world.addSkeleton(self.skeleton)
        if self.skeleton.getNumDofs() != robot.nv:
            raise RuntimeError(f'{self.skeleton.getNumDofs()} degrees of freedom instead of '
                               f'{robot.nv}')

    def reset(self, q, qd):
        self.world.reset()
        self.skeleton.setPositions(np.asarray(q, dtype=float))
        self.skeleton.setVelocities(np.asarray(qd, dtype=float))

    def steps(self, n):
        step = self.world.step
        for _ in range(n):
            step()

    def state(self):
        return self.skeleton.getPositions().copy(), self.skeleton.getVelocities().copy()


class PyBullet:
    """Bullet's Featherstone multibody, semi-implicit Euler."""

    name = 'PyBullet semi-implicit Euler'

    def __init__(self, robot: Robot, dt: float):
        import pybullet
        self.bullet = bullet = pybullet
        self.client = client = bullet.connect(bullet.DIRECT)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'robot.urdf'
            path.write_text(bare_urdf(robot))
            with silenced():
                self.body = bullet.loadURDF(str(path), useFixedBase=True, physicsClientId=client,
                                            flags=bullet.URDF_USE_INERTIA_FROM_FILE)
        bullet.setGravity(*robot.gravity, physicsClientId=client)
        bullet.setTimeStep(dt, physicsClientId=client)
        joints = range(bullet.getNumJoints(self.body, physicsClientId=client))
        info = {bullet.getJointInfo(self.body, j, physicsClientId=client)[1].decode(): j
                for j in joints}
        self.joints = [info[name] for name in robot.joint_names]
        for j in [-1, *joints]:
            bullet.changeDynamics(self.body, j, linearDamping=0, angularDamping=0,
                                  jointDamping=0, physicsClientId=client)
        bullet.setJointMotorControlArray(
            self.body, self.joints, bullet.VELOCITY_CONTROL, forces=[0.0] * len(self.joints),
            physicsClientId=client)

    def reset(self, q, qd):
        for j, position, velocity in zip(self.joints, q, qd, strict=True):
            self.bullet.resetJointState(self.body, j, position, velocity,
                                        physicsClientId=self.client)

    def steps(self, n):
        step, client = self.bullet.stepSimulation, self.client
        for _ in range(n):
            step(physicsClientId=client)

    def state(self):
        states = self.bullet.getJointStates(self.body, self.joints, physicsClientId=self.client)
        return np.array([s[0] for s in states]), np.array([s[1] for s in states])


PEERS = (TorqueLab, MuJoCo, MuJoCoEuler, Pinocchio, Drake, Dart, PyBullet)


def available(robot: Robot, dt: float, say=print, peers=PEERS):
    """Every peer that works here, by name; the others are named and left out."""
    found = {}
    for peer in peers:
        try:
            found[peer.name] = peer(robot, dt)
        except ImportError as error:
            say(f'  {peer.name}: left out, not installed ({error})')
        except Exception as error:  # a peer that cannot load the model must not end the bench
            say(f'  {peer.name}: left out on {robot.name} ({type(error).__name__}: {error})')
    return found
