"""When a search ends: by its own work, and by the budget of all searches for a plan. All of it is counted, so that the
same request ends the same on every machine, and no plan whose program is hard takes minutes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from planner.optimization.solver_model import SearchAim

Report = Callable[[float, float], None]
"""Hears of the best cost and the bound of a search."""
NO_SOLUTION_YET = 1e100
LONG_SEARCH_GAPS = ((3_000, 1e-4), (6_000, 5e-4), (12_000, 1e-3))
"""After so many nodes of the search, a gap that is near enough to end it. Counted in nodes and not in seconds, so that
equal programs end the same on every machine."""
IDLE_SHARES = {
    "plan": (0.1, 0.02),
    "trial": (0.1, 0.1),
    "better": (0.1, 0.1),
    "used": (0.1, math.inf),
    "root": (0.2, math.inf),
    "start": (0.03, math.inf),
}
"""A search for a plan ends where this share of its work brought no better one, once it is within this gap."""
IDLE_COLUMNS = 2_500
"""A trial of more ends after half of that: its occasions take ten times as long (25 ms with 4,400 columns)."""
FIRST_PLAN, FIRST_PLAN_WORK, BETTER_PLAN = 10, 3e7, 0.3
"""Times its work after which a search without any plan ends, but not beyond this work unless its own is more; and where
one is known that is to be bettered (5,123 columns: no plan in 62 s, now 8)."""
STALL, STALL_SHARE, STALLED_BOUND = 1.5e6, 0.05, 1e-3
"""Work (or that share of all work, where it is more) after which a search of a program of more than LARGE_COLUMNS
columns ends that has a plan, and neither a better one nor a bound that is better by this share of itself: its rounds of
cuts take 0.1 s and more each (a search of 50 s takes 16, 0.42 instead of 0.34 % above its bound; one of 48 s takes 31,
11.9 instead of 6.3 %; one of 32 s that branches takes 9; the same plans)."""
NODE_SHARE = 0.1
"""Of an occasion, where a search for the bound branches, for that end: without a search for plans nodes take so much
less, and the bound moves late (5,198 columns: 0.05 instead of 0.89 % below the plan after 3.4 instead of 2.6 s). With
one they do not (15,866 columns: 0.14 s each)."""


def _is_plan(cost: float) -> bool:
    """Whether it is the cost of a solution, not the solver's sign for none yet."""
    return math.isfinite(cost) and abs(cost) <= NO_SOLUTION_YET


def limit_search(work: float, each: int, stall: float, aim: SearchAim, report: Report | None) -> Callable[[Any], None]:
    """Ends a search after its work, `each` an occasion (without any plan as FIRST_PLAN says, unless a better one than
    is known is looked for), or when its gap is small enough for its nodes, or when no better plan came for long, where
    its aim is a plan, or for `stall` occasions neither a better plan nor a better bound."""
    longest = BETTER_PLAN * work if aim == "better" else max(work, min(FIRST_PLAN * work, FIRST_PLAN_WORK))
    occasions, first = work / each, longest / each
    seen, better, still, least, proven = 0, 0, 0.0, math.inf, -NO_SOLUTION_YET
    at_node = NODE_SHARE if aim == "bound" else 1.0
    idle_share, idle_gap = IDLE_SHARES.get(aim, (1.0, 0.0))
    if aim in ("trial", "better") and each > IDLE_COLUMNS:
        idle_share /= 2

    def end(event: Any) -> None:
        nonlocal seen, better, still, least, proven
        seen += 1
        progress = event.data_out
        best, bound = progress.mip_primal_bound, progress.mip_dual_bound
        if not _is_plan(best):
            if seen > first:
                event.interrupt()
            return
        if report is not None:
            report(best, bound)
        gap = (best - bound) / max(abs(best), 1e-9) if math.isfinite(bound) else math.inf
        near_enough = any(progress.mip_node_count >= nodes and gap <= near for nodes, near in LONG_SEARCH_GAPS)
        still += at_node if progress.mip_node_count > 0 else 1.0
        if best < least:
            better, still, least = seen, 0.0, best
        if bound > proven + STALLED_BOUND * abs(proven):
            still, proven = 0.0, bound
        idles = gap <= idle_gap and seen - better > idle_share * occasions
        if near_enough or idles or still > stall or seen > occasions:
            event.interrupt()

    return end


