"""Pure control laws: numpy and the physics, no ROS."""
