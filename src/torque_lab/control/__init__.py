"""Pure control laws: numpy and the physics, no ROS."""

# ruff: noqa: F401 -- this file is the list of public names

from .law import Law, Reference, parameter
from .registry import LAWS, find_law
from .supervisor import Supervisor
