"""Sheets with a cell that has two readings: it is asked, with its place and what would settle it, and never guessed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.inputs.parsed_file import ParsedFile


def cells(text: str) -> list[list[str]]:
    """Rows of cells between bars."""
    return [[cell.strip(" ") for cell in line.split("|")] for line in text.splitlines()]


ASKED: dict[str, tuple[str, str, str]] = {
    "hours of a run": (
        "Job | GPU | GPUs | Hours per run\nT | H100 | 64 | 100\n",
        "line 2 column 4",
        "number of runs",
    ),
    "hours, and days": (
        "Job | GPU | GPUs | Hours | Days per month\nT | H100 | 6 | 8 | 22\n",
        "line 2 column 4",
        "hours a day or a month",
    ),
    "a runtime in days": (
        "Job | GPU | GPUs | Runtime (days)\nT | H100 | 8 | 14\n",
        "line 2 column 4",
        "not in hours",
    ),
    "total hours": (
        "Job | GPU | GPUs | Total hours\nT | H100 | 4 | 400\n",
        "line 2 column 4",
        "of each GPU or of all",
    ),
    "total GPU-hours": (
        "Project | GPU | Total GPU-hours\nA | H100 | 5000\n",
        "line 2 column 3",
        "in total or per month",
    ),
    "hours of a person": (
        "Job | GPU | GPUs | Users | Hours per user per week\nA | L4 | 4 | 9 | 5\n",
        "line 2 column 5",
        "one person",
    ),
    "80 of them, or 80 GB": (
        "Workload | GPU | Hours / month\na | A100 (80) | 10\n",
        "line 2 column 2",
        "80 of them",
    ),
    "a price alone": (
        "Workload | GPU | GPUs | Cost/hr\nA | H100 | 8 | 24.5\n",
        "line 1",
        "required columns are missing",
    ),
    "quarters": (
        "Workload | GPU | Unit | Q1\nA | H100 | GPU-hours | 300\n",
        "line 1 column 4",
        "not a month with its year",
    ),
    "years": (
        "Workload | GPU | Unit | FY27\nA | H100 | GPU-hours | 300\n",
        "line 1 column 4",
        "not a month with its year",
    ),
    "a quarter that is no sum": (
        "Workload | GPU | Unit | Jan-27 | Feb-27 | Mar-27 | Q1\nA | H100 | GPU-hours | 1 | 2 | 3 | 7\n",
        "line 1 column 7",
        "not a month with its year",
    ),
    "a range": (
        "Workload | GPU | GPUs | Hours/month\nA | H100 | 3-4 | 100\n",
        "line 2 column 3",
        "a range",
    ),
    "an end before the start": (
        "Workload | GPU | GPU-hours | Start | End\nA | H100 | 1 | 2027-05 | 2027-03\n",
        "line 2 column 5",
        "ends before",
    ),
    "a length without a start": (
        "Workload | GPU | GPU-hours | Months\nA | H100 | 1 | 6\n",
        "line 2 column 4",
        "without the month it starts in",
    ),
    "replicas of what": (
        "Job | GPU | GPUs | Replicas | Hours\nA | L4 | 2 | 5 | 730\n",
        "line 2 column 4",
        "one replica",
    ),
    "a machine without accelerators": (
        "Workload | Instance type | Qty | Hours/month\nA | m5.xlarge | 2 | 100\n",
        "line 2 column 2",
        "no known machine with",
    ),
    "a budget in total": (
        "Workload | GPU | GPU-hours/month | Total budget (EUR)\nA | H100 | 400 | 12000\n",
        "line 2 column 4",
        "has no period",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_has_two_readings_is_asked(read_texts: Callable[..., ParsedFile], name: str) -> None:
    rows, place, words = ASKED[name]
    complaints = read_texts(cells(rows)).complaints
    assert [c.place for c in complaints if words in c.message][:1] == [place], complaints
    assert all(complaint.expected for complaint in complaints)


def test_years_as_numbers_are_asked_and_hours_that_look_like_them_read(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([["Workload", "GPU", "Unit", 2027, 2028], ["A", "H100", "GPU-hours", 12000, 24000]])
    assert [(c.place, c.message) for c in found.complaints] == [
        (f"Plan!{at}1", "not a month with its year") for at in "DE"
    ]
    found = read_rows([["Workload", "GPU", "GPU-hours"], ["A", "H100", 2027], ["B", "L4", 2048]])
    assert [w["demand"]["accelerator_hours_per_month"] for w in found.document["workloads"]] == [2027, 2048]
