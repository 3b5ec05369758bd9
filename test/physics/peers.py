"""
Pinocchio and MuJoCo on the same URDF, answering in this project's coordinates.

A peer may order joints otherwise and measure a joint's velocity in other axes, ``v' = T v``.
Then ``a' = T a + Ṫ v``, ``τ = Tᵀ τ'``, ``M = Tᵀ M' T``.  T differs from a permutation for planar
joints (Pinocchio: body axes; here: the plane's axes) and floating ones (MuJoCo: world axes for
the linear part; here: body axes).
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from random_trees import MUJOCO_FLAGS
from scipy.spatial.transform import Rotation

from torque_lab.physics.model import FLOATING, Robot


@dataclass
class State:
    """One state of a peer: its position, and how its velocities follow from ours."""

    q: np.ndarray
    T: np.ndarray
    drift: np.ndarray
    """Ṫ v."""


@dataclass
class Answers:
    """What the laws say, in our coordinates."""

    inverse_dynamics: np.ndarray
    forward_dynamics: np.ndarray
    mass_matrix: np.ndarray
    bias: np.ndarray
    gravity_torque: np.ndarray
    jacobian: np.ndarray
    placement: np.ndarray
    """Rotation and translation of the link, side by side (3, 4)."""
    kinetic_energy: float
    potential_energy: float


class Pinocchio:
    """Laws as Pinocchio has them."""

    def __init__(self, robot: Robot, link: str):
        import pinocchio
        self.pin, self.robot = pinocchio, robot
        self.model = pinocchio.buildModelFromXML(robot.urdf)
        self.model.gravity.linear = robot.gravity
        self.data = self.model.createData()
        self.frame = self.model.getFrameId(link)

    def state(self, q, qd) -> State:
        model, robot = self.model, self.robot
        at, T, drift = np.zeros(model.nq), np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        for body in robot.bodies:
            planar = body.joint.removesuffix('_theta')
            if body.joint[-2:] in ('_x', '_y') and model.existJointName(body.joint[:-2]):
                continue  # of a planar joint, done with its rotation
            if planar != body.joint and model.existJointName(planar):
                joint = model.joints[model.getJointId(planar)]
                own = slice(body.v.start - 2, body.v.stop)
                (x, y, angle), speed = q[body.q.start - 2:body.q.stop], qd[own]
                c, s = np.cos(angle), np.sin(angle)
                at[joint.idx_q:joint.idx_q + 4] = x, y, c, s
                turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
                rate = np.array([[-s, c, 0], [-c, -s, 0], [0, 0, 0]]) * speed[2]
                T[joint.idx_v:joint.idx_v + 3, own] = turn
                drift[joint.idx_v:joint.idx_v + 3] = rate @ speed
                continue
            joint = model.joints[model.getJointId(body.joint)]
            T[joint.idx_v:joint.idx_v + joint.nv, body.v] = np.eye(joint.nv)
            if joint.nq == 2:  # continuous
                at[joint.idx_q:joint.idx_q + 2] = np.cos(q[body.q][0]), np.sin(q[body.q][0])
            else:
                at[joint.idx_q:joint.idx_q + joint.nq] = q[body.q]
        return State(at, T, drift)

    def answers(self, q, qd, qdd, tau) -> Answers:
        pin, model, data, state = self.pin, self.model, self.data, self.state(q, qd)
        at, T = state.q, state.T
        v, a = T @ qd, T @ qdd + state.drift
        own_tau = np.linalg.solve(T.T, tau)
        M = np.triu(pin.crba(model, data, at))
        jacobian = pin.computeFrameJacobian(model, data, at, self.frame,
                                            pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        return Answers(
            inverse_dynamics=T.T @ pin.rnea(model, data, at, v, a),
            forward_dynamics=np.linalg.solve(
                T, pin.aba(model, data, at, v, own_tau) - state.drift),
            mass_matrix=T.T @ (M + np.triu(M, 1).T) @ T,
            bias=T.T @ pin.rnea(model, data, at, v, state.drift),
            gravity_torque=T.T @ pin.computeGeneralizedGravity(model, data, at),
            jacobian=jacobian.reshape(6, -1) @ T,
            placement=pin.updateFramePlacement(model, data, self.frame).homogeneous[:3],
            kinetic_energy=pin.computeKineticEnergy(model, data, at, v),
            potential_energy=pin.computePotentialEnergy(model, data, at))


def mujoco_text(robot: Robot) -> str:
    """
    The robot's URDF with what MuJoCo needs to leave it as it is.

    Every link stays a body of its own, no inertia is rebalanced, and shapes are left out, whose
    mesh files are not there.  MuJoCo wants the link under a floating joint to be called world.
    """
    root = ElementTree.fromstring(robot.urdf)
    root[:] = [element for element in root if element.tag in ('link', 'joint')]
    for element in root:
        element[:] = [part for part in element if part.tag not in ('visual', 'collision')]
    for joint in root.iter('joint'):
        if joint.get('type') == 'floating':
            old = joint.find('parent').get('link')
            root.find(f'link[@name="{old}"]').set('name', 'world')
            for parent in root.iter('parent'):
                if parent.get('link') == old:
                    parent.set('link', 'world')
    root.insert(0, ElementTree.fromstring(MUJOCO_FLAGS))
    return ElementTree.tostring(root, encoding='unicode')


class Mujoco:
    """Laws as MuJoCo has them, without contacts, limits and friction."""

    def __init__(self, robot: Robot, link: str):
        import mujoco
        self.mj, self.robot = mujoco, robot
        self.model = mujoco.MjModel.from_xml_string(mujoco_text(robot))
        off = mujoco.mjtDisableBit
        self.model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION
        self.model.dof_damping[:] = self.model.jnt_stiffness[:] = 0
        self.model.opt.gravity = robot.gravity
        self.data = mujoco.MjData(self.model)
        self.link = self.model.body(link).id

    def state(self, q, qd) -> State:
        model, names = self.model, {'_x': '_TX', '_y': '_TY', '_theta': '_RZ'}
        joints = {model.joint(i).name: i for i in range(model.njnt)}
        at, T, drift = np.zeros(model.nq), np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        for body in self.robot.bodies:
            name = body.joint
            for ours, theirs in names.items():
                if name not in joints and name.endswith(ours):
                    name = name.removesuffix(ours) + theirs
            q_at, v_at = model.jnt_qposadr[joints[name]], model.jnt_dofadr[joints[name]]
            if body.kind != FLOATING:
                at[q_at], T[v_at, body.v.start] = q[body.q.start], 1
                continue
            origin = model.qpos0[q_at:q_at + 7]
            start = Rotation.from_quat(np.roll(origin[3:], -1))
            position, turn = q[body.q][:3], start * Rotation.from_quat(q[body.q][3:])
            at[q_at:q_at + 3] = origin[:3] + start.apply(position)
            at[q_at + 3:q_at + 7] = np.roll(turn.as_quat(), 1)
            own = slice(v_at, v_at + 3)
            linear = slice(body.v.start, body.v.start + 3)
            T[own, linear] = turn.as_matrix()
            T[v_at + 3:v_at + 6, body.v.start + 3:body.v.stop] = np.eye(3)
            drift[own] = turn.apply(np.cross(qd[body.v][3:], qd[linear]))
        return State(at, T, drift)

    def _mass_matrix(self):
        M = np.zeros((self.model.nv, self.model.nv))
        try:
            self.mj.mj_fullM(self.model, self.data, M)
        except TypeError:  # MuJoCo before 4
            self.mj.mj_fullM(self.model, M, self.data.qM)
        return M

    def answers(self, q, qd, qdd, tau) -> Answers:
        mj, model, data, state = self.mj, self.model, self.data, self.state(q, qd)
        T = state.T
        data.qpos[:], data.qvel[:], data.qacc[:] = state.q, T @ qd, T @ qdd + state.drift
        data.qfrc_applied[:] = 0
        mj.mj_inverse(model, data)
        inverse = data.qfrc_inverse.copy()
        mj.mj_energyPos(model, data)
        mj.mj_energyVel(model, data)
        potential, kinetic = data.energy
        M = self._mass_matrix()
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mj.mj_jacBody(model, data, linear, angular, self.link)
        data.qfrc_applied[:] = np.linalg.solve(T.T, tau)
        mj.mj_forward(model, data)
        forward, bias = data.qacc.copy(), data.qfrc_bias + M @ state.drift
        data.qvel[:] = 0
        mj.mj_fwdVelocity(model, data)
        return Answers(
            inverse_dynamics=T.T @ inverse,
            forward_dynamics=np.linalg.solve(T, forward - state.drift),
            mass_matrix=T.T @ M @ T,
            bias=T.T @ bias,
            gravity_torque=T.T @ data.qfrc_bias,
            jacobian=np.vstack([linear, angular]) @ T,
            placement=np.column_stack([data.xmat[self.link].reshape(3, 3), data.xpos[self.link]]),
            kinetic_energy=kinetic,
            potential_energy=potential)
