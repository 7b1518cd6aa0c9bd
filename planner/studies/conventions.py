"""The cost of a study's system under the conventions of a plan: the shipped assumptions, a year of 8,760 hours, all
cost included.

Also nodes and neutral assumptions with only the figures that a study states, so that its figures come from
`planner.supply.onprem` too.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import field
from datetime import date

from planner.finance.cashflow import Terms
from planner.finance.time_value import break_even
from planner.request import assumptions
from planner.request.assumptions import Assumptions
from planner.result import Assumption
from planner.studies.comparison import Nested
from planner.studies.inputs import Amounts, apply_to_each
from planner.supply import onprem
from planner.supply.onprem import NodeCosts, OwnedNode
from pricing.accelerator import Accelerator
from pricing.catalog.price_catalog import Catalog
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_MONTH

ALL_IN = (
    "with network, power x PUE, colocation, staff, support and insurance, less resale,"
    " over {years:g} years of 8,760 h at {rate:.1%}"
)
WITHIN_LIFE = "never is: not within that life"
SYSTEM_PATTERN = re.compile(r"(\d+)\s*x\s*([A-Z]+-?\s?\d+[A-Za-z]*(?:[\s-](?:NVL|PCIe|SXM\d?))?)")
"""8x H100, 8xB300, 4x RTX 5090, 8x H100 NVL."""
NEUTRAL_VALUES = {"pue": 1.0, "server_power_fraction": 1.0}
"""Assumptions that a study does not state are neutral at 1; every other one at 0."""
MONTHS = 12


@dataclass(frozen=True, slots=True)
class FullCost:
    """The full cost under our conventions, and in words its parts; no figures where none make sense."""

    figures: dict[str, Nested]
    basis: str


@dataclass(frozen=True, slots=True)
class PlanningConventions:
    """Our conventions: assumptions, discount rate and calendar, and the systems and accelerators we know.

    `title` is what the study at hand is called: some name their system nowhere else.
    """

    catalog: Catalog
    assumptions: Assumptions = field(default_factory=assumptions.load_defaults)
    title: str = ""

    @property
    def terms(self) -> Terms:
        return Terms(
            months=MONTHS,
            hours_per_month=HOURS_PER_MONTH,
            discount_rate_annual=self.assumptions["discount_rate_annual"].value,
            price_change_annual=0.0,
            partial_upfront_fraction=0.0,
            charge_beyond_horizon=False,
        )

    @property
    def all_in(self) -> str:
        """The parts of a full cost, in words."""
        years = self.assumptions["useful_life_months"].value / 12
        return ALL_IN.format(years=years, rate=self.terms.discount_rate_annual)

    @property
    def server_over_accelerator(self) -> float:
        return self.assumptions["server_power_over_accelerator_power"].value

    def costs(self, node: OwnedNode) -> NodeCosts:
        return onprem.node_costs(node, self.assumptions, HOURS_PER_MONTH)

    def per_month(self, node: OwnedNode) -> float:
        """The level payment that pays for a node over its life, resale and discounting included."""
        return onprem.cost_per_month_over_life(node, self.assumptions, self.terms)

    def per_hour(self, node: OwnedNode) -> float:
        return self.per_month(node) / HOURS_PER_MONTH

    def running_per_hour(self, node: OwnedNode) -> float:
        return self.costs(node).per_month_at_work / HOURS_PER_MONTH

    def months_to_even(self, node: OwnedNode, rent_per_month: float) -> float | None:
        """Months of work after which a node has cost as much as the rent: the break-even of a plan, undiscounted and
        without resale. None where that is not within its life."""
        costs = self.costs(node)
        months, _ = break_even(costs.capital, costs.per_month_at_work, rent_per_month, self.per_month(node))
        return months if months is not None and months <= self.assumptions["useful_life_months"].value else None

    def break_evens_against(self, node: OwnedNode, rents: Amounts) -> dict[str, Nested]:
        """From when and from which utilisation owning costs no more than renting, at full cost; rents are per hour."""
        full = self.per_hour(node)
        return {
            "own_usd_per_hour": full,
            "breakeven_months": apply_to_each(lambda rent: self.months_to_even(node, rent * HOURS_PER_MONTH), rents),
            "breakeven_utilisation": apply_to_each(lambda rent: break_even(0.0, 0.0, rent, full)[1], rents),
        }

    def system(self, text: str, price: float) -> tuple[OwnedNode | None, str]:
        """The system that `text` names ("8x H100"), at `price`, and the source of its power; or the reason why there is
        none."""
        named = SYSTEM_PATTERN.search(text)
        if named is None:
            return None, "the study names no accelerators, so their power and staff are unknown"
        count = int(named[1])
        try:
            parts = self.catalog.names.match(named[2])
        except UnknownName:
            return None, f"{named[2]} is not known here, so its power is not"
        power, basis = self._system_power_kw(parts, count)
        if power is None:
            return None, f"the power of {named[0]} is not known here"
        return build_study_node(price, power, count), f"{named[0]} at the study's price, {basis}"

    def _system_power_kw(self, parts: tuple[Accelerator, ...], count: int) -> tuple[float | None, str]:
        names = {part.name for part in parts}
        for system in self.catalog.systems:
            if system.accelerator in names and system.accelerator_count == count and system.max_power_kw is not None:
                return system.max_power_kw, f"at most {system.max_power_kw:g} kW ({system.name})"
        rated = [part.tdp_w for part in parts if part.tdp_w is not None]
        if not rated:
            return None, ""
        power = max(rated) / 1000 * count * self.server_over_accelerator
        return power, f"at most {power:.3g} kW ({self.server_over_accelerator:g} x its accelerators')"


def build_study_node(price: float, power_kw: float, accelerators: int) -> OwnedNode:
    """A node of a study: its price, the power that it names, how many accelerators it has."""
    return OwnedNode("a study's node", "", accelerators, price, date.min, "the study", power_kw, "")


@dataclass(frozen=True, slots=True)
class StudyNodeCosts:
    """The costs of a node in `planner.supply.onprem` with only what a study states: capital with its network, support
    of a year, energy of the given hours."""

    capital: float
    support_per_year: float
    energy: float


def count_published_costs(node: OwnedNode, hours: float = 1.0, **stated: float) -> StudyNodeCosts:
    """`stated` are assumptions by name; every other one is neutral. All `hours` are at work, none is idle."""
    unknown = stated.keys() - NEUTRAL_ASSUMPTIONS.keys()
    assert not unknown, f"no such assumptions: {unknown}"
    figures = {
        name: dataclasses.replace(each, value=stated.get(name, each.value))
        for name, each in NEUTRAL_ASSUMPTIONS.items()
    }
    costs = onprem.node_costs(node, figures, hours)
    return StudyNodeCosts(costs.capital, costs.support * MONTHS, costs.energy)


def _neutralise_assumption(each: Assumption) -> Assumption:
    """An assumption at a value that adds no cost; some may not be 0, and add none at their default."""
    default = each.value if each.name in assumptions.MUST_BE_POSITIVE else 0.0
    return dataclasses.replace(each, value=NEUTRAL_VALUES.get(each.name, default))


NEUTRAL_ASSUMPTIONS = {name: _neutralise_assumption(each) for name, each in assumptions.load_defaults().items()}
