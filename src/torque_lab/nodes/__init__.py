"""Thin ROS 2 nodes around the physics and the control laws."""
