"""Cells that are edited by hand: read instead of what the file says, told, undone, and refused at their place."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from httpx import Client
from openpyxl import Workbook

from planner.application import check_input
from planner.inputs.file_reader import read
from planner.inputs.sheet_options import SheetOptions
from planner.request.errors import InvalidRequest
from planner.service import ServiceLimits
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from tests.doors.conftest import serving

EXAMPLES = Path(__file__).parents[2] / "examples"
SHEET = "Workload,GPU,GPU-hours / month,Team\nA,L4,1000,Search\nB,L4,500,Ads\n"
"""Read: A 1,000 hours a month, B 500."""
DEMAND = {"accelerator_hours_per_month": 40, "accelerator": "L4"}
DOCUMENT = json.dumps({"months": 3, "workloads": [{"name": "a", "demand": DEMAND}]}, indent=0)
QUERY = {"months": 3, "strategies": "cloud", "providers": "gcp", "regions": "us-central1", "as_of": "2026-11-21"}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving(ServiceLimits(workers=1, seconds=600)) as client:
        yield client


def ask(client: Client, query: dict | None = None, body: str = SHEET, name: str = "sheet.csv"):
    """The answer to a file, its plan where it has one."""
    parameters = {**QUERY, "name": name, **(query or {})}
    headers = {"prefer": "wait=300", "content-type": "application/octet-stream"}
    return client.post("/v1/plans/file", params=parameters, content=body.encode(), headers=headers)


def hours(plan: dict) -> dict[str, list[float]]:
    return {each["name"]: each["demand"] for each in plan["workloads"]}


def test_an_edited_cell_is_planned_with_and_told(client):
    plan = ask(client, {"cell": "line 2 column 3=2500"}).json()
    assert hours(plan) == {"A": [2500] * 3, "B": [500] * 3}
    day = today().isoformat()
    assert plan["inputs"]["edits"] == [{"place": "line 2 column 3", "said": "1000", "value": "2500", "on": day}]
    assert f"line 2 column 3: '2500', edited by hand on {day}; the file said '1000'" in plan["inputs"]["notes"]
    (reading,) = (each for each in plan["inputs"]["readings"] if each["place"] == "line 2 column 3")
    assert reading["read"] == "2500"


@pytest.mark.parametrize("form", ["text", "markdown", "html", "review"])
def test_every_report_for_readers_tells_of_the_edit(client, form):
    plan = ask(client, {"cell": "line 2 column 3=2500"}).json()
    text = client.get(f"/v1/plans/{plan['plan_id']}/reports/{form}").text
    assert "edited by hand on" in text
    assert "1000" in text


def test_a_day_that_is_stated_is_kept(client):
    plan = ask(client, {"cell": "line 2 column 3=2500", "edited": "line 2 column 3=2026-11-02"}).json()
    assert plan["inputs"]["edits"][0]["on"] == "2026-11-02"


def test_an_edit_to_what_the_file_says_is_none(client):
    plan, plain = ask(client, {"cell": "line 2 column 3=1000"}).json(), ask(client).json()
    assert plan["inputs"]["edits"] == []
    assert plan["plan_id"] == plain["plan_id"]


def test_a_plan_is_made_again_with_an_edit_and_without_it(client):
    """The edit of ?cell= holds over that of the earlier question, by cell; undone by what the file said."""
    first = ask(client, {"cell": "line 2 column 3=2500", "edited": "line 2 column 3=2026-11-02"}).json()
    again = f"/v1/plans/{first['plan_id']}/again"
    plans = []
    for cell in ("line 3 column 3=80", "line 2 column 3=1000", "line 2 column 3=7"):
        place = client.post(again, params={"cell": cell}, headers={"accept": "application/json"}).headers["location"]
        client.get(f"{place}/events")  # ends with the plan
        plans.append(client.get(place).json())
    other, undone, later = plans
    assert hours(other) == {"A": [2500] * 3, "B": [80] * 3}
    assert [each["on"] for each in other["inputs"]["edits"]] == ["2026-11-02", today().isoformat()]
    assert hours(undone) == {"A": [1000] * 3, "B": [500] * 3}
    assert undone["inputs"]["edits"] == []
    assert [(each["value"], each["on"]) for each in later["inputs"]["edits"]] == [("7", today().isoformat())]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("line 2 column 3", "lots"),
        ("line 2 column 3", "-5"),
        ("line 2 column 2", "H1000"),
        ("line 2 column 3", "1e999"),
    ],
)
def test_a_bad_edit_is_one_fault_at_its_cell(client, cell, value):
    answer = ask(client, {"cell": f"{cell}={value}"})
    assert answer.status_code == 422
    problem = answer.json()
    assert [each["path"] for each in problem["errors"]] == [cell]
    assert problem["errors"][0]["value"] == value
    assert problem["is_editable"] is True


def test_an_edit_of_no_cell_is_refused(client):
    for cell, place in (("line 9 column 3=5", "cells line 9"), ("C5=5", "?cell"), ("Plan!C5=5", "cells Plan!5")):
        answer = ask(client, {"cell": cell})
        assert answer.status_code == 422, cell
        assert [each["path"] for each in answer.json()["errors"]] == [place]


def test_a_value_of_a_document_is_edited_at_its_place(client):
    line = next(n for n, text in enumerate(DOCUMENT.splitlines(), start=1) if "accelerator_hours" in text)
    column = DOCUMENT.splitlines()[line - 1].index("40") + 1
    plan = ask(client, {"cell": f"line {line} column {column}=90"}, DOCUMENT, "request.json").json()
    assert hours(plan) == {"a": [90] * 3}
    assert plan["inputs"]["edits"][0]["said"] == "40"
    wrong = ask(client, {"cell": f"line {line} column {column}=many"}, DOCUMENT, "request.json")
    assert [each["path"] for each in wrong.json()["errors"]] == [f"line {line} column {column}"]
    nowhere = ask(client, {"cell": "line 1 column 1=5"}, DOCUMENT, "request.json")
    assert [each["path"] for each in nowhere.json()["errors"]] == ["line 1 column 1"]


def test_a_body_of_json_is_edited_as_a_file_is(client):
    line = next(n for n, text in enumerate(DOCUMENT.splitlines(), start=1) if "accelerator_hours" in text)
    column = DOCUMENT.splitlines()[line - 1].index("40") + 1
    headers = {"prefer": "wait=300", "content-type": "application/json"}
    parameters = {**QUERY, "cell": f"line {line} column {column}=90"}
    plan = client.post("/v1/plans", params=parameters, content=DOCUMENT, headers=headers).json()
    assert hours(plan) == {"a": [90] * 3}


def test_a_number_keeps_the_format_of_its_cell():
    """7.5 % becomes 8 %, whether it is typed as the cell shows it or as it is stored."""
    book = Workbook()
    book.active.append(["Workload", "GPU", "GPU-hours / month", "Growth per month"])
    book.active.append(["A", "L4", 100, 0.075])
    book.active["D2"].number_format = "0.0%"
    buffer = io.BytesIO()
    book.save(buffer)
    for text in ("0.08", "8%"):
        source = read(buffer.getvalue(), "plan.xlsx", SheetOptions(cells={"Sheet!D2": text}))
        assert source.complaints == ()
        assert source.document["workloads"][0]["demand"]["growth_per_month"] == pytest.approx(0.08)


KINDS_MIN = 50
"""Of cells with a field of their own in the two examples, twice each."""


def test_whatever_is_typed_into_a_cell_of_an_example_is_read_or_is_one_fault_there():
    """Each kind of field once, with a text that is none of its values, and with a negative number."""
    catalog, tried, refused = Catalog.current(), 0, 0
    for name in ("capacity-review.xlsx", "request.json"):
        data = (EXAMPLES / name).read_bytes()
        readings = read(data, name, SheetOptions(catalog=catalog)).inputs.readings
        cells = {re.sub(r"\[\d+\]", "", each.path): each.place for each in reversed(readings)}
        for place, typed in product(cells.values(), ("xyz!?", "-7")):
            source = read(data, name, SheetOptions(catalog=catalog, cells={place: typed}))
            tried += 1
            faults: list[str] = []
            try:
                check_input(source, {**source.document, "as_of": "2026-11-21"}, catalog)
            except InvalidRequest as error:
                faults = [each.place for each in error.complaints]
            assert faults in ([], [place]), (name, place, typed)
            refused += len(faults)
    assert tried > refused > KINDS_MIN


TOTALS = "Workload,GPU,{0},{1},Total\nA,L4,1000,200,1200\nB,L4,500,300,800\nTotal,,1500,500,2000\n"
MONTHS = TOTALS.format("GPU-hours 2026-12", "GPU-hours 2027-01")


@pytest.mark.parametrize("total", ["Total,,", ",,"])
def test_a_total_of_the_file_as_it_was_is_no_question_about_an_edited_cell(total):
    """A's December 1,000 becomes 700: totals of rows and columns, named or not, are those of the file."""
    text = MONTHS.replace("Total,,", total)
    source = read(text.encode(), "s.csv", SheetOptions(cells={"line 2 column 3": "700"}))
    assert (source.complaints, source.doubts) == ((), ())
    demands = [each["demand"]["accelerator_hours_per_month"] for each in source.document["workloads"]]
    assert demands == [{"2026-12": 700, "2027-01": 200}, {"2026-12": 500, "2027-01": 300}]


def test_an_edit_that_makes_the_rows_add_up_settles_the_question():
    """A's December says 10,000, and the totals 1,500 and 1,200: 1,000 is what they add up."""
    text = MONTHS.replace("A,L4,1000", "A,L4,10000")
    asked = read(text.encode(), "s.csv", SheetOptions())
    settled = read(text.encode(), "s.csv", SheetOptions(cells={"line 2 column 3": "1000"}))
    assert len(asked.doubts) == 2
    assert settled.doubts == ()
