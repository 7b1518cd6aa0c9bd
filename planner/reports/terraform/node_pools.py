"""From a strategy's uses to pools of nodes: one for each provider, region, type and way of starting them.

Writes no Terraform: the contents of each pool, its module, and the arguments that the plan leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import fsum, inf

from planner.reports.terraform.dated_nodes import (
    DATED,
    OrdersByMonth,
    Place,
    find_dated_ends,
    group_orders,
    order_profile,
)
from planner.reports.terraform.provisioning.commitment_commands import most_nodes_of_order
from planner.reports.terraform.provisioning.gang_fabrics import catalog_of, gang_problem
from planner.reports.terraform.provisioning.module_catalog import (
    CloudModules,
    ModuleMatch,
    PoolKind,
    match_module,
)
from planner.reports.terraform.provisioning.own_modules import find_cloud
from planner.reports.terraform.provisioning.reasons import reason
from planner.reports.terraform.running_hours import (
    MonthProfile,
    always_on,
    divide_by_hours,
    gang_nodes,
    month_profile,
)
from planner.result import DatedOrder, Plan, Strategy, Use
from planner.result.message import Message
from pricing.frozen_values import dataclass
from pricing.price import parse_purchase_option

BILLED = ("on_demand", "reserved", "savings_plan", "committed_use")
"""Kinds of purchase options that bill nodes which start on demand; nodes are started as any other kind."""
IN_RESERVATION = "reservation"
"""How nodes start of a type that is not sold on demand, and committed to only with a reservation of the capacity."""
NODE_KINDS: Mapping[PoolKind, str] = {"nodes": "vm", "kubernetes": "kubernetes"}
"""The kinds of modules as the options call them: separate machines, or node pools of an existing cluster."""
NAME_STEM_MAX = 24

PoolKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class RentedNodes:
    """Nodes of one type in one region, started in one way.

    `profiles` (when they run), `node_hours` and `cost` (of use) have one value a month. `gang_nodes` are the nodes that
    the largest job needs at once; `any_fabric`: whichever network joins them. `own_hours` names a pool of work that
    ends within a month, beside one that follows the week. `orders` has for each month the dated days of the nodes, as
    they are ordered, and `order` the number of these orders in their months, from 1; () and 0 without any.
    `base_nodes` are the nodes of each month that start on demand in a group of spot nodes; () where all start as
    `started`.
    """

    provider: str
    region: str
    instance_type: str
    started: str
    paid: tuple[str, ...]
    accelerator: str
    accelerators_per_node: float
    profiles: tuple[MonthProfile, ...]
    node_hours: tuple[float, ...]
    cost: tuple[float, ...]
    workloads: tuple[str, ...]
    teams: tuple[str, ...]
    gang_nodes: int
    any_fabric: bool
    own_hours: str = ""
    orders: tuple[DatedOrder | None, ...] = ()
    order: int = 0
    base_nodes: tuple[int, ...] = ()

    @property
    def place(self) -> Place:
        """Where the nodes are: provider, region, type."""
        return (self.provider, self.region, self.instance_type)

    @property
    def key(self) -> tuple[str, ...]:
        """The fields that identify a pool."""
        parts = (self.own_hours, str(self.order) if self.order > 1 else "")
        return (*self.place, self.started, *(part for part in parts if part))

    @property
    def started_words(self) -> str:
        """How the nodes start."""
        return f"on_demand and {self.started}" if self.base_nodes else self.started

    @property
    def label(self) -> str:
        """The name of its module call, which is also its key in variables by pool."""
        return slug("_".join(self.key), "_")

    @property
    def resource_name(self) -> str:
        """The part of resource names after the prefix, at most 33 characters.

        The plan is not in it, so that a later plan changes a pool in place instead of replacing it.
        """
        stem = slug(self.instance_type, "-")[:NAME_STEM_MAX].strip("-")
        return f"{stem}-{sha256('|'.join(self.key).encode(errors='surrogatepass')).hexdigest()[:8]}"

    @property
    def nodes(self) -> tuple[int, ...]:
        """Nodes at once, at most, in each month."""
        return tuple(profile.peak for profile in self.profiles)

    @property
    def peak(self) -> int:
        """Nodes in the busiest month."""
        return max(self.nodes)

    @property
    def is_partial(self) -> bool:
        """Whether nodes that stayed on would cost more than the plan, in some month; dated ones end in any case."""
        return self.started not in DATED and any(profile.is_partial for profile in self.profiles)


@dataclass(frozen=True, slots=True)
class NodePool:
    """Rented nodes and the module that provisions them."""

    rented: RentedNodes
    match: ModuleMatch


UnprovisionedNodes = tuple[RentedNodes, Message]
"""Rented nodes that are not provisioned, with the reason."""


def group_rented_nodes(plan: Plan, strategy: Strategy) -> tuple[RentedNodes, ...]:
    """The strategy's rented and committed nodes; owned ones are in no cloud."""
    groups: dict[PoolKey, list[Use]] = {}
    for use in strategy.uses:
        if use.provider and use.nodes > 0:
            started = _started_as(use.provider, use.name, use.purchase_option)
            groups.setdefault((use.provider, use.region, use.name, started), []).append(use)
    return tuple(part for key in sorted(groups) for part in _divide_nodes(plan, strategy, key, groups[key]))


