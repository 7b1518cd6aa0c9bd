"""The uncertainty of a plan as a section of the readable report: sensitivities, cost distributions, switching values.

The JSON plan has everything that is left out here.
"""

from __future__ import annotations

from planner.reports._content.number_format import NO_VALUE, format_money, format_number, format_percent, in_words
from planner.reports._content.sections import Bullets, ReportTable, Section, make_bullets, make_table
from planner.result import Plan
from planner.result.risk import (
    CostRange,
    DelayedPurchase,
    ReoptimisedDraws,
    Risk,
    StrategyRisk,
    SwitchingValue,
)
from pricing.counted_nouns import format_count

ROWS = 8
FLIPS = 5


def risk_section(plan: Plan) -> Section | None:
    """Switching values and, where requested, the risk analysis; None without both."""
    blocks: list[str | ReportTable | Bullets] = []
    if plan.flips:
        blocks.append(make_bullets(_flip_sentences(plan)))
    if plan.risk is not None:
        blocks += _risk_blocks(plan, plan.risk)
    return Section("Uncertainty", tuple(blocks)) if blocks else None


def _risk_blocks(plan: Plan, risk: Risk) -> list[str | ReportTable | Bullets]:
    blocks: list[str | ReportTable | Bullets] = []
    if risk.tornado:
        blocks.append(f"Largest effects on the present cost, each assumption at its low and its high, {plan.currency}:")
        blocks.append(_tornado_table(plan, risk))
        blocks.append(make_bullets(_about_tornado(risk)))
    blocks.append(
        f"Present cost over {format_count(risk.draws, 'draw')} (seed {risk.seed}) of {len(risk.drawn)} "
        f"assumptions, {plan.currency}:"
    )
    titles = ("strategy", "P10", "P50", "P90", "mean", "cheapest in", "regret")
    blocks.append(make_table(titles, [_spread_row(each) for each in risk.strategies], range(1, len(titles))))
    if risk.waiting:
        blocks.append(f"Waiting some months before ordering, cloud in the meantime, present cost in {plan.currency}:")
        blocks.append(_waiting_table(risk.waiting))
    blocks.append(
        make_bullets([*_chance_sentences(risk), *_reoptimised_sentences(plan, risk.reoptimised), *map(str, risk.notes)])
    )
    return blocks


def _flip_sentences(plan: Plan) -> list[str]:
    """The nearest flips, one sentence each, and the number of assumptions without one."""
    crossing = [flip for flip in plan.flips if flip.at is not None]
    steady = len(plan.flips) - len(crossing)
    chosen = plan.recommendation
    lines = [_flip_sentence(flip) for flip in crossing[:FLIPS]]
    if len(crossing) > FLIPS:
        lines.append(f"Further away: {', '.join(in_words(flip.name) for flip in crossing[FLIPS:])}.")
    if steady:
        other = "No" if not crossing else "No other"
        lines.append(
            f"{other} assumption ({steady} searched, from a tenth to ten times its value) makes {chosen.runner_up} and "
            f"{chosen.strategy} cost the same, with unchanged decisions."
        )
    return lines


def nearest_flip(plan: Plan) -> str:
    """The nearest change of an assumption that changes the recommendation, in a sentence; empty without one."""
    return next((_flip_sentence(flip) for flip in plan.flips if flip.at is not None), "")


def _flip_sentence(flip: SwitchingValue) -> str:
    assert flip.at is not None
    verb = "rises" if flip.at > flip.value else "falls"
    far = "" if flip.distance_fraction is None else f" ({flip.distance_fraction * 100:+,.0f} %)"
    inside = ", inside its published range" if flip.is_inside_range else ""
    unit = flip.unit.removeprefix("fraction").removeprefix("ratio").strip()
    return (
        f"{flip.cheaper_beyond} becomes cheaper where {in_words(flip.name)} {verb} from {format_number(flip.value)} "
        f"to {format_number(flip.at)}{f' {unit}' if unit else ''}{far}{inside}."
    )


