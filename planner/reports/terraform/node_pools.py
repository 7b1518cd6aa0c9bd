"""From a strategy's uses to pools of nodes: one for each provider, region, type and way of starting them.

Writes no Terraform: the contents of each pool, its module, and the arguments that the plan leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import fsum

from planner.reports.terraform.provisioning.gang_fabrics import catalog_of, gang_problem
from planner.reports.terraform.provisioning.module_catalog import (
    CloudModules,
    ModuleMatch,
    PoolKind,
    match_module,
)
from planner.reports.terraform.provisioning.own_modules import find_cloud
from planner.reports.terraform.provisioning.reasons import reason
from planner.reports.terraform.running_hours import MonthProfile, divide_by_hours, gang_nodes, month_profile
from planner.result import Plan, Strategy, Use
from planner.result.message import Message
from pricing.price import parse_purchase_option

BILLED = ("on_demand", "reserved", "savings_plan", "committed_use")
"""Kinds of purchase options that bill nodes which start on demand; nodes are started as any other kind."""
IN_RESERVATION = "reservation"
"""How nodes start of a type that is not sold on demand, and committed to only with a reservation of the capacity."""
NODE_KINDS: Mapping[PoolKind, str] = {"nodes": "vm", "kubernetes": "kubernetes"}
"""The kinds of modules as the options call them: separate machines, or node pools of an existing cluster."""
DATED = ("capacity_block", "calendar", "flex_start")
"""Kinds whose nodes end at a time of their own, whoever forgets them."""
NAME_STEM_MAX = 24

Place = tuple[str, str, str]
PoolKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class RentedNodes:
    """Nodes of one type in one region, started in one way.

    `profiles` (when they run), `node_hours` and `cost` (of use) have one value a month. `gang_nodes` are the nodes that
    the largest job needs at once; `any_fabric`: whichever network joins them. `own_hours` names a pool of work that
    ends within a month, beside one that follows the week. `base_nodes` are the nodes of each month that start on demand
    in a group of spot nodes; () where all start as `started`.
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
    base_nodes: tuple[int, ...] = ()

    @property
    def place(self) -> Place:
        """Where the nodes are: provider, region, type."""
        return (self.provider, self.region, self.instance_type)

    @property
    def key(self) -> tuple[str, ...]:
        """The fields that identify a pool."""
        return (*self.place, self.started, *([self.own_hours] if self.own_hours else []))

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
        """Whether nodes that stayed on would cost more than the plan, in some month."""
        return any(profile.is_partial for profile in self.profiles)


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
    return tuple(
        _rented_nodes(plan, strategy, key, own_hours, uses)
        for key in sorted(groups)
        for own_hours, uses in (
            (("", groups[key]),) if key[3] in DATED else divide_by_hours(plan, strategy, groups[key])
        )
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


def _rented_nodes(plan: Plan, strategy: Strategy, key: PoolKey, own_hours: str, uses: Sequence[Use]) -> RentedNodes:
    names = {use.workload for use in uses}
    monthly = [[use for use in uses if use.month == month] for month in range(1, plan.months + 1)]
    profiles = tuple(
        month_profile(plan, strategy, month, same, dated=key[3] in DATED) for month, same in enumerate(monthly, start=1)
    )
    return RentedNodes(
        *key,
        paid=tuple(sorted({use.purchase_option for use in uses})),
        accelerator=uses[0].accelerator,
        accelerators_per_node=uses[0].accelerators_per_node,
        profiles=profiles,
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
        own_hours=own_hours,
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
            match = gang_problem(part.provider, part.instance_type, part.gang_nodes, in_one) or match
        if isinstance(match, ModuleMatch):
            pools.append(NodePool(part, match))
        else:
            refused.append((part, match))
    return tuple(pools), tuple(refused)


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
