"""Rightsizing: whether a GPU is needed at all, and how much of one, as reasons added to the recommendation.

Compares a solved strategy with the other ways to serve; changes neither choice nor cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.models import Request
from planner.result.message import Message, message
from planner.supply.candidates import Candidate
from planner.supply.price_rules import find_cpu_machine
from planner.supply.resources import Resource
from planner.workloads.demand import WorkloadDemand
from planner.workloads.eligibility import is_cpu
from planner.workloads.gpu_sharing import ExperimentRate, describe_sweep
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import usable_accelerator_memory
from pricing.frozen_values import dataclass

IDLE_FRACTION = 0.10
"""Of the hours of the plan: work that takes less of them on the cheapest accelerator leaves it idle.

A threshold of this planner: about the least utilisation at which owning any system of the catalogue costs less than
renting (10 to 54 %, break-evens of 2026-11-21).
"""


@dataclass(frozen=True, slots=True)
class HourlyRental:
    """A rental by the hour: its price per hour and per unit of work, and the node-hours that the whole work takes."""

    candidate: Candidate
    resource: Resource
    price_per_hour: float
    price_per_unit: float
    hours: float


@dataclass(slots=True)
class RentalOptions:
    """The hourly rentals of one workload at list prices.

    `lowest_price` per hour, the cheapest per unit of work on CPUs and on other accelerators, a candidate with one whole
    accelerator by accelerator, and the places where it may run; `has_cpus`: some candidate, owned and committed ones
    included, is on CPUs.
    """

    lowest_price: HourlyRental | None = None
    cpu: HourlyRental | None = None
    gpu: HourlyRental | None = None
    whole: dict[str, Candidate] = field(default_factory=dict)
    places: set[tuple[str, str]] = field(default_factory=set)
    has_cpus: bool = False


def list_rightsizing_reasons(
    request: Request, setting: PlanningContext, solved: Iterable[SolvedStrategy], strategy: str | None, catalog: Catalog
) -> tuple[Message, ...]:
    """Reasons about the recommended strategy: how sweeps run, and where it uses more accelerator than needed."""
    chosen = next((s for s in solved if s.strategy.name == strategy), None)
    if chosen is None:
        return ()
    return (
        *_describe_sweeps(setting, chosen),
        *assess_workload_sizes(request, setting, chosen, catalog),
        *_value_utilisation(setting, chosen, catalog),
    )


def _value_utilisation(setting: PlanningContext, chosen: SolvedStrategy, catalog: Catalog) -> Iterator[Message]:
    """What better use of its accelerators would save, for each workload whose utilisation was measured."""
    for need in setting.demands.needs:
        measured = next((one for one in need.workload.measurements if one.utilisation is not None), None)
        if measured is not None:
            from planner.analysis.utilisation_worth import value_utilisation

            cost = next((row.cost for row in chosen.strategy.workloads if row.workload == need.workload.name), 0.0)
            part = catalog.names.resolve(measured.accelerator)
            yield value_utilisation(need.workload.name, measured, part, cost * 12 / setting.terms.months)


def assess_workload_sizes(
    request: Request, setting: PlanningContext, chosen: SolvedStrategy, catalog: Catalog
) -> tuple[Message, ...]:
    """Where a GPU, or so much of one, is more than the work needs; workload by workload."""
    rentals = _collect_rental_options(setting, catalog)
    reasons: list[Message] = []
    for index, need in enumerate(setting.demands.needs):
        used = {setting.market.resources[c.resource].accelerator for c in chosen.candidates if c.need == index}
        on_cpus = bool(used) and all(is_cpu(catalog.names.by_name[name]) for name in used)
        reasons += _compare_with_cpus(need, rentals[index], used, on_cpus)
        excess = [*_find_missing_cpus(need, rentals[index], used, catalog)]
        excess += _find_idle_accelerator(need, rentals[index].lowest_price, setting, catalog, on_cpus)
        doubt = bool(excess)
        reasons += _compare_with_listed_cpus(request, need, rentals[index], setting, catalog, is_doubtful=doubt)
        if excess:
            reasons += (*excess, *_name_cpu_machine(request, need, rentals[index].lowest_price, catalog))
        reasons += _suggest_fractional_accelerator(need, rentals[index], setting, chosen, catalog)
    return tuple(reasons)


def _describe_sweeps(setting: PlanningContext, chosen: SolvedStrategy) -> Iterator[Message]:
    for index, need in enumerate(setting.demands.needs):
        if need.workload.sweep is not None:
            name = need.workload.name
            uses = [use for use in chosen.strategy.uses if use.workload == name]
            candidates = [c for c in chosen.candidates if c.need == index]
            parts = {setting.market.resources[c.resource].accelerator: c for c in candidates}
            runs = {part: ExperimentRate(c.gang, c.throughput.units_per_hour) for part, c in parts.items()}
            yield describe_sweep(need.workload.sweep, name, need.unit, uses, runs)


def _collect_rental_options(setting: PlanningContext, catalog: Catalog) -> list[RentalOptions]:
    """The ways to rent by the hour at list price, by workload."""
    rental_options = [RentalOptions() for _ in setting.demands.needs]
    cpus = {part.name for part in catalog.names.by_name.values() if is_cpu(part)}
    resources = setting.market.resources
    for candidate in setting.market.candidates:
        resource = resources[candidate.resource]
        if resource.accelerator in cpus:
            rental_options[candidate.need].has_cpus = True
        if resource.what != "hourly" or resource.quote is None or resource.purchase_option != "on_demand":
            continue
        ways = rental_options[candidate.need]
        price, rate = resource.quote.price.price_per_hour, candidate.units_per_node_hour
        total = setting.demands.needs[candidate.need].total
        is_cpus, lowest = resource.accelerator in cpus, ways.lowest_price
        known = ways.cpu if is_cpus else ways.gpu
        ways.places.add((resource.provider, resource.region))
        is_lowest = lowest is None or (price, resource.key) < (lowest.price_per_hour, lowest.resource.key)
        is_cheapest = known is None or (price / rate, resource.key) < (known.price_per_unit, known.resource.key)
        if is_lowest or is_cheapest:
            way = HourlyRental(candidate, resource, price, price / rate, total / rate)
            ways.lowest_price = way if is_lowest else lowest
            if is_cheapest and is_cpus:
                ways.cpu = way
            elif is_cheapest:
                ways.gpu = way
        if candidate.gang == 1:
            ways.whole.setdefault(resource.accelerator, candidate)
    return rental_options


def _compare_with_cpus(
    need: WorkloadDemand, rentals: RentalOptions, used: set[str], on_cpus: bool
) -> Iterator[Message]:
    """Where the plan runs on CPUs, the cost on the cheapest GPU; where it does not, the cost on a CPU."""
    name, costs = need.workload.name, None
    if rentals.cpu is not None and rentals.gpu is not None:
        costs = message(
            "cpu_and_gpu_cost",
            unit=need.unit,
            cpu=_describe_rental(rentals.cpu),
            cpu_cost_per_unit=rentals.cpu.price_per_unit,
            gpu=_describe_rental(rentals.gpu),
            gpu_cost_per_unit=rentals.gpu.price_per_unit,
        )
    if on_cpus:
        yield message("no_gpu_needed", workload=name, accelerators=tuple(sorted(used)), costs=costs)
    elif costs is not None and used:
        yield message("cpu_can_serve", workload=name, costs=costs)


def _compare_with_listed_cpus(
    request: Request, need: WorkloadDemand, rentals: RentalOptions, setting: PlanningContext, catalog: Catalog,
    *, is_doubtful: bool,
) -> Iterator[Message]:  # fmt: skip
    """Of described work, which no CPU runs here: the part of its data sheet that a CPU has to reach to cost less; where
    it might, or where a GPU `is_doubtful` for another reason. What serves has a node that stands all hours."""
    rental, lowest = rentals.gpu, rentals.lowest_price
    if need.workload.network is None or rentals.has_cpus or rental is None or lowest is None:
        return
    from planner.analysis.cpu_bounds import compare_with_listed_cpus

    price_per_unit = rental.price_per_unit
    hours = setting.terms.hours_per_month * setting.terms.months
    standing = need.serving and lowest.price_per_hour * hours > price_per_unit * need.total
    if standing:
        rental, price_per_unit = lowest, lowest.price_per_hour * hours / need.total
    bound = compare_with_listed_cpus(request, need.workload, price_per_unit, catalog)
    if bound is not None and (is_doubtful or bound.fraction < 1):
        machine = bound.machine
        yield message(
            "described_work_on_cpus", workload=need.workload.name, fraction=bound.fraction, cpu=bound.cpu,
            provider=machine.provider, region=machine.region, instance_type=machine.instance_type,
            price_per_hour=machine.price_per_hour, currency=machine.currency, gpu=_describe_rental(rental),
            standing=standing,
        )  # fmt: skip


def _find_missing_cpus(
    need: WorkloadDemand, rentals: RentalOptions, used: set[str], catalog: Catalog
) -> Iterator[Message]:
    """Where a CPU was measured and none is for rent or sale."""
    parts = [catalog.names.resolve(m.accelerator) for m in need.workload.measurements]
    measured = [part.name for part in parts if is_cpu(part)]
    if measured and used and not rentals.has_cpus:
        yield message("measured_cpu_unavailable", workload=need.workload.name, cpu=measured[0])


def _find_idle_accelerator(
    need: WorkloadDemand, cheapest: HourlyRental | None, setting: PlanningContext, catalog: Catalog, on_cpus: bool
) -> Iterator[Message]:
    """Where the cheapest node that can do the work would be idle most of the time."""
    workload = need.workload
    if cheapest is None or on_cpus or workload.sweep is not None:
        return
    busy = cheapest.hours / (setting.terms.hours_per_month * setting.terms.months)
    if busy < IDLE_FRACTION:
        yield message(
            "accelerator_mostly_idle",
            workload=workload.name,
            rental=_describe_rental(cheapest),
            busy_fraction=busy,
            threshold_fraction=IDLE_FRACTION,
            cpu_measured=any(is_cpu(catalog.names.resolve(m.accelerator)) for m in workload.measurements),
        )


def _name_cpu_machine(
    request: Request, need: WorkloadDemand, rental: HourlyRental | None, catalog: Catalog
) -> Iterator[Message]:
    """The cheapest machine with CPUs only that is no smaller than the node that it would replace, and the rate from
    which it is the cheaper one."""
    offering = None if rental is None or rental.resource.quote is None else rental.resource.quote.offering
    if rental is None or offering is None or is_cpu(catalog.names.by_name[offering.accelerator]):
        return
    vcpus, memory = offering.vcpus or 0.0, offering.memory_gib or 0.0
    machine = find_cpu_machine(catalog, request, need.workload, vcpus, memory)
    if machine is not None:
        yield message(
            "cpu_machine",
            workload=need.workload.name,
            provider=machine.provider,
            region=machine.region,
            instance_type=machine.instance_type,
            vcpus=machine.vcpus,
            memory_gib=machine.memory_gib,
            price_per_hour=machine.price_per_hour,
            currency=machine.currency,
            as_of=str(machine.as_of),
            source=catalog.sources[machine.source_id].reference,
            rental=_describe_rental(rental),
            units_per_hour=machine.price_per_hour / rental.price_per_unit,
            unit=need.unit,
        )


def _suggest_fractional_accelerator(
    need: WorkloadDemand, rentals: RentalOptions, setting: PlanningContext, chosen: SolvedStrategy, catalog: Catalog
) -> Iterator[Message]:
    """Where a type sold as a part of an accelerator would be fast enough, and cost less than the plan pays."""
    workload = need.workload
    memory = workload.memory_gib_total or workload.memory_gib_per_accelerator
    if memory is None or need.levels is not None or workload.sweep is not None or not rentals.whole:
        return
    paid = next((row.cost for row in chosen.strategy.workloads if row.workload == workload.name), 0.0)
    months = setting.terms.hours_per_month * setting.terms.months
    cheaper_quotes = []
    for quote in catalog.quotes(accelerators=set(rentals.whole), options=["on_demand"]):
        if (quote.price.provider, quote.price.region) not in rentals.places or quote.price.method != "listed":
            continue
        offering, part = quote.offering, quote.offering.accelerator_count or 1.0
        room = usable_accelerator_memory(offering, catalog.names.by_name[offering.accelerator])
        hours = need.total / (rentals.whole[offering.accelerator].throughput.units_per_hour * part)
        cost = hours * quote.price.price_per_hour
        if part < 1 and room is not None and room >= memory and hours <= months and cost < paid:
            cheaper_quotes.append((cost, quote.price.key, quote))
    for cost, _, quote in sorted(cheaper_quotes, key=lambda one: one[:2])[:1]:
        price = quote.price
        yield message(
            "fractional_accelerator_would_do",
            workload=workload.name,
            fraction=quote.offering.accelerator_count or 1.0,
            accelerator=quote.offering.accelerator,
            provider=price.provider,
            region=price.region,
            instance_type=price.instance_type,
            memory_gib=memory,
            cost=cost,
            currency=price.currency,
        )


def _describe_rental(rental: HourlyRental) -> Message:
    resource = rental.resource
    return message(
        "rental",
        provider=resource.provider,
        name=resource.name,
        accelerators=resource.accelerators_per_node,
        accelerator=resource.accelerator,
    )
