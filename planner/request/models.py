"""What the asker wants: the words of the API, of a YAML file and of a sheet once it is read.

Knows nothing of prices: names of accelerators, providers and regions are checked against the catalogue later, so that
a request can be read and stored without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from planner.request.document_problems import list_problems
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.field_types import (
    MONTHS_MAX,
    Amount,
    Currency,
    DailyShape,
    Date,
    DescribedByFile,
    Fraction,
    MonthlyAmounts,
    PlanDate,
    PlanMonth,
    Positive,
    PositiveMoney,
    Precision,
    RequestModel,
    Text,
    YearMonth,
)
from planner.request.limits import CallPrice, PlanLimits, QuotaLine, RiskRequest, UncertaintyRequest, require_quota_rows
from planner.request.neural_network import NeuralNetwork
from planner.request.ownership import Existing, Finance, OwnSystem, Site
from planner.request.recovery import Recovery
from planner.request.serving import Serving
from planner.request.sweeps import Sweep

Effort = Literal["quick", "standard", "proof"]
WorkFamily = Literal["training", "llm_training", "inference", "prefill", "decode"]
"""What kind of work it is to an accelerator: decode is one stream of tokens, prefill one prompt, inference batches."""

WORKLOADS_MAX = 1000


class Measurement(DescribedByFile):
    """How fast the workload ran on `count` accelerators: exactly one of units_per_second and units_per_hour."""

    FILE_FIELD = "file"
    FILE_MEANING = (
        "File that `planner measure` wrote, relative to this one; fields beside it replace those of the file."
    )
    WRITTEN_OUT = "a measurement"

    accelerator: Text
    """Name of the accelerator, as any cloud writes it."""
    count: Positive = 1
    """Accelerators that ran together; below 1: a part of one."""
    units_per_second: Positive | None = None
    """Work units per second; this or units_per_hour."""
    units_per_hour: Positive | None = None
    """Work units per hour; this or units_per_second."""
    per: Literal["device", "job"]
    """Meaning of the rate: device, the figure is for each accelerator; or job, for all of them together."""
    precision: Precision = "bf16"
    """Precision of the arithmetic."""
    scaling: Literal["weak", "strong", "time_to_train", "replicas", "stream"] = "weak"
    """How work scales to another count: weak keeps the batch per device, strong keeps the batch of the job,
    time_to_train trains to the same quality; replicas are independent; stream is one request at a time."""
    batch: Positive | None = None
    """Batch size, per device for weak scaling, otherwise of the whole job; shown, not used."""
    utilisation: Annotated[float, Field(gt=0, le=1)] | None = None
    """Fraction of the time in which accelerators ran anything, as `planner measure` finds; the plan values the rest."""
    measured_on: Date | None = None
    """Date of the measurement."""
    source: str = ""
    """Where the measurement is from."""

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
    """Work units done in each month: one value, a list, or values by month name."""
    total_units: Positive | None = None
    """Work units to be done by the end of `deadline_month`."""
    deadline_month: Annotated[int, Field(ge=1, le=MONTHS_MAX)] | YearMonth | None = None
    """Last month for `total_units`: a number from 1, or a name such as 2027-03."""
    accelerator_hours_per_month: MonthlyAmounts | None = None
    """Accelerator-hours in each month on `accelerator`."""
    accelerator: Text | None = None
    """Accelerator of the accelerator-hours."""
    requests_per_second: MonthlyAmounts | None = None
    """Requests per second, as a mean over the month."""
    units_per_request: Positive = 1
    """Work units of one request."""
    daily_shape: DailyShape = "flat"
    """How requests are spread over the day and week."""
    growth_per_month: Annotated[float, Field(gt=-1, le=1)] = 0
    """Monthly growth of a single value, as a fraction."""

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

    def is_tied_to_hours(self, kind: str) -> bool:
        """Whether work of that kind is tied to hours of the week; other work may run at any hour of its month."""
        if self.total_units is not None:
            return False
        return self.daily_shape != "flat" or kind not in ("training", "batch") or self.requests_per_second is not None

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
    """Name, unique in the request."""
    team: str = ""
    """Team that owns it."""
    kind: Literal["training", "batch", "inference", "interactive"] = "batch"
    """Kind of work: training and batch may run at any hour, inference and interactive follow their daily shape."""
    family: WorkFamily | None = None
    """Kind of work for throughput predictions; default: by `kind`, llm_training for tokens or a network."""
    unit: str = ""
    """Work unit: tokens, samples, requests, accelerator-hours ..."""
    sweep: Sweep | None = None
    """Independent experiments instead of a demand; never one gang."""
    demand: Annotated[Demand, BeforeValidator(_demand_of_sweep)] = Field(default=None, validate_default=True)
    """Amount of work; required unless there is a sweep."""
    measurements: tuple[Measurement, ...] = ()
    """Measured throughputs."""
    network: NeuralNetwork | None = None
    """The neural network of the job: gives its memory and, without measurements, its throughput."""
    serving: Serving | None = None
    """A language model served to many requests at once: lengths of the requests and limits on their times. Replicas
    follow from the model (`network`) and the arrivals (`demand.requests_per_second`)."""
    memory_gib_per_accelerator: Positive | None = None
    """Accelerator memory needed on each accelerator, in GiB."""
    memory_gib_total: Positive | None = None
    """Accelerator memory needed by the whole gang, in GiB."""
    cpus_per_accelerator: Positive | None = None
    """Virtual processors of the node needed for each accelerator."""
    host_memory_gib_per_accelerator: Positive | None = None
    """Main memory of the node needed for each accelerator, in GiB."""
    gang: Annotated[Positive | None, _default_from_sweep("accelerators_each")] = Field(None, validate_default=True)
    """Accelerators that work together; default: those of one experiment of the sweep, those measured, else 1."""
    accelerators_per_node: Positive | None = None
    """Accelerators that must share a node; default: the gang, at most 8."""
    fabric: Literal["joined", "any"] = "joined"
    """Nodes of a gang: joined by one fabric (EFA, InfiniBand, GPUDirect, one TPU slice), or by any network."""
    parallel_jobs: Annotated[Annotated[int, Field(ge=1)] | None, _default_from_sweep("parallel")] = Field(
        None, validate_default=True
    )
    """Gangs that may run at once; default: those of the sweep, 1 for training with a deadline, else unlimited."""
    shares_nodes: bool = False
    """Whether it may run on one node at the same time as other workloads that say so (a Kubernetes pool)."""
    spread: bool = False
    """Whether it may be divided over several places at once: work, or the replicas of a service, in whole nodes in each
    place. Default: it lives in one place in the cloud, or on one owned system with one place in the cloud for what
    exceeds it."""
    accelerators: tuple[Text, ...] = ()
    """The only accelerators allowed; empty: any."""
    substitution: bool = False
    """Whether accelerator-hours may be served by another accelerator."""
    providers: tuple[Text, ...] = ()
    """The only providers allowed; empty: any but those that are used on request (lambda, nebius ...)."""
    regions: tuple[Text, ...] = ()
    """The only regions allowed; empty: any."""
    residency: tuple[Text, ...] = ()
    """Countries (DE) or blocs (EU) in which it may run; empty: anywhere."""
    may_be_owned: bool = True
    """Whether it may run on owned nodes."""
    interruptible: bool = False
    """Whether it may be interrupted, and so run on spot."""
    spot_fraction_max: Fraction | None = None
    """Largest fraction of a month's work on spot; default: that of the limits."""
    spare_replicas: Annotated[int, Field(ge=0, le=100)] = 0
    """Replicas of a service that stand ready beyond those at work, in every hour with work (N+1 is 1)."""
    checkpoint_minutes: Amount = 5
    """Minutes between checkpoints."""
    restart_minutes: Amount = 10
    """Minutes to restart after an interruption."""
    storage_gb: Amount = 0
    """Stored data in GB."""
    egress_gb_per_month: Amount = 0
    """Data sent to the internet in GB per month."""
    data_region: Text | None = None
    """Provider and region where its data is (aws us-east-1); work elsewhere transfers the data."""
    transfer_gb_per_month: Amount = 0
    """Data in GB per month that moves to the work when it runs outside `data_region`."""
    recovery: Recovery | None = None
    """Second place for disaster recovery; null: none."""
    budget_per_month: PositiveMoney | None = None
    """Monthly budget in the currency of the plan."""
    notes: str = ""
    """Remarks; shown, not used."""

    @model_validator(mode="after")
    def _check_recovery(self) -> Self:
        tied = self.demand.is_tied_to_hours(self.kind)
        if self.recovery and self.recovery.level != "pilot_light" and not tied:
            raise ValueError(
                "recovery.level: work that may run at any hour has no nodes in readiness: state pilot_light"
            )
        return self

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


