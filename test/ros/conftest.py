"""Real nodes in real processes over real DDS, each test in a domain of its own."""

from __future__ import annotations

import itertools
import os
import queue
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from torque_lab.cli.processes import NodeProcess, stop_all
from torque_lab.physics.load import models_folder

rclpy = pytest.importorskip('rclpy', reason='ROS 2 is not installed; ./lab test brings it')

from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402

CONFIG = models_folder().parent / 'config'
_domains = itertools.count(os.getpid())


class Lab:
    """The processes of one test, and a node of its own to talk to them."""

    def __init__(self, folder) -> None:
        self.domain = 1 + next(_domains) % 100
        self.environment = {**os.environ, 'ROS_DOMAIN_ID': str(self.domain),
                            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                            'RCUTILS_CONSOLE_OUTPUT_FORMAT': '{severity} {message}',
                            'PYTHONUNBUFFERED': '1'}
        self._folder = folder
        self._processes: list[NodeProcess] = []
        self._lines: queue.Queue = queue.Queue()
        self._seen: list[tuple[str, str]] = []
        self._context = Context()
        rclpy.init(context=self._context, domain_id=self.domain)
        self.node = Node('test', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)

    def dynamics(self, robot: str = 'pendulum', **parameters: Any) -> NodeProcess:
        return self._start('dynamics', {'robot': robot, **parameters})

    def controller(self, config: str = 'pendulum_pid', **parameters: Any) -> NodeProcess:
        values = yaml.safe_load((CONFIG / f'{config}.yaml').read_text())
        values['controller']['ros__parameters'].update(parameters)
        return self._start('controller', values['controller']['ros__parameters'])

    def together(self, config: str, dynamics: dict[str, Any]) -> NodeProcess:
        """Both nodes in one process."""
        values = yaml.safe_load((CONFIG / f'{config}.yaml').read_text())['controller']
        values['ros__parameters']['command'] = 'stamped'
        return self._start('loop', {}, {'controller': values,
                                        'dynamics': {'ros__parameters': dynamics}})

    def _start(self, name: str, parameters: dict[str, Any],
               sections: dict[str, Any] | None = None) -> NodeProcess:
        path = self._folder / f'{name}_{len(self._processes)}.yaml'
        path.write_text(yaml.safe_dump(sections or {name: {'ros__parameters': parameters}}))
        process = NodeProcess(name, f'torque_lab.nodes.{name}_node',
                              ['--ros-args', '--params-file', str(path)], self.environment,
                              self._lines)
        self._processes.append(process)
        return process

    def listen(self, message_type: type, topic: str) -> list[Any]:
        """Return a list that grows with every message."""
        messages: list[Any] = []
        self.node.create_subscription(message_type, topic, messages.append, 100)
        return messages

    def publisher(self, message_type: type, topic: str) -> Any:
        """Return a publisher whose listener is there, on its side too."""
        publisher = self.node.create_publisher(message_type, topic, 10)
        self.wait(lambda: publisher.get_subscription_count() > 0, f'a listener on {topic}')
        self.spin(0.3)  # our side matches first; what is sent before theirs does is lost
        return publisher

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.01)

    def wait(self, condition: Callable[[], Any], what: str, seconds: float = 20.0) -> Any:
        """Spin until the condition is true; fail with what was said by then if it never is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            self._executor.spin_once(timeout_sec=0.01)
        pytest.fail(f'{what} did not happen in {seconds:g} s; the nodes said: {self.lines()}')

    def lines(self, name: str = '') -> list[str]:
        """Everything that the nodes (or one of them) have printed so far."""
        while not self._lines.empty():
            self._seen.append(self._lines.get())
        return [line for who, line in self._seen if name in ('', who)]

    def wait_for_line(self, name: str, text: str, seconds: float = 20.0) -> str:
        def found() -> str:
            return next((line for line in self.lines(name) if text in line), '')
        return self.wait(found, f'"{text}" from {name}', seconds)

    def call(self, service_type: type, name: str, request: Any = None) -> Any:
        client = self.node.create_client(service_type, name)
        self.wait(client.service_is_ready, f'service {name}')
        future = client.call_async(request or service_type.Request())
        self.wait(future.done, f'the answer of {name}')
        return future.result()

    def close(self) -> None:
        stop_all(self._processes)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


@pytest.fixture
def lab(tmp_path):
    """Give a test its own domain and stop what it started, by process id."""
    laboratory = Lab(tmp_path)
    yield laboratory
    laboratory.close()