def _divide_nodes(plan: Plan, strategy: Strategy, key: PoolKey, uses: Sequence[Use]) -> Iterator[RentedNodes]:
    """The groups of nodes that start in one way at a place: one, one for each order of dated days, or two with hours
    of their own."""
    place, kind = key[:3], key[3]
    ends = find_dated_ends(strategy, place)
    if orders := group_orders(strategy, place, kind):
        yield from _ordered_nodes(plan, _rented_nodes(plan, key, uses, [always_on(0)] * plan.months), orders)
        return
    divided = (("", uses),) if kind in DATED else divide_by_hours(plan, strategy, uses, ends)
    for own_hours, same in divided:
        profiles = [
            month_profile(plan, strategy, month, [use for use in same if use.month == month], ends)
            for month in range(1, plan.months + 1)
        ]
        if kind in DATED:  # they end at a time that the plan does not tell
            profiles = [always_on(profile.peak) for profile in profiles]
        yield replace(_rented_nodes(plan, key, same, profiles), own_hours=own_hours)


def _ordered_nodes(plan: Plan, part: RentedNodes, orders: OrdersByMonth) -> Iterator[RentedNodes]:
    """`part` by its orders of dated days: the first of each month, the second, and so on."""
    months = range(1, plan.months + 1)
    limit = most_nodes_of_order(part.provider, part.instance_type, part.started) or inf
    for number in range(max(map(len, orders.values()))):
        own = [orders[month][number] if number < len(orders.get(month, ())) else None for month in months]
        shares = [
            each.nodes * each.days / fsum(one.nodes * one.days for one in orders[month]) if each else 0.0
            for month, each in zip(months, own, strict=True)
        ]
        largest = max(each.nodes for each in own if each)  # of other work where it is less than a gang
        yield replace(
            part,
            profiles=tuple(order_profile(part.started, each) for each in own),
            node_hours=tuple(share * hours for share, hours in zip(shares, part.node_hours, strict=True)),
            cost=tuple(share * cost for share, cost in zip(shares, part.cost, strict=True)),
            gang_nodes=1 if largest < part.gang_nodes <= limit else part.gang_nodes,
            orders=tuple(own),
            order=number + 1,
        )


def _started_as(provider: str, instance_type: str, purchase_option: str) -> str:
    """The kind of provisioning that nodes paid so need; an option outside the grammar is its own."""
    parts = parse_purchase_option(purchase_option)
    kind = parts.kind if parts else purchase_option
    if kind not in BILLED:
        return kind
    terms = catalog_of(provider).sale_terms(provider, instance_type)
    held = any(term.needs_reservation and term.names(purchase_option) for term in terms)
    # where a type is sold on demand too, its nodes take what is reserved for them by themselves
    on_demand = not any(term.names("on_demand") and term.sold is False for term in terms)
    return IN_RESERVATION if held and not on_demand else "on_demand"


