"""The strategies of a request solved together, each verified: one hands its plan and its bound to another."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Protocol

from planner.optimization.market_bound import prove_with_targets
from planner.optimization.search_progress import name_search, report_phase
from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy, adopt_as_hybrid, proven_bound, rents_only, solve_strategy
from planner.optimization.verification import verify_plan
from planner.optimization.verified_plan import VerifiedPlan
from planner.request.models import Request
from planner.result import StrategyName
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog


class Explain(Protocol):
    """Why a strategy is infeasible; `is_proven`: that it has no plan, not only that none was found."""

    def __call__(self, name: StrategyName, /, *, is_proven: bool) -> tuple[Message, ...]: ...


def solve_strategies(
    request: Request, setting: PlanningContext, catalog: Catalog, explain: Explain | None
) -> list[SolvedStrategy]:
    """The requested strategies. Hybrid takes over a cheaper one within it; cloud takes over a hybrid that buys no
    hardware: nothing in the cloud is cheaper, and one search is spared, as where hybrid has no plan. Reasons only where
    `explain` is given."""
    solve_one = partial(solve_verified, request, setting, catalog, explain)
    with ThreadPoolExecutor(len(request.strategies)) as pool:  # the solver releases the interpreter's lock
        first = [name for name in request.strategies if name != "cloud" or "hybrid" not in request.strategies]
        searches = [pool.submit(copy_context().run, solve_one, name) for name in first]
        known = {name: search.result() for name, search in zip(first, searches, strict=True)}
    if len(first) < len(request.strategies):
        hybrid = known["hybrid"]
        as_cloud = replace(hybrid, strategy=replace(hybrid.strategy, name="cloud"))
        is_impossible = hybrid.strategy.status == "infeasible" and not hybrid.strategy.is_unsolved
        bound = math.inf if is_impossible else proven_bound(hybrid)
        known["cloud"] = as_cloud if rents_only(hybrid) else solve_one("cloud", bound)
    solved = [known[name] for name in request.strategies]
    if explain is not None:
        report_phase("analysis")
    feasible = [s for s in solved if s.strategy.status != "infeasible"]
    best = min(feasible, key=lambda s: s.strategy.present_cost, default=None)
    if best is None:
        return solved
    # Each optimum is proven only to within the gap, so hybrid may come out above a strategy that it contains.
    return [adopt_as_hybrid(best, s) if s.strategy.name == "hybrid" else s for s in solved]


def solve_verified(
    request: Request,
    setting: PlanningContext,
    catalog: Catalog,
    explain: Explain | None,
    name: StrategyName,
    bound: float = -math.inf,
) -> SolvedStrategy:
    """One strategy, verified; `bound` is that of a strategy that may do all that it may. Raises InternalError where
    its plan cannot be bought or run."""
    with name_search(name if explain is not None else ""):  # the strategies of the answer are those explained
        result = solve_strategy(name, setting, bound)
    if result.strategy.status != "infeasible":
        verify_plan(VerifiedPlan(result.strategy, result.decisions, setting, request, catalog))
        return result if explain is None else prove_with_targets(result, setting)
    if explain is not None:
        reasons = explain(name, is_proven=not result.strategy.is_unsolved)
        return replace(result, strategy=replace(result.strategy, reasons=(*result.strategy.reasons, *reasons)))
    return result
