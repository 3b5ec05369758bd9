"""The plot of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torque_lab.cli.observer import Recording
from torque_lab.cli.summary import JointSummary

COLOURS = ('#0b6e99', '#d9730d', '#448361', '#9065b0', '#c14c8a', '#787774')


def draw(path: Path, title: str, recording: Recording, joints: Sequence[JointSummary]) -> None:
    """Write a PNG with positions against goals, efforts, and where the energy is."""
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    time, position, _, effort = recording.arrays()
    figure, (angles, efforts, energies) = plt.subplots(
        3, 1, sharex=True, figsize=(8.0, 7.5), layout='constrained')
    for i, joint in enumerate(joints):
        colour = COLOURS[i % len(COLOURS)]
        angles.plot(time, position[:, i] * joint.scale, color=colour, label=joint.name)
        angles.axhline(joint.goal * joint.scale, color=colour, linewidth=0.8, linestyle='--',
                       label=f'goal {joint.goal * joint.scale:.1f} {joint.unit}')
        efforts.plot(time, effort[:, i], color=colour, linewidth=1.0, label=joint.name)
    units = ' or '.join(dict.fromkeys(joint.unit for joint in joints))
    effort_units = ' or '.join(dict.fromkeys(joint.effort_unit for joint in joints))
    angles.set_ylabel(f'position [{units}]')
    efforts.set_ylabel(f'applied effort [{effort_units}]')
    if recording.energy:
        energy = np.array(recording.energy)
        for i, (label, colour) in enumerate(zip(
                ('kinetic', 'potential', 'total', 'work of the efforts'), COLOURS, strict=False)):
            energies.plot(recording.energy_time, energy[:, i], color=colour, label=label,
                          linewidth=1.8 if label == 'total' else 1.0)
    energies.set_ylabel('energy [J]')
    energies.set_xlabel('simulation time [s]')
    for axes in (angles, efforts, energies):
        axes.grid(alpha=0.3)
        axes.spines[['top', 'right']].set_visible(False)
        if axes.get_legend_handles_labels()[1]:
            axes.legend(loc='upper right', fontsize='small', frameon=False)
    figure.suptitle(title)
    figure.savefig(path, dpi=120)
    plt.close(figure)
