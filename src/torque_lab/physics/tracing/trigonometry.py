"""
Sine and cosine in straight-line LLVM code, right at large angles, both for the price of one.

*Reduction.*  ``x = k π/2 + r`` with ``|r| ≤ π/4``.  Adding 1.5·2⁵² rounds to a whole number and
leaves k in the low bits.  π/2 is kept as a sum of two doubles; with a fused multiply-add the first
difference ``x − k P₁`` is exact (it has no more than 53 bits), so that r is good to 1e-16 as long
as k stays below 2⁵¹.  A joint that has spun to a million radians is as precise as its position.
(Muller et al. 2018, Handbook of Floating-Point Arithmetic, section 11.2; Cody & Waite 1980.)

*Polynomials.*  Sine to degree 13 and cosine to degree 14 on [−π/4, π/4], best approximations with
an error below 2⁻⁵⁷, evaluated in pairs (Estrin) to keep the chain of dependent operations short.
The quadrant swaps the two and sets their signs, without a branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .emitter import Writer

TWO_OVER_PI = float.fromhex('0x1.45f306dc9c883p-1')
ROUND = float.fromhex('0x1.8p+52')
HALF_PI = float.fromhex('0x1.921fb54442d18p+0')
HALF_PI_REST = float.fromhex('0x1.1a62633145c07p-54')

SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)


def emit_sine_and_cosine(w: Writer, x: str) -> tuple[str, str]:
    """Write code for the sine and the cosine of a value; return their names."""
    shifted = w.fused(x, w.constant(TWO_OVER_PI), w.constant(ROUND))
    k = w.line(f'fsub {w.type} {shifted}, {w.constant(ROUND)}')
    r = w.fused(k, w.constant(-HALF_PI), x)
    r = w.fused(k, w.constant(-HALF_PI_REST), r)
    z = w.line(f'fmul {w.type} {r}, {r}')
    sine = w.fused(w.line(f'fmul {w.type} {r}, {z}'), _polynomial(w, SINE, z), r)
    square = w.line(f'fmul {w.type} {z}, {z}')
    cosine = w.fused(square, _polynomial(w, COSINE, z), w.fused(z, w.constant(-0.5),
                                                                w.constant(1.0)))

    bits = w.line(f'bitcast {w.type} {shifted} to {w.integers}')
    odd = w.line(f'and {w.integers} {bits}, {w.integer(1)}')
    swap = w.line(f'icmp ne {w.integers} {odd}, {w.integer(0)}')
    next_bits = w.line(f'add {w.integers} {bits}, {w.integer(1)}')
    return (_with_sign(w, w.choose(swap, cosine, sine), bits),
            _with_sign(w, w.choose(swap, sine, cosine), next_bits))


def _polynomial(w: Writer, c: tuple[float, ...], z: str) -> str:
    """``c₀ + c₁ z + … + c₅ z⁵`` in three levels."""
    square = w.line(f'fmul {w.type} {z}, {z}')
    low, middle, high = (w.fused(z, w.constant(c[i + 1]), w.constant(c[i])) for i in (0, 2, 4))
    return w.fused(square, w.fused(square, high, middle), low)


def _with_sign(w: Writer, value: str, quadrant: str) -> str:
    """Change the sign of a value where the second bit of the quadrant is set."""
    second = w.line(f'and {w.integers} {quadrant}, {w.integer(2)}')
    sign = w.line(f'shl {w.integers} {second}, {w.integer(62)}')
    bits = w.line(f'bitcast {w.type} {value} to {w.integers}')
    flipped = w.line(f'xor {w.integers} {bits}, {sign}')
    return w.line(f'bitcast {w.integers} {flipped} to {w.type}')
