"""A node that only listens: what the demo sees of a running loop, as any other client would."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from torque_lab.nodes import interface


@dataclass
class Recording:
    """What was seen: one row per joint state, and the newest energies and counters."""

    joint_names: Sequence[str]
    time: list[float] = field(default_factory=list)
    position: list[list[float]] = field(default_factory=list)
    velocity: list[list[float]] = field(default_factory=list)
    effort: list[list[float]] = field(default_factory=list)
    energy_time: list[float] = field(default_factory=list)
    energy: list[list[float]] = field(default_factory=list)
    diagnostics: list[dict[str, str]] = field(default_factory=list)
    wall_start: float = 0.0
    wall_end: float = 0.0

    def commands_per_second(self) -> float:
        """Commands applied per simulated second, between the last two reports; 0 before."""
        if len(self.diagnostics) < 2:
            return 0.0
        (t0, n0), (t1, n1) = (
            (float(report['simulation time [s]']), int(report['commands applied']))
            for report in self.diagnostics[-2:])
        return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Time (k,), positions, velocities and efforts (k, n)."""
        return (np.array(self.time), np.array(self.position), np.array(self.velocity),
                np.array(self.effort))


class Observer(Node):
    """Records the joint states of the arm with these joints, from the first one on."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        super().__init__('demo')
        self.recording = Recording(tuple(joint_names))
        self.released: float | None = None
        """Simulation time of the first state under a command; None before."""
        # A deep queue: here every state counts, and a late one does no harm.
        self.create_subscription(JointState, interface.JOINT_STATES, self._on_state,
                                 QoSProfile(depth=100))
        self.create_subscription(Float64MultiArray, '/dynamics/energy', self._on_energy,
                                 interface.NEWEST)
        self.create_subscription(DiagnosticArray, interface.DIAGNOSTICS, self._on_diagnostics,
                                 interface.NEWEST)

    def _on_state(self, message: JointState) -> None:
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        seen = self.recording
        if tuple(message.name) != seen.joint_names:
            return  # somebody else's robot on our topic
        if not seen.time:
            seen.wall_start = time.monotonic()
        seen.wall_end = time.monotonic()
        seen.time.append(stamp)
        seen.position.append(list(message.position))
        seen.velocity.append(list(message.velocity))
        seen.effort.append(list(message.effort))
        if self.released is None and (any(message.effort) or any(message.velocity)):
            self.released = stamp

    def _on_energy(self, message: Float64MultiArray) -> None:
        if self.recording.time:
            self.recording.energy_time.append(self.recording.time[-1])
            self.recording.energy.append(list(message.data))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.startswith('dynamics:'):
                self.recording.diagnostics.append({
                    pair.key: pair.value for pair in status.values})
