"""What changed since the last review, for a reader: the costs then and now, what made the difference, and the rest.

In short with the largest causes only, or one by one, every list up to a length; in words that `planner diff` uses too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.answer import Plan
from planner.answer.changes import TOPICS, Causes, Change, Changes, Part, Topic, Value
from planner.reports._shared.clean import plain
from planner.reports._shared.figures import NONE, apportion, money, number, quantity
from planner.reports._shared.sections import Bullets, Section, Table, bullets, table

NOTHING = "Nothing else changed."
LARGEST = 5
LISTED_MAX = 20
MONEY: frozenset[Topic] = frozenset({"cost", "month"})
NAMED: frozenset[Topic] = frozenset({"workload", "assumption", "price", "gap"})
"""Topics whose subjects are named in short too."""
IN_FULL_ONLY: tuple[Topic, ...] = (
    "workload", "purchase", "assumption", "price", "throughput", "gap", "frame", "month"
)  # fmt: skip


def changes_section(plan: Plan) -> Section | None:
    """The costs then and now, the largest causes, and how much else changed; None where nothing was compared."""
    found = plan.changes
    if found is None:
        return None
    blocks: list[str | Table | Bullets] = [_head(found), _costs(found)]
    if found.causes and any(step.parts for step in found.causes.steps):
        blocks.append(_causes(found.causes, plan.currency, LARGEST))
    rest = [NOTHING] if all(change.is_same for change in found.changes) else list(_counts(found))
    blocks.append(bullets([*_advice(found), *rest, *map(_sentence, found.notes)]))
    return Section("Changes since the last review", tuple(blocks))


def changes_in_full(plan: Plan) -> Section | None:
    """Every cause and every change, up to a length; None where nothing is not as it was."""
    found = plan.changes
    if found is None:
        return None
    blocks: list[str | Table | Bullets] = []
    if found.causes and any(step.parts for step in found.causes.steps):
        blocks.append(_causes(found.causes, plan.currency, LISTED_MAX))
    blocks += _lists(found)
    return Section("Changes since the last review, one by one", tuple(blocks)) if blocks else None


def _head(found: Changes) -> str:
    months = f"{found.month_names[0]}..{found.month_names[-1]}" if found.month_names else "no months"
    return plain(f"Compared with plan {found.plan_id} of {found.as_of}, {months}, in {found.currency}.")


def _costs(found: Changes) -> Table:
    rows = found.of("cost")
    unit = next((row.unit for row in rows), found.currency)
    return table(
        (plain(f"cost, {unit}"), "then", "now", "difference"),
        [(row.subject, value_words(row, row.then), value_words(row, row.now), _moved(row)) for row in rows],
        (1, 2, 3),
    )


def _causes(causes: Causes, currency: str, largest: int) -> Table:
    """From the cost then to the cost now: the largest changes, the others in one row."""
    parts = [(step.cause, part) for step in causes.steps for part in step.parts if part.total or part.present]
    parts.sort(key=lambda each: (-abs(each[1].total), -abs(each[1].present), each[0], each[1].name))
    shown, rest = parts[:largest], parts[largest:]
    rows = [("then", causes.strategies[0]), *((cause, part_words(part)) for cause, part in shown)]
    if rest:
        rows.append(("others", f"{len(rest):,d} smaller changes"))
    columns = []
    for index in (0, 1):
        moved = [(part.total, part.present)[index] for _, part in parts]
        amounts = [causes.restated[index], *moved[: len(shown)], *([sum(moved[len(shown) :])] if rest else [])]
        columns.append(apportion(amounts, causes.new[index]))
    cells = [
        (*row, *(money(each) if index == 0 else signed(each, 0) for each in each_of))
        for index, (row, each_of) in enumerate(zip(rows, zip(*columns, strict=True), strict=True))
    ]
    cells.append(("now", causes.strategies[1], *(money(sum(column)) for column in columns)))
    titles = ("why", "what changed", f"total cost, {currency}", f"present cost, {currency}")
    return table(titles, cells, (2, 3), has_total=True)


def _lists(found: Changes) -> Iterator[str | Table | Bullets]:
    rows: list[tuple[str, ...]] = []
    for topic in IN_FULL_ONLY:
        its = _told(found, topic)
        if its:
            rows.append((f"{TOPICS[topic]}: {len(its):,d}",))
            rows += [_row(change) for change in its[:LISTED_MAX]]
        if len(its) > LISTED_MAX:
            rows.append((f"{len(its) - LISTED_MAX:,d} more of these; json and xlsx have them",))
    if rows:
        yield table(("what", "then", "now", "difference", "unit", "why"), rows, (1, 2, 3), has_prose=True)


def _told(found: Changes, topic: Topic) -> tuple[Change, ...]:
    return tuple(change for change in found.of(topic) if not change.is_same)


def _row(change: Change) -> tuple[str, ...]:
    then, now = (value_words(change, value) for value in (change.then, change.now))
    return change.subject, then, now, _moved(change), change.unit, change.why


def _advice(found: Changes) -> Iterator[str]:
    for change in found.of("recommendation"):
        then, now = (value_words(change, value) for value in (change.then, change.now))
        yield f"Recommended as before: {now}." if change.is_same else f"Recommended then {then}, now {now}."


def _counts(found: Changes) -> Iterator[str]:
    """How much of what else changed."""
    for topic in IN_FULL_ONLY:
        its = _told(found, topic)
        if its and topic in NAMED:
            yield f"{TOPICS[topic].capitalize()}: {_count(its)}; {_named(its)}."
        elif its and topic not in MONEY:
            yield f"{TOPICS[topic].capitalize()}: {_count(its)}."


def _count(its: Sequence[Change]) -> str:
    counts = {
        "new": sum(change.then is None for change in its),
        "gone": sum(change.now is None for change in its),
        "changed": sum(change.then is not None and change.now is not None for change in its),
    }
    return ", ".join(f"{count:,d} {word}" for word, count in counts.items() if count)


def _named(its: Sequence[Change]) -> str:
    names = ", ".join(change.subject for change in its[:LARGEST])
    return f"{names} and {len(its) - LARGEST:,d} more" if len(its) > LARGEST else names


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def value_words(change: Change, value: Value) -> str:
    """A figure or a text of a change as it is shown."""
    if value is None:
        return NONE
    if isinstance(value, str):
        return value
    return money(value) if change.topic in MONEY else _figure(value)


def _moved(change: Change) -> str:
    """The difference; of money that of the amounts as they are shown."""
    then, now = change.then, change.now
    if change.difference is None or isinstance(then, str | None) or isinstance(now, str | None):
        return NONE
    return signed(round(now) - round(then), 0) if change.topic in MONEY else _plus(change.difference)


def _plus(difference: float) -> str:
    return f"{'+' if difference > 0 else ''}{_figure(difference)}" if difference else NONE


def signed(amount: float, decimals: int = 2) -> str:
    """
    >>> signed(12.345), signed(-0.2, 0), signed(-1500, 0)
    ('+12.35', '-', '-1,500')
    """
    return f"{amount:+,.{decimals}f}" if round(amount, decimals) else NONE


def part_words(part: Part) -> str:
    """What changed, from what to what."""
    old, new = (_figure(figure) for figure in (part.old, part.new))
    if part.old is None:
        return plain(f"{part.name}: new, {new} {part.unit}")
    if part.new is None:
        return plain(f"{part.name}: gone, {old} {part.unit}")
    text = f"{part.name}: {old} -> {new} {part.unit}".rstrip()
    if isinstance(part.old, float | int) and isinstance(part.new, float | int) and part.old > 0 < part.new:
        change = part.new / part.old - 1
        text += f" ({change:+.1%})" if abs(change) < 10 else ""
    return plain(text)


def _figure(figure: float | str | None) -> str:
    if isinstance(figure, float | int):
        return quantity(figure) if abs(figure) >= 1e6 else number(figure, 6)
    return figure or ""
