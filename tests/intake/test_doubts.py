"""Doubts of sheets: what is proposed, what other readings change, and what an answer does. A month is 365/12 days."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog

HOURS = "accelerator_hours_per_month"
DAYS = 365 / 12


def read_csv(text: str, **options: Any) -> ParsedFile:
    return read(
        "\n".join(line.strip() for line in text.strip().splitlines()).encode(), "x.csv", SheetOptions(**options)
    )


def amounts(parsed: ParsedFile) -> dict[str, Any]:
    assert parsed.complaints == ()
    return {each["name"]: next(iter(each["demand"].values())) for each in parsed.document["workloads"]}


YEARLY = """Yearly demand;;
            Workload;GPU;GPU-hours
            A;H100;1200"""


def test_a_title_scales_nothing_and_is_asked_about() -> None:
    parsed = read_csv(YEARLY)
    (doubt,) = parsed.doubts
    assert amounts(parsed) == {"A": 1200}
    assert (doubt.id, doubt.proposed, doubt.choices) == ("period: GPU-hours", "month", ("month", "year"))
    assert doubt.change == pytest.approx(11 / 12)  # 100 instead of 1,200
    assert doubt.stops_planning


def test_hours_of_a_gpu_under_a_title_are_asked_about_too() -> None:
    parsed = read_csv("Weekly plan;;;\nWorkload;GPU;GPUs;Hours\nA;H100;8;40")
    assert amounts(parsed) == {"A": 320}
    assert [(doubt.id, doubt.proposed, doubt.choices) for doubt in parsed.doubts] == [
        ("period: Hours", "month", ("month", "week"))
    ]


def test_an_answer_is_applied_and_measured_from_itself() -> None:
    parsed = read_csv(YEARLY, answers={"period: GPU-hours": "year"})
    assert amounts(parsed) == {"A": pytest.approx(100)}
    assert parsed.doubts[0].change == pytest.approx(11)  # 1,200 instead of 100
    assert not parsed.doubts[0].stops_planning
    assert parsed.doubts[0].to_note().endswith("Read as year, as answered")


def test_a_doubt_of_little_demand_does_not_stop_planning() -> None:
    parsed = read_csv(
        """Workload;GPU;Unit;2027-01;2027-02
           Big;H100;GPU-hours;100000;100000
           Small;L4;GPU-hours/year;120;120"""
    )
    (doubt,) = parsed.doubts
    assert amounts(parsed)["Small"] == {"2027-01": 120, "2027-02": 120}
    assert doubt.change == pytest.approx(120 / 100_120 * 11 / 12)
    assert not doubt.stops_planning


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("GPU-hours/day", DAYS), ("Heures GPU/jour", DAYS), ("GPU-hours/week", DAYS / 7), ("k GPU-hours", 1000)],
)
def test_units_in_cells_are_applied_to_months(unit: str, factor: float) -> None:
    parsed = read_csv(f"Workload;GPU;Unit;2027-01\nA;H100;{unit};24")
    assert amounts(parsed) == {"A": {"2027-01": pytest.approx(24 * factor)}}
    assert parsed.doubts == ()


def test_work_per_day_with_its_unit_in_the_cell() -> None:
    parsed = read_csv("Workload;GPU;GPUs;Tokens/s per GPU;Work / day\nA;H100;1;1000;2B tokens")
    assert amounts(parsed) == {"A": pytest.approx(2e9 * DAYS)}


def test_the_hours_of_a_month_beside_several_gpus_are_those_of_each() -> None:
    parsed = read_csv("Workload;GPU;GPUs;GPU-hours / month\nA;H100;8;730")
    assert amounts(parsed) == {"A": 5840}
    assert parsed.doubts[0].change == pytest.approx(7 / 8)
    answered = read_csv(
        "Workload;GPU;GPUs;GPU-hours / month\nA;H100;8;730", answers={"hours of each GPU: GPU-hours / month": "all"}
    )
    assert amounts(answered) == {"A": 730}


def test_the_number_of_machines_may_be_any_number() -> None:
    text = "Workload;Instance;Hours / month\nA;p5.48xlarge;100"
    assert amounts(read_csv(text)) == {"A": 800}
    assert amounts(read_csv(text, answers={"machines: A": "3"})) == {"A": 2400}
    wrong = read_csv(text, answers={"machines: A": "many"})
    assert [(c.place, c.value) for c in wrong.complaints] == [("answer 'machines: A'", "many")]


def test_a_total_shows_the_row_that_does_not_fit() -> None:
    parsed = read_csv("Workload;GPU;GPU-hours / month\nA;H100;1000\nB;L4;5000\nTotal;;1500")
    (doubt,) = parsed.doubts
    assert doubt.places == ("line 4 column 3", "line 3 column 3")
    assert "line 3 column 3 times 0.1 would explain it" in doubt.question
    assert doubt.change == pytest.approx(0.75)  # 1,500 instead of 6,000


@pytest.mark.parametrize(("budget", "asked"), [(500, True), (20_000, False), (5_000_000, True)])
def test_a_budget_far_from_its_demand_is_asked_about(budget: int, asked: bool) -> None:
    # 5,840 hours of H100 at 2 to 12 USD each are between 11,680 and 70,080 USD a month
    text = f"Workload;GPU;GPU-hours / month;Budget (USD / month)\nA;H100;5840;{budget}"
    parsed = read_csv(text, catalog=Catalog.embedded())
    assert [doubt.id for doubt in parsed.doubts] == (["budget: A"] if asked else [])


def test_a_sheet_that_is_planned_from_another_is_counted_as_left_out(as_xlsx: Callable[..., bytes]) -> None:
    rows = [["Workload", "GPU", "GPU-hours / month"], ["A", "H100", 100], ["B", "L4", 200]]
    data = as_xlsx(rows, "2026 actual", more={"2027 forecast": [rows[0], ["A", "H100", 300], ["B", "L4", 400]]})
    parsed = read(data, "x.xlsx")
    assert amounts(parsed) == {"A": 300, "B": 400}
    assert (parsed.inputs.rows_in, parsed.inputs.rows_used) == (4, 2)
    assert math.isinf(parsed.doubts[0].change)


def test_an_answer_that_nothing_asks_is_named() -> None:
    parsed = read_csv("Workload;GPU;GPU-hours / month\nA;H100;100", answers={"period: Hours": "week"})
    assert "the answer to 'period: Hours' is not used: nothing in this file asks it" in parsed.inputs.notes


def test_a_row_is_held_against_its_total() -> None:
    head = "Workload;GPU;Unit;2027-01;2027-02;2027-03;Total\n"
    parsed = read_csv(f"{head}A;H100;GPU-hours;100;100;100;300\nB;L4;GPU-hours;100;1000;100;300")
    (doubt,) = parsed.doubts
    assert (doubt.id, doubt.places) == ("total of a row: B", ("line 3 column 7",))
    assert "the total reads 300, but its months add up to 1,200" in doubt.question
    assert doubt.change == pytest.approx(0.75)
