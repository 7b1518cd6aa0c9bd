"""What a training run cost: the value its hardware lost meanwhile, the interconnect's share and the energy.

Cottier et al., The rising costs of training frontier AI models, arXiv 2405.21015, and the code published with it.
Plans have no counterpart of the capital's rent and of values by orders of magnitude: this validates the formulas. The
energy and the full cost are those of a plan's node.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner.request.field_types import Amount, Positive
from planner.studies.comparison import Nested
from planner.studies.conventions import (
    FullCost,
    PlanningConventions,
    StudyNodeCosts,
    build_study_node,
    count_published_costs,
)
from planner.studies.formulas import cost_per_unit, rent_of_capital, value_after_years
from planner.studies.inputs import PositiveFraction, StudyInputs

LEAVES_OUT = "It leaves out staff, space, support and failed runs, and takes hardware as if it were let by the hour."
DAYS_PER_YEAR, HOURS_PER_DAY, WATTS_PER_KW = 365.25, 24, 1000


class TrainedModel(StudyInputs):
    """One training run; prices are per chip with its share of the server."""

    server_price_per_chip_usd: Positive
    days_from_acquisition_to_training: Amount = 0.0
    chip_hours: Positive
    chips: Positive | None = None
    chip_tdp_w: Amount = 0.0
    server_to_chip_power: Positive = 1.0
    average_draw_fraction: PositiveFraction = 1.0
    pue: Positive = 1.0
    usd_per_kwh: Amount = 0.0
    price_index_from: Positive | None = None
    price_index_to: Positive | None = None
    depreciation_oom_per_year: Amount
    interconnect_fraction_of_cluster: Amount = 0.0
    days_per_year: Positive = DAYS_PER_YEAR

    @property
    def server_kw(self) -> float:
        return self.chip_tdp_w / WATTS_PER_KW * self.server_to_chip_power

    @property
    def price_level(self) -> float:
        """Money of the target year per money of the year of the prices; 1 where no index is given."""
        if self.price_index_from is None or self.price_index_to is None:
            return 1.0
        return self.price_index_to / self.price_index_from

    def costs(self, price_of_chip: float) -> StudyNodeCosts:
        """Of one chip with its part of the network, and the energy of all hours of the run."""
        return count_published_costs(
            build_study_node(price_of_chip, self.server_kw, 1),
            self.chip_hours,
            network_fraction_of_capex=self.interconnect_fraction_of_cluster,
            server_power_fraction=self.average_draw_fraction,
            pue=self.pue,
            electricity_price_per_kwh=self.usd_per_kwh,
        )

    def figures(self) -> dict[str, float]:
        loss = 1 - 10**-self.depreciation_oom_per_year
        age = self.days_from_acquisition_to_training / self.days_per_year
        value = value_after_years(self.server_price_per_chip_usd, loss, age)
        costs = self.costs(value)
        hours_per_year = self.days_per_year * HOURS_PER_DAY
        hardware, with_network = (
            cost_per_unit(rent_of_capital(worth, loss), hours_per_year, self.chip_hours) * self.price_level
            for worth in (value, costs.capital)
        )
        energy = costs.energy * self.price_level
        results = {
            "hardware_usd": hardware,
            "interconnect_usd": with_network - hardware,
            "energy_usd": energy,
            "capex_energy_usd": with_network + energy,
        }
        if self.chips is not None:
            new = self.costs(self.server_price_per_chip_usd).capital
            results["acquisition_usd"] = new * self.chips * self.price_level
        return results


class EpochAmortisedInputs(StudyInputs):
    """Models by name; what they share may be given once for all of them."""

    models: dict[str, TrainedModel]


INPUTS = EpochAmortisedInputs


def outputs(inputs: EpochAmortisedInputs) -> Mapping[str, Nested]:
    figures = {name: model.figures() for name, model in inputs.models.items()}
    kinds = dict.fromkeys(kind for row in figures.values() for kind in row)
    return {kind: {name: row[kind] for name, row in figures.items() if kind in row} for kind in kinds}


def full_cost(inputs: EpochAmortisedInputs, house: PlanningConventions) -> FullCost:
    results: dict[str, Nested] = {}
    for name, model in inputs.models.items():
        per_hour = house.per_hour(build_study_node(model.server_price_per_chip_usd, model.server_kw, 1))
        results[name] = {"own_usd_per_chip_hour": per_hour, "own_usd": per_hour * model.chip_hours}
    return FullCost(results, f"the chip-hours of the run at the price when new, not indexed; {house.all_in}")
