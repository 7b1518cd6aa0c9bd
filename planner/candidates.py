"""Demand x offerings x ways of paying x throughput: what could serve what, and why everything else could not.

A resource is one way to get nodes (an offering in a region bought in one way, or an owned system); a candidate is a
workload on a resource with the work that one node-hour gives. Nothing is chosen here and nothing is dropped for its
price.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from planner import goodput
from planner.answer import Gap
from planner.assumptions import Assumptions
from planner.demand import Demands, Need
from planner.options import options
from planner.owned import Node
from planner.request import Request, Workload
from planner.throughput import Throughput, predict
from planner.workload import allowed_accelerators, gang_of, known, stays, vendors
from pricing.accelerator import Accelerator
from pricing.catalog import Catalog, Quote, memory_of_one
from pricing.offering import Offering
from pricing.place import tiered_cost

NODE_MAX = 8
"""Accelerators of a gang that must share a node unless the request says otherwise: the usual size of a server."""
GANG_GROWTH = (1, 2, 4, 8, 16, 32, 64)
"""Multiples of a node tried for one job that may grow to meet its deadline."""

What = Literal["hourly", "commitment", "owned"]


@dataclass(frozen=True, slots=True)
class Resource:
    """One way to get nodes. Exactly one of `quote` and `node` is set; `key` orders resources and breaks ties."""

    key: tuple[str, ...]
    what: What
    accelerator: str
    accelerators_per_node: float
    quote: Quote | None = None
    node: Node | None = None

    @property
    def name(self) -> str:
        """The owned system or the instance type."""
        return self.node.name if self.node is not None else self.key[2]

    @property
    def provider(self) -> str:
        """Empty for what is owned, as is the region."""
        return self.quote.price.provider if self.quote is not None else ""

    @property
    def region(self) -> str:
        return self.quote.price.region if self.quote is not None else ""

    @property
    def purchase_option(self) -> str:
        return self.quote.price.purchase_option if self.quote is not None else "owned"

    @property
    def title(self) -> str:
        """How it is called in payments: an owned system, or provider, region, type and way of paying."""
        return self.node.name if self.node is not None else " ".join(self.key)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workload (`need`, an index) on a resource (an index).

    `units_per_node_hour` counts work that stays (goodput). A gang takes `nodes_per_gang` nodes, or 1 /
    `gangs_per_node` of one. `storage` and `egress` are what the whole of a month's data costs at the resource's place.
    """

    need: int
    resource: int
    gang: float
    nodes_per_gang: int
    gangs_per_node: int
    units_per_node_hour: float
    storage: float
    egress: float
    throughput: Throughput

    @property
    def granule(self) -> float:
        """Nodes that one gang takes."""
        return float(self.nodes_per_gang) if self.nodes_per_gang > 1 else 1 / self.gangs_per_node


@dataclass(frozen=True, slots=True)
class Market:
    """All that could serve the demands. `refusals[need]` counts why offerings and systems could not serve a
    workload."""

    resources: tuple[Resource, ...]
    candidates: tuple[Candidate, ...]
    refusals: tuple[Counter[str], ...]
    gaps: tuple[Gap, ...]


@dataclass(slots=True)
class _Build:
    request: Request
    catalog: Catalog
    assumptions: Assumptions
    resources: dict[tuple[str, ...], Resource] = field(default_factory=dict)
    numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    gaps: dict[Gap, None] = field(default_factory=dict)

    def number(self, resource: Resource) -> int:
        self.resources.setdefault(resource.key, resource)
        return self.numbers.setdefault(resource.key, len(self.numbers))


@dataclass(slots=True)
class _Search:
    """One workload, and what was found out about it so far: `rates` by accelerator and gang, `around` by place."""

    index: int
    need: Need
    allowed: frozenset[str] | None
    vendors: frozenset[str]
    rates: dict[tuple[str, float], Throughput | str] = field(default_factory=dict)
    around: dict[tuple[str, str], tuple[float, float] | None] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Fit:
    """How a gang of a workload sits on one type of node."""

    gang: float
    nodes_per_gang: int
    gangs_per_node: int
    throughput: Throughput


def market(
    request: Request, demands: Demands, catalog: Catalog, nodes: Iterable[Node], assumptions: Assumptions
) -> Market:
    """Every candidate for every need."""
    build = _Build(request, catalog, assumptions)
    owned = tuple(nodes)
    refusals = []
    for index, need in enumerate(demands.needs):
        names = catalog.names
        search = _Search(index, need, allowed_accelerators(need.workload, names), vendors(need.workload, names))
        for offering in catalog.priced:
            _rent(build, search, offering)
        for node in owned:
            _own(build, search, node)
        refusals.append(search.refused)
    return Market(tuple(build.resources.values()), tuple(build.candidates), tuple(refusals), tuple(build.gaps))


