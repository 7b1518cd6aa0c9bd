"""The market: every pair of a workload and a resource that could serve it, and the refusal of every other pair.

A resource is one way to get nodes (an offering in a region under one purchase option, or an owned system); a candidate
is a workload on a resource with the work that one node-hour gives. No candidate is chosen or dropped by price here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.performance import goodput
from planner.performance.serving.staffing import ServiceQueue
from planner.performance.throughput import Throughput
from planner.request.assumptions import Assumptions
from planner.request.models import Request
from planner.result import Gap
from planner.result.message import Message, message
from planner.supply import onprem
from planner.supply.data_costs import DataCostLookup, DataCosts
from planner.supply.offered_prices import OfferBook, OfferedPrice, open_book
from planner.supply.onprem import OwnedNode
from planner.supply.price_rules import (
    gang_refusal,
    is_permitted_place,
    late_start_refusal,
    may_run,
    may_run_in,
    use_refusal,
)
from planner.supply.resources import OWNED_KEY, Resource
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.eligibility import host_problem, is_stated_in_hours
from planner.workloads.placement import Placement, PlacementSearch, find_placements
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import usable_accelerator_memory
from pricing.offering import Offering

NOT_SOLD = message("not_sold_where_allowed")
NO_DATA_PRICE = message("data_price_unknown")


class Candidate(NamedTuple):
    """A workload (`need`, an index) on a resource (an index).

    `units_per_node_hour` counts work that stays (goodput). A gang takes `nodes_per_gang` nodes, or 1 /
    `gangs_per_node` of one. `around` is the cost of a month's data at the resource's place; `queue` tells how many
    replicas the arrivals of a served model need.
    """

    need: int
    resource: int
    gang: float
    nodes_per_gang: int
    gangs_per_node: int
    units_per_node_hour: float
    around: DataCosts
    throughput: Throughput
    queue: ServiceQueue | None = None

    def __hash__(self) -> int:
        """By what tells the candidates of a market apart; all of one would be hashed for each set of them."""
        return hash((self.need, self.resource, self.gang))

    @property
    def granule(self) -> float:
        """Nodes that one gang takes."""
        return float(self.nodes_per_gang) if self.nodes_per_gang > 1 else 1 / self.gangs_per_node

    @property
    def gang_rate(self) -> float:
        """Work per hour of one gang."""
        return self.units_per_node_hour * self.granule


@dataclass(frozen=True, slots=True)
class Market:
    """All that could serve the demands. `refused[need]` says why what could not serve a workload could not: by the key
    of an offering, of a single price of one, or of an owned system."""

    resources: tuple[Resource, ...]
    candidates: tuple[Candidate, ...]
    refused: tuple[Mapping[tuple[str, ...], Message], ...]
    gaps: tuple[Gap, ...]

    @property
    def refusals(self) -> tuple[Counter[Message], ...]:
        """By need, how often each reason was given."""
        return tuple(Counter(reasons.values()) for reasons in self.refused)


@dataclass(slots=True)
class _MarketBuilder:
    request: Request
    catalog: Catalog
    assumptions: Assumptions
    resources: list[Resource] = field(default_factory=list)
    numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    gaps: dict[Gap, None] = field(default_factory=dict)
    book: OfferBook = field(init=False)

    def __post_init__(self) -> None:
        self.book = open_book(self.request, self.catalog, self.assumptions)

    @property
    def surroundings(self) -> DataCostLookup:
        return DataCostLookup(self.request, self.catalog, self.gaps)

    def list_offers(self, offering: Offering) -> tuple[OfferedPrice, ...]:
        """The prices of an offering that the request as a whole allows; the same for every workload."""
        return self.book.list_offers(offering, self.catalog, self.request, self.assumptions)

    def number(self, resource: Resource) -> int:
        number = self.numbers.setdefault(resource.key, len(self.resources))
        if number == len(self.resources):
            self.resources.append(resource)
        return number


@dataclass(slots=True)
class _WorkloadSearch:
    """The search for one workload: its placement, its data costs by place (`around`), the places where it may run
    (`permitted`) and its refusals so far."""

    index: int
    need: WorkloadDemand
    seat: PlacementSearch
    around: dict[tuple[str, str], DataCosts | None] = field(default_factory=dict)
    permitted: dict[tuple[str, str], bool] = field(default_factory=dict)
    refused: dict[tuple[str, ...], Message] = field(default_factory=dict)


def build_market(
    request: Request,
    demands: PortfolioDemand,
    catalog: Catalog,
    nodes: Iterable[OwnedNode],
    assumptions: Assumptions,
    existing_resources: Iterable[Resource] = (),
    offerings: Iterable[Offering] | None = None,
) -> Market:
    """Every candidate for every need, on the market's resources and on existing ones. `offerings`: what can be rented
    (None: all that has a price)."""
    build = _MarketBuilder(request, catalog, assumptions)
    existing = tuple(existing_resources)
    for resource in existing:  # paid for even where no workload can use it
        build.number(resource)
    owned, rented = tuple(nodes), catalog.priced if offerings is None else tuple(offerings)
    refused = []
    for index, need in enumerate(demands.needs):
        search = _WorkloadSearch(index, need, PlacementSearch(need, request, catalog.names, build.gaps))
        for offering in rented:
            _add_rented_candidates(build, search, offering)
        for node in owned:
            _add_owned_candidates(
                build, search, Resource((OWNED_KEY, node.name), "owned", node.accelerator, node.accelerators, node=node)
            )
        for resource in existing:
            if resource.node is not None:
                _add_owned_candidates(build, search, resource)
            else:
                _add_commitment_candidates(build, search, resource)
        refused.append(search.refused)
    return Market(tuple(build.resources), tuple(build.candidates), tuple(refused), tuple(build.gaps))


def _add_rented_candidates(build: _MarketBuilder, search: _WorkloadSearch, offering: Offering) -> None:
    workload = search.need.workload
    gang_fits = host_problem(workload, offering) or _place_rented(build, search, offering)
    if isinstance(gang_fits, Message):
        search.refused[offering.key] = gang_fits
        return
    offers = [each for each in build.list_offers(offering) if _may_run_at(build, search, each.place)]
    search.refused |= {each.key: each.refusal for each in offers if each.refusal is not None}
    here = [each for each in offers if each.refusal is None]
    if not here:
        search.refused[offering.key] = NOT_SOLD
        return
    work = {interrupts: _work_per_node_hour(build, search.need, gang_fits, interrupts) for interrupts in (False, True)}
    for quote, key, place, _, option, resource in here:
        if option is None or resource is None or use_refusal(quote, option, search.need) is not None:
            continue
        around = _data_costs_at(build, search, place)
        if around is None:
            search.refused[key] = NO_DATA_PRICE
            continue
        if resource.last_start == 0:
            search.refused[key] = late_start_refusal(quote, option)
            continue
        number = build.number(resource)
        for fit, units in zip(gang_fits, work[option.INTERRUPTS], strict=True):
            if (too_large := gang_refusal(quote, workload, fit.nodes_per_gang)) is not None:
                search.refused[key] = too_large
            elif units is not None:
                build.candidates.append(_build_candidate(search.index, number, fit, units, around))


def _place_rented(build: _MarketBuilder, search: _WorkloadSearch, offering: Offering) -> list[Placement] | Message:
    """The placements of the workload's gang on rented nodes of a type, or the reason why there is none."""
    part = build.catalog.names.by_name[offering.accelerator]
    memory = usable_accelerator_memory(offering, part)
    return find_placements(search.seat, part, offering.accelerator_count, memory, build.catalog.fabric(offering))


