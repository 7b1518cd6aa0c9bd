"""A plan -> bytes: one file (or one folder) for each format, found by walking this package.

Formats read nothing but the Plan: no price, no request, no clock. Modules whose name starts with an underscore are
shared helpers and no formats. Names can be listed without loading any of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from planner.result import Plan


class ReportFormat(Protocol):
    """What a format module offers; one that also writes a folder has `files(plan) -> dict[str, bytes]` besides."""

    MEDIA_TYPE: str
    SUFFIX: str

    def render(self, plan: Plan) -> bytes:
        """The plan in this format; the same plan gives the same bytes."""
        ...


class _ReportFormats(Mapping[str, ReportFormat]):
    """The formats by name, sorted; a module is imported when its value is first asked for."""

    def __init__(self) -> None:
        self._names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))

    def __getitem__(self, name: str) -> ReportFormat:
        if name not in self._names:
            raise KeyError(name)
        return cast(ReportFormat, importlib.import_module(f"{__name__}.{name}"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def formats() -> Mapping[str, ReportFormat]:
    """Every format by name. Iterating gives names and imports nothing; a value is the format's module.

    >>> "json" in formats()
    True
    """
    return _ReportFormats()


def load(name: str) -> ReportFormat:
    """The format called `name`; KeyError if there is none."""
    return formats()[name]
