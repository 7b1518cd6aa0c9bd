"""What no strategy of a plan may pass, the quotas of its accounts, and what is asked about its risk, under uncertainty
and against calls of other models: parts of a request."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from planner.request.field_types import Amount, Date, Fraction, LongText, Money, Positive, RequestModel, Text
from pricing.price import PurchaseKind, purchase_kinds
from pricing.quota import Quota, QuotaUnit, unknown_kinds


def _require_kind(name: str) -> str:
    kinds = purchase_kinds()
    if name not in kinds:
        quoted = [repr(each) for each in kinds]
        expected = f"{', '.join(quoted[:-1])} or {quoted[-1]}"
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
    return name


PurchaseKindName = Annotated[
    str,
    AfterValidator(_require_kind),
    WithJsonSchema({"type": "string", "enum": list(get_args(PurchaseKind))}),
]
"""A kind of purchase option; the schema has those without plug-ins."""
YearlyAmounts = Money | Annotated[list[Money], Field(min_length=1, max_length=10)]
"""One amount for each year of the plan (months 1 to 12 are the first), or one amount a year in order."""

YearlyKilograms = Amount | Annotated[list[Amount], Field(min_length=1, max_length=10)]
"""Kilograms in each year of the plan, or those of each year in order."""


class PlanLimits(RequestModel):
    """Limits on every strategy. None: no limit. Amounts are in the plan's currency."""

    capex_per_year: YearlyAmounts | None = None
    """Largest amount for hardware in each year of the plan, in its currency."""
    opex_per_year: YearlyAmounts | None = None
    """Largest amount for everything else in each year, in the plan's currency; resale is not deducted."""
    spot_fraction_max: Fraction | None = None
    """Largest fraction on spot of the work of each workload and month."""
    owned_power_kw: Positive | None = None
    """Largest maximum power of all owned nodes together, in kW."""
    owned_racks: Positive | None = None
    """Largest number of racks for owned nodes."""
    carbon_kg_per_year: YearlyKilograms | None = None
    """Largest emission of all nodes in each year of the plan, in kg CO2e; nodes of unknown carbon are not used."""
    purchase_options: tuple[PurchaseKindName, ...] = ()
    """The only kinds of purchase option in the cloud (on_demand, spot, reserved ...); empty: any."""
    commitment_coverage_min: Fraction | None = None
    """Least share that commitments for a term cover of use on demand and in them, by its cost on demand, over the
    plan: a coverage target."""
    commitment_utilisation_min: Fraction | None = None
    """Least share of the plan's commitments for a term that is used within it, by their cost: a utilisation target."""
    commitment_ending_per_quarter_max: Annotated[float, Field(gt=0, le=1)] | None = None
    """Largest share of the plan's commitments for a term, by cost, that may end in one quarter of the calendar: a
    ladder."""
    quotas: Literal["ask", "hold"] = "ask"
    """Use of quotas: ask: a plan that exceeds a quota lists the increase to request; hold: no plan exceeds a quota."""


def _require_price_kinds(text: str) -> str:
    if unknown := unknown_kinds(text):
        raise ValueError(f"no kind of price: {', '.join(unknown)}")
    return text


class QuotaLine(RequestModel):
    """One limit of an account, as `planner quota` writes it: what it counts, how much it allows, how much is taken."""

    provider: Text
    """Provider of the account."""
    region: Text
    """Region of the quota."""
    code: Text
    """The provider's code of the quota."""
    title: LongText
    """The provider's title of the quota."""
    unit: QuotaUnit
    """Unit of `limit` and `used`: vcpu, accelerator or node."""
    limit: Amount
    """Largest amount allowed, in `unit`."""
    used: Amount | None = None
    """Amount already in use, in `unit`; null: unknown."""
    types: LongText
    """Patterns of the instance types that count, separated by spaces."""
    kinds: Annotated[Text, AfterValidator(_require_price_kinds)]
    """Kinds of price that count (on_demand spot reserved ...), separated by spaces."""
    as_of: Date
    """Date of the figures."""
    source_id: Text
    """Identifier of their source."""

    @property
    def quota(self) -> Quota:
        return Quota(**self.model_dump())


