"""`planner template`: a workbook that is read back without a complaint once it is filled."""

from __future__ import annotations

import io

import openpyxl
import pytest

from planner.cli._template_workbook import build_workbook, template_columns
from planner.inputs.file_reader import read

FILLED = {
    "Workload": "Ranking",
    "Team": "Search",
    "Kind": "batch",
    "GPU": "L4-24GB",
    "GPU-hours / month": 1460,
    "Interruptible?": "yes",
    "Checkpoint (min)": 10,
    "Storage (GB)": 100,
    "Budget (USD / month)": 5000,
    "Growth / month": 0.02,
}


def test_what_is_written_is_read_back_once_filled(planner, tmp_path):
    ran = planner("template", "-o", "review.xlsx")
    assert ran.code == 0
    book = openpyxl.load_workbook(tmp_path / "review.xlsx")
    sheet = book["Plan"]
    titles = {cell.value: cell.column for cell in sheet[4]}
    for title, value in FILLED.items():
        sheet.cell(6, titles[title], value)
    book.save(tmp_path / "filled.xlsx")
    found = read((tmp_path / "filled.xlsx").read_bytes(), "filled.xlsx")
    assert found.complaints == ()
    (workload,) = found.document["workloads"]
    assert workload["demand"] == {
        "accelerator_hours_per_month": 1460, "accelerator": "L4-24GB", "growth_per_month": 0.02,
    }  # fmt: skip
    assert (workload["budget_per_month"], workload["storage_gb"], workload["interruptible"]) == (5000, 100, True)
    assert [row.reason for row in found.inputs.rows_refused] == ["example row"]
    assert not [note for note in found.inputs.notes if "is not used" in note]


def test_every_column_is_understood():
    (table,) = read(build_workbook(), "review.xlsx").tables
    assert [column.title for column in table.columns] == [column.title for column in template_columns(())]
    assert all(column.field for column in table.columns)
    assert len({column.field for column in table.columns}) == len(table.columns)


def test_the_example_would_be_a_workload_if_it_were_not_marked():
    book = openpyxl.load_workbook(io.BytesIO(build_workbook()))
    book["Plan"]["A5"] = "Chat model"
    target = io.BytesIO()
    book.save(target)
    found = read(target.getvalue(), "review.xlsx")
    assert found.complaints == ()
    assert found.document["workloads"][0]["demand"]["accelerator_hours_per_month"] == 8 * 200


def test_an_empty_one_says_what_is_missing(planner):
    planner("template", "-o", "review.xlsx")
    ran = planner("estimate", "review.xlsx")
    assert ran.code == 2
    assert "no row beneath the header is a workload" in ran.err


def test_months_lists_and_equal_bytes(planner, tmp_path):
    assert planner("template", "-o", "a.xlsx", "--start", "2027-11", "--months", "3").code == 0
    assert planner("template", "-o", "b.xlsx", "--start", "2027-11", "--months", "3").code == 0
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    (table,) = read((tmp_path / "a.xlsx").read_bytes(), "a.xlsx").tables
    assert [column.field for column in table.columns][-3:] == ["2027-11", "2027-12", "2028-01"]
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["Plan"]
    lists = [rule for rule in sheet.data_validations.dataValidation if rule.type == "list"]
    assert len(lists) == 7  # kind, GPU, traffic, throughput per, interruptible, may be owned, recovery
    assert sheet["A4"].comment.text == "A unique name. Required."


def test_a_file_that_is_there_stays(planner, tmp_path):
    (tmp_path / "review.xlsx").write_bytes(b"mine")
    ran = planner("template", "-o", "review.xlsx")
    assert ran.code == 2
    assert (tmp_path / "review.xlsx").read_bytes() == b"mine"
    assert planner("template", "-o", "review.xlsx", "--force").code == 0
    assert (tmp_path / "review.xlsx").read_bytes() == build_workbook()


@pytest.mark.parametrize("arguments", [("--months", "x"), ("--months", "61"), ("--start", "2027-13")])
def test_wrong_options(planner, written, arguments):
    ran = planner("template", "-o", "review.csv", *arguments)
    assert ran.code == 2
    assert "2 problems" in ran.err
    assert written() == []
