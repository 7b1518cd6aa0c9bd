"""The sheets Break-even, Offers considered, As read and Sources: what stands in their cells, added up by hand."""

from __future__ import annotations

import dataclasses
import io
import re
from collections import Counter
from datetime import date

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from planner.reports._content.evidence import offer_counts_text
from planner.reports._content.plan_charts import pair_to_draw
from planner.reports.xlsx import alternatives_sheet, break_even_sheet, list_sheets, sources_sheet
from planner.reports.xlsx.alternatives_sheet import purchase_options_text
from planner.reports.xlsx.workbook import PlanWorkbook
from planner.result import BreakEven, InputReading, RefusedRow
from planner.result.alternatives import OfferOutcome, RefusalCount
from planner.result.message import Message


def cells(plan, write, sheet=""):
    """The sheet that `write` makes, alone: its stored values as a program that does not compute reads them."""
    book = PlanWorkbook(plan.as_of)
    write(book, plan)
    data = book.to_bytes()
    name = sheet or openpyxl.load_workbook(io.BytesIO(data)).sheetnames[0]
    return CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name(name).to_python(), data


def sources(book, plan):
    sources_sheet.write(book.sheet("Sources"), plan)


PAIR = BreakEven(
    "box", "aws x", 3, 0.5, 2.0, 4.0, capital=1000.0, own_per_month=100.0, rent_per_month=600.0, life_months=4,
    resale=50.0,
)  # fmt: skip
"""Owned: 1,000, 1,100, 1,200 ...; rented: 0, 600, 1,200 ...: the lines cross after 1,000 / (600 - 100) = 2 months."""


def drawn_of(plan, *pairs):
    return dataclasses.replace(plan, break_even=pairs)


def test_the_cumulative_costs_by_hand(small_plan):
    values, _ = cells(drawn_of(small_plan, PAIR), break_even_sheet.write)
    start = next(index for index, row in enumerate(values) if "owning less renting" in row)
    table = [row[2:6] for row in values[start + 1 : start + 6]]
    assert table == [
        [0.0, 1000.0, 0.0, 1000.0],
        [1.0, 1100.0, 600.0, 500.0],
        [2.0, 1200.0, 1200.0, 0.0],
        [3.0, 1300.0, 1800.0, -500.0],
        [4.0, 1400.0, 2400.0, -1000.0],
    ]
    assert values[start + 6][2:5] == [2.0, 1200.0, "where the lines cross: month and cost"]


def test_the_cost_of_a_used_hour_by_hand(small_plan):
    """2.00 at full use, so 20.00 at a tenth and 4.00 at a half, where renting costs 4.00 as well."""
    values, _ = cells(drawn_of(small_plan, PAIR), break_even_sheet.write)
    start = next(index for index, row in enumerate(values) if "share of hours used" in row)
    table = {row[7]: row[8:10] for row in values[start + 1 : start + 20]}
    assert table[0.1] == [20.0, 4.0]
    assert table[0.5] == [4.0, 4.0]
    assert table[1.0] == [2.0, 4.0]
    assert values[start + 20][7:9] == [0.5, 4.0]


def test_each_month_follows_from_its_number_and_the_list(small_plan):
    _, data = cells(drawn_of(small_plan, PAIR), break_even_sheet.write)
    sheet = openpyxl.load_workbook(io.BytesIO(data))["Break-even"]
    formulas = {c.coordinate: c.value for row in sheet.iter_rows() for c in row if c.data_type == "f"}
    months = [text for text in formulas.values() if re.fullmatch(r"=\$G\$5\+C\d+\*\$H\$5", text)]
    assert len(months) == 5
    assert [text for text in formulas.values() if text == "=$G$5/($I$5-$H$5)"]
    assert len(sheet._charts) == 2


def test_a_pair_that_never_breaks_even_says_so(small_plan):
    dear = dataclasses.replace(PAIR, month=None, utilisation=1.25, own_cost_per_accelerator_hour=5.0, capital=9000.0)
    values, data = cells(drawn_of(small_plan, dear), break_even_sheet.write)
    texts = {cell for row in values for cell in row if isinstance(cell, str)}
    assert {"The lines do not cross within its life.", "Not even full use makes owning cheaper."} <= texts
    charts = openpyxl.load_workbook(io.BytesIO(data))["Break-even"]._charts
    assert [len(chart.series) for chart in charts] == [2, 2]  # no point where they cross


def test_the_system_that_is_bought_is_drawn(long_plan):
    other = dataclasses.replace(PAIR, system="DGX H200", rented="aws y")
    assert pair_to_draw(drawn_of(long_plan, PAIR, other)) == other  # hybrid buys one, and is recommended
    assert pair_to_draw(drawn_of(long_plan, PAIR)) == PAIR


def test_an_old_plan_without_months_has_the_list_alone(small_plan):
    values, data = cells(small_plan, break_even_sheet.write)
    assert [row[0] for row in values[4:6]] == ["DGX H100", "DGX A100"]
    assert not openpyxl.load_workbook(io.BytesIO(data))["Break-even"]._charts


def offer(name, options, outcome, against=None, refused="", **more):
    fields = {"provider": "aws", "accelerator": "H100", "accelerators_per_node": 8.0, "serves": 1, "regions": 2,
              "price_per_hour": 40.0, "region": "us-east-1", "as_of": date(2026, 8, 1), "source_id": "P1"}  # fmt: skip
    return OfferOutcome(
        name=name, purchase_options=options, outcome=outcome, against_chosen=against, best_for="embedding",
        refusals=(RefusalCount(Message("by_hand", {}, refused), 2),) if refused else (), **(fields | more),
    )  # fmt: skip


