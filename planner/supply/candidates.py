"""The market: every pair of a workload and a resource that could serve it, and the refusal of every other pair.

A resource is one way to get nodes (an offering in a region under one purchase option, or an owned system); a candidate
is a workload on a resource with the work that one node-hour gives. No candidate is chosen or dropped by price here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from planner.performance import goodput
from planner.performance.serving.staffing import ServiceQueue
from planner.performance.throughput import Throughput
from planner.request.assumptions import Assumptions
from planner.request.models import Request
from planner.result import EXISTING_SUFFIX, Gap
from planner.result.message import Message, message
from planner.supply import onprem
from planner.supply.data_costs import DataCostLookup, DataCosts
from planner.supply.onprem import OwnedNode
from planner.supply.price_rules import (
    commitment_pool,
    decide_prices,
    gang_refusal,
    is_permitted_place,
    last_month,
    last_start,
    late_start_refusal,
    may_run,
    plan_start,
    use_refusal,
)
from planner.supply.purchase_options import CommitmentUnit, PurchaseOption, load_purchase_options
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.eligibility import host_problem, is_stated_in_hours
from planner.workloads.placement import Placement, PlacementSearch, find_placements
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote, usable_accelerator_memory
from pricing.offering import Offering

EXISTING_KEY, OWNED_KEY = "~held", "~owned"
"""The first part of the key of existing capacity, and of systems that can be purchased."""
FOLLOWING = ("name", "provider", "region", "place", "purchase_option", "interrupts")
"""Fields of a resource that follow from its others."""
NOT_SOLD = message("not_sold_where_allowed")
ResourceKind = Literal["hourly", "covered", "commitment", "owned"]
"""By the hour; by the hour and set against committed money; nodes committed to; nodes owned."""


@dataclass(frozen=True, slots=True)
class ExistingCapacity:
    """Capacity from before the plan: `count` nodes in the months `covers`.

    `age_months` is the age of owned nodes at the start of the plan, `counts_value` whether their market value counts at
    both ends; `fee_per_month` is the fee of commitments for all nodes together.
    """

    count: int
    covers: range
    age_months: int = 0
    fee_per_month: float = 0.0
    counts_value: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """One way to get nodes. Exactly one of `quote` and `node` is set; `key` orders resources and breaks ties.

    `pool` is the key of the committed money that a covered resource is set against. `last_start` is the last month in
    which it can be started, `last_month` the last in which it works; None where every month will do.
    """

    key: tuple[str, ...]
    what: ResourceKind
    accelerator: str
    accelerators_per_node: float
    quote: Quote | None = None
    node: OwnedNode | None = None
    held: ExistingCapacity | None = None
    pool: tuple[str, ...] = ()
    last_start: int | None = None
    last_month: int | None = None
    name: str = field(init=False, compare=False)
    """The owned system or the instance type."""
    provider: str = field(init=False, compare=False)
    """Empty for owned systems, as is the region."""
    region: str = field(init=False, compare=False)
    place: tuple[str, ...] = field(init=False, compare=False)
    """Where its nodes are: provider, region and instance type; or the owned system, new and existing alike."""
    purchase_option: str = field(init=False, compare=False)
    interrupts: bool = field(init=False, compare=False)
    """Whether its provider may take its nodes back: spot."""

    def __post_init__(self) -> None:
        """Sets what is read for every candidate, once."""
        price, owned = None if self.quote is None else self.quote.price, self.node
        name = owned.name if owned is not None else self.key[-1] if price is None else price.instance_type
        provider, region = ("", "") if price is None else (price.provider, price.region)
        place = (provider, region, name) if owned is None else (OWNED_KEY, name)
        option = "owned" if price is None else price.purchase_option
        interrupts = price is not None and load_purchase_options()[price.kind].INTERRUPTS
        for field_name, value in zip(FOLLOWING, (name, provider, region, place, option, interrupts), strict=True):
            object.__setattr__(self, field_name, value)

    @property
    def is_term_commitment(self) -> bool:
        """Whether it is a commitment of nodes or money for a term, not of dated days."""
        return self.node is None and self.what in ("commitment", "covered") and self.unit != "node_day"

    @property
    def is_listed(self) -> bool:
        """Whether its price is a row of the catalogue: neither existing capacity nor a pool of committed money."""
        return self.quote is not None and self.held is None and (self.what == "covered" or self.unit != "money")

    @property
    def unit(self) -> CommitmentUnit:
        """The unit of a purchase: a node, a day of a node, or money an hour."""
        return "node" if self.quote is None else load_purchase_options()[self.quote.price.kind].UNIT

    @property
    def title(self) -> str:
        """How it is called in payments: an owned system, or provider, region, type and way of paying."""
        name = self.node.name if self.node is not None else " ".join(self.key).removeprefix(f"{EXISTING_KEY} ")
        return name if self.held is None else f"{name}{EXISTING_SUFFIX}"


@dataclass(frozen=True, slots=True)
class Candidate:
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
    resources: dict[tuple[str, ...], Resource] = field(default_factory=dict)
    numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    rented: dict[tuple[str, ...], Resource] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    gaps: dict[Gap, None] = field(default_factory=dict)
    sold: dict[tuple[str, str], tuple[tuple[Quote, Message | None], ...]] = field(default_factory=dict)
    start: date = field(init=False)

    def __post_init__(self) -> None:
        self.start = plan_start(self.request)

    @property
    def surroundings(self) -> DataCostLookup:
        return DataCostLookup(self.request, self.catalog, self.gaps)

    def allowed(self, offering: Offering) -> tuple[tuple[Quote, Message | None], ...]:
        """The prices of an offering that the request as a whole allows, each with the reason why it cannot be bought so
        or None; the same for every workload."""
        if offering.key not in self.sold:
            quotes = self.catalog.of_type(offering)
            self.sold[offering.key] = tuple(decide_prices(quotes, self.request, self.assumptions, self.start))
        return self.sold[offering.key]

    def number(self, resource: Resource) -> int:
        if resource.key not in self.numbers:
            self.resources[resource.key] = resource
            self.numbers[resource.key] = len(self.numbers)
        return self.numbers[resource.key]

    def rent(self, quote: Quote, option: PurchaseOption) -> Resource:
        """The nodes at a price, the same for every workload."""
        if quote.price.key not in self.rented:
            self.rented[quote.price.key] = _build_rented(self, quote, option)
        return self.rented[quote.price.key]


@dataclass(slots=True)
class _WorkloadSearch:
    """The search for one workload: its placement, its data costs by place (`around`) and its refusals so far."""

    index: int
    need: WorkloadDemand
    seat: PlacementSearch
    around: dict[tuple[str, str], DataCosts | None] = field(default_factory=dict)
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
    return Market(tuple(build.resources.values()), tuple(build.candidates), tuple(refused), tuple(build.gaps))


def _add_rented_candidates(build: _MarketBuilder, search: _WorkloadSearch, offering: Offering) -> None:
    workload = search.need.workload
    gang_fits = host_problem(workload, offering) or _place_rented(build, search, offering)
    if isinstance(gang_fits, Message):
        search.refused[offering.key] = gang_fits
        return
    placed = [each for each in build.allowed(offering) if may_run(build.catalog, build.request, workload, each[0])]
    search.refused |= {quote.price.key: unsold for quote, unsold in placed if unsold is not None}
    here = [quote for quote, unsold in placed if unsold is None]
    if not here:
        search.refused[offering.key] = NOT_SOLD
        return
    billed = {
        interrupts: [_billed_hours(build, search.need, fit, interrupts) for fit in gang_fits]
        for interrupts in (False, True)
    }
    for quote in here:
        option = load_purchase_options().get(quote.price.kind)
        if option is None or use_refusal(quote, option, search.need) is not None:
            continue
        around = _data_costs_at(build, search, quote)
        if around is None:
            search.refused[quote.price.key] = message("data_price_unknown")
            continue
        resource = build.rent(quote, option)
        if resource.last_start == 0:
            search.refused[quote.price.key] = late_start_refusal(quote, option)
            continue
        number = build.number(resource)
        for fit, hours in zip(gang_fits, billed[option.INTERRUPTS], strict=True):
            if (too_large := gang_refusal(quote, workload, fit.nodes_per_gang)) is not None:
                search.refused[quote.price.key] = too_large
            elif math.isfinite(hours):
                build.candidates.append(_build_candidate(search.index, number, fit, hours, around))


def _place_rented(build: _MarketBuilder, search: _WorkloadSearch, offering: Offering) -> list[Placement] | Message:
    """The placements of the workload's gang on rented nodes of a type, or the reason why there is none."""
    part = build.catalog.names.by_name[offering.accelerator]
    memory = usable_accelerator_memory(offering, part)
    return find_placements(search.seat, part, offering.accelerator_count, memory, build.catalog.fabric(offering))


