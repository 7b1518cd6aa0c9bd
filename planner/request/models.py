"""What the asker wants: the words of the API, of a YAML file and of a sheet once it is read.

Knows nothing of prices: names of accelerators, providers and regions are checked against the catalogue later, so that
a request can be read and stored without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from planner.request.document_problems import list_problems
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.field_types import (
    MONTHS_MAX,
    Amount,
    Currency,
    DailyShape,
    Date,
    Fraction,
    LongText,
    MonthlyAmounts,
    Positive,
    Precision,
    RequestModel,
    Text,
    YearMonth,
)
from planner.request.limits import PlanLimits, RiskRequest
from planner.request.neural_network import NeuralNetwork
from planner.request.ownership import Existing, Finance, OwnSystem, Site
from planner.request.sweeps import Sweep
from pricing.quota import Quota, QuotaUnit, unknown_kinds

WorkFamily = Literal["training", "llm_training", "inference", "prefill", "decode"]
"""What kind of work it is to an accelerator: decode is one stream of tokens, prefill one prompt, inference batches."""


class Measurement(RequestModel):
    """How fast the workload ran on `count` accelerators: exactly one of units_per_second and units_per_hour."""

    accelerator: Text
    count: Positive = 1
    units_per_second: Positive | None = None
    units_per_hour: Positive | None = None
    per: Literal["device", "job"] = Field(
        description="device: the figure is for each accelerator; job: for all of them together"
    )
    precision: Precision = "bf16"
    scaling: Literal["weak", "strong", "time_to_train", "replicas", "stream"] = Field(
        "weak",
        description="at another count: weak keeps the batch per device, strong that of the job, time_to_train the job "
        "until it is learned; replicas stand alone; a stream is one request at a time",
    )
    batch: Positive | None = Field(None, description="per device, for weak scaling, else of the whole job; only told")
    measured_on: Date | None = None
    source: str = ""

    @model_validator(mode="before")
    @classmethod
    def _is_written_out(cls, value: Any) -> Any:
        if isinstance(value, dict) and "file" in value:
            raise ValueError("a measurement written out; only commands read a file that is named here")
        return value

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if (self.units_per_second is None) == (self.units_per_hour is None):
            raise ValueError("give exactly one of units_per_second and units_per_hour")
        return self

    @property
    def job_units_per_hour(self) -> float:
        """Work per hour of all `count` accelerators together."""
        rate = self.units_per_hour if self.units_per_hour is not None else (self.units_per_second or 0.0) * 3600
        return rate * self.count if self.per == "device" else rate


class Demand(RequestModel):
    """How much work: exactly one of the four kinds, in the workload's unit.

    units_per_month: work done in each month. total_units with deadline_month: done by the end of that month, by
    number (1 is the first of the plan) or name (2027-03).
    accelerator_hours_per_month on `accelerator`: hours times accelerators, on that accelerator unless the workload
    allows others. requests_per_second: mean over the month, spread by `daily_shape`, each worth `units_per_request`
    units. `growth_per_month` multiplies a single value by (1 + growth) every month; months and lists carry their own
    growth.
    """

    units_per_month: MonthlyAmounts | None = None
    total_units: Positive | None = None
    deadline_month: Annotated[int, Field(ge=1, le=MONTHS_MAX)] | YearMonth | None = None
    accelerator_hours_per_month: MonthlyAmounts | None = None
    accelerator: Text | None = None
    requests_per_second: MonthlyAmounts | None = None
    units_per_request: Positive = 1
    daily_shape: DailyShape = "flat"
    growth_per_month: Annotated[float, Field(gt=-1, le=1)] = 0

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [name for name in DEMAND_KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(DEMAND_KINDS)}; given: {', '.join(given) or 'none'}")
        if (self.total_units is None) != (self.deadline_month is None):
            raise ValueError("total_units and deadline_month go together")
        if (self.accelerator_hours_per_month is None) != (self.accelerator is None):
            raise ValueError("accelerator_hours_per_month and accelerator go together")
        if self.growth_per_month and not isinstance(self.monthly, float | int):
            raise ValueError("growth_per_month needs a single value per month, not a value for each month")
        return self

    @property
    def monthly(self) -> float | dict[str, float] | list[float] | None:
        """The value of whichever monthly kind was given; None for total_units."""
        return next((v for n in DEMAND_KINDS if n != "total_units" and (v := getattr(self, n)) is not None), None)


DEMAND_KINDS = ("units_per_month", "total_units", "accelerator_hours_per_month", "requests_per_second")


def _demand_of_sweep(value: Any, info: ValidationInfo) -> Any:
    """The demand stated, or what the sweep comes to."""
    sweep = info.data.get("sweep", INVALID_SWEEP)
    if sweep is INVALID_SWEEP:  # it has complaints of its own, and the whole is refused
        return {"units_per_month": 1} if value is None else value
    if value is None and sweep is None:
        raise PydanticCustomError("missing", "Field required")
    return sweep.demand if value is None else value


def _default_from_sweep(field: str) -> BeforeValidator:
    """The value stated, or what the sweep says; two that differ are a fault."""

    def filled(value: Any, info: ValidationInfo) -> Any:
        sweep = info.data.get("sweep")
        if sweep is None:
            return value
        implied = getattr(sweep, field)
        if value not in (None, implied):
            raise ValueError(f"the sweep says {implied:g}: leave this out")
        return implied

    return BeforeValidator(filled)


INVALID_SWEEP = object()


class Workload(RequestModel):
    """One job or service. Memory is accelerator memory; `gang` accelerators work together as one job or replica."""

    name: Text
    team: str = ""
    kind: Literal["training", "batch", "inference", "interactive"] = "batch"
    family: WorkFamily | None = Field(
        None,
        description="what it is to an accelerator, to carry a measurement to another; default: by kind, and training "
        "in tokens or of a network is that of large language models",
    )
    unit: str = Field("", description="what is counted: tokens, samples, requests, accelerator-hours ...")
    sweep: Sweep | None = Field(None, description="independent experiments, in place of a demand; never one gang")
    demand: Annotated[Demand, BeforeValidator(_demand_of_sweep)] = Field(
        default=None, validate_default=True, description="required; default: what the sweep comes to"
    )
    measurements: tuple[Measurement, ...] = ()
    network: NeuralNetwork | None = Field(
        None, description="the job told by its model: its memory, and without measurements its throughput too"
    )
    memory_gib_per_accelerator: Positive | None = None
    memory_gib_total: Positive | None = Field(None, description="accelerator memory of the whole gang")
    gang: Annotated[Positive | None, _default_from_sweep("accelerators_each")] = Field(
        None,
        validate_default=True,
        description="accelerators that work together; default: those of an experiment of the sweep, else the count "
        "measured, else 1",
    )
    accelerators_per_node: Positive | None = Field(
        None, description="accelerators that must share a node; default: the gang, at most 8"
    )
    parallel_jobs: Annotated[Annotated[int, Field(ge=1)] | None, _default_from_sweep("parallel")] = Field(
        None,
        validate_default=True,
        description="gangs that may run at once; default: those of the sweep, 1 for training with a deadline, else no "
        "limit",
    )
    accelerators: tuple[Text, ...] = Field((), description="the only accelerators allowed; empty: any")
    substitution: bool = Field(False, description="accelerator-hours may be served by another accelerator")
    providers: tuple[Text, ...] = ()
    regions: tuple[Text, ...] = ()
    residency: tuple[Text, ...] = Field(
        (), description="countries (DE) or blocs (EU) where it may run; empty: anywhere"
    )
    may_be_owned: bool = True
    interruptible: bool = False
    spot_fraction_max: Fraction | None = Field(
        None, description="of the work of each month, the most that may run on spot; default: that of the limits"
    )
    spare_replicas: Annotated[int, Field(ge=0, le=100)] = Field(
        0,
        description="replicas of a service ready beyond those at work, at every hour with work (N+1 is 1)",
    )
    checkpoint_minutes: Amount = 5
    restart_minutes: Amount = 10
    storage_gb: Amount = 0
    egress_gb_per_month: Amount = 0
    data_region: Text | None = Field(
        None, description="provider and region where its data lives (aws us-east-1); work elsewhere moves the data"
    )
    transfer_gb_per_month: Amount = Field(0, description="data that moves to where the work runs, if not data_region")
    budget_per_month: Positive | None = None
    notes: str = ""

    @model_validator(mode="after")
    def _check_sweep(self) -> Self:
        if self.sweep is None:
            return self
        if self.kind not in ("training", "batch"):
            raise ValueError(f"sweep: experiments are training or batch, not {self.kind}")
        if self.demand != Demand.model_validate(self.sweep.demand):
            raise ValueError("demand: a sweep is a demand by itself: leave it out")
        untold = self.sweep.sharing_efficiency is None and not any(m.count < 1 for m in self.measurements)
        if self.sweep.share == "time" and untold:
            raise ValueError(
                "sweep.sharing_efficiency: state what is kept of the work of one alone, or measure one that shares "
                f"(count {self.sweep.accelerators_each:.3g}): published figures lie between 0.7 and 1.3"
            )
        return self


def _require_price_kinds(text: str) -> str:
    if unknown := unknown_kinds(text):
        raise ValueError(f"no kind of price: {', '.join(unknown)}")
    return text


class QuotaLine(RequestModel):
    """One limit of an account, as `planner quota` writes it: what it counts, how much it allows, how much is taken."""

    provider: Text
    region: Text
    code: Text = Field(description="what the provider calls it where one asks for more")
    title: LongText
    unit: QuotaUnit
    limit: Amount
    used: Amount | None = Field(None, description="how much is taken already; null: not told")
    types: LongText = Field(description="patterns of the instance types that count, separated by spaces")
    kinds: Annotated[Text, AfterValidator(_require_price_kinds)] = Field(
        description="the kinds of price that count (on_demand spot reserved ...), separated by spaces"
    )
    as_of: Date
    source_id: Text

    @property
    def quota(self) -> Quota:
        return Quota(**self.model_dump())


def _require_quota_rows(value: object) -> object:
    if isinstance(value, str):
        raise ValueError("expected a list of quotas; only `planner estimate` reads a file that is named here")
    return value


class Request(RequestModel):
    """A portfolio and how to plan it. `as_of` is the date of the plan; `start` its first month (default: the next
    one)."""

    workloads: Annotated[tuple[Workload, ...], Field(min_length=1, max_length=1000)]
    months: Annotated[int, Field(ge=1, le=MONTHS_MAX)] = 12
    as_of: Date
    start: YearMonth | None = None
    currency: Currency = Field(
        "USD", description="ISO 4217 code of the plan; all amounts of the request (budgets, assumptions) are in it"
    )
    strategies: tuple[Literal["cloud", "onprem", "hybrid"], ...] = ("cloud", "onprem", "hybrid")
    providers: tuple[Text, ...] = ()
    regions: tuple[Text, ...] = ()
    residency: tuple[Text, ...] = ()
    discount_rate_annual: Annotated[float, Field(gt=-0.5, le=1)] | None = None
    measured_only: bool = False
    allow_estimates: bool = True
    commitments_beyond_horizon: Literal["full", "pro_rata"] = "full"
    materiality_fraction: Fraction = 0.02
    quotas: Annotated[tuple[QuotaLine, ...], Field(max_length=20_000), BeforeValidator(_require_quota_rows)] = Field(
        (), description="limits of the accounts; a plan that needs more says what to ask for"
    )
    assumptions: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default_factory=dict, description="values that replace the dated defaults, by name"
    )
    systems: Annotated[tuple[OwnSystem, ...], Field(max_length=100)] = Field(
        (), description="servers and workstations at your own quotes, beside those of the catalogue"
    )
    existing: Existing = Field(default=Existing(), description="what is owned or committed already")
    site: Site = Field(default=Site(), description="where owned nodes stand and who looks after them")
    finance: Finance = Field(default=Finance(), description="how owned nodes are paid for and taxed")
    limits: PlanLimits = Field(default=PlanLimits(), description="what no strategy may pass")
    risk: RiskRequest | None = Field(None, description="ask how sure the plan is; null: not asked")

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if len(set(self.strategies)) != len(self.strategies) or not self.strategies:
            raise ValueError("strategies: each of cloud, onprem and hybrid at most once, and at least one")
        seen: dict[str, int] = {}
        for index, workload in enumerate(self.workloads):
            first = seen.setdefault(workload.name.casefold(), index)
            if first != index:
                raise ValueError(
                    f"workloads[{index}].name: two workloads of one name, {workload.name!r} (also workloads[{first}])"
                )
        limits: dict[tuple[str, str, str], int] = {}
        for index, line in enumerate(self.quotas):
            if (first := limits.setdefault((line.provider, line.region, line.code), index)) != index:
                raise ValueError(f"quotas[{index}]: the same provider, region and code as quotas[{first}]")
        return self


def parse_request(
    document: Mapping[str, Any], complaints: Sequence[InputProblem] = (), places: Mapping[str, str] | None = None
) -> Request:
    """The request in `document`, or InvalidRequest with `complaints` and every further problem.

    `places` maps JSON paths to places that the reader knows (a cell, a line); a problem has the place of the longest
    path that leads to it.
    """
    problems = list(complaints)
    request = None
    try:
        request = Request.model_validate(document)
    except ValidationError as error:
        problems += list_problems(error, places or {}, Request)
    if problems or request is None:
        raise InvalidRequest(tuple(problems))
    return request