class Request(RequestModel):
    """A portfolio and how to plan it. `as_of` is the date of the plan; `start` its first month (default: the next
    one)."""

    workloads: Annotated[tuple[Workload, ...], Field(min_length=1, max_length=WORKLOADS_MAX)]
    """The workloads to plan together."""
    months: Annotated[int, Field(ge=1, le=MONTHS_MAX)] = 12
    """Length of the horizon in months."""
    as_of: PlanDate
    """Date of the plan; prices and rates of that day or earlier count."""
    start: PlanMonth | None = None
    """First month, such as 2026-12; default: the month after `as_of`."""
    fiscal_year_starts: Annotated[int, Field(ge=1, le=12)] = 1
    """Month in which the fiscal year starts, 1 to 12: cash is shown by its quarters and years."""
    currency: Currency = "USD"
    """Currency of the plan and of all amounts of the request, ISO 4217."""
    strategies: tuple[Literal["cloud", "onprem", "hybrid"], ...] = ("cloud", "onprem", "hybrid")
    """Strategies to compare."""
    providers: tuple[Text, ...] = ()
    """The only providers allowed; empty: any but those that are used on request (lambda, nebius ...)."""
    regions: tuple[Text, ...] = ()
    """The only regions allowed; empty: any."""
    residency: tuple[Text, ...] = ()
    """Countries or blocs in which all work must stay; empty: anywhere."""
    discount_rate_annual: Annotated[float, Field(gt=-0.5, le=1)] | None = None
    """Annual discount rate as a fraction; default: the assumption of that name."""
    measured_only: bool = False
    """Whether only measured throughputs count."""
    allow_estimates: bool = True
    """Whether estimated prices count."""
    commitments_beyond_horizon: Literal["full", "pro_rata"] = "full"
    """How commitments that end after the horizon are charged: full or pro_rata."""
    effort: Effort = "standard"
    """How long to search: quick (a plan with a wide bound), standard, or proof (until hardly any gap is left)."""
    materiality_fraction: Fraction = 0.02
    """A simpler strategy is recommended if it costs at most this fraction more."""
    quotas: Annotated[tuple[QuotaLine, ...], Field(max_length=20_000), BeforeValidator(require_quota_rows)] = ()
    """Limits of the accounts; a plan that exceeds them lists the increases to request."""
    assumptions: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(default_factory=dict)
    """Values that replace the dated defaults, by name."""
    systems: Annotated[tuple[OwnSystem, ...], Field(max_length=100)] = ()
    """Servers and workstations at your own quotes, in addition to those of the catalogue."""
    existing: Existing = Existing()
    """Nodes and commitments that you have already."""
    existing_value: Literal["market", "none"] = "none"
    """Value of nodes that you have already: market, what they would sell for counts as a cost at the start and is
    deducted at the end; or none, at neither end."""
    site: Site = Site()
    """Where owned nodes stand and who operates them."""
    finance: Finance = Finance()
    """How owned nodes are paid for and taxed."""
    grid_gco2e_per_kwh: dict[Text, Amount] = Field(default_factory=dict)
    """Your own carbon intensity of the electricity of regions, in g CO2e per kWh, by provider and region
    (aws us-east-1)."""
    limits: PlanLimits = PlanLimits()
    """Limits on every strategy."""
    call_prices: Annotated[tuple[CallPrice, ...], Field(max_length=100)] = ()
    """Prices per token to compare a self-run model with."""
    risk: RiskRequest | None = None
    """Risk analysis; null: none."""
    uncertainty: UncertaintyRequest | None = None
    """What to commit to now where figures are uncertain; null: not asked."""

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


SETUP_FIELDS = ("systems", "existing", "site", "finance", "limits", "grid_gco2e_per_kwh", "call_prices", "uncertainty")
"""The parts of a request that a setup file may hold."""


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