def is_allowed(quote: Quote, request: Request) -> bool:
    """Whether the request as a whole allows a price: its providers and regions, only listed prices where estimates are
    switched off."""
    price = quote.price
    return (
        (not request.providers or price.provider in request.providers)
        and (not request.regions or price.region in request.regions)
        and (request.allow_estimates or price.method == "listed")
    )


def keeps_team(need: Need) -> bool:
    """Whether a workload stays on one accelerator and size of gang: jobs whose number at once is stated, not
    services."""
    return parallel_limit(need) is not None and not need.serving


def team(candidate: Candidate, resources: Sequence[Resource]) -> tuple[str, float]:
    """The accelerator and the size of gang that a candidate runs on: what one job keeps from start to end."""
    return resources[candidate.resource].accelerator, candidate.gang


def _rent(build: _Build, search: _Search, offering: Offering) -> None:
    part, workload = build.catalog.names.by_name[offering.accelerator], search.need.workload
    fits = _fits(build, search, part, offering.accelerator_count, memory_of_one(offering, part))
    if isinstance(fits, str):
        search.refused[fits] += 1
        return
    sold = [quote for quote in build.catalog.of_type(offering) if is_allowed(quote, build.request)]
    here = [quote for quote in sold if _may_run(build, workload, quote)]
    if not here:
        search.refused["not sold in the providers, regions or residency allowed"] += 1
        return
    billed = {
        interrupts: [_billed_hours(build, search.need, fit, interrupts) for fit in fits] for interrupts in (False, True)
    }
    for quote in here:
        option = options().get(quote.price.kind)
        if option is None or (option.INTERRUPTS and not workload.interruptible):
            continue
        around = _around(build, search, quote)
        if around is None:
            search.refused["no price for its storage or egress there"] += 1
            continue
        what: What = "commitment" if option.COMMITS else "hourly"
        count = offering.accelerator_count or 0
        number = build.number(Resource(quote.price.key, what, offering.accelerator, count, quote=quote))
        for fit, hours in zip(fits, billed[option.INTERRUPTS], strict=True):
            if math.isfinite(hours):
                build.candidates.append(_candidate(search.index, number, fit, hours, around))


def _own(build: _Build, search: _Search, node: Node) -> None:
    need = search.need
    if not need.workload.may_be_owned:
        search.refused["may not be owned"] += 1
        return
    part = build.catalog.names.by_name[node.accelerator]
    fits = _fits(build, search, part, node.accelerators, part.memory_gib)
    if isinstance(fits, str):
        search.refused[fits] += 1
        return
    a = build.assumptions
    storage = need.workload.storage_gb * a["own_storage_per_gb_month"].value
    egress = need.workload.egress_gb_per_month * a["own_egress_per_gb"].value
    resource = Resource(("~owned", node.name), "owned", node.accelerator, node.accelerators, node=node)
    number = build.number(resource)
    for fit in fits:
        hours = _billed_hours(build, need, fit, interrupts=False)
        build.candidates.append(_candidate(search.index, number, fit, hours, (storage, egress)))


def _candidate(index: int, number: int, fit: Fit, hours: float, around: tuple[float, float]) -> Candidate:
    per_node = fit.throughput.units_per_hour * fit.gangs_per_node / fit.nodes_per_gang / hours
    return Candidate(
        index, number, fit.gang, fit.nodes_per_gang, fit.gangs_per_node, per_node, *around, throughput=fit.throughput
    )


def _fits(
    build: _Build, search: _Search, part: Accelerator, per_node: float | None, memory_gib: float | None
) -> list[Fit] | str:
    """How the workload's gang sits on nodes of `per_node` accelerators, or why it does not."""
    workload, allowed, rates = search.need.workload, search.allowed, search.rates
    if allowed is not None and part.name not in allowed:
        return f"not on {', '.join(sorted(allowed))}"
    if allowed is None and part.vendor not in search.vendors:
        return "another vendor's software stack, neither measured nor allowed by name"
    if per_node is None:
        return "its number of accelerators is unknown"
    fits = []
    for gang in _gangs(search.need, per_node):
        problem = _memory_problem(workload, part, memory_gib, gang) or _node_problem(workload, per_node, gang)
        if problem is not None:
            return problem
        rate = rates.get((part.name, gang))
        if rate is None:
            rate = rates[part.name, gang] = _rate(build, search.need, part, gang)
        if isinstance(rate, str):
            return rate
        per = max(1, math.floor(per_node / gang + 1e-9))
        fits.append(Fit(gang, max(1, math.ceil(gang / per_node - 1e-9)), per, rate))
    return fits


