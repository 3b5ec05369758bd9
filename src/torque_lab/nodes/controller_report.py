"""What the controller node tells about itself: ``~/controller_state`` and diagnostics."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from torque_lab.control.law import Reference
from torque_lab.control.supervisor import Answer, Supervisor
from torque_lab.nodes import interface
from torque_lab.physics.model import Robot


class ControllerReport:
    """Counts and publishes."""

    def __init__(self, node: Node, robot: Robot, rate: float) -> None:
        self._node = node
        self._every = 1.0 / rate if rate > 0.0 else float('inf')
        self._next = -float('inf')
        self._state = Float64MultiArray()
        fields, joints = interface.CONTROLLER_STATE_FIELDS, robot.joint_names
        self._state.layout.dim = [
            MultiArrayDimension(label=','.join(joints), size=len(joints),
                                stride=len(joints) * len(fields)),
            MultiArrayDimension(label=','.join(fields), size=len(fields), stride=len(fields))]
        self._state_publisher = node.create_publisher(
            Float64MultiArray, '~/controller_state', interface.NEWEST)
        self._diagnostics_publisher = node.create_publisher(
            DiagnosticArray, interface.DIAGNOSTICS, QoSProfile(depth=10))
        self.answers = self.saturated = self.refused_states = self.cut_offs = 0
        self._seconds, self._longest, self._counted = 0.0, 0.0, 0

    def reset(self) -> None:
        """Time has jumped back."""
        self._next = -float('inf')

    def count(self, answer: Answer, seconds: float) -> None:
        """Count an answer and the wall time that it took."""
        self.answers += 1
        self._counted += 1
        self.saturated += bool(answer.saturated.any())
        self._seconds += seconds
        self._longest = max(self._longest, seconds)

    def publish_state(self, t: float, q: np.ndarray, qd: np.ndarray, reference: Reference,
                      answer: Answer) -> None:
        """Publish desired, actual, error and effort, at the rate in simulation time."""
        if t < self._next:
            return
        self._next = max(self._next + self._every, t) if self._next > -1.0 else t + self._every
        rows = np.column_stack([
            np.full(len(q), t), reference.position, q, reference.position - q,
            reference.velocity, qd, answer.effort, answer.saturated])
        self._state.data = array('d', rows.ravel())
        self._state_publisher.publish(self._state)

    def publish_diagnostics(self, stamp: Any, supervisor: Supervisor, silent: bool) -> None:
        """Publish how the law is doing."""
        law = supervisor.law
        status = DiagnosticStatus(name=f'{self._node.get_name()}: control law',
                                  hardware_id='controller', level=DiagnosticStatus.OK,
                                  message=f'{law.name if law else "no law"} running')
        if supervisor.fault:
            status.level = DiagnosticStatus.ERROR
            status.message = f'cut off: {supervisor.fault}'
        elif silent:
            status.level, status.message = DiagnosticStatus.STALE, 'no joint states'
        elif not supervisor.servo:
            status.level, status.message = DiagnosticStatus.WARN, 'servo off'
        mean = self._seconds / self._counted if self._counted else 0.0
        values = {'law': law.name if law else '', 'servo': 'on' if supervisor.servo else 'off',
                  'answers': self.answers, 'answers with a saturated joint': self.saturated,
                  'states refused': self.refused_states, 'laws cut off': self.cut_offs,
                  'mean time of an answer [us]': f'{mean * 1e6:.1f}',
                  'longest time of an answer [us]': f'{self._longest * 1e6:.1f}'}
        self._seconds, self._longest, self._counted = 0.0, 0.0, 0
        status.values = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = stamp
        self._diagnostics_publisher.publish(message)
