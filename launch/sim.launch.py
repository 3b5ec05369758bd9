"""
One launch file: an arm, the simulator that moves it and the controller that drives it.

    ros2 launch torque_lab sim.launch.py robot:=double_pendulum controller:=acrobot rviz:=false
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import Command, FindExecutable, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

SHARE = Path(get_package_share_directory('torque_lab'))
ROBOTS = sorted(path.name.removesuffix('.urdf.xacro')
                for path in (SHARE / 'urdf').glob('*.urdf.xacro'))
NO_CONTROLLER = 'none'
YES_NO = ['true', 'false']

ARGUMENTS = {
    'robot': ('pendulum', 'The arm: a model in urdf/.', ROBOTS),
    'controller': ('pid', 'The control law; gains, goal and start are in '
                   f'config/<robot>_<controller>.yaml. "{NO_CONTROLLER}" starts none.', None),
    'simulator': ('rk4', 'What moves the arm: rk4 is the dynamics node.', ['rk4']),
    'lockstep': ('false', 'Time waits for the controller: runs repeat to the bit.', YES_NO),
    'real_time_factor': ('1.0', 'Simulated seconds per second; 0 runs as fast as possible.', None),
    'rviz': ('true', 'Start robot_state_publisher and rviz2.', YES_NO),
}


def generate_launch_description():
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text, choices=choices)
          for name, (default, text, choices) in ARGUMENTS.items()),
        OpaqueFunction(function=start)])


def start(context):
    """Start what the arguments ask for."""
    robot, controller, factor = (LaunchConfiguration(name).perform(context)
                                 for name in ('robot', 'controller', 'real_time_factor'))
    lockstep, rviz = (LaunchConfiguration(name).perform(context) == 'true'
                      for name in ('lockstep', 'rviz'))
    if rviz:
        require('robot_state_publisher', 'rviz2')
    tuned = [] if controller == NO_CONTROLLER else [str(configuration(robot, controller))]
    # Wrapped as text: unwrapped, launch would read it as YAML and stumble over a colon.
    description = {'robot_description': ParameterValue(
        Command([FindExecutable(name='xacro'), ' ', str(SHARE / 'urdf' / f'{robot}.urdf.xacro')]),
        value_type=str)}
    simulated_time = {'use_sim_time': True}

    nodes = {'simulator': Node(
        package='torque_lab', executable='dynamics_node', name='dynamics', output='screen',
        parameters=[*tuned, description, {
            'real_time_factor': float(factor), 'lockstep': lockstep,
            'publish_description': not rviz}])}
    if controller != NO_CONTROLLER:
        nodes['controller'] = Node(
            package='torque_lab', executable='controller_node', name='controller',
            output='screen', parameters=[*tuned, simulated_time, {
                'command': 'stamped' if lockstep else 'array'}])
    viewers = [
        Node(package='robot_state_publisher', executable='robot_state_publisher',
             output='screen', parameters=[description, simulated_time,
                                          {'publish_frequency': 60.0}]),
        Node(package='rviz2', executable='rviz2', parameters=[simulated_time],
             arguments=['-d', str(rviz_configuration(robot))])] if rviz else []
    return [*nodes.values(), *viewers, *(end_with(node, name) for name, node in nodes.items())]


def configuration(robot, controller):
    """Return the tuned parameters of a pair, or say what there is instead."""
    path = SHARE / 'config' / f'{robot}_{controller}.yaml'
    if path.is_file():
        return path
    others = sorted(other.stem.removeprefix(f'{robot}_')
                    for other in (SHARE / 'config').glob(f'{robot}_*.yaml'))
    raise RuntimeError(f'no tuned controller "{controller}" for {robot}; choose one of '
                       f'{", ".join([*others, NO_CONTROLLER])}')


def require(*packages):
    """Refuse to start at all where a package is missing: a half-started launch leaves orphans."""
    for package in packages:
        try:
            get_package_share_directory(package)
        except LookupError:
            raise RuntimeError(f'{package} is not installed: install it, or use rviz:=false'
                               ) from None


def rviz_configuration(robot):
    """Return the view for a robot: its own if it has one, else that of the planar arms."""
    own = SHARE / 'config' / f'{robot}.rviz'
    return own if own.is_file() else SHARE / 'config' / 'arm.rviz'


def end_with(node, name):
    """Without its simulator or its controller a launch is over: say so and stop the rest."""
    return RegisterEventHandler(OnProcessExit(target_action=node, on_exit=[
        LogInfo(msg=f'the {name} has ended; stopping the launch'),
        EmitEvent(event=Shutdown(reason=f'the {name} has ended'))]))
