"""Why one plan costs more than another: the difference of their costs, split into causes that add up to it.

Everything is read from the two documents, without planning. The old plan's decisions are paid for again by the
functions that made its payments, with one figure after the other as the new plan has it: the causes in the order of
CAUSES, each with all earlier ones in force. docs/guides/diff.md defines them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from planner.analysis.comparison.attribution import AttributionSequence
from planner.analysis.comparison.currency_conversion import find_comparison_rates
from planner.analysis.comparison.renamed_workloads import match_renamed_workloads, rename_workloads
from planner.analysis.comparison.state_reconstruction import reconstruct_state
from planner.analysis.comparison.work_changes import ComparedPlan, PlanPair
from planner.result import Gap, Plan
from planner.result.comparison import CauseComponent, CostCause
from pricing.frozen_values import dataclass

CAUSES = {
    "exchange rate": "prices listed in another currency, at the rate of the new plan",
    "discount rate": "the same payments at the new rate: present cost only, but for a room that is paid off at it",
    "price": "the rentals and purchases of the old plan, at the prices of the new plan",
    "data": "storage, egress and transfer of the same work at the same place",
    "throughput": "node-hours for the same work",
    "demand": "the requested work, with the purchases for it",
    "assumption": "all other assumptions, and the placement and financing of owned nodes",
    "existing": "payments for what was owned or committed to before",
    "months": "months that only one of the plans has",
    "requirement": "other requirements of workloads: accelerators, gang, interruption, network, kind of work",
    "limit": "limits, providers and regions of the request: workloads whose old or new place only one request allows",
    "decisions": "purchases, and where work runs",
}
PART_ROUNDING = 1e-12
"""Of the larger cost: a part below this is the rounding of floating point."""


@dataclass(frozen=True, slots=True)
class CostComparison:
    """From `restated`, the old plan's total and present cost in the new plan's currency, to `new`; `steps` add up to
    the difference. `old` is in the old plan's own currency. Gaps are those that only one of the plans has, `renamed`
    the old and new names of workloads taken for the same."""

    strategies: tuple[str, str]
    currencies: tuple[str, str]
    old: tuple[float, float]
    restated: tuple[float, float]
    new: tuple[float, float]
    steps: tuple[CostCause, ...]
    new_gaps: tuple[Gap, ...] = ()
    gone_gaps: tuple[Gap, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether no value of the plans has changed."""
        return not any(step.parts for step in self.steps) and self.currencies[0] == self.currencies[1]


def compare_costs(old: Plan, new: Plan, of_old: str, of_new: str) -> CostComparison:
    """The causes of the difference between a strategy of each plan, renamed workloads under their new names. NoRate
    where currencies cannot be joined."""
    renamed = match_renamed_workloads(old, new)
    old = rename_workloads(old, renamed)
    sides = [
        ComparedPlan(plan, s := plan.strategy(name), reconstruct_state(plan, s))
        for plan, name in ((old, of_old), (new, of_new))
    ]
    rates = find_comparison_rates(old, new)
    walk = AttributionSequence(PlanPair(sides[0], sides[1], min(old.months, new.months)), rates)
    restated, goal = walk.first.sums(), walk.target.sums()
    parts: dict[str, list[CauseComponent]] = {cause: [] for cause in CAUSES}
    dust = [PART_ROUNDING * max(abs(restated[n]), abs(goal[n])) for n in (0, 1)]
    sums = restated
    for move in walk.moves():
        then = move.state.sums()
        moved = [then[n] - sums[n] if abs(then[n] - sums[n]) > dust[n] else 0.0 for n in (0, 1)]
        sums = then[0] if moved[0] else sums[0], then[1] if moved[1] else sums[1]
        if any(moved) or (move.cause != "decisions" and move.figures[0] != move.figures[1]):
            parts[move.cause].append(CauseComponent(move.name, *move.figures, move.unit, moved[0], moved[1]))
    return CostComparison(
        strategies=(of_old, of_new),
        currencies=(old.currency, new.currency),
        old=(sides[0].strategy.total_cost, sides[0].strategy.present_cost),
        restated=restated,
        new=(sides[1].strategy.total_cost, sides[1].strategy.present_cost),
        steps=tuple(
            CostCause(cause, math.fsum(p.total for p in its), math.fsum(p.present for p in its), tuple(its))
            for cause, its in parts.items()
        ),
        new_gaps=_select_unmatched_gaps(new.gaps, old.gaps),
        gone_gaps=_select_unmatched_gaps(old.gaps, new.gaps),
        renamed=tuple(renamed.items()),
    )


def _select_unmatched_gaps(these: Iterable[Gap], others: Iterable[Gap]) -> tuple[Gap, ...]:
    known = {(gap.kind, gap.subject, gap.workload) for gap in others}
    return tuple(gap for gap in these if (gap.kind, gap.subject, gap.workload) not in known)