@pytest.fixture
def offered(small_plan):
    return dataclasses.replace(
        small_plan,
        considered=(
            offer("g5.xlarge", "on_demand spot", "refused", refused="less than 80 GiB", serves=0),
            offer("p4d.24xlarge", "", "refused", refused="no price in any region", price_per_hour=None, as_of=None),
            offer("p4de.24xlarge", "on_demand", "outdone", 1.5),
            offer("p5.48xlarge", "reserved_3y_no_upfront", "not_chosen", 0.8),
            offer("p5.48xlarge", "on_demand", "chosen", 1.0),
            offer("DGX H100", "owned", "not_chosen", 1.2, provider="", region="", source_id="a brochure"),
        ),
    )


def test_offers_stand_chosen_first_then_by_cost_then_refused(offered):
    values, _ = cells(offered, alternatives_sheet.write)
    rows = [(row[0], row[1], row[2], row[5], row[12]) for row in values[4:]]
    assert rows == [
        ("chosen", "aws", "p5.48xlarge", "on demand", 1.0),
        ("compared", "aws", "p5.48xlarge", "reserved 3 years (no upfront)", 0.8),
        ("compared", "own", "DGX H100", "owned", 1.2),
        ("dominated", "aws", "p4de.24xlarge", "on demand", 1.5),
        ("refused", "aws", "g5.xlarge", "on demand", ""),
        ("refused", "aws", "p4d.24xlarge", "", ""),
    ]
    assert values[4][14] == "cloud, hybrid: llm training"
    assert values[8][14] == "less than 80 GiB (2); the same for: spot"


def test_offers_are_counted_by_way_of_paying(offered):
    told = "Of 7 offers (an instance type or system with one purchase option) 1 were chosen, 3 compared and 3 refused."
    assert offer_counts_text(offered) == told  # g5.xlarge counts twice, what has no price once


def test_a_plan_that_does_not_tell_has_no_such_sheet(small_plan):
    book = PlanWorkbook(small_plan.as_of)
    alternatives_sheet.write(book, small_plan)
    book.sheet("other")
    assert openpyxl.load_workbook(io.BytesIO(book.to_bytes())).sheetnames == ["other"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["on_demand"], "on demand"),
        (["owned"], "owned"),
        (["committed_use_1y", "committed_use_3y"], "committed use 1 year, committed use 3 years"),
        (
            ["reserved_1y_no_upfront", "reserved_1y_partial_upfront", "reserved_1y_convertible_all_upfront"],
            "reserved 1 year (no, partial upfront), reserved convertible 1 year (all upfront)",
        ),
    ],
)
def test_ways_of_paying_in_words(names, words):
    assert purchase_options_text(names) == words


READINGS = (
    InputReading("workloads[0].name", "Plan!B5", "llm", "llm"),
    InputReading("workloads[1].name", "Plan!B6", "emb", "emb"),
    InputReading("workloads[0].gang", "Plan!AA5", "16", "16"),
    InputReading("months", "Plan!C1", "three", "3"),
)


def test_every_reading_stands_with_its_cell_and_its_workload(small_plan):
    plan = dataclasses.replace(small_plan, inputs=dataclasses.replace(small_plan.inputs, readings=READINGS))
    values, _ = cells(plan, list_sheets.write, "As read")
    assert values[4:] == [
        ["llm training", "name", "Plan!B5", "llm", "llm"],
        ["embedding", "name", "Plan!B6", "emb", "emb"],
        ["llm training", "gang", "Plan!AA5", "16", "16"],
        ["", "months", "Plan!C1", "three", "3"],
    ]


def test_sources_tell_columns_refused_rows_and_dates(small_plan):
    refused = (RefusedRow("Plan!A7", "Total", "total"), RefusedRow("Plan!A9", "", "blank"))
    inputs = dataclasses.replace(small_plan.inputs, readings=READINGS, rows_refused=refused)
    values, _ = cells(dataclasses.replace(small_plan, inputs=inputs), sources)
    by_first = {row[0]: row for row in values if isinstance(row[0], str) and row[0]}
    # columns in the order of the sheet: B before C before AA
    order = [row[0] for row in values if str(row[0]).startswith("Plan!")]
    assert order == ["Plan!B", "Plan!C", "Plan!AA"]
    assert (by_first["Plan!B"][1], by_first["Plan!B"][5]) == (2.0, "name")
    assert [row[1] for row in values if row[6] in ("total", "blank")] == ["Plan!A7", "Plan!A9"]
    # three prices of one source, from 2026-08-01 to 2026-11-01
    assert by_first["P1"][1:5] == [3.0, "", date(2026, 8, 1), date(2026, 11, 1)]
    bases = Counter({row[0]: row[1] for row in values if row[0] in ("measured", "predicted same architecture")})
    assert bases == {"measured": 1.0, "predicted same architecture": 1.0}


def test_text_from_outside_stays_text_on_these_sheets(hostile_plan):
    nasty = "=cmd|'/c calc'!A0"
    plan = dataclasses.replace(
        hostile_plan,
        break_even=(dataclasses.replace(PAIR, system=nasty, rented=nasty),),
        considered=(dataclasses.replace(offer(nasty, "owned", "refused", refused=nasty), best_for=nasty),),
    )
    for write in (break_even_sheet.write, alternatives_sheet.write, list_sheets.write, sources):
        _, data = cells(plan, write)
        for sheet in openpyxl.load_workbook(io.BytesIO(data)):
            formulas = [cell.value for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
            assert not [text for text in formulas if "cmd" in text]
