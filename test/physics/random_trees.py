"""Seeded random robots as URDF text: branches, mixed joints, rotated inertias, fixed links."""

from __future__ import annotations

import numpy as np

# MuJoCo reads its flags from the file: keep every link a body of its own, and every inertia as is
MUJOCO_FLAGS = ('<mujoco><compiler fusestatic="false" balanceinertia="false" '
                'discardvisual="true" strippath="false"/></mujoco>')
KINDS = ('revolute', 'continuous', 'prismatic', 'planar', 'fixed')
SHARES = (0.4, 0.15, 0.25, 0.05, 0.15)


def random_tree(seed: int, joints: int | None = None, floating: bool | None = None) -> str:
    """
    URDF text of a random tree of up to 12 joints.

    Its masses lie between 0.1 and 3 kg and its lengths around 0.3 m.  Every third tree floats.
    Document order, tree order and alphabetical order of the joints all differ.
    """
    rng = np.random.default_rng([2024, seed])
    joints = int(rng.integers(1, 13)) if joints is None else joints
    floating = seed % 3 == 2 if floating is None else floating
    names = [f'link_{name}' for name in rng.permutation(joints)]
    elements = []
    for index, name in enumerate(names):
        parent = 'world' if index == 0 else names[_parent(rng, index)]
        kind = 'floating' if floating and index == 0 else rng.choice(KINDS, p=SHARES)
        if joints == 1 and kind == 'fixed':
            kind = 'revolute'
        elements.append(_joint(rng, f'joint_{index * 7 % 13}_{index}', kind, parent, name))
    links = ['<link name="world"/>', *(_link(rng, name) for name in names)]
    rng.shuffle(elements)
    return f'<robot name="tree_{seed}">{MUJOCO_FLAGS}{"".join(links + elements)}</robot>'


def _parent(rng: np.random.Generator, index: int) -> int:
    """Mostly the link before, sometimes any earlier one: long chains with branches."""
    return index - 1 if rng.random() < 0.7 else int(rng.integers(0, index))


def _numbers(values) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _origin(rng: np.random.Generator) -> str:
    return (f'<origin xyz="{_numbers(rng.uniform(-0.3, 0.3, 3))}" '
            f'rpy="{_numbers(rng.uniform(-1.5, 1.5, 3))}"/>')


def _joint(rng, name: str, kind: str, parent: str, child: str) -> str:
    axis = rng.normal(size=3)
    if kind == 'planar':  # Pinocchio has planar joints about z alone
        axis = np.array([0.0, 0.0, 1.0])
    axis = '' if kind in ('fixed', 'floating') else (
        f'<axis xyz="{_numbers(axis / np.linalg.norm(axis))}"/>')
    limit = ('<limit lower="-3" upper="3" effort="100" velocity="10"/>'
             if kind in ('revolute', 'prismatic') else '')
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'{_origin(rng)}{axis}{limit}</joint>')


def _link(rng, name: str) -> str:
    """A box's inertia, in axes of its own."""
    mass, size = rng.uniform(0.1, 3.0), rng.uniform(0.1, 0.6, 3)
    xx, yy, zz = mass / 12 * (np.sum(size**2) - size**2)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = turn @ np.diag([xx, yy, zz]) @ turn.T
    entries = ' '.join(f'i{"xyz"[i]}{"xyz"[j]}="{float(inertia[i, j])!r}"'
                       for i in range(3) for j in range(i, 3))
    return (f'<link name="{name}"><inertial>{_origin(rng)}<mass value="{mass!r}"/>'
            f'<inertia {entries}/></inertial></link>')
