"""`planner check` and `--format github`: every problem of every file, and annotations for GitHub."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cli._github_annotations import annotate_problem, format_annotation
from planner.request.errors import InputProblem

BAD_SHEET = "Workload,GPU,GPU hours per month\ntrain,H100,1500\nother,L4,lots\n"
BAD_REQUEST = "name: batch\ndemand:\n  accelerator_hours_per_month: many\n  accelerator: L4\ngagn: 8\n"


def test_files_that_can_be_planned_are_named_and_nothing_is_planned(planner, job, repository, written):
    before = written()
    ran = planner("check", str(job), str(repository / "examples/capacity-review.xlsx"))
    assert (ran.code, ran.err) == (0, "")
    assert [line.rpartition(": ")[2] for line in ran.out.splitlines()] == ["can be planned"] * 2
    assert written() == before


def test_every_problem_of_every_file_is_listed(planner, job, tmp_path):
    (tmp_path / "bad.csv").write_text(BAD_SHEET)
    (tmp_path / "bad.yaml").write_text(BAD_REQUEST)
    ran = planner("check", "bad.csv", "bad.yaml", str(job), "none.yaml")
    assert ran.code == 2
    assert "error: bad.csv: 1 problem\n  line 3 column 3: text instead of a number" in ran.err
    assert "error: bad.yaml: 2 problems\n  line 3 column 32: not valid" in ran.err
    assert "line 5 column 7: unknown field; read gagn; expected gang" in ran.err
    assert "none.yaml: cannot be read" in ran.err
    assert ran.out == f"{job}: can be planned\n"
    assert "::" not in ran.err


def test_options_count_as_for_a_plan(planner, job):
    assert planner("check", "--months", "0", str(job)).code == 2
    assert planner("check", "--providers", "awss", str(job)).code == 2
    assert planner("check", "--months", "3", str(job)).code == 0


@pytest.mark.parametrize("command", ["check", "estimate"])
def test_problems_are_annotations_on_their_lines(command, planner, tmp_path):
    """The column of a sheet is a field, and no character."""
    (tmp_path / "bad.csv").write_text(BAD_SHEET)
    (tmp_path / "bad.yaml").write_text(BAD_REQUEST)
    ran = planner(command, "--format", "github", "bad.csv")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("::error file=bad.csv,line=3,title=gpu-planner::line 3 column 3: text instead of")
    ran = planner(command, "--format", "github", "bad.yaml")
    found = [line for line in ran.err.splitlines() if line.startswith("::")]
    assert found[0].startswith("::error file=bad.yaml,line=3,col=32,title=gpu-planner::")
    assert found[1].startswith("::error file=bad.yaml,line=5,col=7,title=gpu-planner::")
    assert "error: " in ran.err


def test_a_fault_in_a_file_of_an_option_is_on_the_line_of_that_file(planner, job, tmp_path):
    (tmp_path / "assumed.yaml").write_text("pue: 1.2\nelectricity: 0.1\n")
    ran = planner("estimate", "--format", "github", "--assumptions", "assumed.yaml", str(job))
    assert ran.code == 2
    assert "::error file=assumed.yaml,line=2,col=" in ran.err


def test_a_cell_of_a_workbook_has_no_line():
    problem = InputProblem("", "Plan!C5", "text instead of a number")
    assert annotate_problem(problem, "a,b.xlsx") == (
        "::error file=a%2Cb.xlsx,title=gpu-planner::Plan!C5: text instead of a number"
    )


def test_failed_gates_are_annotations(planner, job):
    ran = planner("estimate", "--format", "github", "--fail-over-budget", "1", str(job))
    assert ran.code == 5
    assert ran.err.startswith("::error title=gpu-planner::cloud costs ")
    assert "1 gate failed" in ran.err
    assert ran.out.startswith("*2026-12, 2 months, dated 2026-11-21*\n\n#### Recommendation\n")


@given(st.text())
def test_no_text_ends_an_annotation_or_begins_another(text):
    line = format_annotation(text, {"file": text})
    assert len(line.splitlines()) == 1
    head, _, _ = line.removeprefix("::error ").partition("::")
    properties = head.split(",")
    assert [each.partition("=")[0] for each in properties] == ["file", "title"]


def test_the_open_part_is_the_decision_and_what_changed(planner, job, hours, tmp_path):
    assert planner("estimate", str(job), "-o", "old.json").code == 0
    hours["workloads"][0]["demand"]["accelerator_hours_per_month"] = 2920
    (tmp_path / "more.json").write_text(json.dumps(hours))
    ran = planner(
        "estimate", "more.json", "--compare-to", "old.json", "--format", "github", "-o", "-", "-o", "new.json"
    )
    assert ran.code == 0
    opened = ran.out.partition("<details>")[0]
    assert [line for line in opened.splitlines() if line.startswith("#")] == [
        "#### Recommendation",
        "#### Changes since the last review",
    ]
    assert ran.out.count("<details>") == ran.out.count("</details>") > 5
    old, new = (json.loads((tmp_path / f"{name}.json").read_text())["strategies"][0] for name in ("old", "new"))
    then, now = round(old["total_cost"]), round(new["total_cost"])
    assert now == pytest.approx(2 * then, abs=2)  # twice the hours at the same price
    assert f"| cloud: total cost | {then:,} | {now:,} | +{now - then:,} |" in opened
