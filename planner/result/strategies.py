"""One way to serve the whole demand: what is bought, what works where, what is paid when, what each workload costs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from planner.result.message import Message
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass

OPERATORS = "operators"
SUPPORT_PLAN = "cloud support plan"
EXISTING_SUFFIX = " (existing)"
"""After the name of what was owned or committed to before the plan, wherever a plan names it."""
NODE_ROUNDING = 1e-6
"""Of a node: a smaller part of one is rounding."""
StrategyName = Literal["cloud", "onprem", "hybrid"]
Status = Literal["optimal", "within_gap", "infeasible"]
Category = Literal[
    "on_demand", "spot", "commitment", "storage", "egress", "transfer", "cloud_support", "tax",
    "hardware", "installation", "financing", "power", "space", "staff", "support", "resale",
]  # fmt: skip


def describe_amount(amount: float, unit: str, currency: str) -> str:
    """An amount that a name follows; `currency` is that of amounts of money.

    >>> [describe_amount(n, unit, "USD") for n, unit in ((3, "node"), (1, "node_day"), (0.6, "money"))]
    ['3 x', '1 day of', '0.60 USD an hour of']
    """
    money = f"{amount:,.2f} {currency} an hour of"
    return {"node": f"{amount:,.0f} x", "node_day": f"{format_count(round(amount), 'day')} of", "money": money}[unit]


@dataclass(frozen=True, slots=True)
class DatedOrder:
    """Nodes that are ordered together for dated days inside a month, in a length that the provider sells."""

    nodes: int
    """Number of nodes."""
    first_day: int
    """First day in the month of the purchase, from 1: the earliest on which it can start; later orders follow on it."""
    days: int
    """Days that the order lasts."""


def describe_orders(orders: Iterable[DatedOrder]) -> str:
    """
    >>> describe_orders((DatedOrder(2, 1, 21), DatedOrder(1, 22, 1)))
    '2 nodes x 21 days, 1 node x 1 day'
    """
    return ", ".join(
        f"{each.nodes} {'node' if each.nodes == 1 else 'nodes'} x {each.days} {'day' if each.days == 1 else 'days'}"
        for each in orders
    )


@dataclass(frozen=True, slots=True)
class Purchase:
    """Something bought or committed to: `count` units ordered at the start of `month`.

    `what`: owned or commitment. `unit`: node, node_day (a whole day of a node inside the month) or money (count 1:
    `money_per_hour` is committed). Usable in months usable_from..usable_to (usable_to may pass the horizon).
    `upfront` is paid at the start of `month` for all nodes, but for what an owned node is paid at delivery;
    `per_month` is owed in every usable month, used or not, with what a loan or lease takes while it runs.
    For owned nodes provider and region are "", `name` is the system and `purchase_option` "owned".
    """

    month: int
    """Month of the order or start, from 1."""
    what: str
    """Kind of purchase: owned or commitment."""
    name: str
    """Name of the owned system or instance type."""
    provider: str
    """Provider; empty for owned nodes."""
    region: str
    """Region; empty for owned nodes."""
    purchase_option: str
    """Purchase option; owned for owned nodes."""
    accelerator: str
    """Name of the accelerator."""
    accelerators_per_node: float
    """Accelerators of one node."""
    count: int
    """Number of units bought."""
    usable_from: int
    """First month of use, from 1."""
    usable_to: int
    """Last month of use, from 1; may lie beyond the horizon."""
    term_months: int
    """Length of the commitment, or life of owned nodes, in months."""
    upfront: float
    """Amount paid at the start of `month` for all units, in the plan's currency."""
    per_month: float
    """Amount owed in every usable month for all units, used or not, in the plan's currency."""
    present_cost: float
    """Present cost of all its payments, in the plan's currency."""
    unit: Literal["node", "node_day", "money"] = "node"
    """Unit of `count`: node, node_day (a whole day of a node) or money (an amount per hour)."""
    money_per_hour: float = 0.0
    """Money committed per hour, in the plan's currency; 0 for other units."""
    orders: tuple[DatedOrder, ...] = ()
    """Days of nodes as they are ordered, such as a block of 21 days and one of 3 for 24 days; empty for other units."""

    @property
    def amount(self) -> float:
        """How much of its unit: nodes, days of a node, or money an hour."""
        return self.money_per_hour if self.unit == "money" else self.count


