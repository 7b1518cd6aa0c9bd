"""Types that providers have ended: what they were, until when, and what the provider names instead."""

from __future__ import annotations

from dataclasses import fields
from fnmatch import fnmatchcase

from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class EndedFamily:
    """A family that ended and of which the catalogue has no types: `pattern` matches their names.

    `ended` is as precise as the source: 2024-01-08 or 2024-04. `successor` is a type of the catalogue, one of those
    that the provider names.
    """

    provider: str
    pattern: str
    title: str
    ended: str
    successor: str
    source: str

    def covers(self, instance_type: str) -> bool:
        """Whether a name is that of one of its types, or its own."""
        name = instance_type.strip().casefold()
        return fnmatchcase(name, self.pattern) or name == self.title.casefold()


ENDED_COLUMNS = tuple(field.name for field in fields(EndedFamily))
