"""Doubts about a file: what stops planning, and how it is answered, by the command and by the service."""

from __future__ import annotations

import json
from dataclasses import fields

import click
import httpx
import pytest
import yaml

from planner.application import BillForecastOptions
from planner.cli._input_explanation import FileReadingOptions
from planner.cli._plan_options import BILL_OPTIONS, READING_OPTIONS, with_options
from tests.intake.team_sheets import team_sheets

SHEETS = {sheet.name: sheet for sheet in team_sheets()}
TEAMS = SHEETS["17_en_team_sheets"].workbook()
IDENTITY = "tables: Search, Ads"
QUICK = ("--as-of", "2026-11-21", "--months", "1", "--strategies", "cloud", "--effort", "quick")


@pytest.fixture(autouse=True)
def _write_teams(tmp_path):
    (tmp_path / "teams.xlsx").write_bytes(TEAMS)


def test_a_doubt_stops_planning_and_its_answers_file_is_written(planner, tmp_path):
    ran = planner("estimate", *QUICK, "teams.xlsx", "--save-answers", "answers.yaml")
    assert ran.code == 2
    assert "Search, Ads name the same workloads: versions of one plan, or separate work?" in ran.err
    assert "expected Search or Ads or all; proposed all; it changes the demand" in ran.err
    assert "--accept-proposals" in ran.err
    assert yaml.safe_load((tmp_path / "answers.yaml").read_text()) == {"answers": {IDENTITY: "all"}}
    assert planner("estimate", *QUICK, "teams.xlsx", "--answers", "answers.yaml").code == 0


@pytest.mark.slow
def test_proposals_are_accepted_and_listed(planner):
    ran = planner("estimate", *QUICK, "teams.xlsx", "--accept-proposals", "--full")
    assert ran.code == 0
    assert "Read as all, the proposal" in " ".join(ran.out.split())
    assert "Training (Ads)" in ran.out


def test_an_answer_is_another_reading(planner, tmp_path):
    (tmp_path / "answers.yaml").write_text(f'answers:\n  "{IDENTITY}": Ads\n')
    ran = planner("estimate", "--explain-input", "teams.xlsx", "--answers", "answers.yaml")
    assert ran.code == 0
    assert "Rows: 4 in = 2 used + 2 left out" in ran.out
    assert "Ads!A2 Training: accelerator_hours_per_month 1,200" in " ".join(ran.out.split())
    assert "another version of workloads that are planned from Ads" in ran.out


@pytest.mark.slow
def test_a_wrong_answer_and_an_unknown_sheet_are_problems(planner, tmp_path):
    (tmp_path / "answers.yaml").write_text(f'answers:\n  "{IDENTITY}": Sales\nsheets: [Serch]\n')
    ran = planner("estimate", *QUICK, "teams.xlsx", "--answers", "answers.yaml")
    assert ran.code == 2
    assert "sheet 'Serch': no sheet has this name; read Serch; expected one of Search" in ran.err
    (tmp_path / "answers.yaml").write_text(f'answers:\n  "{IDENTITY}": Sales\n')
    ran = planner("estimate", *QUICK, "teams.xlsx", "--answers", "answers.yaml")
    assert f"answer '{IDENTITY}': not a choice; read Sales; expected one of Search, Ads, all" in ran.err


@pytest.mark.slow
def test_one_sheet_is_read(planner):
    ran = planner("estimate", "--explain-input", "teams.xlsx", "--sheet", "Search")
    assert ran.code == 0
    assert "Rows: 2 in = 2 used + 0 left out" in ran.out
    assert "the sheet Ads was not chosen and not read" in ran.out


def test_a_cell_is_answered_without_an_edit(planner, tmp_path):
    (tmp_path / "bad.csv").write_text("Workload,GPU,GPU-hours / month\nA,L4,lots\n")
    (tmp_path / "answers.yaml").write_text("cells:\n  line 2 column 3: 500\n")
    ran = planner("estimate", "--explain-input", "bad.csv", "--answers", "answers.yaml")
    assert ran.code == 0
    assert "accelerator_hours_per_month 500" in ran.out
    assert "line 2 column 3: '500', edited by hand; the file said 'lots'" in ran.out


def test_questions_are_asked_on_the_terminal(planner):
    ran = planner("estimate", "--explain-input", "teams.xlsx", "--ask", stdin=b"Search\n")
    assert ran.code == 0
    assert "Rows: 4 in = 2 used + 2 left out" in ran.out


def test_the_plan_starts_with_the_file(planner, tmp_path):
    (tmp_path / "months.csv").write_text("Workload,GPU,Unit,2027-03,2027-04\nA,L4,GPU-hours,100,200\n")
    ran = planner("estimate", "--as-of", "2026-11-21", "--strategies", "cloud", "--effort", "quick", "months.csv")
    assert ran.code == 0
    assert "Months 2027-03 to 2027-04 (2)" in ran.out


