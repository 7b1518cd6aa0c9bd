"""Doubts about a file: what stops planning, and how it is answered, by the command and by the service."""

from __future__ import annotations

import httpx
import pytest
import yaml

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


def test_a_wrong_answer_and_an_unknown_sheet_are_problems(planner, tmp_path):
    (tmp_path / "answers.yaml").write_text(f'answers:\n  "{IDENTITY}": Sales\nsheets: [Serch]\n')
    ran = planner("estimate", *QUICK, "teams.xlsx", "--answers", "answers.yaml")
    assert ran.code == 2
    assert "sheet 'Serch': no sheet has this name; read Serch; expected one of Search" in ran.err
    (tmp_path / "answers.yaml").write_text(f'answers:\n  "{IDENTITY}": Sales\n')
    ran = planner("estimate", *QUICK, "teams.xlsx", "--answers", "answers.yaml")
    assert f"answer '{IDENTITY}': not a choice; read Sales; expected one of Search, Ads, all" in ran.err


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
    assert "line 2 column 3: read as '500' by the answers, not 'lots'" in ran.out


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
