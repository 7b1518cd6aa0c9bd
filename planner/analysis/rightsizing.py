"""Is a GPU needed at all, and how much of one: what a reader should know beside the recommendation, in sentences.

Judges a solved strategy against what else could serve; chooses nothing and changes no cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.supply.candidates import Candidate, Resource
from planner.workloads.demand import WorkloadDemand
from planner.workloads.eligibility import is_cpu
from planner.workloads.gpu_sharing import ExperimentRate, describe_sweep
from pricing.catalog.price_catalog import Catalog, usable_accelerator_memory

IDLE_FRACTION = 0.10
"""Of the hours of the plan: work that takes less of them on the cheapest accelerator leaves it idle. This planner's own
line: about the least use at which any system of the catalogue pays instead of renting (10 to 54 %, break-evens of
2026-11-21)."""


@dataclass(frozen=True, slots=True)
class HourlyRental:
    """A way to rent by the hour: what it costs an hour and a unit of work, and the hours that the whole work takes."""

    candidate: Candidate
    resource: Resource
    price_per_hour: float
    price_per_unit: float
    hours: float


@dataclass(slots=True)
class RentalOptions:
    """Of one workload at list prices by the hour: the cheapest an hour, the cheapest a unit on CPUs and on anything
    else, a candidate for one whole accelerator of each kind, and where it may run; and whether any way at all, owned
    or committed to as well, is on CPUs."""

    an_hour: HourlyRental | None = None
    cpu: HourlyRental | None = None
    gpu: HourlyRental | None = None
    whole: dict[str, Candidate] = field(default_factory=dict)
    places: set[tuple[str, str]] = field(default_factory=set)
    has_cpus: bool = False


def list_rightsizing_reasons(
    setting: PlanningContext, solved: Iterable[SolvedStrategy], strategy: str | None, catalog: Catalog
) -> tuple[str, ...]:
    """What to know about the recommended strategy: how sweeps run, and where it takes more accelerator than needed."""
    chosen = next((s for s in solved if s.strategy.name == strategy), None)
    if chosen is None:
        return ()
    return (*_describe_sweeps(setting, chosen), *assess_workload_sizes(setting, chosen, catalog))


def assess_workload_sizes(setting: PlanningContext, chosen: SolvedStrategy, catalog: Catalog) -> tuple[str, ...]:
    """Where a GPU, or so much of one, is more than the work needs; workload by workload."""
    ways = _collect_rental_options(setting, catalog)
    sentences: list[str] = []
    for index, need in enumerate(setting.demands.needs):
        used = {setting.market.resources[c.resource].accelerator for c in chosen.candidates if c.need == index}
        on_cpus = bool(used) and all(is_cpu(catalog.names.by_name[name]) for name in used)
        sentences += _compare_with_cpus(need, ways[index], used, on_cpus)
        sentences += _describe_missing_cpus(need, ways[index], used, catalog)
        sentences += _describe_idle_accelerator(need, ways[index].an_hour, setting, catalog, on_cpus)
        sentences += _suggest_fractional_accelerator(need, ways[index], setting, chosen, catalog)
    return tuple(sentences)


def _describe_sweeps(setting: PlanningContext, chosen: SolvedStrategy) -> Iterator[str]:
    for index, need in enumerate(setting.demands.needs):
        if need.workload.sweep is not None:
            name = need.workload.name
            uses = [use for use in chosen.strategy.uses if use.workload == name]
            mine = [c for c in chosen.candidates if c.need == index]
            parts = {setting.market.resources[c.resource].accelerator: c for c in mine}
            runs = {part: ExperimentRate(c.gang, c.throughput.units_per_hour) for part, c in parts.items()}
            yield describe_sweep(need.workload.sweep, name, need.unit, uses, runs)


def _collect_rental_options(setting: PlanningContext, catalog: Catalog) -> list[RentalOptions]:
    """The ways to rent by the hour at list price, by workload."""
    rental_options = [RentalOptions() for _ in setting.demands.needs]
    cpus = {part.name for part in catalog.names.by_name.values() if is_cpu(part)}
    for candidate in setting.market.candidates:
        resource = setting.market.resources[candidate.resource]
        rental_options[candidate.need].has_cpus |= resource.accelerator in cpus
        if resource.what != "hourly" or resource.quote is None or resource.purchase_option != "on_demand":
            continue
        ways, price, rate = (
            rental_options[candidate.need],
            resource.quote.price.price_per_hour,
            candidate.units_per_node_hour,
        )
        total = setting.demands.needs[candidate.need].total
        way = HourlyRental(candidate, resource, price, price / rate, total / rate)
        if ways.an_hour is None or (price, resource.key) < (ways.an_hour.price_per_hour, ways.an_hour.resource.key):
            ways.an_hour = way
        ways.places.add((resource.provider, resource.region))
        if resource.accelerator in cpus:
            ways.cpu = _pick_cheaper(way, ways.cpu)
        else:
            ways.gpu = _pick_cheaper(way, ways.gpu)
        if candidate.gang == 1:
            ways.whole.setdefault(resource.accelerator, candidate)
    return rental_options


def _pick_cheaper(one: HourlyRental, other: HourlyRental | None) -> HourlyRental:
    if other is None or (one.price_per_unit, one.resource.key) < (other.price_per_unit, other.resource.key):
        return one
    return other


def _compare_with_cpus(need: WorkloadDemand, ways: RentalOptions, used: set[str], on_cpus: bool) -> Iterator[str]:
    """Where the plan runs on CPUs: what the cheapest GPU would cost; where it does not: what a CPU would."""
    name, both = need.workload.name, None
    if ways.cpu is not None and ways.gpu is not None:
        both = _describe_cpu_and_gpu_cost(ways.cpu, ways.gpu, need.unit)
    if on_cpus:
        text = f"{name}: no GPU is needed, it runs on {', '.join(sorted(used))} here"
        yield f"{text}; by the hour: {both}." if both else f"{text}."
    elif both is not None and used:
        yield f"{name}: a CPU can do it as well; by the hour: {both}."


def _describe_missing_cpus(
    need: WorkloadDemand, ways: RentalOptions, used: set[str], catalog: Catalog
) -> Iterator[str]:
    """Where a CPU was measured and none can be had."""
    parts = [catalog.names.resolve(m.accelerator) for m in need.workload.measurements]
    measured = [part.name for part in parts if is_cpu(part)]
    if measured and used and not ways.has_cpus:
        yield (
            f"{need.workload.name}: measured on {measured[0]}, but no CPU that can do it is for rent or sale here: "
            "add a server (systems) or a cloud of your own to compare."
        )


def _describe_cpu_and_gpu_cost(cpu: HourlyRental, gpu: HourlyRental, unit: str) -> str:
    cost = f"a CPU does a million {unit} for {cpu.price_per_unit * 1e6:,.4g} ({_describe_rental(cpu)})"
    return f"{cost}, the cheapest GPU for {gpu.price_per_unit * 1e6:,.4g} ({_describe_rental(gpu)})"


def _describe_idle_accelerator(
    need: WorkloadDemand, cheapest: HourlyRental | None, setting: PlanningContext, catalog: Catalog, on_cpus: bool
) -> Iterator[str]:
    """Where the cheapest thing that can do the work stands still most of the time."""
    workload = need.workload
    if cheapest is None or on_cpus or workload.sweep is not None:
        return
    busy = cheapest.hours / (setting.terms.hours_per_month * setting.terms.months)
    if busy >= IDLE_FRACTION:
        return
    text = (
        f"{workload.name}: the cheapest node by the hour that can do it, {_describe_rental(cheapest)}, "
        f"would work {busy:.1%}"
    )
    text += f" of the time (below {IDLE_FRACTION:.0%}): too little to own or commit to one for it alone"
    if not any(is_cpu(catalog.names.resolve(m.accelerator)) for m in workload.measurements):
        text += "; whether it needs a GPU at all is not known: it was not measured on a CPU"
    yield f"{text}."


def _suggest_fractional_accelerator(
    need: WorkloadDemand, ways: RentalOptions, setting: PlanningContext, chosen: SolvedStrategy, catalog: Catalog
) -> Iterator[str]:
    """Where a type sold as a part of an accelerator would have time enough, and cost less than the plan pays."""
    workload = need.workload
    memory = workload.memory_gib_total or workload.memory_gib_per_accelerator
    if memory is None or need.levels is not None or workload.sweep is not None or not ways.whole:
        return
    paid = next((row.cost for row in chosen.strategy.workloads if row.workload == workload.name), 0.0)
    months = setting.terms.hours_per_month * setting.terms.months
    cheaper_quotes = []
    for quote in catalog.quotes(accelerators=set(ways.whole), options=["on_demand"]):
        if (quote.price.provider, quote.price.region) not in ways.places or quote.price.method != "listed":
            continue
        offering, part = quote.offering, quote.offering.accelerator_count or 1.0
        room = usable_accelerator_memory(offering, catalog.names.by_name[offering.accelerator])
        hours = need.total / (ways.whole[offering.accelerator].throughput.units_per_hour * part)
        cost = hours * quote.price.price_per_hour
        if part < 1 and room is not None and room >= memory and hours <= months and cost < paid:
            cheaper_quotes.append((cost, quote.price.key, quote))
    for cost, _, quote in sorted(cheaper_quotes, key=lambda one: one[:2])[:1]:
        price, part = quote.price, quote.offering.accelerator_count or 1.0
        yield (
            f"{workload.name}: {part:.3g} of a {quote.offering.accelerator} ({price.provider} {price.region} "
            f"{price.instance_type}) has the {memory:g} GiB and would cost about {cost:,.0f} {price.currency} by the "
            f"hour where it is as much slower as it is smaller: measure it there, and state gang: {part:.3g}."
        )


def _describe_rental(way: HourlyRental) -> str:
    number = way.resource.accelerators_per_node
    return f"{way.resource.provider} {way.resource.name} ({number:.3g} x {way.resource.accelerator})"