def _tornado_table(plan: Plan, risk: Risk) -> ReportTable:
    names = [s.name for s in plan.strategies if s.status != "infeasible"]
    rows = []
    for each in risk.tornado[:ROWS]:
        costs = {cost.strategy: cost for cost in each.costs}
        swing = NO_VALUE if each.swing is None else format_money(each.swing)
        marks = ["changes the cheapest strategy"] * each.flips + ["planned again at both ends"] * each.planned_anew
        ends = (in_words(each.name), format_number(each.low), format_number(each.high))
        rows.append((*ends, *(_cost_range_text(costs[name]) for name in names), swing, ", ".join(marks)))
    titles = ("figure", "low", "high", *names, "swing", "its effect")
    return make_table(titles, rows, range(1, len(titles) - 1), has_prose=True)


def _cost_range_text(cost: CostRange) -> str:
    ends = [NO_VALUE if end is None else format_money(end) for end in (cost.at_low, cost.at_high)]
    return "..".join(dict.fromkeys(ends))


def _about_tornado(risk: Risk) -> list[str]:
    lines = [
        "Swing is the most by which the advantage over the runner-up changes.",
        "Unless planned again, the same decisions are repriced.",
    ]
    if len(risk.tornado) > ROWS:
        lines.append(f"{len(risk.tornado) - ROWS} more assumptions have smaller effects; json has them.")
    return lines


def _spread_row(each: StrategyRisk) -> tuple[str, ...]:
    amounts = map(format_money, (each.p10, each.p50, each.p90, each.mean))
    return each.strategy, *amounts, format_percent(each.chance_cheapest), format_money(each.expected_regret)


def _waiting_table(waits: tuple[DelayedPurchase, ...]) -> ReportTable:
    months = sorted({wait.months for wait in waits})
    rows = []
    for strategy in dict.fromkeys(wait.strategy for wait in waits):
        by_month = {wait.months: wait for wait in waits if wait.strategy == strategy}
        rows.append((strategy, *(_waiting_cell(by_month[month]) for month in months)))
    titles = ("strategy", *("at once" if not month else f"after {month} months" for month in months))
    return make_table(titles, rows, range(1, len(titles)))


def _waiting_cell(wait: DelayedPurchase) -> str:
    if wait.present_cost is None or wait.difference is None:
        return "impossible" if wait.is_known else "unknown"
    more = f" (+{format_money(wait.difference)})" if round(wait.difference) > 0 else ""
    return format_money(wait.present_cost) + more


def _chance_sentences(risk: Risk) -> list[str]:
    lines = []
    if risk.owning_cheaper is not None:
        lines.append(
            f"Buying hardware is cheaper than renting all of it in {format_percent(risk.owning_cheaper)} of the draws."
        )
    worst = max((each.standard_error / abs(each.mean) for each in risk.strategies if each.mean), default=0.0)
    lines.append("Regret is the mean extra cost of a strategy over the cheapest of each draw.")
    lines.append(f"The standard error of a mean is at most {format_percent(worst, 2)} of it.")
    linked = [
        f"{in_words(c.first)} and {in_words(c.second)} {c.coefficient:+g}" for c in risk.correlations if c.coefficient
    ]
    if linked:
        lines.append(f"Drawn together (correlations are planning values): {'; '.join(linked)}.")
    return lines


def _reoptimised_sentences(plan: Plan, reoptimised: ReoptimisedDraws | None) -> list[str]:
    if reoptimised is None:
        return []
    shares = ", ".join(f"{each.strategy} in {each.draws}" for each in reoptimised.recommended)
    lines = [f"Of {format_count(reoptimised.draws, 'draw')} planned again, {shares} recommended."]
    if not round(reoptimised.mean_regret):
        return [*lines, "Perfect information would have saved no money."]
    saved = (
        f"{format_money(reoptimised.mean_regret)} {plan.currency} on average, "
        f"{format_money(reoptimised.p90_regret)} in one draw of ten or more"
    )
    return [*lines, f"Perfect information would have saved {saved}."]