def _add_commitment_candidates(build: _MarketBuilder, search: _WorkloadSearch, resource: Resource) -> None:
    """A commitment that runs already, for the workloads that may run in its place."""
    quote = resource.quote
    assert quote is not None
    if not is_permitted_place(build.request, quote.price.provider, quote.price.region):
        return
    if not may_run(build.catalog, build.request, search.need.workload, quote):
        return
    gang_fits = _place_rented(build, search, quote.offering)
    around = _data_costs_at(build, search, (quote.price.provider, quote.price.region))
    if isinstance(gang_fits, Message) or around is None:
        return
    number = build.number(resource)
    for fit in gang_fits:
        hours = _billed_hours(build, search.need, fit, interrupts=False)
        build.candidates.append(_build_candidate(search.index, number, fit, _units_per_hour(fit, hours), around))


def _add_owned_candidates(build: _MarketBuilder, search: _WorkloadSearch, resource: Resource) -> None:
    need, node = search.need, resource.node
    assert node is not None
    if not need.workload.may_be_owned:
        search.refused[resource.key] = message("may_not_be_owned")
        return
    part = build.catalog.names.by_name[node.accelerator]
    gang_fits = find_placements(search.seat, part, node.accelerators, part.memory_gib)
    if isinstance(gang_fits, Message):
        search.refused[resource.key] = gang_fits
        return
    around = build.surroundings.owned(need.workload, build.assumptions)
    if around is None:
        search.refused[resource.key] = message("data_transfer_price_unknown")
        return
    number = build.number(resource)
    # Accelerator-hours in the request include repairs already, as they include failures: no second allowance.
    there = 1.0 if is_stated_in_hours(need.workload) else onprem.node_availability(node, build.assumptions)
    for fit in gang_fits if there else ():
        hours = _billed_hours(build, need, fit, interrupts=False) / there
        build.candidates.append(_build_candidate(search.index, number, fit, _units_per_hour(fit, hours), around))


