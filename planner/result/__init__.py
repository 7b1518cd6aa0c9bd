"""The answer: frozen values that make up a plan. Money is in the plan's currency, amounts paid are positive.

Months count from 1 (the first month of the plan); `Plan.month_names` gives their calendar names (2026-12).
"""

from __future__ import annotations

import math
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
NODE_ROUNDING = 1e-6
"""Of a node: a smaller part of one is rounding."""
SCHEMA_VERSION = "2"
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
    old_price, private_price (one that does not hold on the day), renamed, not_planned, limited_use, sale_not_confirmed,
    sale_ends, budget, quota.
    `subject` names the thing, `effect` says what follows from it (a str only until every room gives messages).
    """

    kind: str
    """Code of the kind of gap: no_price, no_specification, no_throughput, no_capacity_figure, memory, not_ownable,
    estimated, predicted, old_price, private_price, renamed, not_planned, limited_use,
    sale_not_confirmed, sale_ends, budget or quota."""
    subject: str
    """The thing that is missing or estimated."""
    effect: Message
    """The consequence for the plan."""
    workload: str = ""
    """The workload concerned; empty: the whole plan."""


@dataclass(frozen=True, slots=True)
class InputReading:
    """What was read from where: `path` in the request, `place` in the file, the text there and the value it became."""

    path: str
    """JSON path of the value in the request."""
    place: str
    """Place of the text in the file: sheet and cell, or line and column."""
    read: str
    """The text as it stands in the file."""
    value: str
    """The value it became."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row of the input that is no workload, with the reason (total, blank, note, hidden ...)."""

    place: str
    """Place of the row in the file."""
    read: str
    """The text of the row, shortened."""
    reason: str
    """Why the row is no workload: a total, blank, a note, hidden ..."""


@dataclass(frozen=True, slots=True)
class InputProvenance:
    """Where the request came from. rows_used + len(rows_refused) = rows_in for a sheet; all zero for a document."""

    name: str
    """Name of the file; empty for a request without one."""
    format: str
    """Input format that read it."""
    sha256: str
    """SHA-256 checksum of the file, in hexadecimal."""
    rows_in: int = 0
    """Rows of the sheet below its header; 0 for a document."""
    rows_used: int = 0
    """Rows that became workloads."""
    rows_refused: tuple[RefusedRow, ...] = ()
    """Rows that did not become workloads, with reasons; rows_used + refused rows = rows_in."""
    readings: tuple[InputReading, ...] = ()
    """Every value read from the file, with its place."""
    notes: tuple[str, ...] = ()
    """Remarks on how the file was understood."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure that no price list holds; `low` and `high` are its published range, None where unknown."""

    name: str
    """Name by which a request can override it."""
    meaning: str
    """Meaning in words."""
    value: float
    """Value in use, in `unit`."""
    unit: str
    """Unit of the value; fraction: 0 to 1."""
    low: float | None
    """Low end of its published range, in `unit`; null: unknown."""
    high: float | None
    """High end of its published range, in `unit`; null: unknown."""
    source: str
    """Source of the value."""
    as_of: date
    """Date of the source."""
    overridden: bool = False
    """Whether the request gave the value."""


@dataclass(frozen=True, slots=True)
class PriceUsed:
    """A price row that the plan pays, or that its cheapest alternative would pay, in the plan's currency.

    `list_price_per_hour` in `list_currency` is set where the price is not as listed: `adjustment` then tells which
    negotiated price was applied, and is empty where only the currency differs. A negotiated price that no list has
    comes without one.
    """

    provider: str
    """Provider that charges the price."""
    region: str
    """Region of the price."""
    instance_type: str
    """Instance type of the price."""
    purchase_option: str
    """Purchase option as the catalogue spells it: on_demand, spot, reserved_1y_no_upfront ..."""
    price_per_hour: float
    """Price of one node-hour, in `currency`."""
    currency: str
    """Currency of the price, ISO 4217."""
    as_of: date
    """Date of the price."""
    source_id: str
    """Identifier of the source in the catalogue."""
    source: str
    """The source in words, with its address where it has one."""
    method: str
    """How the price came about: listed, or estimated by a named rule."""
    list_price_per_hour: float | None = None
    """List price of one node-hour before a negotiated discount or conversion, in `list_currency`; null: the price
    is as listed."""
    list_currency: str = ""
    """Currency of the list price, ISO 4217; empty: the price is as listed."""
    adjustment: str = ""
    """Negotiated price that was applied; empty: none."""
    sale: str = "not_confirmed"
    """Whether a dated source says that it is sold this way: confirmed, or not_confirmed where only the price says
    so."""


