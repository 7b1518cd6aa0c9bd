"""Texts of the recommendation: its sentence, what it rests on, and decisions under uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.result import describe_amount
from pricing.counted_nouns import format_count

PURCHASES_LISTED_MAX = 3
STRATEGY_VERBS = {
    "cloud": "Rent in the cloud",
    "onprem": "Own the hardware",
    "hybrid": "Mix owned and rented capacity",
}


def _recommended(
    strategy: str,
    existing: bool,
    rented: bool,
    owned: Sequence[str],
    committed: Sequence[str],
    total_cost: float,
    present_cost: float,
    currency: str,
    months: int,
    runner_up: str | None,
    saving: float,
    saving_fraction: float,
    materiality_fraction: float,
    requested: int,
    strategies: int,
    is_preferred: bool,
    first_decisions: str | None,
    conditions: Sequence[str],
) -> str:
    verb = STRATEGY_VERBS[strategy]
    if existing and not owned:
        verb = "Use what you have already" + (" and rent in the cloud" if rented else "")
    purchases = [
        f"{verb} {_list_purchases(unnamed)}"
        for verb, amounts in (("buying", owned), ("committing to", committed))
        if (unnamed := [each for each in amounts if not _is_listed(each, first_decisions)])
    ]
    if first_decisions is not None:
        verb = f"{verb}. {first_decisions}"
    text = ", ".join((verb, *([" and ".join(purchases)] if purchases else [])))
    over = format_count(months, "month")
    text += f": {total_cost:,.0f} {currency} over {over}, present cost {present_cost:,.0f} {currency}"
    if runner_up is None:
        rest = "no other strategy differs" if strategies > 1 else "no other strategy is possible"
        text += f"; {rest}." if requested > 1 else "."
    elif saving >= 0:
        text += f". That is {saving:,.0f} {currency} ({percent(saving_fraction)}) less than the present cost of"
        text += f" {runner_up}."
    elif is_preferred:
        text += f". With the planned figures {runner_up} would cost {-saving:,.0f} {currency} less; over the scenarios"
        text += f" {strategy} is the better choice."
    else:
        text += f"; {runner_up} would save {-saving:,.0f} {currency}, within {percent(materiality_fraction, 0)},"
        text += " for more to manage."
    return " ".join((text, *conditions))


def percent(fraction: float, decimals: int = 1) -> str:
    """
    >>> percent(0.2191), percent(0.5)
    ('21.9 %', '50 %')
    """
    text = f"{fraction * 100:,.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"


def _hardware_price_that_flips(
    strategy: str,
    systems: str,
    price: float | None,
    flip_price: float | None,
    change_fraction: float | None,
    cost_without: float,
    cost_of_choice: float,
    materiality_fraction: float,
    currency: str,
) -> str:
    if change_fraction is None:
        text = f"No price of {systems} would make {strategy} the choice, all else kept: even if they cost nothing, what"
        text += f" it rents and runs has a present cost of {cost_without:,.0f} {currency}"
        if cost_without >= cost_of_choice:
            return text + "."
        less = percent(1 - cost_without / cost_of_choice)
        return f"{text}, {less} less, and the simpler plan is kept up to {percent(materiality_fraction)}."
    share, side = percent(abs(change_fraction), 0), "below" if change_fraction < 0 else "above"
    if flip_price is None or price is None:
        at = f"At prices {share} or more {side} those counted for {systems}"
    else:
        limit = f"{flip_price:,.0f} {currency} or {'less' if change_fraction < 0 else 'more'}"
        at = f"At {limit} for {systems} ({share} {side} the price counted, {price:,.0f})"
    sooner = " A new plan may change it sooner." if change_fraction < 0 else ""
    return f"{at}, {strategy} as planned here would be the choice, all else kept.{sooner}"


def _resale_counted(
    resale: float, hardware_fraction: float, advice_holds: bool, runner_up: str | None, currency: str
) -> str:
    text = f"The hardware is counted as sold in the end for {percent(hardware_fraction, 0)} of its price: a present"
    text += f" value of {resale:,.0f} {currency}"
    if runner_up is None:
        return f"{text}."
    return f"{text}; without that the advice " + ("stays the same." if advice_holds else f"would be {runner_up}.")


def _existing_nodes_idle(name: str, idle: int, count: int, cost: float, worth: float, currency: str) -> str:
    are, them = ("is", "it") if idle == 1 else ("are", "them")
    return (
        f"Of the {count} x {name} that you own already {idle} {are} never needed here. Keeping {them} is"
        f" {cost:,.0f} {currency} of the cost; sold at the start {them if idle == 1 else 'they'} would bring about"
        f" {worth:,.0f} {currency}."
    )


def _owed_whatever_is_used(
    committed: float, total_cost: float, months_after_plan: int, later_fees_counted: bool, currency: str
) -> str:
    text = f"Of the {total_cost:,.0f} {currency}, {committed:,.0f} ({percent(committed / total_cost)}) is for"
    text += " commitments: owed whether they are used or not"
    if not months_after_plan:
        return f"{text}."
    counted = "are counted" if later_fees_counted else "come on top"
    later = format_count(months_after_plan, "month")
    return f"{text}. Terms end up to {later} after the plan, and the fees of those months {counted}."


def _first_decisions(
    decided: Sequence[str],
    scenarios: int,
    mean_cost: float,
    tail_cost: float,
    tail_level: float,
    is_planned: bool,
    planned_mean_cost: float | None,
    planned_tail_cost: float | None,
    robustness_cost: float | None,
    currency: str,
) -> str:
    """The decisions of now, their cost against that of the best plan for the planned figures, and the beginning of a
    sentence on the plan."""
    text = f"Decide now for {', '.join(decided) or 'no purchase and no commitment'}: over {scenarios} scenarios"
    text += f" {mean_cost:,.0f} {currency} on average and {tail_cost:,.0f} in the dearest"
    text += f" {percent(1 - tail_level, 0)} of cases"
    if is_planned:
        return f"{text}; the planned figures alone say the same. The plan below is for the planned figures"
    if planned_mean_cost is None or planned_tail_cost is None:
        text += "; the best plan for the planned figures alone leaves work undone in some of them."
    else:
        text += f", with the best plan for the planned figures alone {planned_mean_cost:,.0f}"
        text += f" and {planned_tail_cost:,.0f}."
    if robustness_cost is None:
        return f"{text} No plan can decide that under its limits: the plan below is for the planned figures alone"
    return (
        f"{text} With the planned figures that costs {robustness_cost:,.0f} {currency} more than the best plan for them"
        " alone: the price of being robust. The plan below decides that"
    )


def _rival_over_scenarios(
    strategy: str, rival: str, more_mean: float, more_tail: float, tail_level: float, currency: str
) -> str:
    tail = f"dearest {percent(1 - tail_level, 0)} of cases"
    return (
        f"Over the scenarios {rival} costs {abs(more_mean):,.0f} {currency} {'more' if more_mean >= 0 else 'less'} than"
        f" {strategy} on average, and {abs(more_tail):,.0f} {'more' if more_tail >= 0 else 'less'} in the {tail}."
    )


def _is_listed(amount: str, first_decisions: str | None) -> bool:
    """Whether the decisions of now name this amount already: "2 x p5" is not in "12 x p5"."""
    return first_decisions is not None and any(f" {amount}{end}" in first_decisions for end in ",:")


def _list_purchases(amounts: Sequence[str]) -> str:
    more = len(amounts) - PURCHASES_LISTED_MAX
    return ", ".join(amounts[:PURCHASES_LISTED_MAX]) + (f" and {more} more kinds" if more > 0 else "")


def _undecided(strategy: str, difference: float, open_difference: float | None, currency: str) -> str:
    proofs = (
        "the search ended before it had a proof for both"
        if open_difference is None
        else f"the proofs leave {open_difference:,.0f} {currency} open"
    )
    return (
        f"{strategy} is planned otherwise and costs {difference:+,.0f} {currency}: {proofs}, so which of the two is"
        " cheaper is not known."
    )


TEXTS: dict[str, str | Callable[..., str]] = {
    "no_plan_possible": "No plan is possible.",
    "recommended": _recommended,
    "not_told_apart": _undecided,
    "term_price_unknown": (
        "No commitment to {provider} {region} {instance_type} has a known price, so {strategy} pays"
        " {on_demand_per_hour:,.2f} {currency} an hour on demand: at {flip_per_hour:,.2f} or less ({purchase_option})"
        " {strategy} would be the choice."
    ),
    "hardware_price_that_flips": _hardware_price_that_flips,
    "resale_counted": _resale_counted,
    "existing_nodes_worth": lambda now, at_end, counted, currency: (
        f"What you own already would sell for about {now:,.0f} {currency} at the start and {at_end:,.0f} at the end"
        f" of its use here: {'both are counted' if counted else 'neither is counted'}"
        f" (existing_value: {'market' if counted else 'none'})."
    ),
    "repair_in_stated_hours": lambda node_hours, down_hours: (
        f"Repair is expected to take {down_hours:,.0f} of the {node_hours:,.0f} node-hours on owned nodes"
        f" ({percent(down_hours / node_hours)}). Work stated in hours holds them already: no node is bought for them."
    ),
    "existing_nodes_idle": _existing_nodes_idle,
    "owed_whatever_is_used": _owed_whatever_is_used,
    "owned_used_briefly": (
        "{count} x {name} would be used for {months:#month} of the plan, of a life of {life_months}: the rest is sold."
    ),
    "purchase_amount": lambda amount, unit, currency, name: f"{describe_amount(amount, unit, currency)} {name}",
    "first_decisions": _first_decisions,
    "rival_over_scenarios": _rival_over_scenarios,
    "regret": lambda regrets, currency: (
        f"Regret, the cost above that of the cheapest strategy that knows the scenario, on average (at most):"
        f" {', '.join(regrets)} {currency}."
    ),
    "regret_of_strategy": "{strategy} {mean:,.0f} ({largest:,.0f})",
    "impossible_in_scenarios": "{strategy} has no first decisions that do all of the work in every scenario.",
    "advice_holds_later": lambda strategy, probability: (
        f"In {percent(probability, 0)} of cases {strategy} is still the strategy to recommend in 12 months, when the"
        " scenario is known."
    ),
    "flips_need_planned_figures": (
        "Prices at which the choice changes are worked out with the planned figures. Over the scenarios other decisions"
        " are best than with those, so none are given."
    ),
    "uncertain_decided_now": lambda months: (
        f"Decided now, the same in every scenario: the home of each workload, and the orders and commitments of the"
        f" first {format_count(months, 'month')}. What comes later is the best for each scenario, as if it were "
        f"known from then on."
    ),
    "uncertain_demand_not_stated": (
        "Demand is as planned in every scenario: state how far it may change a year"
        " (uncertainty.ranges.demand_change_annual)."
    ),
    "uncertain_later_in_fractions": (
        "{homes} homes of the workloads were searched: those in use, and those that the relaxations of the plan use."
        " Later orders and commitments may be parts of nodes; committed money pays no work that is spread over months"
        " or places. Bounds hold for these homes."
    ),
    "uncertain_limits_left_out": "Budgets and quotas do not limit these scenarios; they limit the plan.",
    "uncertain_program_distance": lambda strategy, cost, planned: (
        f"With the planned figures the first decisions that are best for these ({strategy}) cost {cost:,.0f} here and"
        f" {planned:,.0f} as a plan: the scenarios leave out whole gangs on shared nodes and parts of nodes."
    ),
}
