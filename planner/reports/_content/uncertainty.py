"""Decisions under uncertainty as a section of the readable report: the strategies, the rules compared, the ladder.

The JSON plan has everything that is left out here: each scenario with its figures and costs.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.reports._content.number_format import (
    NO_VALUE,
    format_money,
    format_number,
    format_percent,
    in_words,
    month_range_name,
)
from planner.reports._content.sections import Bullets, ReportTable, Section, make_bullets, make_table
from planner.result import Plan
from planner.result.uncertainty import (
    LadderStep,
    StrategyUnderUncertainty,
    TriggerValue,
    Uncertainty,
)
from pricing.counted_nouns import format_count

RULES = {
    "as_planned": "best for the planned figures",
    "mean_figures": "best for the mean of each figure",
    "least_mean": "least mean cost",
    "least_objective": "mean and dearest cases",
    "perfect_information": "if the scenario were known",
}
"""Rules for the first decisions, for a reader."""
UNIT_ENDINGS = {"node": "", "node_day": " node-days", "money": " an hour"}
RANK_PREFIX = "throughput of "
"""Begins the name of a figure that is a rank in an interval, 0 to 1."""


def uncertainty_section(plan: Plan) -> Section | None:
    """What to commit to now and later; None where it was not asked for."""
    uncertainty = plan.uncertainty
    if uncertainty is None:
        return None
    blocks: list[str | ReportTable | Bullets] = [_describe_case(uncertainty), _strategies_table(plan, uncertainty)]
    chosen = next((each for each in uncertainty.strategies if each.strategy == uncertainty.strategy), None)
    if chosen is not None:
        blocks += [
            f"First decisions of {chosen.strategy}, present cost in {plan.currency}:",
            _rules_table(uncertainty, chosen),
        ]
    if uncertainty.ladder:
        blocks += [f"What to commit to now and later ({uncertainty.strategy}):", _ladder_table(plan, uncertainty)]
    blocks.append(make_bullets([*_list_sentences(plan, uncertainty, chosen), *map(str, uncertainty.notes)]))
    return Section("Decisions under uncertainty", tuple(blocks))


def _describe_case(uncertainty: Uncertainty) -> str:
    least = "the mean cost"
    if uncertainty.tail_weight:
        parts = format_percent(1 - uncertainty.tail_weight, 0), format_percent(uncertainty.tail_weight, 0)
        least = f"{parts[0]} of the mean cost and {parts[1]} of the mean of the {tail_title(uncertainty)} of cases"
    return (
        f"{len(uncertainty.scenarios)} scenarios of {len(uncertainty.figures)} uncertain figures"
        f" ({format_count(uncertainty.draws, 'draw')}, seed {uncertainty.seed}); least is {least}."
    )


def tail_title(uncertainty: Uncertainty) -> str:
    """What the mean of the dearest cases is called."""
    return f"dearest {format_percent(1 - uncertainty.tail_level, 0)}"


def _strategies_table(plan: Plan, uncertainty: Uncertainty) -> ReportTable:
    titles = (
        "strategy", f"mean cost, {plan.currency}", tail_title(uncertainty), "gap to the bound", "VSS", "EVPI",
        "mean regret", "largest regret", "robustness",
    )  # fmt: skip
    rows = []
    for each in uncertainty.strategies:
        mark = " *" if each.strategy == uncertainty.strategy else ""
        best = each.best_rule
        gap = NO_VALUE if each.gap_fraction is None else format_percent(each.gap_fraction, 2)
        amounts = (
            each.stochastic_value, each.information_value, each.mean_regret, each.largest_regret, each.robustness_cost
        )  # fmt: skip
        costs = (None, None) if best is None else (best.mean_cost, best.tail_cost)
        cells = [NO_VALUE if amount is None else format_money(amount) for amount in (*costs, *amounts)]
        rows.append((f"{each.strategy}{mark}", *cells[:2], gap, *cells[2:]))
    return make_table(titles, rows, range(1, len(titles)))


def _rules_table(uncertainty: Uncertainty, chosen: StrategyUnderUncertainty) -> ReportTable:
    rows = []
    for rule in chosen.rules:
        costs = [NO_VALUE if cost is None else format_money(cost) for cost in (rule.mean_cost, rule.tail_cost)]
        impossible = format_percent(rule.impossible_fraction) if rule.impossible_fraction else NO_VALUE
        rows.append((RULES[rule.rule], *costs, impossible))
    titles = ("first decisions", "mean cost", tail_title(uncertainty), "impossible in")
    return make_table(titles, rows, range(1, len(titles)))


def _ladder_table(plan: Plan, uncertainty: Uncertainty) -> ReportTable:
    titles = ("when", "what", "quantity", "in cases", "trigger", "pays from use of")
    rows = [
        (
            "now" if step.is_now else month_range_name(plan, step.first_month, step.last_month),
            step_name(step),
            step_quantity(step),
            format_percent(step.probability, 0),
            trigger_text(step),
            NO_VALUE if step.break_even_utilisation is None else format_percent(step.break_even_utilisation, 0),
        )
        for step in uncertainty.ladder
    ]
    return make_table(titles, rows, (3, 5))


def step_name(step: LadderStep) -> str:
    """The resource of a step, with its place and way of paying."""
    return " ".join(filter(None, (step.name, step.provider, step.region, step.purchase_option)))


def step_quantity(step: LadderStep) -> str:
    """The quantity of a step: a range where it differs between the scenarios."""
    if step.most - step.least <= 1e-6 * step.most:
        return _amount_text(step.most, step.unit)
    return f"{_amount_text(step.least, step.unit)} to {_amount_text(step.most, step.unit)}"


def _amount_text(quantity: float, unit: str) -> str:
    return f"{format_number(quantity, 3)}{UNIT_ENDINGS[unit]}"


def trigger_text(step: LadderStep) -> str:
    """When a step is taken, in words."""
    if step.is_now:
        return "in every case"
    if step.trigger is None:
        return "in every case" if step.probability > 1 - 1e-6 else "no single figure tells"
    sign = "above" if step.trigger.is_above else "below"
    told = f"{in_words(step.trigger.figure)} {sign} {_trigger_value(step.trigger)}"
    return f"{told} (right in {format_percent(step.trigger.accuracy, 0)})"


def _trigger_value(trigger: TriggerValue) -> str:
    if trigger.figure.startswith(RANK_PREFIX):
        return f"{format_percent(trigger.at, 0)} of its predicted range"
    if trigger.figure.endswith(("_annual", "_fraction")):
        return f"{format_percent(trigger.at)} a year"
    return format_number(trigger.at, 3)


def _list_sentences(plan: Plan, uncertainty: Uncertainty, chosen: StrategyUnderUncertainty | None) -> Iterator[str]:
    """What follows for the reader, with the figures that were uncertain."""
    yield (
        "VSS, the value of the stochastic solution, is what the best first decisions save against those that are best "
        "for the mean of each figure. Regret is the cost above that of the cheapest strategy that knows the scenario. "
        "Robustness is the cost of its plan above that of the best plan for the planned figures alone."
    )
    if chosen is not None and chosen.information_value_max is not None:
        yield (
            f"EVPI, the value of perfect information, is what knowing the scenario before would save: proven to be at "
            f"most {chosen.information_value_max:,.0f} {plan.currency}. No forecast is worth more."
        )
    for each in uncertainty.strategies:
        if each.objective is None:
            share = f" (in {format_percent(each.impossible_fraction)} of cases whatever is decided)" * bool(
                each.impossible_fraction
            )
            yield f"{each.strategy}: no first decisions can be followed in every scenario{share}."
    ranges = [
        f"{in_words(f.name)} {format_number(f.low, 3)} to {format_number(f.high, 3)}" for f in uncertainty.figures
    ]
    yield f"Uncertain: {', '.join(ranges)}; predicted throughput within its interval."
