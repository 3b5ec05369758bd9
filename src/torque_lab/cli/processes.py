"""Nodes as processes of their own: started, listened to, and stopped by their id."""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO

STOP_PATIENCE = 3.0
"""How long, in s, a process may take to end before it is told more firmly."""

PR_SET_PDEATHSIG = 1


class NodeProcess:
    """One node in its own process; what it prints is kept as lines."""

    def __init__(self, name: str, module: str, arguments: Sequence[str],
                 environment: Mapping[str, str], lines: queue.Queue[tuple[str, str]]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, '-m', module, *arguments], env=dict(environment), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            # Out of the terminal's reach: Ctrl-C comes to us, and we end the nodes in order.
            start_new_session=True, preexec_fn=_die_with_parent)
        assert self._process.stdout is not None
        self._reader = threading.Thread(
            target=self._read, args=(self._process.stdout, lines), daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._process.poll()

    def stop(self) -> int:
        """End the process, gently first, and return its exit status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                self._process.send_signal(number)
                try:
                    self._process.wait(STOP_PATIENCE)
                except subprocess.TimeoutExpired:
                    continue
        self._reader.join(STOP_PATIENCE)
        return self._process.returncode

    def _read(self, stream: IO[str], lines: queue.Queue[tuple[str, str]]) -> None:
        for line in stream:
            lines.put((self.name, line.rstrip('\n')))


def stop_all(processes: Sequence[NodeProcess]) -> None:
    """End several processes at once: all are told before any is waited for."""
    for process in processes:
        if process.exit_status is None:
            os.kill(process.pid, signal.SIGINT)
    for process in processes:
        process.stop()


def _die_with_parent() -> None:
    # A parent that is killed cannot stop its children; on Linux the kernel does it.
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
