"""Draw the basins of attraction of the shipped balances: python docs/draw_basins.py."""

from pathlib import Path

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt
import numpy as np

from torque_lab.control.basin import balances, plane
from torque_lab.control.configuration import Configuration
from torque_lab.control.lqr import LQR
from torque_lab.control.swing_up import SwingUp
from torque_lab.physics import load

SIZE = 161
PLANES = (  # robot, configuration, title, first entry, second entry, labels, extent
    ('pendulum', 'swing_up', 'Pendulum, 15 N m', 0, 1,
     ('angle from upright [rad]', 'speed [rad/s]'), (1.0, 2.0)),
    ('rotary_pendulum', 'swing_up', 'Rotary pendulum, 10 V', 1, 3,
     ('pendulum from upright [rad]', 'its speed [rad/s]'), (1.0, 8.0)),
    ('double_pendulum', 'acrobot', 'Acrobot, 150 N m', 0, 1,
     ('joint 1 from upright [rad]', 'joint 2 [rad]'), (0.6, 1.6)),
    ('double_pendulum', 'pendubot', 'Pendubot, 300 N m', 0, 1,
     ('joint 1 from upright [rad]', 'joint 2 [rad]'), (1.0, 1.0)))


def regulator_alone(law: SwingUp) -> LQR:
    """The regulator of a swing-up without its pump."""
    p = law.parameters
    robot = law.robot
    if p.effort_limit:
        robot = robot.replace(effort_limit=np.minimum(robot.effort_limit, p.effort_limit))
    return LQR(robot, LQR.Parameters(p.equilibrium, p.position_cost, p.velocity_cost,
                                     p.effort_cost, p.driven_joints))


def main() -> None:
    """Compute and draw all planes."""
    figure, axes = plt.subplots(2, 2, figsize=(9.0, 7.5), layout='constrained')
    for place, (name, config, title, first, second, labels, extent) in zip(
            axes.flat, PLANES, strict=True):
        swing_up = Configuration.shipped(name, config).law(load(name))
        law = regulator_alone(swing_up)
        a, b, starts = plane(law, first, second, extent, SIZE)
        good = balances(law, starts, seconds=8.0).reshape(SIZE, SIZE)
        place.contourf(a, b, good, levels=[-0.5, 0.5, 1.5], colors=['#f1f1ef', '#8fbcd4'])
        S = swing_up.regulator.S[np.ix_((first, second), (first, second))]
        x, y = np.meshgrid(a, b)
        cost = S[0, 0] * x**2 + 2.0 * S[0, 1] * x * y + S[1, 1] * y**2
        place.contour(a, b, cost, levels=[swing_up.level], colors=['#d9730d'])
        place.locator_params(nbins=6)
        place.set(title=f'{title}: {good.mean():.0%} of the square', xlabel=labels[0],
                  ylabel=labels[1])
        print(f'{title}: {good.sum()} of {good.size} starts balance')
    figure.suptitle('From where the LQR alone balances (blue), and where the swing-up hands over '
                    '(orange line)')
    path = Path(__file__).parent / 'images' / 'basins.png'
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == '__main__':
    main()
