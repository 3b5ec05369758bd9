"""The manipulator equation as pure functions of a robot and its state: numpy, no ROS."""