def require_quota_rows(value: object) -> object:
    """The value, or a fault where it names a file."""
    if isinstance(value, str):
        raise ValueError("expected a list of quotas; only `planner estimate` reads a file that is named here")
    return value


class RiskRequest(RequestModel):
    """How the risk of a plan is looked into. Equal seed, equal figures."""

    draws: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    """Number of random draws."""
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    """Seed of the random numbers; equal seeds give equal figures."""
    reoptimise: Annotated[int, Field(ge=0, le=200)] = 0
    """Number of draws that are solved again; takes minutes for a portfolio."""
    waits: tuple[Annotated[int, Field(ge=0, le=60)], ...] = (0, 3, 6, 12)
    """Purchase delays to solve, in months."""


UncertainName = Literal[
    "demand_change_annual", "throughput_level", "cloud_price_change_annual", "spot_price_change_annual",
    "commitment_price_change_annual", "spot_hours_to_interruption", "hardware_price_level", "value_loss_annual",
    "lead_time_months",
]  # fmt: skip
UNCERTAIN_NAMES: tuple[UncertainName, ...] = get_args(UncertainName)
"""Figures whose uncertainty moves decisions: the work, its speed, prices, interruptions, deliveries and resale."""


class FigureRange(RequestModel):
    """Your own range of a figure, in its unit; the planned value lies in it. Equal ends: the figure is certain."""

    low: Annotated[float, Field(allow_inf_nan=False)]
    """Lowest value that you consider."""
    high: Annotated[float, Field(allow_inf_nan=False)]
    """Highest value that you consider."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low is above high: {self.low:g} > {self.high:g}")
        return self


class UncertaintyRequest(RequestModel):
    """Decisions of the first months that are the same in all scenarios; later ones follow each. Equal seed, equal
    figures."""

    ranges: dict[UncertainName, FigureRange] = Field(default_factory=dict)
    """Your own ranges by figure, in place of the published ones; demand_change_annual has no published range."""
    scenarios: Annotated[int, Field(ge=2, le=100)] = 30
    """Number of weighted scenarios that the draws are reduced to."""
    draws: Annotated[int, Field(ge=100, le=5_000)] = 1_000
    """Number of random draws before the reduction."""
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    """Seed of the random numbers; equal seeds give equal figures."""
    decide_months: Annotated[int, Field(ge=1, le=12)] = 3
    """Months whose orders and commitments are decided now; homes are, too."""
    tail_weight: Fraction = 0
    """Weight of the mean of the dearest cases in what is least; 0: the mean of all cases alone."""
    tail_level: Annotated[float, Field(ge=0.5, le=0.99)] = 0.9
    """Share of cases that are not among the dearest: 0.9 takes the dearest tenth."""


class CallPrice(RequestModel):
    """The price per token, as you state it, of calling another provider's model for the work of a workload."""

    workload: Text
    """Workload whose work would be called."""
    name: str = ""
    """Model and provider that would be called."""
    input_per_million: Money
    """Price of a million input (prompt) tokens."""
    output_per_million: Money
    """Price of a million output (generated) tokens."""
    input_tokens_per_unit: Amount = 0
    """Input tokens of one work unit of the workload."""
    output_tokens_per_unit: Amount | None = None
    """Output tokens of one work unit; default: 1 where the work unit is tokens."""
    as_of: Date | None = None
    """Date of the price."""
    source: str = ""
    """Where the price is from."""

    @model_validator(mode="after")
    def _check_amounts(self) -> Self:
        if not self.cost_per_unit > 0:
            raise ValueError("a unit of work must cost more than 0: state prices and tokens of a unit")
        return self

    @property
    def tokens_per_unit(self) -> float:
        """Tokens of one work unit, input and output."""
        return self.input_tokens_per_unit + self._output

    @property
    def cost_per_unit(self) -> float:
        """Price of one work unit."""
        return (self.input_tokens_per_unit * self.input_per_million + self._output * self.output_per_million) / 1e6

    @property
    def _output(self) -> float:
        return 1.0 if self.output_tokens_per_unit is None else self.output_tokens_per_unit