def _rented_nodes(plan: Plan, key: PoolKey, uses: Sequence[Use], profiles: Sequence[MonthProfile]) -> RentedNodes:
    names = {use.workload for use in uses}
    monthly = [[use for use in uses if use.month == month] for month in range(1, plan.months + 1)]
    return RentedNodes(
        *key,
        paid=tuple(sorted({use.purchase_option for use in uses})),
        accelerator=uses[0].accelerator,
        accelerators_per_node=uses[0].accelerators_per_node,
        profiles=tuple(profiles),
        node_hours=tuple(fsum(use.node_hours for use in month) for month in monthly),
        cost=tuple(fsum(use.cost for use in month) for month in monthly),
        workloads=tuple(sorted(names)),
        teams=tuple(sorted({item.team for item in plan.workloads if item.name in names and item.team})),
        gang_nodes=max(1, *(gang_nodes(plan, use) for use in uses)),
        any_fabric=all(
            item.fabric == "any"
            for item in plan.workloads
            if item.name in names and item.gang > uses[0].accelerators_per_node
        ),
    )


def assign_modules(
    parts: Iterable[RentedNodes], kind: PoolKind
) -> tuple[tuple[NodePool, ...], tuple[UnprovisionedNodes, ...]]:
    """The parts that modules of `kind` provision, and the others with the reason."""
    pools: list[NodePool] = []
    refused: list[UnprovisionedNodes] = []
    for part in parts:
        cloud = find_cloud(part.provider)
        if isinstance(cloud, Message):
            refused.append((part, cloud))
            continue
        match = _find_module(cloud, part, kind)
        if isinstance(match, ModuleMatch) and not part.any_fabric:
            in_one = part.gang_nodes if match.module.divides_placements else part.peak
            match = (
                _order_problem(part)
                or gang_problem(part.provider, part.instance_type, part.gang_nodes, in_one)
                or match
            )
        if isinstance(match, ModuleMatch):
            pools.append(NodePool(part, match))
        else:
            refused.append((part, match))
    return tuple(pools), tuple(refused)


def _order_problem(part: RentedNodes) -> Message | None:
    """The reason why a gang has no place in an order of dated days; None where it has, and without such an order."""
    largest = max((order.nodes for order in part.orders if order), default=part.gang_nodes)
    if part.gang_nodes <= largest:
        return None
    facts = {"nodes": str(part.gang_nodes), "purchase_option": part.started, "limit": str(largest)}
    return reason("gang_beyond_order", **facts)


def _find_module(cloud: CloudModules, part: RentedNodes, kind: PoolKind) -> ModuleMatch | Message:
    """The match among modules of `kind`; without one the reason, and whether the other kind has one."""
    match = _startable_module(cloud, part, kind)
    other: PoolKind = "kubernetes" if kind == "nodes" else "nodes"
    if isinstance(match, Message) and isinstance(_startable_module(cloud, part, other), ModuleMatch):
        return reason("other_nodes_have_module", explanation=str(match), nodes=NODE_KINDS[other])
    return match


def _startable_module(cloud: CloudModules, part: RentedNodes, kind: PoolKind) -> ModuleMatch | Message:
    match = match_module(cloud, part.instance_type, kind)
    if isinstance(match, Message) or part.started in match.module.purchase_options:
        return match
    facts = {"module": match.module.name, "purchase_option": part.started}
    if explanation := match.module.option_refusals.get(part.started):
        return reason("purchase_option_refused_by_module", **facts, explanation=explanation)
    return reason("purchase_option_has_no_module", **facts)


def slug(text: str, joint: str) -> str:
    """The text in lower-case letters and digits, with `joint` for everything else."""
    return re.sub("[^a-z0-9]+", joint, text.lower()).strip(joint)