@dataclass(frozen=True, slots=True)
class Use:
    """Work of one workload on one resource in one month.

    `node_hours` used; `nodes` the most nodes in use at once (whole gangs where a gang spans nodes, a
    whole number for serving, else node_hours / hours);
    `units` of work done; `cost` what the use itself costs (zero price for owned and committed nodes, which are paid as
    purchases, but storage, egress and the power of owned nodes at work are in it).
    """

    month: int
    """Month of the work, from 1."""
    workload: str
    """Name of the workload."""
    what: str
    """Kind of resource: on_demand, spot, commitment or owned."""
    name: str
    """Name of the owned system or instance type."""
    provider: str
    """Provider; empty for owned nodes."""
    region: str
    """Region; empty for owned nodes."""
    purchase_option: str
    """Purchase option; owned for owned nodes."""
    accelerator: str
    """Name of the accelerator."""
    accelerators_per_node: float
    """Accelerators of one node."""
    node_hours: float
    """Node-hours used in the month."""
    nodes: float
    """Most nodes in use at the same time; of work at any hour its node-hours over the hours of the month, and so no
    whole number."""
    units: float
    """Work units done in the month."""
    cost: float
    """Cost of the use itself, in the plan's currency: rent, storage, egress and power; without what purchases
    already paid."""
    block_nodes: tuple[float, ...] = ()
    """Nodes that stand there in each load block (`Plan.block_of_hour`); empty: as many in every hour of the week, or
    work that may run at any hour."""

    @property
    def nodes_at_once(self) -> int:
        """The fewest whole nodes on which the node-hours can be had."""
        return math.ceil(self.nodes - NODE_ROUNDING)


@dataclass(frozen=True, slots=True)
class CashRow:
    """One payment of a strategy: month 1 start is `month` 1 with `at` start; running costs fall at the end of a month.

    `what` is OPERATORS, SUPPORT_PLAN or the name of a resource, with EXISTING_SUFFIX where it was there before.
    """

    month: int
    """Month of the payment, from 1."""
    at: Literal["start", "end"]
    """Moment of payment: start or end of the month."""
    category: Category
    """Cost category."""
    what: str
    """Thing paid for."""
    amount: float
    """Amount paid, in the plan's currency; negative: received."""


@dataclass(frozen=True, slots=True)
class WorkloadCost:
    """A workload's share of a strategy: direct use plus its share (by node-hours) of owned and committed nodes.

    `cost_per_unit` is cost over the horizon / work units done. The shares of idle hours are included, so that
    the costs of all workloads add up to the strategy's total. `cost_low` and `cost_high` are `cost` with throughput at
    the ends of its 80 % interval, all else as planned and hours in proportion; `cost` itself where it is measured.
    """

    workload: str
    """Name of the workload."""
    team: str
    """Team of the workload."""
    unit: str
    """Work unit."""
    units: float
    """Work units done over the horizon."""
    cost: float
    """Its share of the strategy's total cost, in the plan's currency."""
    cost_per_unit: float
    """Cost of one work unit, in the plan's currency."""
    where: str
    """Where it lives, how it is paid for there, and what overflows or moves to where, with parts of its work."""
    cost_low: float = 0.0
    """Cost with throughput at the high end of its 80 % interval, in the plan's currency."""
    cost_high: float = 0.0
    """Cost with throughput at the low end of its 80 % interval, in the plan's currency."""


@dataclass(frozen=True, slots=True)
class Emission:
    """The energy of all nodes of a place in a month, at the meter of its site, and the emission of its grid.

    Location-based: without certificates that a provider buys, and without making the hardware.
    """

    month: int
    """Month, from 1."""
    provider: str
    """Provider; empty: the site of owned nodes."""
    region: str
    """Region; empty: the site of owned nodes."""
    node_hours: float
    """Node-hours used."""
    energy_kwh: float | None
    """Energy in kWh, cooling and losses included; null: the power of a node is unknown."""
    carbon_kg: float | None
    """Emission in kg CO2e; null: the energy or the grid is unknown."""


SEARCH_LIMITS = ("solver_time_limit", "solver_work_limit")
"""Reasons of a strategy whose search ended before it had a plan."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to serve the whole demand, solved to proven optimality.

    `present_cost` is the net present cost (less resale), `total_cost` the undiscounted sum of payments (less resale).
    `bound` is the solver's proven lower bound on present_cost and `gap_fraction` (present_cost - bound) /
    |present_cost|; both None where the search ended before it had a bound. Where first decisions are those of
    scenarios, the bound is that of plans that take them.
    `columns` is the size of the program; where fewer were searched (`columns_searched`), the plan is the best found at
    the homes that matter, and the bound still that of the whole.
    For status infeasible the amounts are 0, the tuples empty and `reasons` says why and what would have to give.
    """

    name: StrategyName
    """Name: cloud, onprem or hybrid."""
    status: Status
    """Outcome of the solver: optimal, within_gap or infeasible."""
    present_cost: float
    """Present cost of all payments less resale, in the plan's currency."""
    total_cost: float
    """Undiscounted sum of all payments less resale, in the plan's currency."""
    bound: float | None
    """Proven lower bound of the present cost, in the plan's currency; null: the search found none."""
    gap_fraction: float | None
    """Gap to the bound: (present_cost - bound) / |present_cost|; null: there is no bound."""
    purchases: tuple[Purchase, ...] = ()
    """Hardware bought and commitments made."""
    uses: tuple[Use, ...] = ()
    """Work of each workload on each resource by month."""
    cash: tuple[CashRow, ...] = ()
    """Dated payments."""
    workloads: tuple[WorkloadCost, ...] = ()
    """Cost of each workload; they add up to the total cost."""
    emissions: tuple[Emission, ...] = ()
    """Energy and carbon by month and place."""
    reasons: tuple[Message, ...] = ()
    """Why the strategy is infeasible; empty otherwise."""
    candidates: int = 0
    """Candidates before dominated ones were removed."""
    pruned: int = 0
    """Dominated candidates removed before the solver."""
    columns: int = 0
    """Columns of the whole program; about so many where fewer were searched."""
    columns_searched: int = 0
    """Columns of the restricted program that was searched; 0: all."""
    cut_by_clock: bool = False
    """Whether a time limit ended the search: another run may then find another plan. Searches end by counted work
    otherwise, and equal input gives equal plans."""

    @property
    def is_unsolved(self) -> bool:
        """Whether its search ended before it had a plan: it is not proven that there is none."""
        return any(reason.code in SEARCH_LIMITS for reason in self.reasons)