def _post_teams(client: httpx.Client, query: str, **more: tuple[str, bytes]) -> httpx.Response:
    settings = "as_of=2026-11-21&months=1&strategies=cloud&effort=quick"
    return client.post(f"/plan?{settings}{query}", files={"file": ("teams.xlsx", TEAMS), **more})


def test_the_service_asks_the_same_and_takes_its_own_answers(client):
    asked = _post_teams(client, "")
    problem = asked.json()
    assert asked.status_code == 422
    assert [(each["id"], each["proposed"], each["choices"]) for each in problem["questions"]] == [
        (IDENTITY, "all", ["Search", "Ads", "all"])
    ]
    assert [each["path"] for each in problem["errors"]] == ["Search!A1"]
    answered = _post_teams(client, "", answers=("answers.yaml", problem["answers"].encode()))
    assert answered.status_code == 200
    assert answered.content == _post_teams(client, f"&answer={IDENTITY}=all").content
    assert _post_teams(client, "&accept_proposals=true").status_code == 200
    assert len(_post_teams(client, "&sheet=Ads").json()["workloads"]) == 2


@pytest.mark.slow
def test_negotiate_takes_the_same_answers(planner):
    asked = planner("negotiate", *QUICK, "teams.xlsx", "--save-answers", "answers.yaml")
    assert asked.code == 2
    assert "name the same workloads" in asked.err
    answered = planner("negotiate", *QUICK, "teams.xlsx", "--answers", "answers.yaml")
    accepted = planner("negotiate", *QUICK, "teams.xlsx", "--accept-proposals")
    chosen = planner("negotiate", *QUICK, "teams.xlsx", "--sheet", "Ads")
    assert (answered.code, accepted.code, chosen.code) == (0, 0, 0)
    assert answered.out == accepted.out
    assert chosen.out != accepted.out


@pytest.mark.slow
def test_terraform_of_a_sheet_takes_them_too(planner, tmp_path):
    assert planner("terraform", "teams.xlsx", "-o", "infra").code == 2
    assert planner("terraform", "teams.xlsx", "--accept-proposals", "-o", "infra").code == 0
    assert (tmp_path / "infra" / "README.md").exists()
    planner("estimate", *QUICK, "teams.xlsx", "--accept-proposals", "-o", "plan.json")
    refused = planner("terraform", "plan.json", "--sheet", "Ads", "--accept-proposals", "-o", "more")
    assert refused.code == 2
    assert "--sheet: plan.json is a plan, not a sheet" in refused.err
    assert "--accept-proposals: plan.json is a plan, not a sheet" in refused.err


def test_there_is_one_list_of_reading_options():
    """What the commands offer is what a file is read with."""
    for options, read_with in ((READING_OPTIONS, FileReadingOptions), (BILL_OPTIONS, BillForecastOptions)):
        assert {option.name for option in _list_options(options)} == {each.name for each in fields(read_with)}


def _list_options(options):
    @with_options(options)
    def nothing() -> None: ...

    return click.command()(nothing).params


def test_fiscal_quarters_of_a_sheet_by_an_option_and_in_the_query(planner, client, tmp_path):
    """Q4 FY26/27 from April is January to March 2027, 100 hours each."""
    data = b"Workload;GPU;Unit;Q4 FY26/27\nA;H100;GPU-hours;300\n"
    (tmp_path / "fiscal.csv").write_bytes(data)
    asked = planner("estimate", *QUICK, "--explain-input", "fiscal.csv")
    assert asked.code == 2
    assert "in which month does the fiscal year 26 start?" in asked.out
    settings = ("--as-of", "2026-11-21", "--strategies", "cloud", "--effort", "quick", "--fiscal-year-starts", "4")
    ran = planner("estimate", *settings, "fiscal.csv", "-o", "plan.json")
    assert ran.code == 0, ran.err
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["month_names"] == ["2027-01", "2027-02", "2027-03"]
    (quarter,) = plan["views"]["fiscal_quarters"]
    assert (quarter["fiscal_year"], quarter["quarter"]) == ("FY26/27", 4)
    assert "Fiscal years from April: FY26/27" in ran.out
    query = {"as_of": "2026-11-21", "strategies": "cloud", "effort": "quick", "fiscal_year_starts": "4"}
    answer = client.post("/plan", params=query, files={"file": ("fiscal.csv", data)})
    assert answer.status_code == 200, answer.text
    assert answer.json()["views"] == plan["views"]
    wrong = planner("estimate", "--fiscal-year-starts", "13", "fiscal.csv")
    assert wrong.code == 2
    assert "--fiscal-year-starts" in wrong.err
