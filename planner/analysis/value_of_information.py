"""The throughput and cost of every accelerator for a workload, and the expected value of measuring one of them.

Compares prices by the hour only: a measurement decides between accelerators, not between purchase options.

Value of a measurement: throughput is lognormal, with 80 % of cases in its interval. The best accelerator costs K a unit
of work. If another one, of cost C, is measured, it is chosen where C < K, so knowing C has the value E[max(0, K - C)] a
unit. Measuring the best itself, against the second (K), has the value E[max(0, C - K)] (expected value of perfect
information, Howard 1966, doi 10.1109/TSSC.1966.300074). For a lognormal C of median m and spread s, with
d = ln(K / m) / s and N the normal distribution, E[max(0, K - C)] = K N(d) - m exp(s^2 / 2) N(d - s).

The best is the accelerator of the least cost at the estimated throughput, as in a plan; the errors of two accelerators
are independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist

from planner.performance.parallelism import USUAL_SERVER_SIZE
from planner.performance.throughput import Throughput
from planner.request.models import Request, Workload
from planner.result.message import Message, message
from planner.supply.price_rules import is_offered, may_run, plan_start
from planner.workloads.demand import WorkloadDemand
from planner.workloads.eligibility import gang_size_on, predict_rate
from planner.workloads.placement import Placement, PlacementSearch, find_placements
from pricing.accelerator import Accelerator
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote, usable_accelerator_memory
from pricing.frozen_values import dataclass

SIGMAS_80 = 2 * NormalDist().inv_cdf(0.9)
"""Standard deviations between the ends of an interval that holds 80 % of a normal distribution: 2.563."""
MEASUREMENT_HOURS = 1.0
"""Assumed duration of a measurement."""
SOLD_NOWHERE_ALLOWED = message("sold_nowhere_allowed")


@dataclass(frozen=True, slots=True)
class AcceleratorAssessment:
    """One accelerator for one workload: the `rate` of a gang, and the `reason` where there is none or it is unusable.

    `price_per_hour` is the gang's share of its nodes at the place of the least cost per unit; None where it is not
    sold. `rent_per_hour` is of whole nodes for one gang, the least that must be rented to measure it, at `rent_where`.
    """

    accelerator: str
    gang: float
    rate: Throughput | None
    reason: Message | None = None
    price_per_hour: float | None = None
    where: str = ""
    rent_per_hour: float | None = None
    rent_where: str = ""

    @property
    def price_per_accelerator_hour(self) -> float | None:
        return None if self.price_per_hour is None else self.price_per_hour / self.gang

    @property
    def usable(self) -> bool:
        return self.rate is not None and self.reason is None and self.price_per_hour is not None

    def cost_per_unit(self, units_per_hour: float) -> float:
        """At that throughput of the gang."""
        return (self.price_per_hour or math.nan) / units_per_hour

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithm of its throughput."""
        return 0.0 if self.rate is None else math.log(self.rate.high / self.rate.low) / SIGMAS_80


@dataclass(frozen=True, slots=True)
class MeasurementValue:
    """A possible measurement: its cost, the chance that it changes the choice, and the saving from that.

    `saving` is expected over all work of the plan, before the cost of measuring; `saving_good` is the saving at the end
    of the interval that favours a change.
    """

    row: AcceleratorAssessment
    cost: float
    chance: float
    saving: float
    saving_good: float
    instead_of: str


def assess_accelerators(
    request: Request, need: WorkloadDemand, catalog: Catalog, count: float | None = None
) -> list[AcceleratorAssessment]:
    """One for every accelerator, in gangs of `count` (default: as stated or measured), in the order of `by_cost`."""
    workload = need.workload if count is None else need.workload.model_copy(update={"gang": count})
    search = PlacementSearch(replace(need, workload=workload), request, catalog.names, {})
    return sort_by_cost(_assess_accelerator(search, part, catalog) for part in catalog.names.by_name.values())


def sort_by_cost(assessments: Iterable[AcceleratorAssessment]) -> list[AcceleratorAssessment]:
    """The usable ones by cost per unit, then those that cannot be rented or used, then the unknown ones, by name."""
    return sorted(assessments, key=_cheapest_first)


def _cheapest_first(row: AcceleratorAssessment) -> tuple[int, float, str, float]:
    cost = row.cost_per_unit(row.rate.units_per_hour) if row.usable and row.rate else 0.0
    return (0 if row.usable else 1 if row.rate else 2), cost, row.accelerator, row.gang


