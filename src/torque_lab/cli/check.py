"""``torque-lab check``: everything that is wrong or doubtful about a URDF or xacro file."""

from __future__ import annotations

import argparse
import json
import sys

from torque_lab.physics.errors import ERROR, Finding, ModelError
from torque_lab.physics.load import check_model, find_model

HELP = 'check a URDF or xacro file: masses, inertias, axes, limits, tree; exit status for CI'

EPILOG = """\
exit status: 0 no errors (there may be warnings), 1 errors, 2 the file cannot be read or expanded.
With --strict warnings count as errors.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``torque-lab check``."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument('file', metavar='FILE', help='a URDF or xacro file, or a shipped model')
    parser.add_argument('arguments', metavar='NAME:=VALUE', nargs='*', type=xacro_argument,
                        help='arguments of a xacro file')
    parser.add_argument('--json', action='store_true', help='print the findings as JSON')
    parser.add_argument('--strict', action='store_true', help='fail on warnings, too')


def xacro_argument(text: str) -> tuple[str, str]:
    """Split ``name:=value``, the way ROS writes it."""
    name, separator, value = text.partition(':=')
    if not separator or not name:
        raise argparse.ArgumentTypeError(f'"{text}" is not of the form name:=value')
    return name, value


def run(args: argparse.Namespace) -> int:
    """Print the findings and return the exit status."""
    try:
        file = str(find_model(args.file))
        findings = check_model(args.file, **dict(args.arguments))
    except ModelError as error:
        print(json.dumps({'file': args.file, 'unreadable': str(error)}, indent=2) if args.json
              else error, file=sys.stdout if args.json else sys.stderr)
        return 2
    if args.json:
        print(json.dumps({'file': file, 'findings': [each.as_dict() for each in findings]},
                         indent=2, ensure_ascii=False))
    else:
        print_text(file, findings)
    return int(any(args.strict or finding.severity == ERROR for finding in findings))


def print_text(file: str, findings: list[Finding]) -> None:
    """Print findings as compilers do, and a summary."""
    for finding in findings:
        print(f'{finding.place}: {finding.severity}: {finding.element}: {finding.message}')
        print(f'    fix: {finding.fix}')
    errors = sum(finding.severity == ERROR for finding in findings)
    warnings = len(findings) - errors
    print(f'{file}: {counted(errors, "error")}, {counted(warnings, "warning")}')


def counted(number: int, noun: str) -> str:
    """Return a number and its noun."""
    return f'{number or "no"} {noun}{"" if number == 1 else "s"}'
