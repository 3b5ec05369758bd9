"""The messages of a simulation: built once, filled and published again and again."""

from __future__ import annotations

import time
from array import array

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String

from torque_lab.nodes import interface
from torque_lab.nodes.sensors import Measurement
from torque_lab.nodes.simulation import Simulation
from torque_lab.physics.model import FLOATING


class StatePublisher:
    """
    Publishes joint states, the clock, energies, the description and a free body's odometry.

    Messages are reused: building one costs more than publishing it.
    """

    def __init__(self, node: Node, simulation: Simulation, publish_description: bool) -> None:
        robot = simulation.robot
        self._simulation = simulation
        # rviz's effort display ignores states whose frame is empty.
        self._state = JointState(name=list(robot.joint_names))
        self._state.header.frame_id = 'world'
        self._clock = Clock()
        fields = interface.ENERGY_FIELDS
        self._energy = Float64MultiArray()
        self._energy.layout.dim = [MultiArrayDimension(
            label=','.join(fields), size=len(fields), stride=len(fields))]
        self._joint_q = np.array([body.q.start for body in sorted(
            robot.bodies, key=lambda body: body.q.start) if body.kind != FLOATING], dtype=int)
        self._floating = [body for body in robot.bodies if body.kind == FLOATING]
        self._odometry = [Odometry(child_frame_id=body.name) for body in self._floating]
        for odometry in self._odometry:
            odometry.header.frame_id = 'world'
        self._state_publisher = node.create_publisher(
            JointState, interface.JOINT_STATES, interface.NEWEST)
        self._clock_publisher = node.create_publisher(Clock, interface.CLOCK, interface.NEWEST)
        self._energy_publisher = node.create_publisher(
            Float64MultiArray, '~/energy', interface.NEWEST)
        if self._floating:
            self._odometry_publisher = node.create_publisher(
                Odometry, '~/odometry', interface.NEWEST)
        if publish_description:
            self._description_publisher = node.create_publisher(
                String, interface.ROBOT_DESCRIPTION, interface.LATCHED)
            self._description_publisher.publish(String(data=robot.urdf))

    def state(self, measured: Measurement) -> float:
        """Publish what the sensors show; return the steady time at which it went out, in s."""
        message = self._state
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = divmod(measured.stamp, interface.NANOSECONDS)
        if self._floating:
            self._publish_odometry(measured)
            message.position = array('d', measured.q[self._joint_q].tobytes())
            message.velocity = array('d', measured.qd[self._simulation.driven].tobytes())
        else:
            message.position = array('d', measured.q.tobytes())
            message.velocity = array('d', measured.qd.tobytes())
        message.effort = array('d', measured.effort.tobytes())
        now = time.monotonic()
        self._state_publisher.publish(message)
        return now

    def clock(self) -> None:
        """Publish the simulation time."""
        clock = self._clock.clock
        clock.sec, clock.nanosec = divmod(self._simulation.stamp, interface.NANOSECONDS)
        self._clock_publisher.publish(self._clock)

    def energy(self) -> None:
        """Publish where the energy is."""
        energy = self._simulation.simulator.energy
        self._energy.data = array('d', [getattr(energy, name)
                                        for name in interface.ENERGY_FIELDS])
        self._energy_publisher.publish(self._energy)

    def _publish_odometry(self, measured: Measurement) -> None:
        for body, message in zip(self._floating, self._odometry, strict=True):
            stamp = message.header.stamp
            stamp.sec, stamp.nanosec = divmod(measured.stamp, interface.NANOSECONDS)
            position, orientation = message.pose.pose.position, message.pose.pose.orientation
            linear, angular = message.twist.twist.linear, message.twist.twist.angular
            (position.x, position.y, position.z, orientation.x, orientation.y, orientation.z,
             orientation.w) = measured.q[body.q].tolist()
            (linear.x, linear.y, linear.z, angular.x, angular.y,
             angular.z) = measured.qd[body.v].tolist()
            self._odometry_publisher.publish(message)
