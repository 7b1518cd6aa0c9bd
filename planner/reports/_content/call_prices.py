"""Build or call as a section of the readable report, and its sentences for the first screen."""

from __future__ import annotations

from collections.abc import Iterator

from planner.reports._content.number_format import format_money, format_number, format_quantity
from planner.reports._content.sections import Section, make_table
from planner.result import CallComparison, Plan

NOTE = (
    "Own cost is that of the workload in the recommended strategy, idle hours included, with its standby."
    " Both cost the same at the volume shown, in input and output tokens a month: the workload planned alone, all"
    " months scaled alike. Limits on rate, data protection and quality of calls are yours to judge."
)


def call_prices_section(plan: Plan) -> Section | None:
    """A row for each stated price; None where none was stated."""
    if not plan.calls:
        return None
    titles = (
        "workload", "called", "tokens a month", "own, per million", "called, per million", "own cost", "calls",
        "same cost at, tokens a month",
    )  # fmt: skip
    rows = [_call_row(each) for each in plan.calls]
    return Section(f"Build or call, {plan.currency}", (make_table(titles, rows, range(2, 8)), NOTE))


def call_sentences(plan: Plan) -> Iterator[str]:
    """For each price, which of both costs less and from which volume the other does."""
    for each in plan.calls:
        called = each.called or "the stated price"
        less, more = ("running it", "calling") if each.own_cost <= each.call_cost else ("calling", "running it")
        own, calls = format_money(each.own_cost), format_money(each.call_cost)
        meet = (
            "running it costs more at every volume that was tried"
            if each.meet_tokens_per_month is None
            else "running it costs less at every volume"
            if each.meet_tokens_per_month == 0
            else f"both cost the same at {format_quantity(each.meet_tokens_per_month)} tokens a month,"
            f" {format_quantity(each.tokens_per_month)} are planned"
        )
        yield (
            f"{each.workload}: {less} costs less than {more} ({called}): {own} {plan.currency} to run it, {calls} to"
            f" call; {meet}."
        )


def _call_row(each: CallComparison) -> tuple[str, ...]:
    return (
        each.workload,
        " ".join(filter(None, (each.called, str(each.as_of or ""), each.source))) or "the stated price",
        format_quantity(each.tokens_per_month),
        format_number(each.own_cost_per_million),
        format_number(each.call_cost_per_million),
        format_money(each.own_cost),
        format_money(each.call_cost),
        meeting_text(each),
    )


def meeting_text(each: CallComparison) -> str:
    """The volume at which both cost the same, in words where there is none."""
    if each.meet_tokens_per_month is None:
        return "at none: calls cost less"
    return format_quantity(each.meet_tokens_per_month) if each.meet_tokens_per_month else "at none: own costs less"
