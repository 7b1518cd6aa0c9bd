"""Workloads that two plans name differently: matched by their work, else by similar names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher

from planner.analysis.comparison.strategy_state import ROUNDING_TOLERANCE
from planner.result import Plan, RequestedWorkload, Strategy

SIMILARITY_MIN = 0.8
"""Of two names, as the share of letters in the same order."""


def match_renamed_workloads(old: Plan, new: Plan) -> dict[str, str]:
    """New names by old ones, of workloads that only one plan has, in the same unit and of the same kind: first those
    with the same work in each month of both, then those with similar names; a match is the only one on both sides."""
    gone = [w for w in old.workloads if w.name not in {each.name for each in new.workloads}]
    added = [w for w in new.workloads if w.name not in {each.name for each in old.workloads}]
    names: dict[str, str] = {}
    for matches in (lambda a, b: _has_same_work(old, new, a, b), _has_similar_name):
        pairs = _only_matches(gone, added, matches)
        names |= {a.name: b.name for a, b in pairs}
        gone = [w for w in gone if w.name not in names]
        added = [w for w in added if w.name not in names.values()]
    return names


def _only_matches(
    gone: list[RequestedWorkload],
    added: list[RequestedWorkload],
    matches: Callable[[RequestedWorkload, RequestedWorkload], bool],
) -> Iterator[tuple[RequestedWorkload, RequestedWorkload]]:
    pairs = [(a, b) for a in gone for b in added if (a.unit, a.kind) == (b.unit, b.kind) and matches(a, b)]
    for a, b in pairs:
        if sum(pair[0] is a or pair[1] is b for pair in pairs) == 1:
            yield a, b


def _has_same_work(old: Plan, new: Plan, a: RequestedWorkload, b: RequestedWorkload) -> bool:
    before, after = (dict(zip(plan.month_names, w.demand, strict=True)) for plan, w in ((old, a), (new, b)))
    common = before.keys() & after.keys()
    close = (abs(before[m] - after[m]) <= ROUNDING_TOLERANCE * max(before[m], after[m]) for m in common)
    return bool(common) and any(before[m] for m in common) and all(close)


def _has_similar_name(a: RequestedWorkload, b: RequestedWorkload) -> bool:
    return SequenceMatcher(None, a.name.casefold(), b.name.casefold()).ratio() >= SIMILARITY_MIN


def rename_workloads(plan: Plan, names: Mapping[str, str]) -> Plan:
    """The plan with these workloads under other names, wherever a comparison reads them."""
    if not names:
        return plan
    return replace(
        plan,
        workloads=tuple(replace(w, name=names.get(w.name, w.name)) for w in plan.workloads),
        throughput=tuple(replace(t, workload=names.get(t.workload, t.workload)) for t in plan.throughput),
        gaps=tuple(replace(g, workload=names.get(g.workload, g.workload)) for g in plan.gaps),
        strategies=tuple(_rename_in_strategy(strategy, names) for strategy in plan.strategies),
    )


def _rename_in_strategy(strategy: Strategy, names: Mapping[str, str]) -> Strategy:
    return replace(
        strategy,
        uses=tuple(replace(use, workload=names.get(use.workload, use.workload)) for use in strategy.uses),
        workloads=tuple(replace(cost, workload=names.get(cost.workload, cost.workload)) for cost in strategy.workloads),
    )
