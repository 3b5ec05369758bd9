"""Results as a page and a picture."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OURS, THEIRS = 'torque_lab RK4', 'MuJoCo RK4'
TITLES = {'pendulum': 'pendulum', 'double_pendulum': 'double pendulum',
          'three_link': '3-link arm', 'ur5': 'UR5'}


def _row(*cells) -> str:
    return '| ' + ' | '.join(str(cell) for cell in cells) + ' |'


def _table(head, rows) -> list[str]:
    return [_row(*head), '|' + '---|' * len(head), *(_row(*row) for row in rows), '']


def _ratio(times: dict[str, float], ours: str, theirs: str, are_rates: bool = False) -> str:
    if theirs not in times:
        return '–'
    ratio = times[ours] / times[theirs] if are_rates else times[theirs] / times[ours]
    return f'{ratio:.3g} ×'


def page(results: dict, command: str) -> str:
    """The benchmark page as Markdown: ratios first."""
    robots = list(results['amortised'])
    titles = [TITLES[name] for name in robots]
    lines = ['# Benchmarks', '', 'Every figure on this page comes from one run of', '',
             f'    {command}', '', _machine(), '',
             'Peers run with the settings that suit them best on a free arm (no contacts, no '
             'constraint solver); ours runs as it always does: energies tracked, limits watched, '
             'divergence checked in every step. All take steps of 1 ms. Each figure is the best '
             'of many short repeats, taken in turn. Trust the ratios, not the absolute times.', '',
             '## How much faster than MuJoCo', '']
    lines += _table(['', *titles], [
        ['one RK4 step, amortised', *(_ratio(results['amortised'][name], OURS, THEIRS)
                                      for name in robots)],
        ['one RK4 step per call from Python', *(_ratio(results['from_python'][name], OURS, THEIRS)
                                                for name in robots)],
        *([f'batch of 1024 × 200, every state recorded, {threads} thread'
           + ('s' if threads > 1 else ''),
           *(_ratio(results['batches'][threads].get(name, {}), 'torque_lab', 'MuJoCo', True)
             if name in results['batches'][threads] else '–' for name in robots)]
          for threads in results['batches'])])
    lines += ['![Time of one step](images/benchmark.png)', '', '## Time of one step, in µs', '']
    peers = list(dict.fromkeys(key for name in robots for key in results['amortised'][name]))
    lines += _table(['', *titles], [
        [key, *(f"{results['amortised'][name][key]:.3g}" if key in results['amortised'][name]
                else '–' for name in robots)] for key in peers] + [
        [f'{key}, one step per call', *(f"{results['from_python'][name][key]:.3g}"
                                        for name in robots)] for key in (OURS, THEIRS)
        if key in results['from_python'][robots[0]]])
    lines += ['## Batches, million state-steps per second', '']
    for threads, by_robot in results['batches'].items():
        keys = list(next(iter(by_robot.values())))
        lines += _table([f'{threads} thread' + ('s' if threads > 1 else ''), *titles], [
            [key, *(f'{by_robot[name][key]:.3g}' for name in robots)] for key in keys])
    lines += ['## Accuracy at the same step', '',
              f'Double pendulum (2 kg, 2 m) from joint angles (π/2, π/2) at rest, '
              f'{results["accuracy_time"]:g} s: error of the final state against DOP853 and '
              f'change of the energy. The motion is chaotic, so errors grow fast.', '']
    lines += _table(['', 'error, rad or rad/s', 'energy, J'], [
        [key, f'{error:.2e}', f'{drift:+.2e}'] for key, (error, drift)
        in results['accuracy'].items()])
    lines += [f'Over 60 s from both links horizontal, RK4 at 1 ms here changes the energy by at '
              f'most {results["drift"]:.1e} of 117.7 J.', '',
              '## Start and control', '',
              f'- First step of a new UR5, compilation included: '
              f'{results["first_step"] * 1e3:.0f} ms; in a new process, the import of the '
              f'compiler included: {results["first_step_process"] * 1e3:.0f} ms.',
              *(f'- UR5 `{key}` called from Python: {value:.2f} µs.'
                for key, value in results['laws'].items()), '']
    return '\n'.join(lines)


def _machine() -> str:
    """What it ran on."""
    found = []
    for package in ('mujoco', 'pin', 'drake', 'dartpy', 'pybullet', 'llvmlite', 'numpy'):
        try:
            found.append(f'{package} {version(package)}')
        except PackageNotFoundError:
            found.append(f'{package} not installed')
    return (f'on {platform.machine()}, Python {platform.python_version()}, with '
            + ', '.join(found) + '.')


def picture(results: dict, path: Path) -> None:
    """Bars of the time of one step, on a logarithmic scale."""
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    robots = list(results['amortised'])
    peers = list(dict.fromkeys(key for name in robots for key in results['amortised'][name]))
    figure, axes = plt.subplots(figsize=(9, 4.2), layout='constrained')
    width = 0.8 / len(peers)
    for place, peer in enumerate(peers):
        values = [results['amortised'][name].get(peer, float('nan')) for name in robots]
        axes.bar([k + place * width for k in range(len(robots))], values, width, label=peer,
                 color='#d1495b' if peer == OURS else plt.cm.Greys(0.35 + 0.09 * place))
    axes.set_yscale('log')
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(robots))],
                    [TITLES[name] for name in robots])
    axes.set_ylabel('time of one 1 ms step, µs (log)')
    figure.legend(fontsize=8, ncols=4, loc='outside upper center', frameon=False)
    axes.spines[['top', 'right']].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
