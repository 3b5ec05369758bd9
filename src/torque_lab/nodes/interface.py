"""The topics that every backend and every controller speaks, and their quality of service."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile

JOINT_STATES = '/joint_states'
EFFORT_COMMANDS = '/effort_controller/commands'
JOINT_COMMAND = '/joint_command'
ROBOT_DESCRIPTION = '/robot_description'
CLOCK = '/clock'
DIAGNOSTICS = '/diagnostics'

NEWEST = QoSProfile(depth=1)
"""For states and commands between simulator and controller: a deeper queue was measured to
build a standing delay, because the reader then works through old messages."""

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""For the robot's description: whoever comes late still gets it."""

NANOSECONDS = 1_000_000_000

ENERGY_FIELDS = ('kinetic', 'potential', 'total', 'work', 'dissipated')
"""Order of the numbers on ``~/energy``, in J; the message's layout says so too."""

CONTROLLER_STATE_FIELDS = ('time', 'desired', 'actual', 'error', 'desired_velocity',
                           'actual_velocity', 'effort', 'saturated')
"""Columns of ``~/controller_state``, one row per joint; the message's layout says so too."""
