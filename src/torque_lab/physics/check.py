"""
The rules that a URDF has to keep, each with the words for who breaks it.

``torque-lab check`` prints all findings; the loader refuses a model with the first error among
them.  The same rules, the same words.
"""

from __future__ import annotations

from torque_lab.physics.description import Description
from torque_lab.physics.errors import Finding


def check_description(description: Description) -> list[Finding]:
    """Return everything that the rules say about a model, in file order."""
    return list(description.findings)
