"""What a cluster measured of its accelerators: Slurm's accounting, DCGM's metrics, cost allocations of Kubernetes.

Each kind of file is one module of `sources/`, found by walking it. All give the same values: uses of accelerators with
their time, and where it is known how busy they were, how long they waited and what they cost.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Protocol

from planner.inputs.measured_use.use_record import MeasuredUsage, UnreadableUse
from planner.inputs.sandbox import SandboxFailure, SandboxLimits, run_isolated
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.plugins import check_plugin

__all__ = ["MeasuredUsage", "UnreadableUse", "is_measured_use", "list_sources", "read_isolated_use", "read_use"]

MEMORY_BYTES = 3 * 2**30
YEARS, HOURS_MAX, COUNT_MAX = (1990, 2200), 100_000, 10_000_000
"""Beyond them a time or a number is an error of the file."""


class UseSource(Protocol):
    """The names of a module of `sources`: a title, whether bytes are of it, and their uses by a tag and answers.

    Raises UnreadableUse with the place.
    """

    TITLE: str

    def claims(self, data: bytes) -> bool: ...

    def read(self, data: bytes, name: str, catalog: Catalog, tag: str, answers: Mapping[str, str]) -> MeasuredUsage: ...


@dataclass(frozen=True, slots=True)
class MeasuredSource:
    """A kind of file with measured use."""

    name: str
    title: str
    claims: Callable[[bytes], bool]
    read: Callable[[bytes, str, Catalog, str, Mapping[str, str]], MeasuredUsage]


@cache
def list_sources() -> tuple[MeasuredSource, ...]:
    """Every kind of file, by name."""
    folder = importlib.import_module(f"{__name__}.sources")
    loaded_sources = []
    for module in sorted(pkgutil.iter_modules(folder.__path__), key=lambda module: module.name):
        loaded = importlib.import_module(f"{folder.__name__}.{module.name}")
        hooks: UseSource = check_plugin(loaded, UseSource, "source of measured use")
        loaded_sources.append(MeasuredSource(module.name, hooks.TITLE, hooks.claims, hooks.read))
    return tuple(loaded_sources)


def is_measured_use(data: bytes) -> bool:
    """Whether the content is of a kind that is read here."""
    return any(source.claims(data) for source in list_sources())


def read_use(data: bytes, name: str, catalog: Catalog, tag: str, answers: Mapping[str, str]) -> MeasuredUsage:
    """The uses in a file. Raises UnreadableUse."""
    source = next((each for each in list_sources() if each.claims(data)), None)
    if source is None:
        raise UnreadableUse("no measured use: " + " or ".join(each.title for each in list_sources()))
    usage = source.read(data, name, catalog, tag, answers)
    for use in usage.uses:
        if not (
            YEARS[0] <= use.start.year <= YEARS[1] and 0 < use.hours <= HOURS_MAX and use.accelerators <= COUNT_MAX
        ):
            message = f"{use.accelerators:g} accelerators from {use.start} for {use.hours:,.0f} hours are no use"
            raise UnreadableUse(f"{message}: years {YEARS[0]} to {YEARS[1]}, {HOURS_MAX:,} hours at most")
    return usage


def read_isolated_use(
    data: bytes, name: str, catalog: Catalog, tag: str = "", answers: Mapping[str, str] | None = None
) -> MeasuredUsage:
    """As `read_use`, in a process with limits of memory and time. Raises UnreadableUse."""
    try:
        return run_isolated(read_use, data, name, catalog, tag, answers or {}, bounds=SandboxLimits(MEMORY_BYTES, 600))
    except SandboxFailure as reason:
        raise UnreadableUse(str(reason)) from None
