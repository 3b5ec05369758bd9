"""The Newton-Euler equations of a free body as a page of text, as LaTeX, or as a Python file."""

from __future__ import annotations

import numpy as np

from torque_lab.physics.model import Inertia, Robot

TEXT = '''\
{name}{gap}Newton–Euler, in body axes
{rule}

State
  p  position of the centre of mass in the world [m]
  v  its velocity, in body axes [m/s]
  ω  angular velocity, in body axes [rad/s]
  F  force, in body axes [N]; weight is the force m Rᵀ g
  N  torque about the centre of mass, in body axes [N m]

Translation                     Rotation (Euler)
  m (v̇ + ω × v) = F               I ω̇ = N − ω × (I ω)
  ṗ = R v                         {components[0]}
                                  {components[1]}
                                  {components[2]}

Orientation, with a unit quaternion (x, y, z, w): q̇ = ½ q ∘ ω, no singularity
  ẋ = ½ (w ωx + y ωz − z ωy)
  ẏ = ½ (w ωy + z ωx − x ωz)
  ż = ½ (w ωz + x ωy − y ωx)
  ẇ = −½ (x ωx + y ωy + z ωz)

      ⎡ 1 − 2(y² + z²)   2(x y − z w)     2(x z + y w)   ⎤
  R = ⎢ 2(x y + z w)     1 − 2(x² + z²)   2(y z − x w)   ⎥
      ⎣ 2(x z − y w)     2(y z + x w)     1 − 2(x² + y²) ⎦

Orientation, with 1-2-3 Euler angles: singular at pitch θ = ±π/2
  R = Rz(ψ) Ry(θ) Rx(φ)
  φ̇ = ωx + (ωy sin φ + ωz cos φ) tan θ
  θ̇ = ωy cos φ − ωz sin φ
  ψ̇ = (ωy sin φ + ωz cos φ)/cos θ

Kept without force and torque
  T = ½ m v·v + ½ ω·I ω
  L = R I ω, in the world; I_world = R I Rᵀ

Symbols, and their values in this model
  m  = {mass:<12.6g}  mass [kg]
{moments}'''

LATEX = r'''% {name}, Newton-Euler in body axes
\begin{{align*}}
  m \left(\dot{{v}} + \omega \times v\right) &= F, & \dot{{p}} &= R\,v \\
  I \dot{{\omega}} &= N - \omega \times (I \omega), & I_\text{{world}} &= R\,I\,R^{{\mathsf T}} \\
  \dot{{q}} &= \tfrac{{1}}{{2}}\, q \circ \omega, & |q| &= 1
\end{{align*}}
% or, with 1-2-3 Euler angles, singular at \theta = \pm\pi/2
\begin{{equation*}}
  \begin{{bmatrix}} \dot\varphi \\ \dot\theta \\ \dot\psi \end{{bmatrix}} =
  \begin{{bmatrix}} 1 & \sin\varphi \tan\theta & \cos\varphi \tan\theta \\
    0 & \cos\varphi & -\sin\varphi \\
    0 & \sin\varphi / \cos\theta & \cos\varphi / \cos\theta \end{{bmatrix}} \omega
\end{{equation*}}
\begin{{equation*}}
  m = {mass:.6g}\,\mathrm{{kg}}, \quad
  I = \begin{{bmatrix}} {rows} \end{{bmatrix}}\,\mathrm{{kg\,m^2}}
\end{{equation*}}'''

PYTHON = '''\
"""Newton-Euler equations of {name}; vectors in body axes, quaternion x, y, z, w, SI units."""

import numpy as np

m = {mass!r}  # mass [kg]
I = np.array({moments})  # inertia about the centre of mass [kg m²]


def twist_rate(v, w, force, torque):
    """Rates of the velocity of the centre of mass and of the angular velocity, in body axes."""
    return force / m - np.cross(w, v), np.linalg.solve(I, torque - np.cross(w, I @ w))


def quaternion_rate(quaternion, w):
    """Rate of the unit quaternion: half of quaternion times w."""
    vector, real = quaternion[:3], quaternion[3]
    return 0.5 * np.array([*(real * w + np.cross(vector, w)), -vector @ w])


def angle_rates(angles, w):
    """Rates of the 1-2-3 Euler angles (roll, pitch, yaw); singular at pitch +-pi/2."""
    roll, pitch, _ = angles
    turning = w[1] * np.sin(roll) + w[2] * np.cos(roll)
    return np.array([w[0] + turning * np.tan(pitch),
                     w[1] * np.cos(roll) - w[2] * np.sin(roll),
                     turning / np.cos(pitch)])


def kinetic_energy(v, w):
    """T in J."""
    return 0.5 * m * v @ v + 0.5 * w @ I @ w
'''


def text(robot: Robot, coordinate: str, width: int) -> str:
    """Return the page for the terminal; the letter of the coordinates does not matter here."""
    inertia = robot.bodies[0].inertia
    gap = max(width - len(robot.name) - 26, 2)
    return TEXT.format(name=robot.name, gap=' ' * gap, rule='─' * (len(robot.name) + gap + 26),
                       components=_components(inertia), mass=inertia.mass,
                       moments='\n'.join(_moments(inertia)))


def _is_diagonal(inertia: Inertia) -> bool:
    off = inertia.about_com - np.diag(inertia.about_com.diagonal())
    return bool(np.abs(off).max() <= 1e-12 * np.trace(inertia.about_com))


def _components(inertia: Inertia) -> list[str]:
    """Euler's equations, component by component where the body axes are principal axes."""
    if not _is_diagonal(inertia):
        return [f'I = {np.array2string(row, precision=6)}' if i == 0 else
                f'    {np.array2string(row, precision=6)}'
                for i, row in enumerate(inertia.about_com)]
    return ['Ix ω̇x = Nx + (Iy − Iz) ωy ωz', 'Iy ω̇y = Ny + (Iz − Ix) ωz ωx',
            'Iz ω̇z = Nz + (Ix − Iy) ωx ωy']


def _moments(inertia: Inertia) -> list[str]:
    lines = [f'  I{axis} = {inertia.about_com[i, i]:<12.6g}  inertia about {axis} through the '
             'centre of mass [kg m²]' for i, axis in enumerate('xyz')]
    if np.abs(inertia.com).max() > 1e-12:
        lines.append(f'  centre of mass at {np.array2string(inertia.com, precision=6)} in the '
                     'body frame [m]: v above is its velocity')
    return lines


def latex(robot: Robot, coordinate: str) -> str:
    """Return LaTeX that needs amsmath."""
    inertia = robot.bodies[0].inertia
    rows = r' \\ '.join(' & '.join(f'{entry + 0.0:.6g}' for entry in row)
                        for row in inertia.about_com)
    return LATEX.format(name=robot.name, mass=inertia.mass, rows=rows)


def python(robot: Robot, coordinate: str) -> str:
    """Return a Python file that needs nothing but numpy."""
    inertia = robot.bodies[0].inertia
    return PYTHON.format(name=robot.name, mass=float(inertia.mass),
                         moments=(inertia.about_com + 0.0).tolist())
