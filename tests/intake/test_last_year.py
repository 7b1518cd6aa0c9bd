"""Demand against last year's cost and hours: a factor of five either way is asked about once.

5,840 hours of H100 a month cost between 11,680 and 70,080 USD on demand, at 2 to 12 USD an hour.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog

HOURS = "accelerator_hours_per_month"


def read_csv(text: str, **options: Any) -> ParsedFile:
    return read(text.encode(), "x.csv", SheetOptions(catalog=Catalog.embedded(), **options))


def planned(parsed: ParsedFile) -> dict[str, Any]:
    assert parsed.complaints == ()
    return {each["name"]: each["demand"][HOURS] for each in parsed.document["workloads"]}


@pytest.mark.parametrize(
    ("title", "amount", "asked"),
    [
        ("Last year's cost (USD)", 24_000, True),  # 2,000 a month
        ("Last year's cost (USD)", 600_000, False),  # 50,000 a month
        ("Last year's cost (k USD)", 600, False),
        ("FY26 actual spend (USD)", 24_000, True),
        ("Prior year spend (USD / month)", 24_000, False),
        ("Current spend (USD)", 24_000, False),  # fits as an amount a month
        ("Current spend (USD)", 24, True),  # fits as neither
        ("Last year's cost (JPY)", 24_000, False),  # not comparable with dollars
    ],
)
def test_cost_of_last_year(title: str, amount: int, asked: bool) -> None:
    parsed = read_csv(f"Workload;GPU;GPU-hours / month;{title}\nA;H100;5840;{amount}")
    assert planned(parsed) == {"A": 5840}
    assert [doubt.id for doubt in parsed.doubts] == (["last year's cost: A"] if asked else [])


@pytest.mark.parametrize(("hours", "asked"), [(5840, True), (70_080, False), (700_800, True)])
def test_hours_of_last_year(hours: int, asked: bool) -> None:
    """5,840 a month are 70,080 a year; 5,840 in all of last year are a twelfth, 700,800 ten times that."""
    parsed = read_csv(f"Workload;GPU;GPU-hours / month;Last year GPU-hours\nA;H100;5840;{hours}")
    assert planned(parsed) == {"A": 5840}
    assert [doubt.id for doubt in parsed.doubts] == (["last year's hours: A"] if asked else [])
    if hours == 5840:
        (doubt,) = parsed.doubts
        assert "12 times last year's" in doubt.question
        assert doubt.places == ("line 2 column 4",)
        assert doubt.change == pytest.approx(11)
        assert doubt.stops_planning
        answered = read_csv(
            "Workload;GPU;GPU-hours / month;Last year GPU-hours\nA;H100;5840;5840", answers={doubt.id: "both"}
        )
        assert not answered.doubts[0].stops_planning


def test_hours_of_last_year_alone_are_the_demand() -> None:
    assert planned(read_csv("Workload;GPU;Last year GPU-hours / month\nA;H100;5840")) == {"A": 5840}


@pytest.mark.parametrize(("label", "hours", "asked"), [("Last year", 500, True), ("2026 actuals", 5000, False)])
def test_a_row_of_last_year_is_compared_and_not_planned(label: str, hours: int, asked: bool) -> None:
    parsed = read_csv(f"Workload;GPU;GPU-hours / month\nA;H100;5840\nB;L4;160\n{label};;{hours}")
    assert planned(parsed) == {"A": 5840, "B": 160}
    assert [(row.place, row.reason) for row in parsed.inputs.rows_refused] == [("line 4", "last year, to compare with")]
    assert [doubt.id for doubt in parsed.doubts] == (["last year: GPU-hours / month"] if asked else [])


@pytest.mark.parametrize(("amount", "asked"), [(24_000, True), (600_000, False)])
def test_a_sheet_of_assumptions_states_the_spend_of_last_year(as_xlsx: Any, amount: int, asked: bool) -> None:
    rows = [["Workload", "GPU", "GPU-hours / month"], ["A", "H100", 5840]]
    facts = [["Name", "Value", "Unit"], ["Last year's GPU spend", amount, "USD"]]
    parsed = read(
        as_xlsx(rows, "Plan", more={"Assumptions": facts}), "x.xlsx", SheetOptions(catalog=Catalog.embedded())
    )
    assert planned(parsed) == {"A": 5840}
    assert [(doubt.id, doubt.places) for doubt in parsed.doubts] == (
        [("last year's cost: all workloads", ("Assumptions!B2",))] if asked else []
    )
