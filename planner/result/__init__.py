"""The answer: frozen values that make up a plan. Money is in the plan's currency, amounts paid are positive.

Months count from 1 (the first month of the plan); `Plan.month_names` gives their calendar names (2026-12).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from planner.result.alternatives import OfferOutcome
from planner.result.audit_trail import AuditTrail
from planner.result.comparison import Changes
from planner.result.financial_views import FinancialViews
from planner.result.marginal_values import MarginalValue
from planner.result.message import Message
from planner.result.risk import Risk, SwitchingValue
from pricing.exchange_rates import RateUsed

OPERATORS = "operators"
SUPPORT_PLAN = "cloud support plan"
EXISTING_SUFFIX = " (existing)"
"""After the name of what was owned or committed to before the plan, wherever a plan names it."""
SCHEMA_VERSION = "1"
"""Of the plan as JSON."""
StrategyName = Literal["cloud", "onprem", "hybrid"]
Status = Literal["optimal", "within_gap", "infeasible"]
Category = Literal[
    "on_demand", "spot", "commitment", "storage", "egress", "transfer", "cloud_support", "tax",
    "hardware", "installation", "financing", "power", "space", "staff", "support", "resale",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is missing or estimated, and what it ruled out or changed.

    `kind`: no_price, no_specification, no_throughput, no_capacity_figure, memory, not_ownable, estimated, predicted,
    old_price, private_price (one that does not hold on the day), renamed, not_planned, limited_use, budget, quota.
    `subject` names the thing, `effect` says what follows from it (a str only until every room gives messages).
    """

    kind: str
    subject: str
    effect: Message
    workload: str = ""


@dataclass(frozen=True, slots=True)
class InputReading:
    """What was read from where: `path` in the request, `place` in the file, the text there and the value it became."""

    path: str
    place: str
    read: str
    value: str


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of the input that is no workload, with the reason (total, blank, note, hidden ...)."""

    place: str
    read: str
    reason: str


@dataclass(frozen=True, slots=True)
class InputProvenance:
    """Where the request came from. rows_used + len(rows_refused) = rows_in for a sheet; all zero for a document."""

    name: str
    format: str
    sha256: str
    rows_in: int = 0
    rows_used: int = 0
    rows_refused: tuple[RefusedRow, ...] = ()
    readings: tuple[InputReading, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure that no price list holds; `low` and `high` are its published range, None where unknown."""

    name: str
    meaning: str
    value: float
    unit: str
    low: float | None
    high: float | None
    source: str
    as_of: date
    overridden: bool = False


@dataclass(frozen=True, slots=True)
class PriceUsed:
    """A price row that the plan pays, or that its cheapest alternative would pay, in the plan's currency.

    `list_price_per_hour` in `list_currency` is set where the price is not as listed: `adjustment` then tells which
    negotiated price was applied, and is empty where only the currency differs. A negotiated price that no list has
    comes without one.
    """

    provider: str
    region: str
    instance_type: str
    purchase_option: str
    price_per_hour: float
    currency: str
    as_of: date
    source_id: str
    source: str
    method: str
    list_price_per_hour: float | None = None
    list_currency: str = ""
    adjustment: str = ""


@dataclass(frozen=True, slots=True)
class ThroughputUsed:
    """Work per hour of one gang of `gang` accelerators; low and high bound 80 % of cases.

    `basis`: measured, definition (accelerator-hours on the named accelerator), predicted_count,
    predicted_same_architecture, predicted_across_architectures, described (public runs of like networks).
    """

    workload: str
    accelerator: str
    gang: float
    units_per_hour: float
    low: float
    high: float
    basis: str
    explanation: tuple[Message, ...]

    @property
    def explanation_text(self) -> str:
        """The steps from the measurement to this rate, in one sentence."""
        return "; ".join(map(str, self.explanation))


def describe_amount(amount: float, unit: str) -> str:
    """An amount that a name follows.

    >>> describe_amount(3, "node"), describe_amount(21, "node_day"), describe_amount(0.6, "money")
    ('3 x', '21 days of', '0.60 an hour of')
    """
    words = {"node": f"{amount:,.0f} x", "node_day": f"{amount:,.0f} days of", "money": f"{amount:,.2f} an hour of"}
    return words[unit]


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
    what: str
    name: str
    provider: str
    region: str
    purchase_option: str
    accelerator: str
    accelerators_per_node: float
    count: int
    usable_from: int
    usable_to: int
    term_months: int
    upfront: float
    per_month: float
    present_cost: float
    unit: Literal["node", "node_day", "money"] = "node"
    money_per_hour: float = 0.0

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
    workload: str
    what: str
    name: str
    provider: str
    region: str
    purchase_option: str
    accelerator: str
    accelerators_per_node: float
    node_hours: float
    nodes: float
    units: float
    cost: float


@dataclass(frozen=True, slots=True)
class CashRow:
    """One payment of a strategy: month 1 start is `month` 1 with `at` start; running costs fall at the end of a month.

    `what` is OPERATORS, SUPPORT_PLAN or the name of a resource, with EXISTING_SUFFIX where it was there before.
    """

    month: int
    at: Literal["start", "end"]
    category: Category
    what: str
    amount: float


