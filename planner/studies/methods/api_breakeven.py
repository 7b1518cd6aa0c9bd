"""Months after which accelerators of one's own have cost as much as an API for all that they can produce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import model_validator

from planner.finance.time_value import break_even
from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import (
    WITHIN_LIFE,
    FullCost,
    PlanningConventions,
    build_study_node,
    count_published_costs,
)
from planner.studies.inputs import StudyInputs
from pricing.units import HOURS_PER_MONTH

LEAVES_OUT = "It leaves out servers, network, cooling, staff and resale, and takes all that can be made as used."
SECONDS, MILLION, WATTS_PER_KW = 3600, 1e6, 1000


class ApiPrices(StudyInputs):
    """Prices of a million tokens; the shares of the two kinds are those of the traffic."""

    input: Amount = 0.0
    output: Amount = 0.0
    input_share: Amount | None = None
    output_share: Amount | None = None

    @model_validator(mode="after")
    def _has_shares(self) -> Self:
        if self.input_share is None and self.output_share is None:
            raise ValueError("neither input_share nor output_share is given")
        return self

    @property
    def per_million(self) -> float:
        into = self.input_share if self.input_share is not None else 1 - (self.output_share or 0.0)
        out = self.output_share if self.output_share is not None else 1 - into
        return into * self.input + out * self.output


class ApiModel(StudyInputs):
    """A model with the accelerators that it runs on; `tokens_per_second` of all of them together."""

    gpus: Positive
    gpu_usd: Amount
    gpu_w: Amount = 0.0
    tokens_per_second: Positive
    hours_per_month: Positive = HOURS_PER_MONTH
    usd_per_kwh: Amount = 0.0
    pue: Positive = 1.0

    @property
    def gpu_kw(self) -> float:
        return self.gpus * self.gpu_w / WATTS_PER_KW

    @property
    def hardware(self) -> float:
        return self.gpus * self.gpu_usd

    @property
    def electricity_per_month(self) -> float:
        drawn = build_study_node(self.hardware, self.gpu_kw, round(self.gpus))
        return count_published_costs(
            drawn, self.hours_per_month, pue=self.pue, electricity_price_per_kwh=self.usd_per_kwh
        ).energy

    @property
    def million_tokens_per_month(self) -> float:
        return self.tokens_per_second * SECONDS * self.hours_per_month / MILLION

    def months_to_even(self, api: ApiPrices) -> float | None:
        own, rent = self.electricity_per_month, api.per_million * self.million_tokens_per_month
        return break_even(self.hardware, own, rent, level_per_period=own)[0]


class ApiBreakevenInputs(StudyInputs):
    """Models and APIs by name; what each group shares may be given once for all of it."""

    models: dict[str, ApiModel]
    api_usd_per_million: dict[str, ApiPrices]


INPUTS = ApiBreakevenInputs


def outputs(inputs: ApiBreakevenInputs) -> Mapping[str, Nested]:
    models, apis = inputs.models.items(), inputs.api_usd_per_million.items()
    return {
        "hardware_usd": {name: model.hardware for name, model in models},
        "electricity_usd_per_month": {name: model.electricity_per_month for name, model in models},
        "capacity_million_tokens_per_month": {name: model.million_tokens_per_month for name, model in models},
        "api_usd_per_million_tokens": {name: api.per_million for name, api in apis},
        "api_usd_per_month": {
            name: {other: api.per_million * model.million_tokens_per_month for other, api in apis}
            for name, model in models
        },
        "breakeven_months": {name: {other: model.months_to_even(api) for other, api in apis} for name, model in models},
    }


def full_cost(inputs: ApiBreakevenInputs, house: PlanningConventions) -> FullCost:
    results: dict[str, Nested] = {}
    for name, model in inputs.models.items():
        own = build_study_node(model.hardware, model.gpu_kw * house.server_over_accelerator, round(model.gpus))
        results[name] = {
            "own_usd_per_month": house.per_month(own),
            "own_usd_per_million_tokens": house.per_month(own) / model.million_tokens_per_month,
            "breakeven_months": {
                other: house.months_to_even(own, api.per_million * model.million_tokens_per_month)
                for other, api in inputs.api_usd_per_million.items()
            },
        }
    basis = f"the study's accelerators and tokens, power {house.server_over_accelerator:g} x theirs around the clock"
    return FullCost(results, f"{basis}; {house.all_in}; {WITHIN_LIFE}")
