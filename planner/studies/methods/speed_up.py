"""How many times as fast one set of machines does the same work as another, what the work costs on each, and the price
at which it costs the same.

Plans cost work by allocating the payments of a strategy, so the cost per unit has no counterpart there: this validates
the study's arithmetic. Its full cost is that of a plan's nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions, build_study_node
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import StudyInputs

LEAVES_OUT = "It leaves out machines that idle, data transfer, the work of moving the code, and all other programs."
SECONDS, MILLION, PERCENT = 3600, 1e6, 100.0


class ComparedMachines(StudyInputs):
    """Machines that do the work together; prices and power are of one of them.

    Their speed is told as `seconds` for the whole work, as `units_per_second` of all together, or against the baseline:
    `times_as_fast` (9.04), or `percent_faster` (804, which is 9.04 times as fast).
    """

    devices: Positive = 1.0
    seconds: Positive | None = None
    units_per_second: Positive | None = None
    times_as_fast: Positive | None = None
    percent_faster: Annotated[float, Field(gt=-PERCENT, allow_inf_nan=False)] | None = None
    usd_per_hour: Amount | None = None
    price_usd: Positive | None = None
    kw: Amount | None = None

    def speed_against(self, baseline: ComparedMachines) -> float | None:
        """Times as fast as the baseline; None where the two do not tell their speed in the same way."""
        if self.times_as_fast is not None:
            return self.times_as_fast
        if self.percent_faster is not None:
            return 1 + self.percent_faster / PERCENT
        if self.seconds is not None and baseline.seconds is not None:
            return baseline.seconds / self.seconds
        if self.units_per_second is not None and baseline.units_per_second is not None:
            return self.units_per_second / baseline.units_per_second
        return None


class SpeedUpInputs(StudyInputs):
    """Machines by name; every other one is held against the `baseline`."""

    machines: Annotated[dict[str, ComparedMachines], Field(min_length=2)]
    baseline: str

    @model_validator(mode="after")
    def _can_be_compared(self) -> Self:
        if self.baseline not in self.machines:
            raise ValueError(f"baseline {self.baseline!r} is none of the machines: {', '.join(self.machines)}")
        slow = [name for name, one in self.others.items() if one.speed_against(self.base) is None]
        if slow:
            raise ValueError(f"nothing tells how fast {', '.join(slow)} is against {self.baseline}")
        return self

    @property
    def base(self) -> ComparedMachines:
        return self.machines[self.baseline]

    @property
    def others(self) -> dict[str, ComparedMachines]:
        return {name: one for name, one in self.machines.items() if name != self.baseline}

    @property
    def speeds(self) -> dict[str, float]:
        """Of every machine, the baseline included, against the baseline."""
        return {name: one.speed_against(self.base) or 1.0 for name, one in self.machines.items()}


INPUTS = SpeedUpInputs


def outputs(inputs: SpeedUpInputs) -> Mapping[str, Nested]:
    speeds = {name: inputs.speeds[name] for name in inputs.others}
    per_device = {name: speeds[name] * inputs.base.devices / one.devices for name, one in inputs.others.items()}
    results: dict[str, Nested] = {
        "times_as_fast": dict(speeds),
        "percent_more": {name: (speed - 1) * PERCENT for name, speed in speeds.items()},
        "times_as_fast_per_device": dict(per_device),
    }
    if inputs.base.usd_per_hour is not None:
        rent = inputs.base.usd_per_hour
        results["breakeven_usd_per_hour"] = {name: rent * times for name, times in per_device.items()}
    _add_figures(results, inputs)
    return results


def _add_figures(results: dict[str, Nested], inputs: SpeedUpInputs) -> None:
    """What rents, times, rates and prices give, each where it is known."""
    hourly = _known(inputs, lambda one: _multiply(one.usd_per_hour, one.devices))
    prices = _known(inputs, lambda one: _multiply(one.price_usd, one.devices))
    seconds = _known(inputs, lambda one: one.seconds)
    speeds = _known(inputs, lambda one: one.units_per_second)
    jobs = {name: cost * seconds[name] / SECONDS for name, cost in hourly.items() if name in seconds}
    rates = {
        name: cost_per_unit(cost, speeds[name] * SECONDS, MILLION) for name, cost in hourly.items() if name in speeds
    }
    ratios = _against_baseline(inputs, hourly)
    figures: dict[str, dict[str, float]] = {
        "usd_per_job": jobs,
        "usd_per_million_units": rates,
        "cost_of_work_ratio": ratios,
        "saving_fraction": {name: 1 - ratio for name, ratio in ratios.items()},
        "work_per_price_ratio": {name: 1 / ratio for name, ratio in _against_baseline(inputs, prices).items()},
    }
    results.update({name: dict(each) for name, each in figures.items() if each})


def _known(inputs: SpeedUpInputs, amount: Callable[[ComparedMachines], float | None]) -> dict[str, float]:
    found = {name: amount(one) for name, one in inputs.machines.items()}
    return {name: value for name, value in found.items() if value is not None}


def _multiply(each: float | None, count: float) -> float | None:
    return None if each is None else each * count


def _against_baseline(inputs: SpeedUpInputs, amounts: Mapping[str, float]) -> dict[str, float]:
    """Amount for the same work over that of the baseline."""
    base = amounts.get(inputs.baseline)
    if not base:
        return {}
    return {name: amounts[name] / base / inputs.speeds[name] for name in inputs.others if name in amounts}


def full_cost(inputs: SpeedUpInputs, house: PlanningConventions) -> FullCost:
    """Of machines whose price and power are told: an hour of each, and the work on them against the baseline."""
    owned = _known(inputs, lambda one: _own_per_hour(one, house))
    if not owned:
        return FullCost({}, "none: rented, or no price and power of the hardware is told")
    figures: dict[str, Nested] = {"own_usd_per_hour": dict(owned)}
    ratios = _against_baseline(inputs, owned)
    if ratios:
        figures["own_cost_of_work_ratio"] = dict(ratios)
    return FullCost(figures, f"at the study's prices and power, {house.all_in}")


def _own_per_hour(one: ComparedMachines, house: PlanningConventions) -> float | None:
    if one.price_usd is None or one.kw is None:
        return None
    return house.per_hour(build_study_node(one.price_usd, one.kw, 1)) * one.devices