# Commitments. Effective savings rate: (on-demand equivalent - effective cost) / on-demand equivalent, of all use but
# spot (FinOps Foundation, Determine Effective Savings Rate, finops.org: contracted and effective cost).
# Coverage: of the on-demand equivalent of use on demand and in commitments for a term, the part of the latter.
# Utilisation: of the cost of commitments for a term in the plan, the part that is used.
ExitKind = Literal["resale", "refund", "none", "unknown"]


@dataclass(frozen=True, slots=True)
class CommitmentExit:
    """Leaving a commitment at the end of a month."""

    month: int
    """Last month before leaving, from 1."""
    remaining_fees: float
    """Fees of the rest of the term, beyond the plan's months too, in the plan's currency: the cost of staying."""
    lost_upfront: float
    """Part of the upfront payment for the rest of the term, in the plan's currency."""
    cost: float | None
    """Cost of leaving, in the plan's currency: fees and upfront payment that are not recovered; null: unknown, as it
    depends on a buyer or on unknown terms."""


@dataclass(frozen=True, slots=True)
class PlannedCommitment:
    """A commitment for a term that the plan makes, and how it can be left."""

    month: int
    """Month of its start, from 1."""
    last_month: int
    """Last month of its term, from 1; may lie beyond the horizon."""
    provider: str
    """Provider."""
    region: str
    """Region."""
    name: str
    """Instance type, or scope of the committed money."""
    purchase_option: str
    """Purchase option."""
    amount: float
    """How much of its unit is committed to."""
    unit: Literal["node", "node_day", "money"]
    """Unit of `amount`: node, or money (an amount per hour)."""
    in_all: float
    """All payments of the whole term, in the plan's currency."""
    utilisation: float
    """Part of it that is used within the plan, 0 to 1; of all commitments of its kind at its place together."""
    exit: ExitKind
    """How it can be left: resale (sold to another customer), refund, none, or unknown."""
    fee_fraction: float | None
    """Fee on a resale or refund, as a fraction of it; null: none or unknown."""
    exit_note: str
    """Conditions of leaving, according to the source."""
    exit_source: str
    """Source of these conditions, with its date; empty: none is known."""
    exits: tuple[CommitmentExit, ...]
    """Leaving at the end of each month of the plan before its term is over."""


@dataclass(frozen=True, slots=True)
class SavingsRate:
    """Savings of commitments at a provider, or in all."""

    provider: str
    """Provider; empty: all together."""
    on_demand_equivalent: float
    """Cost on demand of all use but spot, in the plan's currency."""
    effective_cost: float
    """Its cost: by the hour, and commitments spread over their terms, in the plan's currency."""
    effective_savings_rate: float | None
    """Share of the on-demand equivalent that is saved; null: no use, or a price on demand is unknown."""
    coverage: float | None
    """Share of use on demand and in commitments for a term that these cover, by its cost on demand; null: as above."""
    utilisation: float | None
    """Share of the commitments for a term that is used, by their cost; null: there are none."""
    unpriced: tuple[str, ...]
    """Instance types in use whose price on demand is unknown, with provider and region."""


@dataclass(frozen=True, slots=True)
class CommitmentEnd:
    """Commitments that end in a quarter of the calendar."""

    quarter: str
    """Quarter, such as 2027-Q4."""
    per_month: float
    """Their cost by the month, in the plan's currency."""
    fraction: float
    """Share of all commitments for a term that the plan makes, by cost by the month."""


@dataclass(frozen=True, slots=True)
class CommitmentReport:
    """The commitments for a term of the recommended strategy."""

    commitments: tuple[PlannedCommitment, ...] = ()
    """Commitments that the plan makes, in order of their start."""
    savings: tuple[SavingsRate, ...] = ()
    """Rates by provider, and in all (last)."""
    ends: tuple[CommitmentEnd, ...] = ()
    """Quarters in which commitments end."""
