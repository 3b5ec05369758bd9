"""Run the benchmarks: ``./lab bench``, or ``python -m bench`` at the top of the repository."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import measure, report

TOP = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(prog='bench', description=__doc__)
    parser.add_argument('--quick', action='store_true', help='fewer repeats, rougher figures')
    parser.add_argument('--plot', action='store_true',
                        help='write docs/benchmarks.md and docs/images/benchmark.png')
    parser.add_argument('--robots', nargs='+', choices=measure.ROBOTS, default=measure.ROBOTS,
                        help='some of the robots only')
    arguments = parser.parse_args()
    repeats, quick = (25, True) if arguments.quick else (100, False)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    results: dict = {'amortised': {}, 'from_python': {}, 'batches': {}}
    for name in arguments.robots:
        say(f'{name}: one step')
        results['amortised'][name] = measure.steps_amortised(name, repeats, say)
        results['from_python'][name] = measure.steps_from_python(name, repeats, say)
    for threads in sorted({1, os.cpu_count() or 1}):
        results['batches'][threads] = {}
        for name in arguments.robots:
            say(f'{name}: batches, {threads} threads')
            results['batches'][threads][name] = measure.batches(name, 3 if quick else 8, threads)
    say('accuracy')
    results['accuracy_time'] = 10.0
    results['accuracy'] = measure.accuracy(10.0, say)
    results['drift'] = measure.energy_drift()
    say('start and control')
    results['first_step'] = measure.first_step('ur5', 3 if quick else 8)
    results['first_step_process'] = measure.first_step_of_a_process('ur5')
    results['laws'] = measure.laws('ur5', repeats)
    options = ' '.join(argument for argument in sys.argv[1:] if argument != '--plot')
    text = report.page(results, f'./lab bench --plot {options}'.strip())
    print(text)
    if arguments.plot:
        (TOP / 'docs').mkdir(exist_ok=True)
        (TOP / 'docs' / 'benchmarks.md').write_text(text)
        report.picture(results, TOP / 'docs' / 'images' / 'benchmark.png')
        say('wrote docs/benchmarks.md and docs/images/benchmark.png')
    return 0


if __name__ == '__main__':
    sys.exit(main())
