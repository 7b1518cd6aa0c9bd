"""Experiments of a sweep that share accelerators: in turns, or each in a slice of its own.

Slices are those of `pricing.mig_slices`. Independent of offerings and prices.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from planner.performance.throughput import MeasuredRate, Throughput, predict_throughput
from planner.request.sweeps import Sweep
from planner.result import Use
from planner.result.message import Message, message
from pricing.accelerator import Accelerator
from pricing.frozen_values import dataclass
from pricing.mig_slices import load_slices
from pricing.units import HOURS_PER_MONTH

ROUNDING_TOLERANCE = 0.99
"""A part written in two digits (0.14) is still 1/7."""


@dataclass(frozen=True, slots=True)
class AcceleratorShare:
    """The part of an accelerator that one experiment uses: it pays for `gang`, has `fraction` of the processors and
    does `speed` of the work of a whole one; `memory_gib` is None where it is unknown."""

    gang: float
    fraction: float
    speed: float
    memory_gib: float | None
    description: Message


def assign_share(
    sweep: Sweep, accelerator: Accelerator, per_node: float, memory_gib: float | None, needed_gib: float | None = None
) -> AcceleratorShare | Message:
    """The share of an experiment on nodes of `per_node` accelerators with `memory_gib` each (of a slice, its own), or
    the reason why it has none. `needed_gib` is the memory that it needs, where that is known."""
    each = sweep.accelerators_each
    if per_node < each * ROUNDING_TOLERANCE:
        return message("slice_too_small", fraction=each)
    if sweep.share == "time":
        return _time_share(sweep, min(1.0, per_node), memory_gib)
    if per_node < 1:
        return AcceleratorShare(per_node, per_node, per_node, memory_gib, message("slice_sold", fraction=per_node))
    return _slice_share(each, accelerator, memory_gib, needed_gib)


def throughput_in_share(
    known: Sequence[MeasuredRate], accelerator: Accelerator, share: AcceleratorShare
) -> Throughput | Message:
    """Work per hour of one experiment in its share, or the reason why it cannot be predicted.

    A rate measured in a part of an accelerator (a count below 1) grows with the part. A rate of whole ones is divided:
    at most the work that all experiments would do alone.
    """
    in_parts = [m for m in known if m.count < 1]
    if not in_parts:
        return share_throughput(predict_throughput(known, accelerator, 1), share)
    base = min(in_parts, key=lambda m: (m.accelerator.name != accelerator.name, abs(share.fraction - m.count)))
    # one part predicts one part of another accelerator as one whole predicts one whole
    throughput = predict_throughput([replace(base, count=1.0, scaling="replicas")], accelerator, 1)
    if isinstance(throughput, Message):
        return throughput
    measured = message("measured_on", count=round(base.count, 3), accelerator=base.accelerator.name)
    explanation = (measured, *throughput.explanation[1:])
    growth = share.fraction / base.count
    if ROUNDING_TOLERANCE <= growth <= 1 / ROUNDING_TOLERANCE:
        return replace(throughput, explanation=(*explanation, share.description))
    return _scale_throughput(throughput, growth, (*explanation, _share_of_work(share, growth)))


def share_throughput(whole: Throughput | Message, share: AcceleratorShare) -> Throughput | Message:
    """The throughput of one accelerator, divided; no longer measured, and with the interval of the whole."""
    if isinstance(whole, Message):
        return whole
    return _scale_throughput(whole, share.speed, (*whole.explanation, _share_of_work(share, share.speed)))


def _share_of_work(share: AcceleratorShare, ratio: float) -> Message:
    return message("share_of_work", share=share.description, ratio=ratio)


def _scale_throughput(whole: Throughput, ratio: float, explanation: tuple[Message, ...]) -> Throughput:
    basis = "predicted_count" if whole.basis == "measured" else whole.basis
    return Throughput(whole.units_per_hour * ratio, whole.low * ratio, whole.high * ratio, basis, explanation)


@dataclass(frozen=True, slots=True)
class ExperimentRate:
    """One experiment on one kind of accelerator: how many it takes, and what it does in an hour."""

    gang: float
    units_per_hour: float


def describe_sweep(
    sweep: Sweep, name: str, unit: str, uses: Iterable[Use], runs: Mapping[str, ExperimentRate]
) -> Message:
    """The experiments of a sweep, the hours that one takes, and how many run at once in the busiest month. `runs` is by
    accelerator; `uses` are those of the sweep."""
    months: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for use in uses:
        months[use.month][use.accelerator] += use.node_hours / HOURS_PER_MONTH * use.accelerators_per_node
    busiest_month = None
    if months:
        month, busiest = max(months.items(), key=lambda item: (math.fsum(item[1].values()), -item[0]))
        busiest_month = message(
            "busiest_month",
            month=month,
            running=math.fsum(used / runs[part].gang for part, used in busiest.items()),
            accelerators=tuple(
                message("accelerators", count=used, name=part) for part, used in sorted(busiest.items())
            ),
        )
    hours = tuple(
        message("experiment_hours", hours=sweep.units_each / run.units_per_hour, count=run.gang, accelerator=part)
        for part, run in sorted(runs.items())
    )
    return message(
        "sweep_summary",
        workload=name,
        experiments=sweep.due_together,
        every_month=sweep.experiments is None,
        units_each=sweep.units_each,
        unit=unit,
        share=sweep.share,
        parallel=sweep.parallel,
        durations=hours if months else (),
        busiest_month=busiest_month,
    )


def _time_share(sweep: Sweep, whole: float, memory_gib: float | None) -> AcceleratorShare:
    """The share of experiments in turns on an accelerator, or on the part `whole` of one where parts are sold."""
    number = max(1, math.floor(whole / (sweep.accelerators_each * ROUNDING_TOLERANCE)))
    efficiency = 1.0 if sweep.sharing_efficiency is None else sweep.sharing_efficiency
    memory = None if memory_gib is None else memory_gib / number
    each = whole / number
    description = message("time_share", experiments=number, fraction=whole, efficiency=efficiency)
    return AcceleratorShare(each, each, each * efficiency, memory, description)


def _slice_share(
    each: float, accelerator: Accelerator, memory_gib: float | None, needed_gib: float | None
) -> AcceleratorShare | Message:
    """The slice of which most fit on an accelerator: large enough in processors and, where it is known, in memory.

    Its speed is its smaller fraction, of processors or of memory, with which bandwidth is divided. Work that cannot
    fill a whole accelerator does better, and should be measured in a slice.
    """
    known = load_slices().get(accelerator.name)
    if known is None:
        return message("no_slices_known", accelerator=accelerator.name)
    large = [s for s in known if s.speed_fraction >= each * ROUNDING_TOLERANCE]
    if not large:
        return message("no_slice_large_enough", accelerator=accelerator.name, fraction=each)
    roomy = [s for s in large if memory_gib is None or memory_gib * s.memory_fraction >= (needed_gib or 0.0)]
    one = max(roomy or large, key=lambda s: (s.instances, s.speed_fraction, s.memory_fraction))
    memory = None if memory_gib is None else memory_gib * one.memory_fraction
    speed = min(one.speed_fraction, one.memory_fraction)
    description = message("slice_profile", profile=one.profile, instances=one.instances)
    return AcceleratorShare(1 / one.instances, one.speed_fraction, speed, memory, description)
