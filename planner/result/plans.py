"""The whole answer: the strategies, the recommendation among them, and all that explains it."""

from __future__ import annotations

from dataclasses import field
from datetime import date
from typing import Literal

from planner.result.alternatives import OfferOutcome
from planner.result.audit_trail import AuditTrail
from planner.result.comparison import Changes
from planner.result.financial_views import FinancialViews
from planner.result.marginal_values import MarginalValue
from planner.result.message import Message
from planner.result.risk import NegotiationTarget, Risk, SwitchingValue
from planner.result.sources import Assumption, Gap, InputProvenance, PriceUsed, ThroughputUsed
from planner.result.strategies import CommitmentReport, Strategy, StrategyName
from planner.result.uncertainty import Uncertainty
from pricing.exchange_rates import RateUsed
from pricing.frozen_values import dataclass

SCHEMA_VERSION = "2"
"""Of the plan as JSON."""


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
class RecoveryOption:
    """A level of disaster recovery of a workload, planned with all else equal, in the recommended strategy."""

    workload: str
    """Workload."""
    place: str
    """Provider and region of the second place."""
    level: Literal["pilot_light", "warm_standby", "active_active"]
    """Readiness: pilot_light, the data alone; warm_standby, a share; active_active, all of it."""
    is_chosen: bool
    """Whether the plan has this level."""
    nodes: float | None
    """Most nodes at once in the second place; null: the level cannot be planned."""
    cost_added: float | None
    """Total cost above the plan without a second place of this workload, in the plan's currency; null: unknown."""
    present_cost_added: float | None
    """The same as present cost, in the plan's currency; null: unknown."""
    hours_to_part: float
    """Hours from the loss of the first place until a part of the service is back."""
    hours_to_all: float
    """Hours until all of the service is back."""
    is_stated: bool
    """Whether the request states failover_minutes and node_start_minutes; false: one of them is a planning value."""


@dataclass(frozen=True, slots=True)
class CallComparison:
    """A self-run model against calls at a stated price per token. Costs are over the whole plan."""

    workload: str
    """Workload."""
    called: str
    """Model and provider that would be called, as stated."""
    as_of: date | None
    """Date of the price; null: not stated."""
    source: str
    """Source of the price, as stated."""
    tokens_per_month: float
    """Tokens a month as planned, input and output, on average."""
    own_cost: float
    """Cost of the workload in the recommended strategy, with its standby, in the plan's currency."""
    call_cost: float
    """Cost of calling for the same work, in the plan's currency."""
    own_cost_per_million: float
    """Own cost of a million tokens, in the plan's currency."""
    call_cost_per_million: float
    """Price of a million tokens at the workload's share of input and output, in the plan's currency."""
    meet_tokens_per_month: float | None
    """Least volume in tokens a month at which the workload alone costs no more than calls; 0: at every volume; null: at
    none up to a thousand times the planned volume."""


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
class RequestSetting:
    """A limit or a setting of the request that narrows the decisions; defaults are not listed."""

    name: str
    """Name of the field: providers, limits: capex per year ..."""
    values: tuple[str, ...]
    """Its values in words."""


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
    negotiation: tuple[NegotiationTarget, ...] = ()
    """What to ask vendors for: prices at which another strategy becomes the choice."""
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
    settings: tuple[RequestSetting, ...] | None = None
    """Limits and settings of the request that narrow the decisions; null: not recorded (plans of before)."""
    fiscal_year_starts: int = 1
    """Month in which the fiscal year starts, 1 to 12."""
    commitments: CommitmentReport | None = None
    """Savings, use, ends and exits of the commitments of the recommended strategy; null: it has none."""
    recovery: tuple[RecoveryOption, ...] = ()
    """Levels of disaster recovery of each workload with a second place."""
    calls: tuple[CallComparison, ...] = ()
    """Self-run models against stated prices per token."""
    uncertainty: Uncertainty | None = None
    """What to commit to now where figures are uncertain; null: not requested."""
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

    @property
    def is_cut_by_clock(self) -> bool:
        """Whether the clock cut a search for a strategy, or for a plan that its risk is found with: on another day they
        may come out better."""
        notes = () if self.risk is None else self.risk.notes
        return any(each.cut_by_clock for each in self.strategies) or any(
            note.code == "replans_cut_by_clock" for note in notes
        )
