"""Counted interruptions of a long run as a mean time between them, a rate per accelerator, and at other sizes."""

from __future__ import annotations

from collections.abc import Mapping

from planner.fields import Amount, Positive
from planner.finance import cost_per_unit
from planner.studies import _inputs
from planner.studies._compare import Nested
from planner.studies._house import FullCost, House
from planner.studies._inputs import Positives, each
from pricing.units import HOURS_PER_YEAR

LEAVES_OUT = "It leaves out what an interruption costs, and takes interruptions as independent and equally likely."
HOURS_PER_DAY = 24


class Inputs(_inputs.Inputs):
    """Counts of one run; sizes to scale to, singly, in order or by name."""

    gpus: Positive
    days: Positive
    unexpected: Positive
    gpu_faults: Amount | None = None
    hbm_faults: Amount | None = None
    scale_to_gpus: Positives | None = None

    @property
    def gpu_hours(self) -> float:
        return self.gpus * self.days * HOURS_PER_DAY

    def per_gpu_year(self, events: float) -> float:
        return cost_per_unit(events, self.gpu_hours, HOURS_PER_YEAR)


def outputs(inputs: Inputs) -> Mapping[str, Nested]:
    between = cost_per_unit(inputs.gpu_hours, inputs.unexpected)
    found: dict[str, Nested] = {
        "mean_hours_between": cost_per_unit(between, inputs.gpus),
        "gpu_hours_between": between,
        "unexpected_per_gpu_year": inputs.per_gpu_year(inputs.unexpected),
    }
    gpu, memory = inputs.gpu_faults, inputs.hbm_faults
    for name, events in (("gpu", gpu), ("hbm", memory)):
        if events is not None:
            found[f"{name}_per_gpu_year"] = inputs.per_gpu_year(events)
            found[f"{name}_fraction_of_unexpected"] = events / inputs.unexpected
    if gpu is not None or memory is not None:
        found["gpu_plus_hbm_per_gpu_year"] = inputs.per_gpu_year((gpu or 0.0) + (memory or 0.0))
    if inputs.scale_to_gpus is not None:
        found["mean_hours_between_at_scale"] = each(lambda gpus: cost_per_unit(between, gpus), inputs.scale_to_gpus)
    return found


def full_cost(inputs: Inputs, house: House) -> FullCost:
    between = house.assumptions["failure_interval_accelerator_hours"].value
    sizes = inputs.gpus if inputs.scale_to_gpus is None else inputs.scale_to_gpus
    assumed: dict[str, Nested] = {"mean_hours_between_at_scale": each(lambda gpus: cost_per_unit(between, gpus), sizes)}
    return FullCost(assumed, f"no cost: what plans assume, {between:,.0f} accelerator-hours between interruptions")
