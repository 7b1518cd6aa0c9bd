"""Accelerators bought and powered over some years: acquisition, power, and what a useful petaflop costs a year."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import model_validator

from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import FullCost, PlanningConventions, build_study_node, count_published_costs
from planner.studies.formulas import cost_per_unit
from planner.studies.inputs import PositiveFraction, StudyInputs
from pricing.units import HOURS_PER_YEAR

LEAVES_OUT = "It leaves out servers, network, space, staff, support, resale and discounting; peak rates are no work."
WATTS_PER_KW, TFLOPS_PER_PFLOPS, MONTHS = 1000, 1000, 12


class StudyFleet(StudyInputs):
    """Accelerators of one kind; average power is the rated power x utilisation."""

    gpus: Positive
    gpu_usd: Amount
    tdp_w: Amount = 0.0
    utilisation: PositiveFraction = 1.0
    pue: Positive = 1.0
    usd_per_kwh: Amount = 0.0
    years: Positive
    hours_per_year: Positive = HOURS_PER_YEAR
    dense_fp16_tflops: Positive | None = None

    @property
    def kw_per_gpu(self) -> float:
        return self.tdp_w / WATTS_PER_KW

    @property
    def pflop_years(self) -> float | None:
        if self.dense_fp16_tflops is None:
            return None
        return self.gpus * self.dense_fp16_tflops / TFLOPS_PER_PFLOPS * self.utilisation * self.years

    def figures(self) -> dict[str, Nested]:
        hours = self.years * self.hours_per_year
        costs = count_published_costs(
            build_study_node(self.gpu_usd, self.kw_per_gpu, 1),
            hours,
            server_power_fraction=self.utilisation,
            pue=self.pue,
            electricity_price_per_kwh=self.usd_per_kwh,
        )
        acquisition, power = costs.capital * self.gpus, costs.energy * self.gpus
        total = math.fsum((acquisition, power))
        return {
            "acquisition_usd": acquisition,
            "power_usd": power,
            "total_usd": total,
            "usd_per_gpu_hour": cost_per_unit(total, self.gpus * hours),
            **self.per_pflop_year(total, "usd_per_effective_pflop_year"),
        }

    def per_pflop_year(self, total: float, name: str) -> dict[str, Nested]:
        return {} if self.pflop_years is None else {name: cost_per_unit(total, self.pflop_years)}


class GpuTcoInputs(StudyInputs):
    """Fleets by name, at the top of the inputs themselves; what they share may be given once for all of them."""

    fleets: dict[str, StudyFleet]

    @model_validator(mode="before")
    @classmethod
    def _gather_fleets(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "fleets" in data:
            return data
        fleets = {name: value for name, value in data.items() if isinstance(value, Mapping)}
        return {"fleets": fleets, **{name: value for name, value in data.items() if name not in fleets}}


INPUTS = GpuTcoInputs


def outputs(inputs: GpuTcoInputs) -> Mapping[str, Nested]:
    return {name: fleet.figures() for name, fleet in inputs.fleets.items()}


def full_cost(inputs: GpuTcoInputs, house: PlanningConventions) -> FullCost:
    results: dict[str, Nested] = {}
    for name, fleet in inputs.fleets.items():
        own = build_study_node(fleet.gpu_usd, fleet.kw_per_gpu * house.server_over_accelerator, 1)
        total = house.per_month(own) * MONTHS * fleet.years * fleet.gpus
        results[name] = {
            "own_usd": total,
            "own_usd_per_gpu_hour": house.per_hour(own),
            **fleet.per_pflop_year(total, "own_usd_per_effective_pflop_year"),
        }
    basis = f"the study's accelerators, power {house.server_over_accelerator:g} x theirs, at our tariff and PUE"
    return FullCost(results, f"{basis}; {house.all_in}; spread evenly over the study's years")
