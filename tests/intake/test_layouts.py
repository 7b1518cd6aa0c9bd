"""Sheets in free form: headers of two rows, units beneath, months in rows, workloads in columns, dates, choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions

LONG = [
    ["Workload", "GPU", "Month", "GPU-hours"],
    ["Train", "H100", "2026-12", 100],
    ["", "", "2027-01", 200],
    ["Serve", "L4", "2026-12", 50],
    ["Serve", "L4", "2027-01", 60],
    ["Total", "", "", 410],
]


def demands(found: ParsedFile) -> dict[str, Any]:
    return {w["name"]: w["demand"] for w in found.document["workloads"]}


def test_months_in_rows_are_put_together(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows(LONG)
    assert found.complaints == ()
    assert demands(found) == {
        "Train": {"accelerator_hours_per_month": {"2026-12": 100, "2027-01": 200}, "accelerator": "H100"},
        "Serve": {"accelerator_hours_per_month": {"2026-12": 50, "2027-01": 60}, "accelerator": "L4"},
    }
    assert found.places["workloads[0].demand.accelerator_hours_per_month.2027-01"] == "Plan!D3"
    # 4 rows of workloads + the total, which is right: 100 + 200 + 50 + 60
    assert (found.inputs.rows_in, found.inputs.rows_used, len(found.inputs.rows_refused)) == (5, 4, 1)
    assert not [note for note in found.inputs.notes if "add up" in note]


def test_rows_of_one_workload_that_differ_or_repeat_are_faults(read_rows: Callable[..., ParsedFile]) -> None:
    rows = [*LONG[:2], ["Train", "A100", "2027-01", 1], ["Train", "", "2027-01", 1], ["Train", "", "soon", 1]]
    found = read_rows(rows)
    assert [(c.place, c.message) for c in found.complaints] == [
        ("Plan!C4", "a second row of Train for 2027-01; see Plan!C3"),
        ("Plan!C5", "not a month, under 'Month'"),
        ("Plan!B3", "differs from 'H100' in Plan!B2, of the same workload"),
    ]


def test_workloads_may_stand_in_columns(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows(
        [
            ["Workload", "A", "B"],
            ["GPU", "H100", "L4"],
            ["Unit", "GPU-hours", "GPU-hours"],
            ["2026-12", 10, 20],
            ["2027-01", 30, 40],
        ]
    )
    assert found.complaints == ()
    assert demands(found)["B"]["accelerator_hours_per_month"] == {"2026-12": 20, "2027-01": 40}
    assert found.places["workloads[1].demand.accelerator_hours_per_month.2027-01"] == "Plan!C5"
    assert "in Plan workloads are in columns: read column by column" in found.inputs.notes


@pytest.mark.parametrize("reader", ["read_rows", "read_texts"])
def test_a_header_of_two_rows(reader: str, request: pytest.FixtureRequest) -> None:
    rows = [
        ["Plan for 2027"],
        ["", "GPU", "", "Demand", "", "2026", "2027", ""],
        ["Workload", "Type", "Count", "Hours / month", "Unit", "Dec", "Jan", "Feb"],
        ["W1", "H100", 8, "", "GPU-hours", 1, 2, 3],
    ]
    found = request.getfixturevalue(reader)(rows)
    assert found.complaints == ()
    months = {"2026-12": 1, "2027-01": 2, "2027-02": 3}
    assert demands(found)["W1"] == {"accelerator_hours_per_month": months, "accelerator": "H100"}


def test_units_in_a_row_of_their_own(read_rows: Callable[..., ParsedFile]) -> None:
    rows = [["Workload", "GPU", "GPU-hours", "Storage"], ["", "", "per week", "(TB)"], ["U1", "H100", 8, 2]]
    (workload,) = read_rows(rows).document["workloads"]
    # 8 a week x (365/12)/7 weeks a month
    assert workload["demand"]["accelerator_hours_per_month"] == pytest.approx(8 * 365 / 12 / 7)
    assert workload["storage_gb"] == 2000


DEADLINE = [["Workload", "GPU", "Tokens/s per GPU", "Total tokens", "Deadline"], ["W", "H100", 100, "1B", "03/04/2027"]]


def test_a_date_that_could_be_two_is_refused(read_texts: Callable[..., ParsedFile]) -> None:
    (complaint,) = read_texts(DEADLINE).complaints
    assert (complaint.place, complaint.value) == ("line 2 column 5", "03/04/2027")
    assert complaint.message == "ambiguous: 3 April 2027 or 4 March 2027"
    assert "--dates dmy" in complaint.expected


@pytest.mark.parametrize(("order", "month"), [("dmy", "2027-03"), ("mdy", "2027-02")])
def test_the_order_of_dates_may_be_chosen(as_csv: Callable[..., bytes], order: str, month: str) -> None:
    # 3 April is in the middle of April: done by the end of March; 4 March: by the end of February
    found = read(as_csv(DEADLINE), "x.csv", SheetOptions(dates=order))
    assert found.complaints == ()
    assert demands(found)["W"]["deadline_month"] == month


@pytest.mark.parametrize("text", ["13/04/2027", "04/13/2027", "13.04.27", "04-13-2027"])
def test_a_date_that_can_be_only_one_is_read(read_texts: Callable[..., ParsedFile], text: str) -> None:
    found = read_texts([DEADLINE[0], [*DEADLINE[1][:4], text]])
    assert found.complaints == ()
    assert demands(found)["W"]["deadline_month"] == "2027-03"


def test_month_columns_as_dates_in_two_orders(as_csv: Callable[..., bytes]) -> None:
    rows = [["Workload", "GPU", "Unit", "01/12/2026", "01/01/2027"], ["W", "H100", "GPU-hours", 5, 6]]
    (complaint,) = read(as_csv(rows), "x.csv").complaints[:1]
    assert complaint.message == "ambiguous: 1 December 2026 or 12 January 2026"
    found = read(as_csv(rows), "x.csv", SheetOptions(dates="dmy"))
    assert demands(found)["W"]["accelerator_hours_per_month"] == {"2026-12": 5, "2027-01": 6}


def test_columns_may_be_named_by_the_asker(as_csv: Callable[..., bytes]) -> None:
    rows = [["Thing", "Board", "Boards", "Hours", "Storage (TB)"], ["W", "H100", 4, 100, 9]]
    named = {"thing": "name", "board": "accelerator", "boards": "gpus", "storage (tb)": "ignore"}
    found = read(as_csv(rows), "x.csv", SheetOptions(named))
    assert found.complaints == ()
    (workload,) = found.document["workloads"]
    assert workload["demand"] == {"accelerator_hours_per_month": 400, "accelerator": "H100"}
    assert "storage_gb" not in workload
    assert {c.title: c.field for c in found.tables[0].columns}["Boards"] == "gpus"


def test_a_named_column_that_is_not_there(as_csv: Callable[..., bytes]) -> None:
    rows = [["Workload", "GPU", "GPU-hours"], ["W", "H100", 4]]
    found = read(as_csv(rows), "x.csv", SheetOptions({"gpuhours": "hours"}, {"gpuhours": "--map gpuhours=hours"}))
    (complaint,) = found.complaints
    assert (complaint.place, complaint.expected) == ("--map gpuhours=hours", "one of 'GPU-hours', 'GPU'")
    remembered = read(as_csv(rows), "x.csv", SheetOptions({"gpuhours": "hours"}))
    assert remembered.complaints == ()
    assert any("which is not in this file" in note for note in remembered.inputs.notes)


def test_a_row_marked_as_an_example_is_left_out(read_rows: Callable[..., ParsedFile]) -> None:
    header = ["Workload", "GPU", "GPU-hours"]
    found = read_rows([header, ["(example) Chat", "H100", 5], ["Chat", "H100", 6]])
    assert [w["name"] for w in found.document["workloads"]] == ["Chat"]
    assert found.inputs.rows_refused[0].reason == "example row"


def test_the_separator_that_excel_writes_first(as_csv: Callable[..., bytes]) -> None:
    rows = as_csv([["Workload", "GPU", "GPU-hours"], ["W", "H100", "1.234,5"]], separator=";")
    found = read(b"sep=;\r\n" + rows, "x.csv")
    assert demands(found)["W"]["accelerator_hours_per_month"] == 1234.5
    assert found.places["workloads[0]"] == "line 3 column 1"


@pytest.mark.parametrize("separator", ["^", "~", "\x1f"])
def test_rare_separators(as_csv: Callable[..., bytes], separator: str) -> None:
    rows = as_csv([["Workload", "GPU", "GPU-hours"], ["W", "H100", "12"]], separator=separator)
    assert demands(read(rows, "x.csv"))["W"]["accelerator_hours_per_month"] == 12


def test_kroner_must_say_of_which_country(read_texts: Callable[..., ParsedFile]) -> None:
    rows = [["Workload", "GPU", "GPU-hours", "Budget / month"], ["W", "H100", "10", "5 000 kr"]]
    (complaint,) = read_texts(rows).complaints
    assert (complaint.message, complaint.place) == ("ambiguous: the krone of several countries", "line 2 column 4")
    rows[0][3] = "Budget (SEK / month)"
    found = read_texts(rows)
    assert (found.document["currency"], found.document["workloads"][0]["budget_per_month"]) == ("SEK", 5000)