@dataclass(frozen=True, slots=True)
class WorkloadCost:
    """A workload's share of a strategy: direct use plus its share (by node-hours) of owned and committed nodes.

    `cost_per_unit` is cost over the horizon / work units done. The shares of idle hours are included, so that
    the costs of all workloads add up to the strategy's total. `cost_low` and `cost_high` are `cost` with throughput at
    the ends of its 80 % interval, all else as planned and hours in proportion; `cost` itself where it is measured.
    """

    workload: str
    team: str
    unit: str
    units: float
    cost: float
    cost_per_unit: float
    where: str
    cost_low: float = 0.0
    cost_high: float = 0.0


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to serve the whole demand, solved to proven optimality.

    `present_cost` is the net present cost (less resale), `total_cost` the undiscounted sum of payments (less resale).
    `bound` is the solver's proven lower bound on present_cost and `gap_fraction` (present_cost - bound) / present_cost.
    `columns` is the size of the program; where fewer were searched (`columns_searched`), the plan is the best of a
    restricted program and the bound still that of the whole.
    For status infeasible the amounts are 0, the tuples empty and `reasons` says why and what would have to give.
    """

    name: StrategyName
    status: Status
    present_cost: float
    total_cost: float
    bound: float
    gap_fraction: float
    purchases: tuple[Purchase, ...] = ()
    uses: tuple[Use, ...] = ()
    cash: tuple[CashRow, ...] = ()
    workloads: tuple[WorkloadCost, ...] = ()
    reasons: tuple[Message, ...] = ()
    candidates: int = 0
    pruned: int = 0
    columns: int = 0
    columns_searched: int = 0


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Owning one node of `system` against renting its equal (`rented`) by the hour.

    `month`: first month in which cumulative cost of owning, from delivery and without resale, is at or below renting at
    full use; None if never inside the system's life. `utilisation`: share of hours at which both cost the same over
    the life, with resale, discounted; above 1 means owning never pays.
    One node costs `capital` at delivery and `own_per_month` at full use, and sells for `resale` (positive) after
    `life_months`; its equal by the hour costs `rent_per_month` at full use. 0 life: not told (plans of before).
    """

    system: str
    rented: str
    month: int | None
    utilisation: float | None
    own_cost_per_accelerator_hour: float
    rent_cost_per_accelerator_hour: float
    capital: float = 0.0
    own_per_month: float = 0.0
    rent_per_month: float = 0.0
    life_months: int = 0
    resale: float = 0.0


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended strategy with its sentence, and its saving (`worth`) against the runner-up, if there is one."""

    strategy: StrategyName | None
    sentence: Message
    runner_up: StrategyName | None
    worth: float
    worth_fraction: float
    reasons: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class QuotaRequest:
    """More of a quota than an account has: ask the provider for a limit of `ask_for`, in force by `first_month`.

    Amounts are in `unit` (vcpu, accelerator, node). `needed` is the most that the strategy runs at once; `limit` and
    `used` (by others; None: not told, and then not part of `ask_for`) are as read on `as_of`.
    """

    strategy: StrategyName
    provider: str
    region: str
    code: str
    title: str
    unit: str
    limit: float
    used: float | None
    needed: float
    ask_for: float
    first_month: int
    workloads: tuple[str, ...]
    as_of: date
    source_id: str


@dataclass(frozen=True, slots=True)
class RequestedWorkload:
    """The workload as it was understood, for the reader of a plan; `demand` has one total per month in `unit`."""

    name: str
    team: str
    kind: str
    unit: str
    demand: tuple[float, ...]
    accelerators: tuple[str, ...]
    gang: float
    interruptible: bool
    place: str
    budget_per_month: float | None
    notes: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole answer. `status` infeasible means that no strategy serves the demand; `reasons` then says why."""

    schema_version: str
    plan_id: str
    status: Literal["optimal", "within_gap", "infeasible"]
    as_of: date
    start: str
    months: int
    month_names: tuple[str, ...]
    currency: str
    hours_per_month: float
    discount_rate_annual: float
    conventions: tuple[Message, ...]
    recommendation: Recommendation
    strategies: tuple[Strategy, ...]
    break_even: tuple[BreakEven, ...]
    workloads: tuple[RequestedWorkload, ...]
    throughput: tuple[ThroughputUsed, ...]
    prices: tuple[PriceUsed, ...]
    oldest_price: date | None
    assumptions: tuple[Assumption, ...]
    gaps: tuple[Gap, ...]
    inputs: InputProvenance
    catalog_digest: str
    reasons: tuple[Message, ...] = ()
    exchange_rates: tuple[RateUsed, ...] = ()
    quota_requests: tuple[QuotaRequest, ...] = ()
    margins: tuple[MarginalValue, ...] = ()
    flips: tuple[SwitchingValue, ...] = ()
    risk: Risk | None = None
    views: FinancialViews = field(default_factory=FinancialViews)
    ledger: AuditTrail = field(default_factory=AuditTrail)
    considered: tuple[OfferOutcome, ...] = ()
    changes: Changes | None = None

    def strategy(self, name: str) -> Strategy:
        """The strategy called `name`; KeyError if it was not asked for."""
        for strategy in self.strategies:
            if strategy.name == name:
                return strategy
        raise KeyError(name)