@dataclass(frozen=True, slots=True)
class ThroughputUsed:
    """Work per hour of one gang of `gang` accelerators; low and high bound 80 % of cases.

    `basis`: measured, definition (accelerator-hours on the named accelerator), predicted_count,
    predicted_same_architecture, predicted_across_architectures, described (public runs of like networks).
    """

    workload: str
    """Name of the workload."""
    accelerator: str
    """Name of the accelerator."""
    gang: float
    """Accelerators that work together."""
    units_per_hour: float
    """Work units per hour of the whole gang."""
    low: float
    """Low end of the 80 % interval, in work units per hour."""
    high: float
    """High end of the 80 % interval, in work units per hour."""
    basis: str
    """Basis of the value: measured, definition, predicted_count, predicted_same_architecture,
    predicted_across_architectures or described."""
    explanation: tuple[Message, ...]
    """How the value was derived."""

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
class Strategy:
    """One way to serve the whole demand, solved to proven optimality.

    `present_cost` is the net present cost (less resale), `total_cost` the undiscounted sum of payments (less resale).
    `bound` is the solver's proven lower bound on present_cost and `gap_fraction` (present_cost - bound) / present_cost.
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
    bound: float
    """Proven lower bound of the present cost, in the plan's currency."""
    gap_fraction: float
    """Gap to the bound: (present_cost - bound) / present_cost."""
    purchases: tuple[Purchase, ...] = ()
    """Hardware bought and commitments made."""
    uses: tuple[Use, ...] = ()
    """Work of each workload on each resource by month."""
    cash: tuple[CashRow, ...] = ()
    """Dated payments."""
    workloads: tuple[WorkloadCost, ...] = ()
    """Cost of each workload; they add up to the total cost."""
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
    """Owned system."""
    rented: str
    """Rented equal, in words."""
    month: int | None
    """First month after delivery in which owning at full use costs no more than renting so far, without resale;
    null: never within its life."""
    utilisation: float | None
    """Fraction of hours at which both cost the same over the life, discounted, with resale; above 1: owning never
    pays; null: not defined."""
    own_cost_per_accelerator_hour: float
    """Cost of an owned accelerator-hour at full use, in the plan's currency."""
    rent_cost_per_accelerator_hour: float
    """Cost of a rented accelerator-hour, in the plan's currency."""
    capital: float = 0.0
    """Amount paid for one node at delivery, in the plan's currency."""
    own_per_month: float = 0.0
    """Running cost of one owned node at full use, in the plan's currency per month."""
    rent_per_month: float = 0.0
    """Rent of its equal at full use, in the plan's currency per month."""
    life_months: int = 0
    """Life of the node in months; 0: not recorded."""
    resale: float = 0.0
    """Resale value of one node at the end of its life, in the plan's currency, positive."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended strategy with its sentence, and its saving (`worth`) against the runner-up, if there is one."""

    strategy: StrategyName | None
    """Recommended strategy; null: none is feasible."""
    sentence: Message
    """The recommendation in one sentence."""
    runner_up: StrategyName | None
    """Next best strategy; null: there is none."""
    worth: float
    """Present cost of the runner-up less that of the recommendation, in the plan's currency; negative: the
    runner-up costs less."""
    worth_fraction: float
    """Worth as a fraction of the runner-up's present cost."""
    reasons: tuple[Message, ...] = ()
    """Further remarks on the choice, such as capacity that is larger than needed."""


@dataclass(frozen=True, slots=True)
class QuotaRequest:
    """More of a quota than an account has: ask the provider for a limit of `ask_for`, in force by `first_month`.

    Amounts are in `unit` (vcpu, accelerator, node). `needed` is the most that the strategy runs at once; `limit` and
    `used` (by others; None: not told, and then not part of `ask_for`) are as read on `as_of`.
    """

    strategy: StrategyName
    """Strategy that needs the quota."""
    provider: str
    """Provider of the account."""
    region: str
    """Region of the quota."""
    code: str
    """The provider's code of the quota."""
    title: str
    """The provider's title of the quota."""
    unit: str
    """Unit of all amounts: vcpu, accelerator or node."""
    limit: float
    """Present limit, in `unit`."""
    used: float | None
    """Amount already in use by others, in `unit`; null: unknown, and not counted in `ask_for`."""
    needed: float
    """Most that the strategy runs at once, in `unit`."""
    ask_for: float
    """Limit to request, in `unit`."""
    first_month: int
    """Month by which the limit must be in force, from 1."""
    workloads: tuple[str, ...]
    """Workloads that need it."""
    as_of: date
    """Date of the quota figures."""
    source_id: str
    """Identifier of their source."""