ROOT_OCCASION, TREE_OCCASION, RELAXED_PAIR = 2e-5, 2e-6, 2e-9
"""Work of an occasion at which a search may be interrupted, by columns: among the cuts of the root (7 to 42
microseconds for programs of 887 to 32,073 columns) and at a node (1 to 3). Of a relaxation, by columns squared (0.19 s
with 9,719, 1.9 with 31,567, 18 with 95,373). A unit is about a second of the core that they were measured on."""
MORE_BUDGET = 1 / 8
"""For each month of each workload: see docs/decisions/0071-a-budget-of-work-for-a-plan.md."""
LEAST_WORK = 5.0
"""Of a budget for the search of a first plan: the relaxation of 99,842 columns spends one of 23 (a plan that took 1 s
more is 39 % cheaper)."""
FROM_BASIS = 0.125
"""Of the work of a relaxation where it goes on from a basis."""


@dataclass(slots=True)
class WorkBudget:
    """Work that is `left` at first, and `spent`; `is_cut`: a search ended for want of more."""

    left: float
    spent: float = 0.0
    is_cut: bool = False


_BUDGET: ContextVar[WorkBudget | None] = ContextVar("work_budget", default=None)


def budget_of_plan(least: float, workload_months: int) -> float:
    """The work of all searches for the plan of one strategy."""
    return least + MORE_BUDGET * workload_months


@contextmanager
def limit_work(most: float = math.inf) -> Iterator[WorkBudget]:
    """Within it, all searches together take at most so much work, and what is left of a budget around it: those that
    have a plan end then, or whose aim is a better one. What they spend is spent of that budget, too."""
    outer = _BUDGET.get()
    budget = WorkBudget(min(most, work_left()))
    token = _BUDGET.set(budget)
    try:
        yield budget
    finally:
        _BUDGET.reset(token)
        if outer is not None:
            outer.spent += budget.spent
            outer.is_cut |= budget.is_cut


def work_left() -> float:
    """Infinite without a budget; below 0 where the last search could not end in time."""
    budget = _BUDGET.get()
    return math.inf if budget is None else budget.left - budget.spent


def grant_work(least: float) -> None:
    """Leaves at least so much of the budget."""
    if (budget := _BUDGET.get()) is not None:
        budget.left = max(budget.left, budget.spent + least)


def spend_work(amount: float) -> None:
    """Of the budget, if there is one."""
    if (budget := _BUDGET.get()) is not None:
        budget.spent += amount


def allows_relaxation(columns: int) -> bool:
    """Whether the budget has enough left for a relaxation of so many columns, with which every search begins."""
    return work_left() > RELAXED_PAIR * columns**2


def spend_on_relaxation(columns: int, *, goes_on: bool) -> None:
    """The work of a relaxation of so many columns, solved anew or from a basis."""
    spend_work(RELAXED_PAIR * columns**2 * (FROM_BASIS if goes_on else 1.0))


def limit_by_budget(columns: int, *, needs_plan: bool) -> Callable[[Any], None]:
    """Spends the work of a search at each of its occasions, and ends it where none is left: with a plan, or without
    one unless it `needs_plan`."""
    budget = _BUDGET.get() or WorkBudget(math.inf)

    def spend(event: Any) -> None:
        progress = event.data_out
        budget.spent += columns * (TREE_OCCASION if progress.mip_node_count > 0 else ROOT_OCCASION)
        if budget.spent > budget.left and (not needs_plan or _is_plan(progress.mip_primal_bound)):
            budget.is_cut = True
            event.interrupt()

    return spend
