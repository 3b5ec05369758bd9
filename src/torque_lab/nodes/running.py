"""Start nodes, spin them, and stop them cleanly: the main program of every node."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterUninitializedException,
)
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from torque_lab.physics.errors import ModelError

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # rclpy before 7.1.5
    EventsExecutor = None  # type: ignore[assignment]

WAKE = 0.1
"""Longest sleep of the executor, in s: how late a signal may be noticed."""

BAD_START = (ModelError, ValueError, InvalidParameterTypeException,
             InvalidParameterValueException, ParameterUninitializedException)


class StartError(Exception):
    """Why a node cannot do its work at all, in one line; it ends with status 1."""


def make_executor() -> Executor:
    """Return the quickest executor that this rclpy has."""
    return SingleThreadedExecutor() if EventsExecutor is None else EventsExecutor()


class Stopping:
    """Set by SIGINT, SIGTERM or the end of the context: one flag that is quick to look at."""

    def __init__(self) -> None:
        self.now = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)
        rclpy.get_default_context().on_shutdown(self.stop)

    def stop(self, *reason: Any) -> None:
        """End the spinning at the next turn."""
        self.now = True


def spin(executor: Executor, stopping: Stopping) -> None:
    """
    Dispatch until told to stop.

    Always with a finite time-out: EventsExecutor without one is deaf to signals and to whatever
    other threads publish.
    """
    while not stopping.now:
        executor.spin_once(timeout_sec=WAKE)


def run(name: str, make_nodes: Sequence[Callable[[], Node]],
        args: list[str] | None = None) -> int:
    """
    Run nodes in one process until SIGINT or SIGTERM; the exit status is 0 then.

    A node that cannot start (a broken model, a bad parameter) says why in one line: status 1.
    """
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    stopping = Stopping()
    nodes: list[Node] = []
    try:
        executor = make_executor()
        try:
            for make in make_nodes:
                nodes.append(make())
                executor.add_node(nodes[-1])
        except BAD_START as error:
            raise StartError(str(error)) from error
        gc.collect()
        gc.freeze()  # what the start left behind is not looked through again and again
        spin(executor, stopping)
        return 0
    except StartError as error:
        get_logger(name).fatal(str(error))
        return 1
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()


def main(name: str, make_node: Callable[[], Node]) -> None:
    """Entry point of a node's executable."""
    sys.exit(run(name, [make_node]))
