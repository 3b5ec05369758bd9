"""
One launch file: an arm, the simulator that moves it and the controller that holds it.

    ros2 launch torque_lab sim.launch.py robot:=double_pendulum rviz:=false
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, LogInfo, RegisterEventHandler
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import (
    Command,
    FindExecutable,
    LaunchConfiguration,
    NotSubstitution,
    PathJoinSubstitution,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

ROBOTS = ('pendulum', 'double_pendulum')
CONTROLLERS = ('pid',)
SIMULATORS = ('rk4',)


def argument(name, default, description, choices=None):
    return DeclareLaunchArgument(
        name, default_value=default, description=description, choices=choices)


def generate_launch_description():
    robot, controller, rviz = map(LaunchConfiguration, ('robot', 'controller', 'rviz'))
    share = FindPackageShare('torque_lab')
    # Wrapped as text: unwrapped, launch would read it as YAML and stumble over a colon.
    description = {'robot_description': ParameterValue(
        Command([FindExecutable(name='xacro'), ' ', share, '/urdf/', robot, '.urdf.xacro']),
        value_type=str)}
    simulated_time = {'use_sim_time': True}

    simulator_node = Node(
        package='torque_lab', executable='dynamics_node', name='dynamics', output='screen',
        parameters=[description, {
            'real_time_factor': ParameterValue(
                LaunchConfiguration('real_time_factor'), value_type=float),
            'publish_description': ParameterValue(NotSubstitution(rviz), value_type=bool)}])
    controller_node = Node(
        package='torque_lab', executable='controller_node', name='controller', output='screen',
        parameters=[ParameterFile([share, '/config/', robot, '_', controller, '.yaml']),
                    simulated_time])
    state_publisher = Node(
        package='robot_state_publisher', executable='robot_state_publisher', output='screen',
        parameters=[description, simulated_time], condition=IfCondition(rviz))
    viewer = Node(
        package='rviz2', executable='rviz2', parameters=[simulated_time],
        arguments=['-d', PathJoinSubstitution([share, 'config', 'arm.rviz'])],
        condition=IfCondition(rviz))

    return LaunchDescription([
        argument('robot', 'pendulum', 'The arm: a model in urdf/.', ROBOTS),
        argument('controller', 'pid', 'The control law; its gains and goal are in '
                 'config/<robot>_<controller>.yaml.', CONTROLLERS),
        argument('simulator', 'rk4', 'What moves the arm: rk4 is the dynamics node.', SIMULATORS),
        argument('real_time_factor', '1.0', 'Simulated seconds per second; 0 runs as fast as '
                 'possible.'),
        argument('rviz', 'true', 'Start robot_state_publisher and rviz2.', ('true', 'false')),
        simulator_node, controller_node, state_publisher, viewer,
        *(end_with(node, name) for node, name in (
            (simulator_node, 'simulator'), (controller_node, 'controller'))),
    ])


def end_with(node, name):
    """Without its simulator or its controller a launch is over: say so and stop the rest."""
    return RegisterEventHandler(OnProcessExit(target_action=node, on_exit=[
        LogInfo(msg=f'the {name} has ended; stopping the launch'),
        EmitEvent(event=Shutdown(reason=f'the {name} has ended'))]))
