"""From a strategy's uses to pools of nodes: one for each provider, region, type and way of starting them.

Writes no Terraform; says what is in a pool, which module provisions it, and what the plan leaves open about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from math import ceil, fsum, inf

from planner.answer import Plan, Strategy, Use
from planner.shipped.pools import Cloud, Input, Match, clouds, match

STARTED_AS = ("spot", "capacity_block")
"""Purchase options that nodes must be started with; all others are ways of billing nodes that start on demand."""
NODE_ROUNDING = 1e-6
NAME_STEM_MAX = 24

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Rented:
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
    def key(self) -> Key:
        """What makes it one pool."""
        return (self.provider, self.region, self.instance_type, self.started)

    @property
    def label(self) -> str:
        """The name of its module call, which is also its key in variables by pool."""
        return slug("_".join(self.key), "_")

    @property
    def resource_name(self) -> str:
        """What follows the prefix in resource names, at most 33 characters.

        The plan is not in it, so that a later plan changes a pool in place instead of replacing it.
        """
        stem = slug(self.instance_type, "-")[:NAME_STEM_MAX].strip("-")
        return f"{stem}-{sha256('|'.join(self.key).encode()).hexdigest()[:8]}"

    @property
    def peak(self) -> int:
        """Nodes in the busiest month."""
        return max(self.nodes)


@dataclass(frozen=True, slots=True)
class Pool:
    """Rented nodes and the module that provisions them: one module call."""

    rented: Rented
    cloud: Cloud
    found: Match

    def inputs(self) -> Iterator[tuple[Input, bool]]:
        """What the plan leaves open about it, with whether it is required: of its module, then of its providers."""
        asked = {*self.found.asks, *self.found.module.purchase_options[self.rented.started]}
        for item in self.found.module.inputs.values():
            if item.name not in self.found.arguments:
                yield item, item.required or item.name in asked
        for provider in self.found.module.required_providers:
            for name in self.cloud.providers[provider].inputs:
                yield self.cloud.inputs[name], True

    def key(self, item: Input) -> str:
        """Where the value for this pool stands in the root variable of `item`; "" for one value for the whole plan."""
        return {"plan": "", "region": self.rented.region, "pool": self.rented.label}[item.scope]


@dataclass(frozen=True, slots=True)
class RootInput:
    """A root variable: the keys (regions or pools) that must have a value, those that may, and each key's region."""

    input: Input
    needed: tuple[str, ...]
    allowed: tuple[str, ...]
    regions: Mapping[str, str]

    @property
    def required(self) -> bool:
        """Whether the root cannot be planned without it."""
        return bool(self.needed)


def rented(plan: Plan, strategy: Strategy) -> tuple[Rented, ...]:
    """The strategy's rented and committed nodes; owned ones are nowhere in a cloud."""
    groups: dict[Key, list[Use]] = {}
    for use in strategy.uses:
        if use.provider and use.nodes > 0:
            started = use.purchase_option if use.purchase_option in STARTED_AS else "on_demand"
            groups.setdefault((use.provider, use.region, use.name, started), []).append(use)
    return tuple(_rented(plan, strategy, key, groups[key]) for key in sorted(groups))


def _rented(plan: Plan, strategy: Strategy, key: Key, uses: Sequence[Use]) -> Rented:
    names = {use.workload for use in uses}
    monthly = [[use for use in uses if use.month == month] for month in range(1, plan.months + 1)]
    return Rented(
        *key,
        paid=tuple(sorted({use.purchase_option for use in uses})),
        accelerator=uses[0].accelerator,
        accelerators_per_node=uses[0].accelerators_per_node,
        nodes=tuple(_nodes(plan, strategy, month) for month in monthly),
        node_hours=tuple(fsum(use.node_hours for use in month) for month in monthly),
        cost=tuple(fsum(use.cost for use in month) for month in monthly),
        workloads=tuple(sorted(names)),
        teams=tuple(sorted({item.team for item in plan.workloads if item.name in names and item.team})),
    )


def _nodes(plan: Plan, strategy: Strategy, uses: Sequence[Use]) -> int:
    """Whole nodes that serve the `uses` of a month at once, at most.

    Workloads that take turns on committed nodes never use more than are committed; whether they take turns on others is
    not in a plan. A gang that works a tenth of the month needs all its nodes while it does.
    """
    by_option: dict[str, float] = {}
    for use in uses:
        by_option[use.purchase_option] = by_option.get(use.purchase_option, 0) + use.nodes
    at_once = fsum(min(nodes, _committed(strategy, uses[0], option)) for option, nodes in by_option.items())
    gangs = {item.name: item.gang for item in plan.workloads}
    needed = [gangs.get(use.workload, 0) / use.accelerators_per_node for use in uses]
    return ceil(max(at_once, *needed, 0) - NODE_ROUNDING)


def _committed(strategy: Strategy, use: Use, option: str) -> float:
    """Nodes like those of `use` that are committed under `option` in its month; no limit where none is bought so."""
    same = (use.provider, use.region, use.name, option)
    counts = [
        item.count
        for item in strategy.purchases
        if (item.provider, item.region, item.name, item.purchase_option) == same
        and item.usable_from <= use.month <= item.usable_to
    ]
    return sum(counts) if counts else inf


def divide(parts: Iterable[Rented]) -> tuple[tuple[Pool, ...], tuple[tuple[Rented, str], ...]]:
    """The parts that modules provision, and the others with the reason."""
    known = clouds()
    pools: list[Pool] = []
    refused: list[tuple[Rented, str]] = []
    for part in parts:
        cloud = known.get(part.provider)
        found = match(cloud, part.instance_type) if cloud else f"there are no modules for {part.provider}"
        if isinstance(found, Match) and part.started not in found.module.purchase_options:
            found = f"the module {found.module.name} cannot start nodes as {part.started}"
        if cloud and isinstance(found, Match):
            pools.append(Pool(part, cloud, found))
        else:
            refused.append((part, str(found)))
    return tuple(pools), tuple(refused)


def root_inputs(pools: Sequence[Pool]) -> tuple[RootInput, ...]:
    """What the reader fills in, one per root variable, needed ones first."""
    uses = [(item, required, pool) for pool in pools for item, required in pool.inputs()]
    found = []
    for _, group in groupby(sorted(uses, key=lambda use: use[0].root), key=lambda use: use[0].root):
        same = [(item, required, pool.key(item), pool.rented.region) for item, required, pool in group]
        regions = {key: region for _, _, key, region in same}
        needed = {key for _, required, key, _ in same if required}
        found.append(RootInput(same[0][0], tuple(sorted(needed)), tuple(sorted(set(regions) - needed)), regions))
    return tuple(sorted(found, key=lambda item: not item.required))


def slug(text: str, joint: str) -> str:
    """The text in lower-case letters and digits, with `joint` for everything else."""
    return re.sub("[^a-z0-9]+", joint, text.lower()).strip(joint)
