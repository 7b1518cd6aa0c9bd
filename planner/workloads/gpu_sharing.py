"""How experiments of a sweep sit on one kind of accelerator: alone, in turns, or each in a slice of its own.

Reads `slices.csv` beside it: what NVIDIA's guide to Multi-Instance GPU divides an accelerator into (kept by hand).
Knows neither offerings nor prices.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from planner.performance.throughput import MeasuredRate, Throughput, predict_throughput
from planner.request.sweeps import Sweep
from planner.result import Use
from pricing.accelerator import Accelerator
from pricing.csv_tables import TableRow, read_rows
from pricing.errors import InvalidSnapshot

TABLE = Path(__file__).parent / "slices.csv"
ROUNDING_TOLERANCE = 0.99
"""A part written in two digits (0.14) is still 1/7."""


@dataclass(frozen=True, slots=True)
class MigSlice:
    """One way to divide an accelerator: `instances` alike, each with these fractions of its processors and memory."""

    accelerator: str
    profile: str
    speed_fraction: float
    memory_fraction: float
    instances: int
    source: str


@dataclass(frozen=True, slots=True)
class AcceleratorShare:
    """What one experiment has of an accelerator: it pays for `gang`, has `fraction` of the processors and does `speed`
    of the work of a whole one; `memory_gib` is None where that is unknown."""

    gang: float
    fraction: float
    speed: float
    memory_gib: float | None
    words: str


def assign_share(
    sweep: Sweep, accelerator: Accelerator, per_node: float, memory_gib: float | None, wanted_gib: float | None = None
) -> AcceleratorShare | str:
    """What an experiment that shares has on nodes of `per_node` accelerators with `memory_gib` each (of a slice, its
    own), or why it cannot sit there. `wanted_gib` is what it needs, where that is known."""
    each = sweep.accelerators_each
    if per_node < each * ROUNDING_TOLERANCE:
        return f"a slice smaller than {each:.3g} of an accelerator"
    if sweep.share == "time":
        return _time_share(sweep, min(1.0, per_node), memory_gib)
    if per_node < 1:
        return AcceleratorShare(per_node, per_node, per_node, memory_gib, f"in a slice sold as {per_node:.3g} of one")
    return _slice_share(each, accelerator, memory_gib, wanted_gib)


def throughput_in_share(
    known: Sequence[MeasuredRate], accelerator: Accelerator, part: AcceleratorShare
) -> Throughput | str:
    """Work per hour of one experiment in its part, or why it cannot be told.

    What was measured in a part of an accelerator (a count below 1) grows with the part. What was measured on whole ones
    is shared out: at most what they all would do alone.
    """
    in_parts = [m for m in known if m.count < 1]
    if not in_parts:
        return share_throughput(predict_throughput(known, accelerator, 1), part)
    base = min(in_parts, key=lambda m: (m.accelerator.name != accelerator.name, abs(part.fraction - m.count)))
    throughput = predict_throughput([replace(base, count=1.0, scaling="replicas")], accelerator, 1)
    if isinstance(throughput, str):
        return throughput
    words = throughput.explanation.replace("measured on 1 x", f"measured on {base.count:.3g} x", 1)
    grown = part.fraction / base.count
    if ROUNDING_TOLERANCE <= grown <= 1 / ROUNDING_TOLERANCE:
        return replace(throughput, explanation=f"{words}, {part.words}")
    return _scale_throughput(throughput, grown, f"{words}; {part.words}: {grown:.3g} of it")


def share_throughput(whole: Throughput | str, part: AcceleratorShare) -> Throughput | str:
    """The throughput of one accelerator, shared out; no longer measured, and with the interval of the whole."""
    if isinstance(whole, str):
        return whole
    return _scale_throughput(whole, part.speed, f"{whole.explanation}; {part.words}: {part.speed:.3g} of its work")


@dataclass(frozen=True, slots=True)
class ExperimentRate:
    """One experiment on one kind of accelerator: how many it takes, and what it does in an hour."""

    gang: float
    units_per_hour: float


def describe_sweep(sweep: Sweep, name: str, unit: str, uses: Iterable[Use], runs: Mapping[str, ExperimentRate]) -> str:
    """In words: what there is to run, how long one takes, and how many run at once in the busiest month. `runs` is by
    accelerator; `uses` are those of the sweep."""
    count = f"{sweep.due_together:,} experiments{' a month' if sweep.experiments is None else ''}"
    how = {"none": "each alone", "time": "sharing in turns", "slice": "each in a slice of its own"}[sweep.share]
    text = f"{name}: {count} of {sweep.units_each:,.10g} {unit}, {how}, at most {sweep.parallel:,} at once"
    months: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for use in uses:
        months[use.month][use.accelerator] += use.nodes * use.accelerators_per_node
    if not months:
        return f"{text}."
    for part, run in sorted(runs.items()):
        text += f"; one takes {sweep.units_each / run.units_per_hour:,.3g} hours on {run.gang:.3g} x {part}"
    month, busiest = max(months.items(), key=lambda item: (math.fsum(item[1].values()), -item[0]))
    running = math.fsum(used / runs[part].gang for part, used in busiest.items())
    on = " and ".join(f"{used:.3g} x {part}" for part, used in sorted(busiest.items()))
    return f"{text}; in month {month}, the busiest, {running:.3g} run at once on average, on {on}."


@cache
def load_slices() -> dict[str, tuple[MigSlice, ...]]:
    """Every way to divide an accelerator, by its name; BadSnapshot with every fault of the table."""
    faults: list[str] = []
    by_accelerator: dict[str, list[MigSlice]] = defaultdict(list)
    for row in read_rows(TABLE, COLUMNS, faults):
        if (one := _parse_slice(row)) is not None:
            by_accelerator[one.accelerator].append(one)
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return {name: tuple(rows) for name, rows in by_accelerator.items()}


def _parse_slice(row: TableRow) -> MigSlice | None:
    texts = {key: row.text(key) for key in ("accelerator", "profile", "source")}
    fractions = {key: row.positive(key) for key in ("speed_fraction", "memory_fraction")}
    return row.build(MigSlice, **texts, **fractions, instances=int(row.positive("instances")))


def _time_share(sweep: Sweep, whole: float, memory_gib: float | None) -> AcceleratorShare:
    """So many that take turns on an accelerator, or on `whole` of one where that is what is sold."""
    number = max(1, math.floor(whole / (sweep.accelerators_each * ROUNDING_TOLERANCE)))
    efficiency = 1.0 if sweep.sharing_efficiency is None else sweep.sharing_efficiency
    memory = None if memory_gib is None else memory_gib / number
    one = whole / number
    words = f"{number} share {'one' if whole == 1 else f'{whole:.3g} of one'} in time"
    return AcceleratorShare(one, one, one * efficiency, memory, f"{words} at an efficiency of {efficiency:g}")


def _slice_share(
    each: float, accelerator: Accelerator, memory_gib: float | None, wanted_gib: float | None
) -> AcceleratorShare | str:
    """The slice that most of fit on an accelerator: large enough in processors and, where it is told, in memory.

    It does what its smaller fraction of a whole one does, of processors or of memory, whose bandwidth is shared out
    alike; work that cannot fill a whole one does better, and should be measured in a slice.
    """
    known = load_slices().get(accelerator.name)
    if known is None:
        return f"{accelerator.name} has no slices that are known"
    large = [s for s in known if s.speed_fraction >= each * ROUNDING_TOLERANCE]
    if not large:
        return f"no slice of {accelerator.name} has {each:.3g} of it"
    roomy = [s for s in large if memory_gib is None or memory_gib * s.memory_fraction >= (wanted_gib or 0.0)]
    one = max(roomy or large, key=lambda s: (s.instances, s.speed_fraction, s.memory_fraction))
    memory = None if memory_gib is None else memory_gib * one.memory_fraction
    speed = min(one.speed_fraction, one.memory_fraction)
    words = f"in a slice {one.profile}, {one.instances} to an accelerator"
    return AcceleratorShare(1 / one.instances, one.speed_fraction, speed, memory, words)


def _scale_throughput(found: Throughput, by: float, words: str) -> Throughput:
    basis = "predicted_count" if found.basis == "measured" else found.basis
    return Throughput(found.units_per_hour * by, found.low * by, found.high * by, basis, words)


COLUMNS = tuple(field.name for field in fields(MigSlice))