@dataclass(frozen=True, slots=True)
class RequestedWorkload:
    """The workload as it was understood, for the reader of a plan; `demand` has one total per month in `unit`."""

    name: str
    """Name of the workload."""
    team: str
    """Team of the workload."""
    kind: str
    """Kind of work: training, batch, inference or interactive."""
    unit: str
    """Work unit."""
    demand: tuple[float, ...]
    """Work units of each month."""
    accelerators: tuple[str, ...]
    """Accelerators allowed or named; empty: any."""
    gang: float
    """Accelerators that work together."""
    interruptible: bool
    """Whether it may be interrupted, and so run on spot."""
    place: str
    """Place of its row in the input."""
    budget_per_month: float | None
    """Monthly budget in the plan's currency; null: none."""
    notes: str
    """The asker's remarks."""
    fabric: str = "joined"
    """Nodes of a gang: joined by one fabric, or by any network."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole answer. `status` infeasible means that no strategy serves the demand; `reasons` then says why."""

    schema_version: str
    """Version of this format."""
    plan_id: str
    """Identifier made from the request and the catalogue; equal inputs give equal identifiers."""
    status: Literal["optimal", "within_gap", "infeasible"]
    """Outcome: optimal, within_gap or infeasible; that of the recommended strategy."""
    as_of: date
    """Date of the plan."""
    start: str
    """First month, such as 2026-12."""
    months: int
    """Length of the horizon in months."""
    month_names: tuple[str, ...]
    """Name of each month of the horizon."""
    currency: str
    """Currency of all amounts, ISO 4217."""
    hours_per_month: float
    """Hours of every month."""
    discount_rate_annual: float
    """Annual discount rate as a fraction."""
    conventions: tuple[Message, ...]
    """Rules that the amounts follow."""
    recommendation: Recommendation
    """The recommended strategy."""
    strategies: tuple[Strategy, ...]
    """The strategies compared."""
    break_even: tuple[BreakEven, ...]
    """Owned systems against their rented equals."""
    workloads: tuple[RequestedWorkload, ...]
    """The workloads as they were understood."""
    throughput: tuple[ThroughputUsed, ...]
    """Throughput of every workload on every accelerator in use."""
    prices: tuple[PriceUsed, ...]
    """Prices that the plan pays or compares."""
    oldest_price: date | None
    """Date of the oldest price in use; null: no price is used."""
    assumptions: tuple[Assumption, ...]
    """Assumptions in use."""
    gaps: tuple[Gap, ...]
    """Everything missing or estimated."""
    inputs: InputProvenance
    """The file that the request came from."""
    catalog_digest: str
    """Checksum of the catalogue."""
    reasons: tuple[Message, ...] = ()
    """Why no strategy is feasible; empty otherwise."""
    exchange_rates: tuple[RateUsed, ...] = ()
    """Exchange rates in use."""
    quota_requests: tuple[QuotaRequest, ...] = ()
    """Quota increases that the plan needs."""
    margins: tuple[MarginalValue, ...] = ()
    """Marginal costs of demands and limits."""
    flips: tuple[SwitchingValue, ...] = ()
    """Values of assumptions at which the runner-up becomes the cheaper strategy."""
    risk: Risk | None = None
    """Risk analysis; null: not requested."""
    views: FinancialViews = field(default_factory=FinancialViews)
    """Financial views of the strategies."""
    ledger: AuditTrail = field(default_factory=AuditTrail)
    """Audit trail of every amount."""
    considered: tuple[OfferOutcome, ...] = ()
    """Outcome of every offering and owned system."""
    changes: Changes | None = None
    """Differences from an earlier plan; null: none was given."""
    block_of_hour: tuple[int, ...] = ()
    """Load block of each hour of the week, from Monday 0:00; empty: unknown (plans of before)."""
    content_digest: str = ""
    """Digest of what the plan says: decisions, amounts, prices and assumptions. Equal digests: the same plan, on
    whichever machine and from whichever file it was made. Without ids, sentences and the size of the search; numbers
    count to nine significant digits. Empty: not recorded (plans of before)."""

    def strategy(self, name: str) -> Strategy:
        """The strategy called `name`; KeyError if it was not asked for."""
        for strategy in self.strategies:
            if strategy.name == name:
                return strategy
        raise KeyError(name)