def _assess_accelerator(search: PlacementSearch, part: Accelerator, catalog: Catalog) -> AcceleratorAssessment:
    placements = list(_hourly_placements(search, part, catalog))
    placed = [(fit, quote) for fit, quote in placements if isinstance(fit, Placement)]
    if placed:
        fit, quote = min(
            placed, key=lambda way: (_price_per_gang(*way) / way[0].throughput.units_per_hour, way[1].price.key)
        )
        rented = min(placed, key=lambda way: (_rent_per_gang(*way), way[1].price.key))
        return AcceleratorAssessment(
            part.name,
            fit.gang,
            fit.throughput,
            None,
            _price_per_gang(fit, quote),
            _describe_place(quote),
            _rent_per_gang(*rented),
            _describe_place(rented[1]),
        )
    rate = _predict_rate(search.need.workload, part, catalog)
    gang = gang_size_on(search.need.workload, catalog.names, part)
    if isinstance(rate, Message):
        return AcceleratorAssessment(part.name, gang, None, rate)
    refused = next((reason for reason, _ in placements if isinstance(reason, Message)), None)
    return AcceleratorAssessment(
        part.name, gang, rate, refused or _rejection_reason(search, part, gang) or SOLD_NOWHERE_ALLOWED
    )


def _hourly_placements(
    search: PlacementSearch, part: Accelerator, catalog: Catalog
) -> Iterator[tuple[Placement | Message, Quote]]:
    """Every hourly quote, with the placement of the gang there or the reason why it has none."""
    by_type: dict[str, list[Placement] | Message] = {}
    start = plan_start(search.request)
    for quote in catalog.quotes(accelerators=[part.name], options=["on_demand"]):
        if is_offered(quote, search.request, start) and may_run(catalog, search.request, search.need.workload, quote):
            offering = quote.offering
            placements = by_type.get(offering.instance_type)
            if placements is None:
                memory = usable_accelerator_memory(offering, part)
                placements = find_placements(search, part, offering.accelerator_count, memory, catalog.fabric(offering))
                by_type[offering.instance_type] = placements
            yield from (
                ((placements, quote),) if isinstance(placements, Message) else ((fit, quote) for fit in placements[:1])
            )


def _price_per_gang(fit: Placement, quote: Quote) -> float:
    """Of a gang that shares its node with others of its kind."""
    return _rent_per_gang(fit, quote) / fit.gangs_per_node


def _rent_per_gang(fit: Placement, quote: Quote) -> float:
    return quote.price.price_per_hour * fit.nodes_per_gang


def _describe_place(quote: Quote) -> str:
    return f"{quote.price.provider} {quote.price.region} {quote.price.instance_type}"


def _rejection_reason(search: PlacementSearch, part: Accelerator, gang: float) -> Message | None:
    placements = find_placements(search, part, max(1.0, gang), part.memory_gib)
    return placements if isinstance(placements, Message) else None


def _predict_rate(workload: Workload, part: Accelerator, catalog: Catalog) -> Throughput | Message:
    gang = gang_size_on(workload, catalog.names, part)
    if workload.serving is not None:
        from planner.workloads.served_placement import serve_replica

        count = max(1, round(gang))
        nodes = math.ceil(count / USUAL_SERVER_SIZE)
        replica = serve_replica(workload, part, count, catalog.names, nodes, None)
        return replica if isinstance(replica, Message) else replica[0]
    return predict_rate(workload, catalog.names, part, gang)


def value_measurements(assessments: Sequence[AcceleratorAssessment], need: WorkloadDemand) -> list[MeasurementValue]:
    """Measurements that could change which accelerator is cheapest, the one with the greatest net gain first.

    `assessments` must be of one count and of all accelerators, in the order of `sort_by_cost`: the rival of each is
    among them. Only of usable accelerators; none where fewer than two are.
    """
    usable = [row for row in assessments if row.usable]
    if len(usable) < 2:
        return []
    best, second = usable[0], usable[1]
    values = [_value_measurement(row, best, second, need.total) for row in usable if row.spread > 0]
    return sorted(values, key=lambda one: (one.cost - one.saving, one.row.accelerator, one.row.gang))


def _value_measurement(
    row: AcceleratorAssessment, best: AcceleratorAssessment, second: AcceleratorAssessment, units: float
) -> MeasurementValue:
    """Of the best itself, the gain where it turns out to cost more than the second; of another, the gain where it turns
    out to cost less than the best."""
    assert row.rate is not None
    rival = second if row is best else best
    median, spread = row.cost_per_unit(row.rate.units_per_hour), row.spread
    bound = _expected_cost(rival)
    d = math.log(bound / median) / spread
    normal = NormalDist()
    less = bound * normal.cdf(d) - median * math.exp(spread**2 / 2) * normal.cdf(d - spread)
    assert row.rent_per_hour is not None
    cost = row.rent_per_hour * MEASUREMENT_HOURS
    if row is best:
        gain = max(0.0, median * math.exp(spread**2 / 2) - bound + less)
        good = max(0.0, row.cost_per_unit(row.rate.low) - bound)
        return MeasurementValue(row, cost, 1 - normal.cdf(d), gain * units, good * units, rival.accelerator)
    good = max(0.0, bound - row.cost_per_unit(row.rate.high))
    return MeasurementValue(row, cost, normal.cdf(d), max(0.0, less) * units, good * units, rival.accelerator)


def _expected_cost(row: AcceleratorAssessment) -> float:
    """Expected cost per unit."""
    assert row.rate is not None
    return row.cost_per_unit(row.rate.units_per_hour) * math.exp(row.spread**2 / 2)
