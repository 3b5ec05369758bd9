from glob import glob

from setuptools import find_packages, setup

NAME = 'torque_lab'

setup(
    name=NAME,
    version='0.1.0',
    description='Arms from URDF files, their torque-level physics and controllers on ROS 2',
    license='Apache-2.0',
    author='torque_lab maintainers',
    maintainer='torque_lab maintainers',
    maintainer_email='maintainers@torque-lab.example.org',
    package_dir={'': 'src'},
    packages=find_packages('src'),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        (f'share/{NAME}/launch', glob('launch/*.launch.py')),
        (f'share/{NAME}/urdf', glob('urdf/*.xacro')),
        (f'share/{NAME}/config', glob('config/*')),
    ],
    python_requires='>=3.10',
    install_requires=['numpy', 'scipy', 'lxml', 'xacro', 'PyYAML'],
    extras_require={
        'fast': ['llvmlite'],
        'symbolic': ['sympy'],
        'plot': ['matplotlib'],
        'bench': ['mujoco', 'pin', 'drake', 'dartpy', 'pybullet', 'matplotlib'],
        'test': ['pytest', 'hypothesis', 'pin', 'mujoco', 'example-robot-data'],
    },
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'torque-lab = torque_lab.cli.main:main',
            'dynamics_node = torque_lab.nodes.dynamics_node:main',
            'controller_node = torque_lab.nodes.controller_node:main',
            'loop_node = torque_lab.nodes.loop_node:main',
        ],
    },
)
