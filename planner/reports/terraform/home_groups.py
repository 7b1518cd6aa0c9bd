"""The groups of nodes that serve a home: one where a group of its provider holds nodes on demand below nodes on spot,
else one for each way of starting nodes, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import add

from planner.reports.terraform.dated_nodes import Place
from planner.reports.terraform.node_pools import NodePool, RentedNodes
from planner.reports.terraform.provisioning.reasons import reason
from planner.reports.terraform.running_hours import MonthProfile
from planner.result.message import Message
from pricing.frozen_values import dataclass

MIXED = ("on_demand", "spot")
"""The ways of starting nodes that one group can hold."""


@dataclass(frozen=True, slots=True)
class DividedHome:
    """A place whose nodes are in several groups, and why."""

    place: Place
    labels: tuple[str, ...]
    reasons: tuple[Message, ...]


def join_groups(pools: Sequence[NodePool]) -> tuple[NodePool, ...]:
    """The pools, those of a place as one where one group can hold them."""
    by_key = {pool.rented.key: pool for pool in pools}
    joined = []
    for pool in pools:
        part = pool.rented
        below, above = (by_key.get((*part.place, started)) for started in MIXED)
        if pool not in (below, above) or below is None or above is None or _find_obstacle(below, above):
            joined.append(pool)
        elif pool is above:
            joined.append(replace(pool, rented=_mix_nodes(below.rented, part)))
    return tuple(joined)


def list_divided_homes(pools: Sequence[NodePool]) -> tuple[DividedHome, ...]:
    """The places with several of the joined `pools`."""
    result = []
    for place in sorted({pool.rented.place for pool in pools}):
        here = [pool for pool in pools if pool.rented.place == place]
        if len(here) > 1:
            reasons = {_explain_group(pool, here) for pool in here} - {None}
            labels = tuple(pool.rented.label for pool in here)
            result.append(DividedHome(place, labels, tuple(sorted((r for r in reasons if r), key=str))))
    return tuple(result)


def _find_obstacle(below: NodePool, above: NodePool) -> Message | None:
    """The reason why one group cannot hold nodes on demand (`below`) and on spot (`above`); None where it can."""
    if not above.match.base_count:
        return reason("group_of_one_option", explanation=above.match.module.one_option_note)
    if below.rented.workloads != above.rented.workloads:
        return reason("group_of_other_workloads")
    if below.rented.gang_nodes > 1 or above.rented.gang_nodes > 1:
        return reason("group_of_gang")
    if below.rented.is_partial:
        return reason("group_of_part_of_month")
    return None


def _mix_nodes(below: RentedNodes, above: RentedNodes) -> RentedNodes:
    """The nodes on spot with those on demand below them, which run for whole months."""
    profiles = (
        MonthProfile(
            profile.peak + count,
            tuple((after, nodes + count) for after, nodes in profile.steps),
            tuple(nodes + count for nodes in profile.week),
        )
        for profile, count in zip(above.profiles, below.nodes, strict=True)
    )
    return replace(
        above,
        paid=tuple(sorted({*below.paid, *above.paid})),
        profiles=tuple(profiles),
        node_hours=tuple(map(add, below.node_hours, above.node_hours)),
        cost=tuple(map(add, below.cost, above.cost)),
        base_nodes=below.nodes,
    )


def _explain_group(pool: NodePool, here: Sequence[NodePool]) -> Message | None:
    """Why a pool is a group of its own beside others of its place."""
    part = pool.rented
    if part.order > 1:
        return reason("group_of_own_order")
    if part.started not in MIXED:
        return reason("group_of_own_start", purchase_option=part.started)
    if part.own_hours:
        return reason("group_of_own_hours")
    below, above = (
        next((each for each in here if (each.rented.started, each.rented.own_hours) == (started, "")), None)
        for started in MIXED
    )
    return _find_obstacle(below, above) if below and above else None
