"""The ``<torque_lab>`` element, described for users in docs/models.md."""

from __future__ import annotations

import math

import numpy as np
from lxml import etree

from torque_lab.physics.description import (
    JointExtension,
    MotorExtension,
    Place,
    PointMassExtension,
)
from torque_lab.physics.markup import Reader, shorten

MOTOR_NUMBERS = ('torque_constant', 'back_emf_constant', 'gear_ratio', 'resistance')
JOINT_ATTRIBUTES = ('name', 'start', 'start_velocity', 'stiffness', 'rest', 'passive')


class Extension:
    """Reads ``<torque_lab>`` elements; a file may have several, as macros write them."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.gravity = np.array([0.0, 0.0, -9.81])
        self.joints: list[JointExtension] = []
        self.motors: list[MotorExtension] = []
        self.point_masses: list[PointMassExtension] = []

    def read(self, element: etree._Element) -> None:
        """Take in one ``<torque_lab>`` element."""
        readers = {'gravity': self._gravity, 'joint': self._joint, 'motor': self._motor,
                   'point_mass': self._point_mass}
        self._refuse_unknown(element, ())
        for child in element.iterchildren(etree.Element):
            if child.tag in readers:
                readers[child.tag](child)
            else:
                self.reader.error(self.reader.place(child, '<torque_lab>'),
                                  f'knows no <{shorten(str(child.tag))}>',
                                  f'use {", ".join(readers)}')

    def _refuse_unknown(self, element: etree._Element, known: tuple[str, ...]) -> None:
        for name in element.attrib:
            if name not in known:
                fix = f'use {", ".join(known)}' if known else 'remove it'
                self.reader.error(self.reader.place(element, '<torque_lab>'),
                                  f'<{element.tag}> knows no attribute "{shorten(str(name))}"',
                                  fix)

    def _gravity(self, element: etree._Element) -> None:
        self._refuse_unknown(element, ('xyz',))
        place = self.reader.place(element, '<torque_lab>')
        self.gravity = np.array(self.reader.vector(element, 'xyz', place, 3))

    def _joint(self, element: etree._Element) -> None:
        self._refuse_unknown(element, JOINT_ATTRIBUTES)
        reader = self.reader
        name = reader.text(element, 'name', reader.place(element, '<torque_lab>'))
        place = reader.place(element, f'joint "{name}"')
        passive = element.get('passive', 'false')
        if passive not in ('true', 'false'):
            reader.error(place, f'passive="{shorten(passive)}" is neither true nor false',
                         'write passive="true" for a joint without a drive')
        self.joints.append(JointExtension(
            name, place,
            reader.numbers(element, 'start', place),
            reader.numbers(element, 'start_velocity', place),
            self._optional(element, 'stiffness', place),
            self._optional(element, 'rest', place),
            passive == 'true'))

    def _optional(self, element: etree._Element, name: str, place: Place) -> float | None:
        present = element.get(name) is not None
        return self.reader.number(element, name, place) if present else None

    def _motor(self, element: etree._Element) -> None:
        self._refuse_unknown(element, ('joint', *MOTOR_NUMBERS, 'voltage_limit'))
        reader = self.reader
        name = reader.text(element, 'joint', reader.place(element, '<torque_lab>'))
        place = reader.place(element, f'joint "{name}"')
        numbers = {key: reader.number(element, key, place) for key in MOTOR_NUMBERS}
        numbers['voltage_limit'] = reader.number(element, 'voltage_limit', place, math.inf)
        self.motors.append(MotorExtension(name, place, numbers))

    def _point_mass(self, element: etree._Element) -> None:
        self._refuse_unknown(element, ('link',))
        reader = self.reader
        name = reader.text(element, 'link', reader.place(element, '<torque_lab>'))
        self.point_masses.append(
            PointMassExtension(name, reader.place(element, f'link "{name}"')))
