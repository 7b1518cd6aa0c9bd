"""Worth of fixing utilisation: what a job whose accelerators wait would save a year, by each change alone.

With the accelerators at work for a fraction u of the time, of a cost C a year:

    fed to a fraction v of the time      C (1 - u / v)         as many hours less as it waits less
    g times as fast while it works       C u (1 - 1 / g)       only the part at work becomes faster (Amdahl 1967)

v is FED_UTILISATION; g comes from published results of mixed precision and of larger batches
(planner.performance.throughput.tuning_gains). Savings are of accelerators that are paid by the hour; committed and
owned ones must be given other work.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.performance.throughput.tuning_gains import TuningGain, find_batch_gain, find_precision_gain
from planner.request.models import Measurement
from planner.result.message import Message, message
from pricing.accelerator import Accelerator

FED_UTILISATION = 0.9
"""The requirement of MLPerf Storage v1.0: accelerators at work for 90 % of the time with images (3D U-Net, ResNet-50;
MLCommons, told by blocksandfiles.com on 2024-10-12)."""


def value_utilisation(workload: str, measured: Measurement, part: Accelerator, cost_per_year: float) -> Message:
    """The saving of each change a year; `measured` has its utilisation, `cost_per_year` is that of the workload."""
    utilisation = measured.utilisation or 1.0
    return message(
        "utilisation_worth",
        workload=workload,
        utilisation=utilisation,
        accelerator=part.name,
        cost_per_year=cost_per_year,
        changes=tuple(_list_changes(measured, part, utilisation, cost_per_year)),
    )


def fed_saving(cost: float, utilisation: float, reached: float = FED_UTILISATION) -> float:
    """Saved where the accelerators work `reached` of the time instead of `utilisation`; 0 where they do already."""
    return cost * max(0.0, 1 - utilisation / reached)


def speed_saving(cost: float, utilisation: float, gain: float) -> float:
    """Saved where work on the accelerators takes 1 / `gain` of its time; 0 where it takes more."""
    return cost * utilisation * max(0.0, 1 - 1 / gain)


def _list_changes(measured: Measurement, part: Accelerator, utilisation: float, cost: float) -> Iterator[Message]:
    if utilisation < FED_UTILISATION:
        yield message("feed_accelerator", reached=FED_UTILISATION, saving=fed_saving(cost, utilisation))
    for gain in (find_precision_gain(part, measured.precision), find_batch_gain()):
        if gain is not None:
            yield _describe_gain(gain, utilisation, cost)


def _describe_gain(gain: TuningGain, utilisation: float, cost: float) -> Message:
    low, middle, high = (speed_saving(cost, utilisation, each) for each in (gain.low, gain.median, gain.high))
    return message(
        "tune_job",
        change=gain.change,
        architecture=gain.architecture,
        gain=gain.median,
        gain_low=gain.low,
        gain_high=gain.high,
        cases=gain.cases,
        groups=gain.groups,
        saving=middle,
        saving_low=low,
        saving_high=high,
    )
