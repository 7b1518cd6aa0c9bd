"""How sure a solved plan is, and what would change its recommendation.

Stands above the strategies: pays for their decisions again under other figures, and asks for a new plan only where a
figure changes what can be done. Knows neither solver nor payments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.answer import Assumption, Recommendation, ThroughputUsed
from planner.answer.risk import Drawn, Flip, Risk, StrategyRisk, TornadoRow
from planner.limits import RiskAsked
from planner.replay import Setting
from planner.risk import anew, draws, levers, tornado
from planner.risk.anew import Again
from planner.risk.bill import Bill, TermsOf, bill
from planner.risk.flips import flips_of
from planner.risk.waiting import is_new_hardware, waits
from planner.strategy import Solved

__all__ = ["Case", "flips", "risk"]

CONVERGED = 0.005
"""Of the mean: a larger standard error is said."""


@dataclass(frozen=True, slots=True)
class Case:
    """A solved plan with what it takes to pay for it, or to plan it, again."""

    advice: Recommendation
    solved: Sequence[Solved]
    setting: Setting
    throughput: tuple[ThroughputUsed, ...]
    terms_of: TermsOf
    again: Again

    @property
    def pair(self) -> tuple[str, str | None]:
        """The recommended strategy and the runner-up."""
        return str(self.advice.strategy), self.advice.runner_up

    def bills(self, names: Sequence[str | None]) -> dict[str, Bill]:
        """The strategies of these names that are possible, ready to be paid for again."""
        figures = levers.paid_again(self.setting.assumptions)
        return {
            s.strategy.name: bill(s.strategy.name, s.decisions, self.setting, self.terms_of, figures)
            for s in self.solved
            if s.strategy.status != "infeasible" and s.strategy.name in names
        }


def flips(case: Case) -> tuple[Flip, ...]:
    """Where the runner-up becomes cheaper; nothing where there is no runner-up."""
    if case.advice.strategy is None or case.advice.runner_up is None:
        return ()
    bills = case.bills(case.pair)
    figures = levers.paid_again(case.setting.assumptions)
    return flips_of(figures, bills[case.advice.strategy], bills[case.advice.runner_up])


def risk(asked: RiskAsked | None, case: Case) -> Risk | None:
    """All that was asked about how sure the plan is; None where nothing was, or there is no plan."""
    if asked is None or case.advice.strategy is None:
        return None
    figures = levers.paid_again(case.setting.assumptions)
    bills = case.bills([s.strategy.name for s in case.solved])
    rows, idle = _tornado(case, bills)
    chance = tuple(figure for figure in figures if levers.is_drawn(figure))
    linked = tuple(c for c in levers.correlations() if {c.first, c.second} <= {f.name for f in chance})
    values = draws.drawn(chance, linked, asked.draws, asked.seed)
    paid = {name: draws.costs(each, chance, values, asked.draws) for name, each in bills.items()}
    costs = {name: amounts for name, (amounts, _) in paid.items()}
    summaries = draws.summaries(costs)
    return Risk(
        draws=asked.draws,
        seed=asked.seed,
        tornado=tornado.largest_first(rows),
        without_effect=tuple(sorted(idle)),
        strategies=summaries,
        owning_cheaper=_owning(case, costs),
        drawn=tuple(map(_drawn, chance)),
        correlations=linked,
        waiting=waits(asked.waits, case.solved, case.setting),
        reoptimised=anew.reoptimised(
            min(asked.reoptimise, asked.draws), values, costs[case.advice.strategy], case.setting.market, case.again
        ),
        notes=(*_notes(case, summaries), *_one_by_one([name for name, (_, fast) in paid.items() if not fast])),
    )


def _tornado(case: Case, bills: Mapping[str, Bill]) -> tuple[list[TornadoRow], list[str]]:
    planned = tornado.costs_of([each.strategy for each in case.solved])
    known = case.setting.assumptions
    rows, idle = tornado.kept(levers.paid_again(known), bills, planned, case.pair)
    more, still = anew.tornado_rows(known, case.throughput, case.again, planned, case.pair)
    return [*rows, *more], [*idle, *still]


def _owning(case: Case, costs: Mapping[str, draws.Vector]) -> float | None:
    """The share of draws in which the cheapest strategy that buys hardware is below cloud."""
    import numpy as np

    buying = [
        costs[each.strategy.name]
        for each in case.solved
        if each.strategy.name in costs and any(is_new_hardware(b.resource) for b in each.decisions.bought)
    ]
    if not buying or draws.CLOUD not in costs:
        return None
    return draws.below(np.min(np.stack(buying), axis=0), costs[draws.CLOUD])


def _drawn(figure: Assumption) -> Drawn:
    low, high = levers.ends(figure)
    return Drawn(figure.name, figure.unit, low, figure.value, high, figure.source, figure.as_of)


def _notes(case: Case, summaries: Sequence[StrategyRisk]) -> tuple[str, ...]:
    """What was not drawn and why, and whether there were draws enough."""
    known = case.setting.assumptions
    own = [
        f.name for f in known.values() if f.low is not None and f.name not in levers.POLICY and not levers.has_range(f)
    ]
    wide = [s.strategy for s in summaries if s.standard_error > CONVERGED * abs(s.mean)]
    found = [
        (
            "Draws keep the plan as it is. Not drawn: throughput, the discount rate, price lists but for their yearly "
            "change, and what changes what a plan can do (lead time, life, failures)."
        ),
        "A figure at an end of its range is a choice, or a fact you have not stated yet: varied, not drawn.",
    ]
    if own:
        found.append(f"Yours, and outside the published range, so neither varied nor drawn: {', '.join(own)}.")
    if wide:
        found.append(
            f"The standard error is above {CONVERGED:.1%} of the mean for {', '.join(wide)}: ask for more draws."
        )
    return tuple(found)


def _one_by_one(names: Sequence[str]) -> tuple[str, ...]:
    """Which strategies could not be taken apart; their figures are as exact, only slower."""
    return (f"Paid for draw by draw, because of a step or a minimum fee: {', '.join(names)}.",) if names else ()
