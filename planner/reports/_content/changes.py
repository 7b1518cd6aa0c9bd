"""Changes since the last review, as sections of the readable report: costs then and now, causes, other changes.

A short section has the largest causes only, a long one lists every change up to a maximum. `planner diff` uses the
same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.reports._content.number_format import (
    NO_VALUE,
    apportion,
    format_money,
    format_number,
    format_quantity,
    format_signed,
)
from planner.reports._content.sections import Bullets, ReportTable, Section, make_bullets, make_table
from planner.result import Plan
from planner.result.comparison import (
    TOPIC_TITLES,
    CauseComponent,
    Changes,
    CostAttribution,
    PlanChange,
    Topic,
)
from planner.result.message import Message
from pricing.exchange_rates import is_currency_code
from pricing.plain_text import plain_text

LARGEST = 5
LISTED_MAX = 20
MONEY: frozenset[Topic] = frozenset({"cost", "month"})
NAMED: frozenset[Topic] = frozenset({"workload", "request", "assumption", "price", "gap"})
"""Topics whose subjects are named in short too."""
IN_FULL_ONLY: tuple[Topic, ...] = (
    "workload", "request", "purchase", "assumption", "price", "throughput", "gap", "frame", "month"
)  # fmt: skip


def change_sentences(plan: Plan) -> Iterator[str]:
    """Since the last review in short: the cost of the recommended strategy then and now, and what became of advice."""
    comparison = plan.changes
    if comparison is None:
        return
    subject = f"{plan.recommendation.strategy}: total cost"
    for change in comparison.of("cost"):
        if change.subject == subject:
            then, now, difference = _change_values(change)
            text = f"Since the review of {comparison.as_of}, {subject}: {then} then, {now} now ({difference})"
            yield plain_text(f"{text}; --section changes.")
    yield from _advice_sentences(comparison)


def changes_section(plan: Plan) -> Section | None:
    """The costs then and now, the largest causes, and the number of other changes; None without a comparison."""
    comparison = plan.changes
    if comparison is None:
        return None
    blocks: list[str | ReportTable | Bullets] = [_comparison_line(comparison), _cost_table(comparison)]
    if comparison.causes and any(step.parts for step in comparison.causes.steps):
        blocks.append(_cause_table(comparison.causes, plan.currency, LARGEST))
    is_same = all(change.is_same for change in comparison.changes)
    rest = ["No other changes."] if is_same else _count_sentences(comparison)
    blocks.append(make_bullets([*_advice_sentences(comparison), *rest, *map(_as_sentence, comparison.notes)]))
    return Section("Changes since the last review", tuple(blocks))


def full_changes_section(plan: Plan) -> Section | None:
    """Every cause and every change, up to a maximum; None without any."""
    comparison = plan.changes
    if comparison is None:
        return None
    blocks: list[str | ReportTable | Bullets] = []
    if comparison.causes and any(step.parts for step in comparison.causes.steps):
        blocks.append(_cause_table(comparison.causes, plan.currency, LISTED_MAX))
    blocks += _change_tables(comparison)
    return Section("Changes since the last review, one by one", tuple(blocks)) if blocks else None


def _comparison_line(changes: Changes) -> str:
    months = f"{changes.month_names[0]}..{changes.month_names[-1]}" if changes.month_names else "no months"
    return plain_text(f"Compared with plan {changes.plan_id} of {changes.as_of}, {months}, in {changes.currency}.")


def _cost_table(changes: Changes) -> ReportTable:
    changed = changes.of("cost")
    unit = next((change.unit for change in changed), changes.currency)
    titles = (plain_text(f"cost, {unit}"), "then", "now", "difference")
    return make_table(titles, [(change.subject, *_change_values(change)) for change in changed], (1, 2, 3))


def _cause_table(causes: CostAttribution, currency: str, largest: int) -> ReportTable:
    """From the cost then to the cost now: the largest changes, the others in one row."""
    parts = [(step.cause, part) for step in causes.steps for part in step.parts if part.total or part.present]
    parts.sort(key=lambda each: (-abs(each[1].total), -abs(each[1].present), each[0], each[1].name))
    listed, rest = parts[:largest], parts[largest:]
    rows = [("then", causes.strategies[0]), *((cause, part_text(part)) for cause, part in listed)]
    if rest:
        rows.append(("others", f"{len(rest):,d} smaller changes"))
    columns = []
    for index in (0, 1):
        moved = [(part.total, part.present)[index] for _, part in parts]
        amounts = [causes.restated[index], *moved[: len(listed)], *([sum(moved[len(listed) :])] if rest else [])]
        columns.append(apportion(amounts, causes.new[index]))
    cells = [
        (*row, *(format_money(each) if index == 0 else format_signed(each) for each in each_of))
        for index, (row, each_of) in enumerate(zip(rows, zip(*columns, strict=True), strict=True))
    ]
    cells.append(("now", causes.strategies[1], *(format_money(sum(column)) for column in columns)))
    titles = ("why", "what changed", f"total cost, {currency}", f"present cost, {currency}")
    return make_table(titles, cells, (2, 3), has_total=True)


def _change_tables(changes: Changes) -> Iterator[str | ReportTable | Bullets]:
    rows: list[tuple[str, ...]] = []
    for topic in IN_FULL_ONLY:
        its = _real_changes(changes, topic)
        if its:
            rows.append((f"{TOPIC_TITLES[topic]}: {len(its):,d}",))
            rows += [
                (change.subject, *_change_values(change), change.unit, str(change.why or ""))
                for change in its[:LISTED_MAX]
            ]
        if len(its) > LISTED_MAX:
            rows.append((f"{len(its) - LISTED_MAX:,d} more of these; json and xlsx have them",))
    if rows:
        yield make_table(("what", "then", "now", "difference", "unit", "why"), rows, (1, 2, 3), has_prose=True)


def _real_changes(changes: Changes, topic: Topic) -> tuple[PlanChange, ...]:
    return tuple(change for change in changes.of(topic) if not change.is_same)


def _advice_sentences(changes: Changes) -> Iterator[str]:
    for change in changes.of("recommendation"):
        then, now, _ = _change_values(change)
        yield f"Recommended as before: {now}." if change.is_same else f"Recommended then {then}, now {now}."


def _count_sentences(changes: Changes) -> Iterator[str]:
    """The number of changes by topic."""
    for topic in IN_FULL_ONLY:
        its = _real_changes(changes, topic)
        if its and topic in NAMED:
            yield f"{TOPIC_TITLES[topic].capitalize()}: {_count_text(its)}; {_subject_names(its)}."
        elif its and topic not in MONEY:
            yield f"{TOPIC_TITLES[topic].capitalize()}: {_count_text(its)}."


def _count_text(its: Sequence[PlanChange]) -> str:
    counts = {
        "new": sum(change.then is None for change in its),
        "gone": sum(change.now is None for change in its),
        "changed": sum(change.then is not None and change.now is not None for change in its),
    }
    return ", ".join(f"{count:,d} {word}" for word, count in counts.items() if count)


def _subject_names(its: Sequence[PlanChange]) -> str:
    names = ", ".join(change.subject for change in its[:LARGEST])
    return f"{names} and {len(its) - LARGEST:,d} more" if len(its) > LARGEST else names


def _as_sentence(note: Message) -> str:
    text = str(note)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _change_values(change: PlanChange) -> tuple[str, str, str]:
    """Then, now and the difference; for money that of the rounded amounts."""
    then, now, is_money = change.then, change.now, change.topic in MONEY
    format_value = format_money if is_money else _value_text
    texts = [
        NO_VALUE if value is None else value if isinstance(value, str) else format_value(value) for value in (then, now)
    ]
    difference = NO_VALUE
    if change.difference is not None and not isinstance(then, str | None) and not isinstance(now, str | None):
        if is_money:
            difference = format_signed(round(now) - round(then))
        elif change.difference:
            difference = f"{'+' if change.difference > 0 else ''}{_value_text(change.difference)}"
    return texts[0], texts[1], difference


def part_text(part: CauseComponent) -> str:
    """A cause of the difference with its old and its new value.

    >>> part_text(CauseComponent("commitment kept", -1e-12, 14000.0, "USD", 14000.0, 13777.68))
    'commitment kept: 0 -> 14,000 USD'
    """
    # what remains of a sum of payments that cancel is below a cent
    is_money = is_currency_code(part.unit)
    figures = (round(each, 2) if is_money and isinstance(each, float) else each for each in (part.old, part.new))
    old, new = (_value_text(figure) for figure in figures)
    if part.old is None:
        return plain_text(f"{part.name}: new, {new} {part.unit}")
    if part.new is None:
        return plain_text(f"{part.name}: gone, {old} {part.unit}")
    text = f"{part.name}: {old} -> {new} {part.unit}".rstrip()
    if isinstance(part.old, float | int) and isinstance(part.new, float | int) and part.old > 0 < part.new:
        change = part.new / part.old - 1
        text += f" ({change:+.1%})" if abs(change) < 10 else ""
    return plain_text(text)


def _value_text(figure: float | str | None) -> str:
    if isinstance(figure, float | int):
        return format_quantity(figure) if abs(figure) >= 1e6 else format_number(figure, 6)
    return figure or ""
