"""The one-way dependencies of the house: physics <- control <- nodes; the edge above them."""

import ast
from pathlib import Path

import pytest

import torque_lab

PACKAGE = Path(torque_lab.__file__).parent
ROS = {'rclpy', 'rcl_interfaces', 'sensor_msgs', 'std_msgs', 'std_srvs', 'rosgraph_msgs',
       'diagnostic_msgs', 'geometry_msgs', 'launch', 'launch_ros'}
FORBIDDEN = {
    'physics': ROS | {'torque_lab.control', 'torque_lab.nodes', 'torque_lab.cli'},
    'control': ROS | {'torque_lab.nodes', 'torque_lab.cli'},
    'nodes': {'torque_lab.cli', 'launch', 'launch_ros'},
}


def imports(path):
    package = ('torque_lab', *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else ()
            module = '.'.join((*base, node.module) if node.module else base)
            yield module
            yield from (f'{module}.{alias.name}' for alias in node.names)


@pytest.mark.parametrize('room', FORBIDDEN)
def test_no_arrow_points_back(room):
    files = list((PACKAGE / room).rglob('*.py'))
    assert files
    for path in files:
        for name in imports(path):
            parts = name.split('.')
            prefixes = {'.'.join(parts[:n]) for n in range(1, len(parts) + 1)}
            assert not prefixes & FORBIDDEN[room], f'{path.relative_to(PACKAGE)} imports {name}'
