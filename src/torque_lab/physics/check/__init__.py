"""
The rules that a URDF has to keep, each with the words for who breaks it.

``torque-lab check`` prints all findings; the loader refuses a model with the first error among
them.  The same rules, the same words.  One module per subject, one function per rule.
"""

from __future__ import annotations

from torque_lab.physics.check import extension, joints, masses, shapes, structure
from torque_lab.physics.description import Description
from torque_lab.physics.errors import ERROR, Finding


def check_description(description: Description) -> list[Finding]:
    """
    Return everything that the rules say about a model, in file order.

    What is fixed to what decides whose mass counts, so the rules about masses wait until the
    links form a tree.
    """
    tree = list(structure.findings(description))
    findings = [*description.findings, *tree, *joints.findings(description),
                *extension.findings(description)]
    if not any(finding.severity == ERROR for finding in tree):
        findings += masses.findings(description)
    findings += shapes.findings(description)
    return sorted(findings, key=lambda finding: (finding.file, finding.line or 0))
