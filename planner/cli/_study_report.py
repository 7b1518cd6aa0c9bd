"""Behind `planner study`: examples worked again, as text or JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.cli._exit_codes import DONE, INVALID_INPUT
from planner.cli._tables import print_error, print_report
from planner.library.request_files import read_bytes
from planner.request.errors import InvalidRequest
from planner.studies import (
    CheckedValue,
    Nested,
    PlanningConventions,
    ReproducedExample,
    UnreadExample,
    reproduce,
)
from planner.studies.examples import read_examples
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.plain_text import plain_line
from pricing.text_tables import align_columns

FULL = ("figure", "value")
HEAD = ("figure", "printed", "computed", "tolerance", "")
NEVER = "never"
NOT_REPRODUCED = 5


def report_study(file: str, format_name: str) -> int:
    """Work the examples of `file` and print each figure against its tolerance, with the full cost; the exit code.
    InvalidRequest where the file holds none that can be worked."""
    examples = read_examples(read_bytes(file), file)
    problems = [problem for each in examples if isinstance(each, UnreadExample) for problem in each.problems]
    if all(isinstance(each, UnreadExample) for each in examples):
        raise InvalidRequest(tuple(problems))
    if problems:
        head = f"{format_count(len(problems), 'problem')} in the input; the other cases are worked"
        print_error(head, map(str, problems))
    results = reproduce(examples, PlanningConventions(Catalog.current()))
    print_report(format_name, _list_lines(results), (), (), lambda: _build_document(results))
    if problems:
        return INVALID_INPUT
    return DONE if all(result.ok for result in results) else NOT_REPRODUCED


def _build_document(results: Sequence[ReproducedExample | UnreadExample]) -> dict[str, Any]:
    """Everything about each example; null is a point that is never reached."""
    return {
        "reproduced": all(result.ok for result in results),
        "examples": [_example_document(result) for result in results],
    }


def _example_document(result: ReproducedExample | UnreadExample) -> dict[str, Any]:
    if isinstance(result, UnreadExample):
        problems = [dataclasses.asdict(problem) for problem in result.problems]
        texts = {"id": result.id, "title": result.title, "method": result.method}
        return {**texts, "reproduced": False, "figures": [], "problems": problems}
    example = result.example
    return {
        "id": example.id,
        "title": example.title,
        "method": example.method,
        "source": example.source,
        "notes": example.notes,
        "assumed": [dataclasses.asdict(each) for each in example.assumed],
        "reproduced": result.ok,
        "figures": [dataclasses.asdict(leaf) for leaf in result.leaves],
        "full_cost": result.full_cost.figures,
        "full_cost_basis": result.full_cost.basis,
        "leaves_out": result.leaves_out,
        "not_used": list(result.not_used),
        "problems": [],
    }


def _list_lines(results: Sequence[ReproducedExample | UnreadExample]) -> Iterator[str]:
    """Each example in a block of lines, and a last line that counts them."""
    for result in results:
        yield from (plain_line(line) for line in _example_lines(result))
        yield ""
    unread = [result for result in results if isinstance(result, UnreadExample)]
    leaves = [leaf for result in results if isinstance(result, ReproducedExample) for leaf in result.leaves]
    yield (
        f"{sum(result.ok for result in results)} of {len(results)} examples reproduced"
        f"{f', {len(unread)} not run' if unread else ''}; {sum(leaf.ok for leaf in leaves)} of "
        f"{len(leaves) + sum(result.figures for result in unread)} figures within their tolerance"
    )


def _example_lines(result: ReproducedExample | UnreadExample) -> Iterator[str]:
    if isinstance(result, UnreadExample):
        yield f"{result.id}: {result.title}" if result.title else result.id
        yield from (f"  NOT RUN     {problem}" for problem in result.problems)
        return
    example = result.example
    yield f"{example.id}: {example.title}" if example.title else example.id
    if example.source:
        yield f"  source      {example.source}"
    for line in align_columns(HEAD, map(_leaf_row, result.leaves), HEAD[1:3]):
        yield f"  {line}"
    for each in example.assumed:
        value = each.value if isinstance(each.value, str) else number(each.value)
        yield f"  assumed     {each.name} = {value}: {each.reason}"
    figures = list(_flatten_values("", result.full_cost.figures))
    if figures:
        yield "  in full under this planner's conventions"
        for line in align_columns(FULL, ((name, number(value)) for name, value in figures), FULL[1:])[1:]:
            yield f"    {line}"
    yield f"  in full     {result.full_cost.basis}"
    yield f"  the study   {result.leaves_out}"
    if result.not_used:
        yield f"  not used    {', '.join(result.not_used)}"


def _leaf_row(leaf: CheckedValue) -> tuple[str, ...]:
    computed = "-" if leaf.message else number(leaf.computed)
    return leaf.name, number(leaf.printed), computed, tolerance(leaf), _leaf_verdict(leaf)


def _leaf_verdict(leaf: CheckedValue) -> str:
    return "ok" if leaf.ok else f"NOT REPRODUCED{f': {leaf.message}' if leaf.message else ''}"


def _flatten_values(name: str, value: Nested) -> Iterator[tuple[str, Nested]]:
    """Every figure with its path."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _flatten_values(f"{name}.{key}" if name else key, below)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _flatten_values(f"{name}[{index}]", below)
    else:
        yield name, value


def number(value: Nested) -> str:
    """Five figures, or cents where more stand before the point; `never` for None.

    >>> number(2720.411), number(0.00347222), number(8.0), number(None)
    ('2,720.41', '0.0034722', '8', 'never')
    """
    if value is None:
        return NEVER
    if not isinstance(value, int | float):
        return str(value)
    if abs(value) < 1000 and value != round(value):
        return f"{value:.5g}"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def tolerance(leaf: CheckedValue) -> str:
    """0.1 or 1%: the wider of the two counts."""
    parts = (f"{leaf.absolute:g}" if leaf.absolute else "", f"{leaf.relative * 100:.4g}%" if leaf.relative else "")
    return " or ".join(part for part in parts if part) or "exact"