def _build_candidate(index: int, number: int, fit: Placement, units: float, around: DataCosts) -> Candidate:
    return Candidate(
        index, number, fit.gang, fit.nodes_per_gang, fit.gangs_per_node, units, around, fit.throughput, fit.queue
    )


def _units_per_hour(fit: Placement, billed_hours: float) -> float:
    """Work that stays of a node-hour, of which so many are billed for a useful one."""
    return fit.throughput.units_per_hour * fit.gangs_per_node / fit.nodes_per_gang / billed_hours


def _work_per_node_hour(
    build: _MarketBuilder, need: WorkloadDemand, fits: Iterable[Placement], interrupts: bool
) -> list[float | None]:
    """The work of a node-hour at each placement; None where interruptions leave none."""
    billed = ((fit, _billed_hours(build, need, fit, interrupts)) for fit in fits)
    return [_units_per_hour(fit, hours) if math.isfinite(hours) else None for fit, hours in billed]


def _data_costs_at(build: _MarketBuilder, search: _WorkloadSearch, place: tuple[str, str]) -> DataCosts | None:
    if place not in search.around:
        search.around[place] = build.surroundings.rented(search.need.workload, *place)
    return search.around[place]


def _may_run_at(build: _MarketBuilder, search: _WorkloadSearch, place: tuple[str, str]) -> bool:
    """Whether the workload may run in a region of a provider."""
    if place not in search.permitted:
        search.permitted[place] = may_run_in(build.catalog, build.request, search.need.workload, *place)
    return search.permitted[place]


def _billed_hours(build: _MarketBuilder, need: WorkloadDemand, fit: Placement, interrupts: bool) -> float:
    return billed_hours(need, fit.gang, fit.nodes_per_gang, build.assumptions, interrupts=interrupts)


def billed_hours(
    need: WorkloadDemand, gang: float, nodes_per_gang: int, assumptions: Assumptions, *, interrupts: bool
) -> float:
    """Hours billed for one useful hour, 1 or more: recomputation after failures and, on spot, after interruptions.

    Accelerator-hours in the request already include failures; work that was measured or is described does not. What
    serves has nodes that stand there, whose work is not computed again: spare replicas are for their failures.
    """
    if need.serving:
        return 1.0
    rate = 0.0
    if not is_stated_in_hours(need.workload):
        rate = gang / assumptions["failure_interval_accelerator_hours"].value
    if interrupts:
        rate += nodes_per_gang / assumptions["spot_hours_to_interruption"].value
    if rate == 0:
        return 1.0
    checkpoint = need.workload.checkpoint_minutes / 60
    return goodput.billed_per_useful_hour(checkpoint, need.workload.restart_minutes / 60, 1 / rate)
