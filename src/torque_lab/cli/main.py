"""``torque-lab COMMAND``: one module per command; what takes long they import when they run."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from torque_lab.cli.errors import CommandError
from torque_lab.physics.errors import ModelError

COMMANDS = ('demo', 'check', 'derive', 'tune')


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit status."""
    parser = argparse.ArgumentParser(
        prog='torque-lab', description='Arms, their physics and their control on ROS 2.')
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    try:
        return _run(parser, subparsers, arguments)
    except KeyboardInterrupt:
        return 130


def _run(parser: argparse.ArgumentParser, subparsers: Any,
         arguments: Sequence[str] | None) -> int:
    for name in COMMANDS:
        module = importlib.import_module(f'torque_lab.cli.{name}')
        command = subparsers.add_parser(name, help=module.HELP, description=module.HELP)
        module.configure(command)
        command.set_defaults(run=module.run)
    parsed = parser.parse_args(arguments)
    try:
        return parsed.run(parsed)
    except (CommandError, ModelError) as error:
        print(f'torque-lab {parsed.command}: {error}', file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        sys.stderr.close()
        return 0


if __name__ == '__main__':
    sys.exit(main())
