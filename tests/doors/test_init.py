"""`planner init`: six answers, by options or typed on a terminal, become a request that is planned as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.cli._request_answers import AcceleratorWork, AllowedPlaces, WorkLimit
from planner.cli._request_writing import request_text
from planner.cli.init import QUESTIONS
from planner.request.calendar import name_month
from planner.request.models import Workload
from pricing.clock import today

EXAMPLES = Path(__file__).parents[2] / "examples"
JOB = ("--name", "finetune", "--work", "8 H100", "--demand", "200")
COMMENTED = re.compile(r"^( *)# ([a-z_]+: .*)$", re.MULTILINE)


def read(text: str) -> tuple[dict, dict]:
    """The request and its only workload."""
    document = yaml.safe_load(text)
    (workload,) = document["workloads"]
    return document, workload


def test_there_are_six_questions():
    assert [each.option for each in QUESTIONS] == ["name", "work", "demand", "months", "where", "limit"]


def test_options_make_a_request_that_is_planned_unchanged(planner, tmp_path):
    ran = planner("init", *JOB, "--months", "6", "--where", "EU, aws", "--limit", "20,000 USD")
    assert (ran.code, ran.err) == (0, "wrote finetune.yaml\nnext: planner estimate finetune.yaml\n")
    document, workload = read((tmp_path / "finetune.yaml").read_text())
    assert document["months"] == 6
    assert workload["demand"] == {"accelerator_hours_per_month": 1600, "accelerator": "H100"}  # 8 x 200
    assert workload["gang"] == 8
    assert (workload["residency"], workload["providers"]) == (["EU"], ["aws"])
    assert (workload["budget_per_month"], document["currency"]) == (20_000, "USD")
    planned = planner("estimate", "finetune.yaml")
    assert planned.code == 0, planned.err
    assert planned.out.startswith("Recommendation")
    assert len(planned.out.splitlines()) <= 60


@pytest.mark.slow
def test_a_served_model(planner):
    made = planner("init", "--work", "Llama-3-70b", "--demand", "1314000, 900, 300", "-o", "-")
    assert made.code == 0, made.err
    _, workload = read(made.out)
    assert workload["network"]["model"] == "llama-3-70b"
    assert workload["demand"]["requests_per_second"] == pytest.approx(0.5, rel=1e-9)  # 1,314,000 / (730 x 3,600)
    assert (workload["serving"]["input_tokens"], workload["serving"]["output_tokens"]) == (900, 300)
    planned = planner("estimate", "-", stdin=made.data)
    assert planned.code == 0, planned.err


def test_work_that_is_done_by_a_month(planner):
    by = name_month(f"{today():%Y-%m}", 6)
    made = planner("init", *JOB, "--limit", by, "-o", "-")
    assert made.code == 0, made.err
    _, workload = read(made.out)
    assert workload["demand"] == {"total_units": 19_200, "deadline_month": by}  # 8 x 200 hours x 12 months
    assert workload["measurements"][0] == {
        "accelerator": "H100", "count": 8, "units_per_hour": 8, "per": "job", "scaling": "strong",
    }  # fmt: skip
    planned = planner("estimate", "-", stdin=made.data)
    assert planned.code == 0, planned.err


@pytest.mark.parametrize("more", [(), ("--work", "llama-3-8b", "--demand", "1000000,900,300")])
def test_every_commented_field_is_valid_without_its_mark(planner, more):
    made = planner("init", *JOB, *more, "-o", "-")
    assert made.code == 0, made.err
    commented = [name.partition(":")[0] for _, name in COMMENTED.findall(made.out)]
    assert len(commented) >= 3
    assert set(commented) <= Workload.model_fields.keys()
    ran = planner("estimate", "--explain-input", "-", stdin=COMMENTED.sub(r"\1\2", made.out).encode())
    assert ran.code == 0, ran.out + ran.err


def test_all_that_is_missing_is_told_at_once(planner, tmp_path):
    ran = planner("init")
    assert ran.code == 2
    assert re.findall(r"--(\w+): missing", ran.err) == ["work", "demand"]
    assert "no files were written" in ran.err
    assert not list(tmp_path.glob("*.yaml"))


def test_all_that_cannot_be_used_is_told_at_once_with_the_nearest(planner):
    ran = planner(
        "init", "--name", "a/b", "--work", "8 H10O", "--demand", "731", "--months", "0", "--where", "germny",
        "--limit", "much",
    )  # fmt: skip
    assert ran.code == 2
    told = dict(re.findall(r"^  --(\w+): (.*)$", ran.err, re.MULTILINE))
    assert list(told) == [each.option for each in QUESTIONS]
    assert "H100" in told["work"]
    assert "730" in told["demand"]
    assert "20000, 2027-03" in told["limit"]


@pytest.mark.parametrize(
    ("work", "nearest"), [("llama-3-70", "llama-3-70b"), ("4 A1000", "A100"), ("MI30OX", "MI300X")]
)
def test_an_unknown_accelerator_or_model_is_answered_with_the_nearest(planner, work, nearest):
    ran = planner("init", "--work", work, "--demand", "200")
    assert ran.code == 2
    assert nearest in ran.err.partition("expected")[2]


@pytest.mark.parametrize("written", ["8 H100", "8x H100", "8 x H100", "H100 x 8", "H100 x8"])
def test_accelerators_are_counted_as_people_write_them(planner, written):
    _, workload = read(planner("init", "--work", written, "--demand", "10", "-o", "-").out)
    assert (workload["gang"], workload["demand"]["accelerator"]) == (8, "H100")


def test_an_accelerator_whose_name_begins_with_a_number_is_none_of_so_many(planner):
    _, workload = read(planner("init", "--work", "H100", "--demand", "10", "-o", "-").out)
    assert workload["gang"] == 1


def test_a_file_is_not_overwritten_unless_that_is_said(planner, tmp_path):
    (tmp_path / "finetune.yaml").write_text("mine")
    ran = planner("init", *JOB)
    assert ran.code == 2
    assert "--force" in ran.err
    assert (tmp_path / "finetune.yaml").read_text() == "mine"
    assert planner("init", *JOB, "--force").code == 0


def test_names_of_any_script_and_quotes(planner, tmp_path):
    name = "Prüfung: \N{CJK UNIFIED IDEOGRAPH-6A21}"
    refused = planner("init", "--name", name, "--work", "1 L4", "--demand", "10")
    assert refused.code == 2  # a colon names no file on Windows
    ran = planner("init", "--name", "Prüfung für 'Ä' #1", "--work", "1 L4", "--demand", "10")
    assert ran.code == 0
    (made,) = tmp_path.glob("*.yaml")
    assert made.name == "Prüfung für 'Ä' #1.yaml"
    assert read(made.read_text(encoding="utf-8"))[1]["name"] == "Prüfung für 'Ä' #1"
    assert f'"{made.name}"' in ran.err


def test_a_terminal_asks_and_asks_again(terminal, tmp_path):
    typed = "my job\n8 H10O\n8 H100\n200\n\nEU\n20000\n"
    code, shown = terminal("init", typed=typed, cwd=tmp_path)
    assert code == 0, shown
    asked = [shown.index(each.text) for each in QUESTIONS]
    assert asked == sorted(asked)
    assert QUESTIONS[2].of_model not in shown
    assert shown.count(QUESTIONS[1].text) == 2
    assert "expected one like H100" in shown
    document, workload = read((tmp_path / "my job.yaml").read_text())
    assert document["months"] == 12
    assert workload["name"] == "my job"
    assert (workload["gang"], workload["residency"], workload["budget_per_month"]) == (8, ["EU"], 20_000)


def test_a_terminal_asks_only_what_no_option_says(terminal, tmp_path):
    arguments = [part for each in QUESTIONS for part in (f"--{each.option}", each.default or "8 H100")]
    arguments[arguments.index("--demand") + 1] = "10"
    code, shown = terminal("init", *arguments, cwd=tmp_path)
    assert (code, shown) == (0, "wrote my-job.yaml\nnext: planner estimate my-job.yaml\n")


@pytest.mark.parametrize("job", ["finetune.yaml", "request.json", "sweep.yaml"])
def test_the_report_of_one_job_is_one_screen(planner, job):
    ran = planner("estimate", "--start", "2026-12", "--as-of", "2026-11-21", str(EXAMPLES / job))
    assert ran.code == 0, ran.err
    assert len(ran.out.splitlines()) <= 60


def test_of_a_model_other_amounts_are_asked(terminal, tmp_path):
    typed = "chat\nllama-3-8b\n1000000, 900, 300\n\n\n\n"
    code, shown = terminal("init", typed=typed, cwd=tmp_path)
    assert code == 0, shown
    assert QUESTIONS[2].of_model in shown
    assert QUESTIONS[2].text not in shown
    assert read((tmp_path / "chat.yaml").read_text())[1]["serving"]["output_tokens"] == 300


@given(
    count=st.integers(1, 100_000),
    hours=st.integers(1, 730),
    budget=st.decimals(1, 10**9, places=2).map(str),
    months=st.integers(1, 120),
)
def test_every_amount_arrives_as_it_was_answered(count, hours, budget, months):
    work, limit = AcceleratorWork("H100", count), WorkLimit(budget_per_month=float(budget))
    answers = {"name": "a", "work": work, "demand": (float(hours),), "months": months, "limit": limit}
    document, workload = read(request_text({**answers, "where": AllowedPlaces()}, "a.yaml"))
    assert document["months"] == months
    assert workload["demand"]["accelerator_hours_per_month"] == count * hours
    assert workload["budget_per_month"] == float(budget)
    by = {**answers, "limit": WorkLimit(deadline_month="2027-03"), "where": AllowedPlaces()}
    assert read(request_text(by, "a.yaml"))[1]["demand"]["total_units"] == count * hours * months
