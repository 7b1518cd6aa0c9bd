"""A planning problem cut down to the homes that plans use, and the nearest to these."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from planner.optimization.home_selection import keep_homes, rank_homes, rank_overflow
from planner.optimization.model import StrategyScope, count_columns
from planner.optimization.promising_stays import relax_promising
from planner.optimization.search_limits import EFFORTS
from planner.optimization.solution import PlanningContext
from planner.optimization.stays import Place
from planner.optimization.strategy import SolvedStrategy, strategy_scope
from planner.result import StrategyName
from planner.supply.candidates import Candidate


class NarrowedProblem(NamedTuple):
    """The problem of a strategy, whole or among some homes. A solution there is one of the whole; that there is none is
    so of the whole, too, only where it `is_whole`."""

    setting: PlanningContext
    scope: StrategyScope
    is_whole: bool


def narrow_large_problem(
    name: StrategyName,
    setting: PlanningContext,
    working: Iterable[Candidate] = (),
    whole_columns: int | None = None,
    most_columns: float = math.inf,
) -> NarrowedProblem:
    """The problem of a strategy for questions beside its plan, whose candidates are `working`: whole where it has at
    most `whole_columns` columns (None: where its own search solves it whole), else among the homes that the plan and
    the relaxation use, and the nearest to these where it has at most `most_columns` columns with them."""
    scope, limits = strategy_scope(name, setting), EFFORTS[setting.effort]
    if count_columns(setting, scope) <= (limits.whole_columns if whole_columns is None else whole_columns):
        return NarrowedProblem(setting, scope, is_whole=True)
    used, nearest = _find_nearest(setting, [scope], working, limits.nearest)
    part, kept = _keep_nearest(setting, scope, list(map(set.union, used, nearest)))
    if count_columns(part, kept) > most_columns:
        part, kept = _keep_nearest(setting, scope, used)
    return NarrowedProblem(part, kept, is_whole=False)


def narrow_setting(setting: PlanningContext, solved: Sequence[SolvedStrategy], nearest: int) -> PlanningContext:
    """The setting with the homes of the solved plans, those that the relaxation of each strategy uses, and so many of
    the nearest for each workload."""
    scopes = [strategy_scope(each.strategy.name, setting) for each in solved if each.strategy.status != "infeasible"]
    used, near = _find_nearest(setting, scopes, (c for each in solved for c in each.candidates), nearest)
    kept = list(map(set.union, used, near))
    everything = StrategyScope(setting.choice.shared, (setting.terms.months,) * len(used))
    part, scope = _keep_nearest(setting, everything, kept)
    shared = tuple(item for item in scope.shared if item.candidates or item.resource.held)
    return replace(part, choice=replace(part.choice, shared=shared))


def _find_nearest(
    setting: PlanningContext, scopes: Iterable[StrategyScope], working: Iterable[Candidate], nearest: int
) -> tuple[list[set[Place]], list[set[Place]]]:
    """By workload, the places of candidates that work in plans and those that the relaxations use; and so many of the
    nearest. Where the work of one cannot be done anywhere, all of its places are used."""
    resources, count = setting.market.resources, len(setting.demands.needs)
    limits = EFFORTS[setting.effort]
    used, nearest_places = ([set[Place]() for _ in range(count)] for _ in range(2))
    for candidate in working:
        used[candidate.need].add(resources[candidate.resource].place)
    for scope in scopes:
        promising = relax_promising(setting, scope, limits.gap, limits.rounds)
        ranking = rank_homes(promising)
        if ranking is None:
            for places, stays in zip(used, promising.stays, strict=True):
                places |= {stay.place for stay in stays}
        if ranking is not None:
            for places, of_relaxation in zip(used, ranking.used, strict=True):
                places.update(of_relaxation)
            for places, near in zip(nearest_places, ranking.nearest, strict=True):
                places.update(near[:nearest])
    return used, nearest_places


def _keep_nearest(
    setting: PlanningContext, scope: StrategyScope, used: Sequence[Collection[Place]]
) -> tuple[PlanningContext, StrategyScope]:
    """The problem with these places, and one place for what exceeds owned nodes."""
    part, scope = keep_homes(setting, scope, tuple(map(frozenset, used)))
    overflow = tuple(_keep_one_overflow(part, index, places) for index, places in enumerate(used))
    return replace(part, choice=replace(part.choice, overflow=overflow)), scope


def _keep_one_overflow(setting: PlanningContext, index: int, used: Collection[Place]) -> tuple[Candidate, ...]:
    """What may exceed an owned home, at one place: that decides it beforehand. A place that is used, of equals the
    cheapest; one for each accelerator where a job stays on its own."""
    resources = setting.market.resources
    kept = {next((place for place in places if place in used), places[0]) for places in rank_overflow(setting, index)}
    return tuple(c for c in setting.choice.overflow[index] if resources[c.resource].place in kept)
