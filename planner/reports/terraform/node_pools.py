"""From a strategy's uses to pools of nodes: one for each provider, region, type and way of starting them.

Writes no Terraform: the contents of each pool, its module, and the arguments that the plan leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil, fsum, inf

from planner.reports.terraform.provisioning.module_catalog import (
    CloudModules,
    ModuleMatch,
    PoolKind,
    load_clouds,
    match_module,
)
from planner.reports.terraform.provisioning.reasons import reason
from planner.result import Plan, Strategy, Use
from planner.result.message import Message

STARTED_AS = ("spot", "capacity_block")
"""Purchase options that nodes must be started with; all others are ways of billing nodes that start on demand."""
NODE_KINDS: Mapping[PoolKind, str] = {"nodes": "vm", "kubernetes": "kubernetes"}
"""The kinds of modules as the options call them: separate machines, or node pools of an existing cluster."""
NODE_ROUNDING = 1e-6
NAME_STEM_MAX = 24

PoolKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class RentedNodes:
    """Nodes of one type in one region, started in one way.

    `nodes` (at once, at most), `node_hours` and `cost` (of use) have one value a month.
    """

    provider: str
    region: str
    instance_type: str
    started: str
    paid: tuple[str, ...]
    accelerator: str
    accelerators_per_node: float
    nodes: tuple[int, ...]
    node_hours: tuple[float, ...]
    cost: tuple[float, ...]
    workloads: tuple[str, ...]
    teams: tuple[str, ...]

    @property
    def key(self) -> PoolKey:
        """The fields that identify a pool."""
        return (self.provider, self.region, self.instance_type, self.started)

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
    def peak(self) -> int:
        """Nodes in the busiest month."""
        return max(self.nodes)


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
            started = use.purchase_option if use.purchase_option in STARTED_AS else "on_demand"
            groups.setdefault((use.provider, use.region, use.name, started), []).append(use)
    return tuple(_rented_nodes(plan, strategy, key, groups[key]) for key in sorted(groups))


def _rented_nodes(plan: Plan, strategy: Strategy, key: PoolKey, uses: Sequence[Use]) -> RentedNodes:
    names = {use.workload for use in uses}
    monthly = [[use for use in uses if use.month == month] for month in range(1, plan.months + 1)]
    return RentedNodes(
        *key,
        paid=tuple(sorted({use.purchase_option for use in uses})),
        accelerator=uses[0].accelerator,
        accelerators_per_node=uses[0].accelerators_per_node,
        nodes=tuple(_node_count(plan, strategy, month) for month in monthly),
        node_hours=tuple(fsum(use.node_hours for use in month) for month in monthly),
        cost=tuple(fsum(use.cost for use in month) for month in monthly),
        workloads=tuple(sorted(names)),
        teams=tuple(sorted({item.team for item in plan.workloads if item.name in names and item.team})),
    )


def _node_count(plan: Plan, strategy: Strategy, uses: Sequence[Use]) -> int:
    """Whole nodes that serve the `uses` of a month at once, at most.

    Workloads that take turns on committed nodes never use more than are committed; whether they take turns on others is
    not in a plan. A gang that works a tenth of the month needs all its nodes while it does.
    """
    by_option: dict[str, float] = {}
    for use in uses:
        by_option[use.purchase_option] = by_option.get(use.purchase_option, 0) + use.nodes
    # sharing of committed nodes is known from their number; rented ones count as used at the same time
    at_once = fsum(min(nodes, _committed_nodes(strategy, uses[0], option)) for option, nodes in by_option.items())
    gangs = {item.name: item.gang for item in plan.workloads}
    needed = [gangs.get(use.workload, 0) / use.accelerators_per_node for use in uses]
    # without the tolerance, 2.0000000001 nodes of the solver would become 3
    return ceil(max(at_once, *needed, 0) - NODE_ROUNDING)


def _committed_nodes(strategy: Strategy, use: Use, option: str) -> float:
    """Nodes like those of `use` that are committed under `option` in its month; no limit without such a commitment."""
    same = (use.provider, use.region, use.name, option)
    counts = [
        item.count
        for item in strategy.purchases
        if (item.provider, item.region, item.name, item.purchase_option) == same
        and item.usable_from <= use.month <= item.usable_to
    ]
    return sum(counts) if counts else inf


def assign_modules(
    parts: Iterable[RentedNodes], kind: PoolKind
) -> tuple[tuple[NodePool, ...], tuple[UnprovisionedNodes, ...]]:
    """The parts that modules of `kind` provision, and the others with the reason."""
    known = load_clouds()
    pools: list[NodePool] = []
    refused: list[UnprovisionedNodes] = []
    for part in parts:
        cloud = known.get(part.provider)
        if cloud is None:
            refused.append((part, reason("no_modules_for_provider", provider=part.provider)))
            continue
        match = _find_module(cloud, part, kind)
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
    return reason("purchase_option_has_no_module", module=match.module.name, purchase_option=part.started)


def busiest_month(pools: Sequence[NodePool]) -> int:
    """The first month in which the pools have the most accelerators at once."""
    months = range(len(pools[0].rented.nodes))
    loads = [fsum(pool.rented.nodes[m] * pool.rented.accelerators_per_node for pool in pools) for m in months]
    return loads.index(max(loads)) + 1


def slug(text: str, joint: str) -> str:
    """The text in lower-case letters and digits, with `joint` for everything else."""
    return re.sub("[^a-z0-9]+", joint, text.lower()).strip(joint)
