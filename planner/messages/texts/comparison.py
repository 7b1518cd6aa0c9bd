"""Texts of the comparison with the last review."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.result.comparison import month_span


def _months_differ(then_months: Sequence[str], now_months: Sequence[str], common_months: Sequence[str]) -> str:
    shared = "no month is in both"
    if common_months:
        shared = f"the {len(common_months)} months that both have, {month_span(common_months)}"
    return (
        f"then {month_span(then_months)}, now {month_span(now_months)}: payments and work are compared by"
        f" calendar month ({shared})"
    )


def _currencies_differ(then_currency: str, now_currency: str, exchange_rate: float | None) -> str:
    same = "" if exchange_rate is None else f"; an amount that is the same at {exchange_rate:.6g} is no change"
    return f"then in {then_currency}, now in {now_currency}: amounts are not subtracted from one another{same}"


def _work_compared(status: str, months: Sequence[str], changed_months: Sequence[str]) -> str:
    text = {"added": "new, ", "removed": "gone, "}.get(status, "")
    text += f"work of {month_span(months) or 'all months of each plan'}"
    if not changed_months:
        return text
    number = len(changed_months)
    return f"{text}, changed in {changed_months[0] if number == 1 else f'{number} months, {changed_months[0]} first'}"


def _source_changed(then_source: str, now_source: str) -> str:
    return "; ".join(f"{word}: {source}" for word, source in (("then", then_source), ("now", now_source)) if source)


TEXTS: dict[str, str | Callable[..., str]] = {
    "review_read_from_workbook": (
        "then is read from the cells of the last review's workbook as it was saved, edits included; causes that add up"
        " need its plan.json"
    ),
    "workbook_saved_under_scenario": (
        "the workbook was saved under the scenario {scenario}: its costs then are those of that scenario"
    ),
    "causes_need_a_strategy": "causes are unknown: {plan} no strategy is possible",
    "causes_need_a_rate": "causes are unknown: no rate between {then_currency} and {now_currency} in either plan",
    "causes_not_computable": "causes are unknown: the values of the plans cannot be computed with: {error}",
    "causes_not_finite": "causes are unknown: they are not finite numbers",
    "workloads_renamed": lambda names: f"taken for the same workload under another name: {'; '.join(names)}",
    "months_differ": _months_differ,
    "causes_match_months_by_place": "causes match the months by their position: {then_month} with {now_month}",
    "currencies_differ": _currencies_differ,
    "recommended_strategies_differ": (
        "causes lead from {then_strategy}, recommended then, to {now_strategy}, recommended now"
    ),
    "causes_start_from_converted_costs": (
        "causes start from the costs of the last review in {currency}, at that rate: total {total_cost:,.2f}, present"
        " {present_cost:,.2f}"
    ),
    "prices_of_one_plan": (
        "prices are compared where both plans name them; {then_only:,} were named then only, {now_only:,} now only"
    ),
    "month_of_one_plan": lambda plan: f"a month of the {'last review' if plan == 'then' else 'new plan'} only",
    "common_months_only": "like for like: payments of other months left out",
    "purchase_added": "new",
    "purchase_dropped": "no longer planned",
    "purchase_outside_new_plan": "ordered in a month that the new plan does not cover",
    "gap_opened": "new: {effect}",
    "gap_closed": "closed: {effect}",
    "fact_added": lambda source: f"new: {source}" if source else "new",
    "fact_removed": lambda source: f"gone: {source}" if source else "gone",
    "source_unchanged": "then and now: {source}",
    "source_changed": _source_changed,
    "units_differ": lambda why: f"another unit: not subtracted; {why}" if why else "another unit: not subtracted",
    "work_compared": _work_compared,
}
