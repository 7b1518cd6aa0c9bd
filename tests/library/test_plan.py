"""`planner.plan` is the command line from Python: the same plans, faults and files."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest

import planner
from tests.library.conftest import ROOT, SCORING, SHORT

REVIEW = ROOT / "examples" / "capacity-review.csv"
QUICK = {"months": 2, "start": "2026-12", "as_of": "2026-11-21", "effort": "quick"}
QUICK_OPTIONS = ("--months", "2", "--start", "2026-12", "--as-of", "2026-11-21", "--effort", "quick")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("file", ["capacity-review.csv", "finetune.yaml", "request.json", "bill-focus.csv"])
def test_a_file_gives_the_bytes_of_the_command_line(command, tmp_path, file):
    """The whole plan as JSON, with the place of every value that was read; a measured job refers to further files."""
    path = str(ROOT / "examples" / file)
    code, _ = command("estimate", *QUICK_OPTIONS, "--strategies", "cloud", path, "-o", "cli.json")
    assert code == 0
    planner.plan(path, strategies=["cloud"], **QUICK).to_json(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "cli.json").read_bytes()


def test_a_mapping_a_model_and_a_file_are_one_request(command, tmp_path):
    request = {**SHORT, "workloads": [SCORING]}
    (tmp_path / "job.json").write_text(json.dumps(request))
    command("estimate", "job.json", "-o", "plan.json")
    answers = [
        planner.plan(request),
        planner.plan(SCORING, **SHORT),
        planner.plan([SCORING], **SHORT),
        planner.plan(planner.Request.model_validate(request)),
        planner.plan({**SHORT, "workloads": (planner.Workload.model_validate(SCORING),)}),
        planner.load(tmp_path / "plan.json"),
    ]
    assert len({each.plan_id for each in answers}) == 1
    assert len({each.content_digest for each in answers}) == 1


def test_a_service_gives_the_same_plan(client):
    request = {**SHORT, "workloads": [SCORING]}
    served = client.post("/v1/plans", json=request, headers={"Prefer": "wait=60"}).json()
    own = planner.plan(request)
    assert (served["plan_id"], served["content_digest"]) == (own.plan_id, own.content_digest)


def test_settings_go_before_the_request_and_none_is_not_given():
    request = {**SHORT, "workloads": [SCORING], "assumptions": {"discount_rate_annual": 0.05, "pue": 1.5}}
    plan = planner.plan(request, months=1, currency=None, assumptions={"pue": 1.2}).plan
    stated = {each.name: each.value for each in plan.assumptions if each.overridden}
    assert (plan.months, plan.currency, stated) == (1, "USD", {"discount_rate_annual": 0.05, "pue": 1.2})


def test_every_fault_is_named_with_its_place():
    with pytest.raises(planner.InvalidRequest) as raised:
        planner.plan({"workloads": [{"name": "a"}, SCORING]}, months=0, mnths=3, providers=["awz"])
    problems = {each.place: each for each in raised.value.complaints}
    assert set(problems) == {"workloads[0].demand", "months=", "mnths=", "providers="}
    assert problems["mnths="].expected == "months"
    assert "aws" in problems["providers="].expected
    assert raised.value.faults == raised.value.complaints
    assert all(each.place in str(raised.value) for each in raised.value.complaints)


@pytest.mark.parametrize(
    ("request_", "settings", "place"),
    [
        (3, {}, "request"),
        ("missing.xlsx", {}, "missing.xlsx"),
        ([], {}, "workloads"),
        (SCORING, {"answers": "missing.yaml"}, "answers=missing.yaml"),
        (SCORING, {"sheets": ["Plan"]}, "sheets="),
        (SCORING, {"growth": 0.1}, "growth="),
        (SCORING, {"columns": {"Team": "teem"}}, "columns= Team=teem"),
        (SCORING, {"as_of": 20261121}, "as_of="),
    ],
)
def test_what_is_no_request_is_a_fault(request_, settings, place):
    with pytest.raises(planner.InvalidRequest) as raised:
        planner.plan(request_, **settings)
    assert place in [each.place for each in raised.value.complaints]


def test_a_mapping_that_holds_itself_is_a_fault():
    request = {"workloads": []}
    request["workloads"].append(request)
    with pytest.raises(planner.InvalidRequest, match="nested too deep"):
        planner.plan(request)


def test_a_plan_that_cannot_exist_is_a_result_with_reasons():
    impossible = {**SCORING, "memory_gib_per_accelerator": 300}
    result = planner.plan(impossible, **SHORT)
    assert (result.status, result.recommended) == ("infeasible", None)
    assert result.plan.reasons
    assert result.rows("cash") == []
    assert "infeasible" in repr(result)
    assert "Cash by month" not in result._repr_html_()


def test_the_changes_since_an_earlier_plan_are_a_table():
    before = planner.plan(SCORING, **SHORT)
    double = {**SCORING, "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}}
    after = planner.plan(double, compare_to=before, **SHORT)
    assert before.rows("changes") == []
    assert after.rows("changes")
    assert {row["subject"] for row in after.rows("changes")} >= {"scoring"}


def test_what_the_result_prints_is_the_first_screen(command, tmp_path):
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "workloads": [SCORING]}))
    _, printed = command("estimate", "job.json")
    first = str(planner.plan({**SHORT, "workloads": [SCORING]})).splitlines()
    assert first == printed.decode().splitlines()


def test_reports_are_those_of_the_command_line(command, tmp_path):
    (tmp_path / "job.json").write_text(json.dumps({**SHORT, "workloads": [SCORING]}))
    outputs = ("cli.json", "cli.html", "cli.xlsx", "cli.focus.csv", "cli/")
    command("estimate", "job.json", *(each for output in outputs for each in ("-o", output)))
    result = planner.load("cli.json")
    written = [result.to_html("own.html"), result.to_excel("own.xlsx"), result.write("own.focus.csv")]
    result.to_terraform("own")
    for path in written:
        assert path.read_bytes() == path.with_name(path.name.replace("own", "cli")).read_bytes()
    files = [path.relative_to(tmp_path / "cli") for path in (tmp_path / "cli").rglob("*") if path.is_file()]
    assert files
    assert all((tmp_path / "own" / name).read_bytes() == (tmp_path / "cli" / name).read_bytes() for name in files)


def test_outputs_that_cannot_be_written_are_faults(tmp_path):
    result = planner.plan(SCORING, **SHORT)
    with pytest.raises(planner.InvalidRequest, match="no known suffix"):
        result.write("plan.pptx")
    (tmp_path / "file").write_text("in the way\n")
    with pytest.raises(planner.InvalidRequest, match="cannot be written"):
        result.to_json(tmp_path / "file" / "plan.json")
    (tmp_path / "main.tf").write_text("# of another plan\n")
    with pytest.raises(planner.InvalidRequest, match="Terraform files of another plan"):
        result.to_terraform(tmp_path)
    with pytest.raises(planner.InvalidRequest, match="cannot be read"):
        planner.load(tmp_path / "none.json")
    with pytest.raises(planner.InvalidRequest):
        planner.load(tmp_path / "main.tf")


def test_cash_adds_up_to_the_cost_of_each_strategy():
    result = planner.plan(SCORING, **{**SHORT, "strategies": ["cloud", "onprem", "hybrid"]})
    for strategy in result.plan.strategies:
        paid = [row["amount"] for row in result.rows("cash") if row["strategy"] == strategy.name]
        assert math.isclose(math.fsum(paid), strategy.total_cost, rel_tol=1e-9, abs_tol=1e-6)


@pytest.mark.slow
def test_prices_to_ask_for_are_confirmed_as_by_negotiate():
    job = {"name": "train", "demand": {"accelerator_hours_per_month": 5840, "accelerator": "H100"}}
    settings = {"months": 36, "start": "2026-12", "as_of": "2026-11-21", "effort": "quick"}
    plain, confirmed = planner.plan(job, **settings), planner.plan(job, confirm_prices=True, **settings)
    assert {row["basis"] for row in plain.rows("negotiation")} != {"planned_again"}
    assert "planned_again" in {row["basis"] for row in confirmed.rows("negotiation")}


def test_importing_the_package_loads_no_heavy_library():
    code = "import planner, sys; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"pandas", "numpy", "pydantic", "highspy", "duckdb", "click", "pyarrow"} & set(loaded.stdout.split())


def test_the_fragment_of_a_notebook_stands_alone():
    html = planner.plan(SCORING, **SHORT)._repr_html_()
    assert html.startswith('<div class="gpu-planner">')
    assert html.rstrip().endswith("</div>")
    assert "<svg" in html
    assert "<script" not in html
    style = html.partition("<style>")[2].partition("</style>")[0]
    selectors = [each for line in style.splitlines() if "{" in line for each in line.partition("{")[0].split(",")]
    assert selectors
    assert all(each.strip().startswith(".gpu-planner ") for each in selectors)