def _node_problem(workload: Workload, per_node: float, gang: float) -> str | None:
    together = min(workload.accelerators_per_node or min(gang, NODE_MAX), gang)
    return f"fewer than {together:g} accelerators a node" if per_node < together * (1 - 1e-9) else None


def _gangs(need: Need, per_node: float) -> Iterator[float]:
    """The gang stated; for one job with a deadline and no stated gang, also whole nodes in growing numbers."""
    workload = need.workload
    stated = gang_of(workload)
    yield stated
    if need.deadline is not None and parallel_limit(need) is not None and workload.gang is None and per_node >= 1:
        for multiple in GANG_GROWTH:
            if (gang := per_node * multiple) > stated:
                yield gang


def parallel_limit(need: Need) -> int | None:
    """Gangs that may run at once: as stated; one for training with a deadline; else no limit."""
    workload = need.workload
    if workload.parallel_jobs is not None:
        return workload.parallel_jobs
    return 1 if workload.kind == "training" and need.deadline is not None else None


def _rate(build: _Build, need: Need, part: Accelerator, gang: float) -> Throughput | str:
    """Work per hour of a gang, or why it is not known; what no measurement can tell becomes a gap."""
    workload, names = need.workload, build.catalog.names
    own = part.name == names.resolve(workload.demand.accelerator or part.name).name
    if not workload.measurements and (stays(workload) or own):
        return Throughput(gang, gang, gang, "definition", "an accelerator-hour is one accelerator for one hour")
    found = predict(known(workload, names), part, gang)
    if isinstance(found, str):
        build.gaps[Gap("no_throughput", part.name, f"cannot serve: {found}", workload.name)] = None
        return found
    if build.request.measured_only and found.basis != "measured":
        return "its throughput would be a prediction and only measured ones are allowed"
    return found


def _memory_problem(workload: Workload, part: Accelerator, memory_gib: float | None, gang: float) -> str | None:
    wanted = workload.memory_gib_per_accelerator
    if wanted is None and workload.memory_gib_total is not None:
        wanted = workload.memory_gib_total / gang
    if wanted is None:
        return None
    if memory_gib is None:
        return f"the memory of {part.name} is unknown"
    return f"less than {wanted:g} GiB of memory per accelerator" if memory_gib < wanted else None


def _may_run(build: _Build, workload: Workload, quote: Quote) -> bool:
    price = quote.price
    if workload.providers and price.provider not in workload.providers:
        return False
    if workload.regions and price.region not in workload.regions:
        return False
    for residency in (workload.residency, build.request.residency):
        if residency:
            region = build.catalog.regions[price.provider, price.region]
            if region.country not in residency and not set(region.blocs) & set(residency):
                return False
    return True


def _billed_hours(build: _Build, need: Need, fit: Fit, interrupts: bool) -> float:
    """Hours billed for one useful hour (1 or more); accelerator-hours stated by the asker already hold failures."""
    a = build.assumptions
    by_definition = not need.workload.measurements
    rate = 0.0 if by_definition else fit.gang / a["failure_interval_accelerator_hours"].value
    if interrupts:
        rate += fit.nodes_per_gang / a["spot_hours_to_interruption"].value
    if rate == 0:
        return 1.0
    checkpoint = 0.0 if need.serving else need.workload.checkpoint_minutes / 60
    return goodput.billed_per_useful_hour(checkpoint, need.workload.restart_minutes / 60, 1 / rate)


def _around(build: _Build, search: _Search, quote: Quote) -> tuple[float, float] | None:
    """A month's storage and egress at the place of `quote`; None where no price is known and none may be estimated."""
    place, workload = (quote.price.provider, quote.price.region), search.need.workload
    if place not in search.around:
        storage = _data_cost(build, *place, "object_storage", workload.storage_gb)
        egress = None if storage is None else _data_cost(build, *place, "egress_internet", workload.egress_gb_per_month)
        search.around[place] = None if storage is None or egress is None else (storage, egress)
    return search.around[place]


def _data_cost(build: _Build, provider: str, region: str, item: str, volume_gb: float) -> float | None:
    if volume_gb == 0:
        return 0.0
    tiers = build.catalog.tiers(provider, region, item)
    if not tiers and build.request.allow_estimates:
        tiers = build.catalog.reference_tiers(provider, item)
        if tiers:
            text = f"no {item} price there: that of {tiers[0].region} is used"
            build.gaps[Gap("estimated", f"{provider} {region} {item}", text)] = None
    if not tiers:
        build.gaps[Gap("no_price", f"{provider} {region} {item}", "workloads with data cannot run there")] = None
        return None
    return tiered_cost(tiers, volume_gb)
