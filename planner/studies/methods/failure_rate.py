"""Counted interruptions of a long run as a mean time between them, a rate per accelerator, and at other sizes."""

from __future__ import annotations

from collections.abc import Mapping

from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import Positives, StudyInputs, apply_to_each
from pricing.units import HOURS_PER_YEAR

LEAVES_OUT = "It leaves out what an interruption costs, and takes interruptions as independent and equally likely."
HOURS_PER_DAY = 24


class FailureRateInputs(StudyInputs):
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


INPUTS = FailureRateInputs


def outputs(inputs: FailureRateInputs) -> Mapping[str, Nested]:
    between = cost_per_unit(inputs.gpu_hours, inputs.unexpected)
    results: dict[str, Nested] = {
        "mean_hours_between": cost_per_unit(between, inputs.gpus),
        "gpu_hours_between": between,
        "unexpected_per_gpu_year": inputs.per_gpu_year(inputs.unexpected),
    }
    gpu, memory = inputs.gpu_faults, inputs.hbm_faults
    for name, events in (("gpu", gpu), ("hbm", memory)):
        if events is not None:
            results[f"{name}_per_gpu_year"] = inputs.per_gpu_year(events)
            results[f"{name}_fraction_of_unexpected"] = events / inputs.unexpected
    if gpu is not None or memory is not None:
        results["gpu_plus_hbm_per_gpu_year"] = inputs.per_gpu_year((gpu or 0.0) + (memory or 0.0))
    if inputs.scale_to_gpus is not None:
        results["mean_hours_between_at_scale"] = apply_to_each(
            lambda gpus: cost_per_unit(between, gpus), inputs.scale_to_gpus
        )
    return results


def full_cost(inputs: FailureRateInputs, house: PlanningConventions) -> FullCost:
    between = house.assumptions["failure_interval_accelerator_hours"].value
    sizes = inputs.gpus if inputs.scale_to_gpus is None else inputs.scale_to_gpus
    assumed: dict[str, Nested] = {
        "mean_hours_between_at_scale": apply_to_each(lambda gpus: cost_per_unit(between, gpus), sizes)
    }
    return FullCost(assumed, f"no cost: what plans assume, {between:,.0f} accelerator-hours between interruptions")