def _build_rented(build: _MarketBuilder, quote: Quote, option: PurchaseOption) -> Resource:
    """The nodes at a price, with the last month in which they can be ordered where they are sold for dates, and the
    last in which they work where their type ends within the plan."""
    what: ResourceKind = "hourly" if not option.COMMITS else "covered" if option.UNIT == "money" else "commitment"
    return Resource(
        quote.price.key,
        what,
        quote.offering.accelerator,
        quote.offering.accelerator_count or 0,
        quote=quote,
        pool=commitment_pool(quote.price) if what == "covered" else (),
        last_start=last_start(quote, option, build.request, build.assumptions, build.start),
        last_month=last_month(quote, build.start, build.request.months),
    )


def _add_commitment_candidates(build: _MarketBuilder, search: _WorkloadSearch, resource: Resource) -> None:
    """A commitment that runs already, for the workloads that may run in its place."""
    quote = resource.quote
    assert quote is not None
    if not is_permitted_place(build.request, quote.price.provider, quote.price.region):
        return
    if not may_run(build.catalog, build.request, search.need.workload, quote):
        return
    gang_fits = _place_rented(build, search, quote.offering)
    around = _data_costs_at(build, search, quote)
    if isinstance(gang_fits, Message) or around is None:
        return
    number = build.number(resource)
    for fit in gang_fits:
        hours = _billed_hours(build, search.need, fit, interrupts=False)
        build.candidates.append(_build_candidate(search.index, number, fit, hours, around))


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
        build.candidates.append(_build_candidate(search.index, number, fit, hours, around))


def _build_candidate(index: int, number: int, fit: Placement, hours: float, around: DataCosts) -> Candidate:
    per_node = fit.throughput.units_per_hour * fit.gangs_per_node / fit.nodes_per_gang / hours
    return Candidate(
        index, number, fit.gang, fit.nodes_per_gang, fit.gangs_per_node, per_node, around, fit.throughput, fit.queue
    )


def _data_costs_at(build: _MarketBuilder, search: _WorkloadSearch, quote: Quote) -> DataCosts | None:
    place = (quote.price.provider, quote.price.region)
    if place not in search.around:
        search.around[place] = build.surroundings.rented(search.need.workload, *place)
    return search.around[place]


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
