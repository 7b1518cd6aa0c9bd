"""Files that start work on clusters: what each asks for, by hand (`expected.yaml` beside them), or why it is refused.

The files are our own, in the forms of the documentation that the readers name.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.inputs.file_reader import formats, read
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions
from planner.inputs.workload_files.cron_schedule import runs_per_month
from planner.request.models import parse_request
from pricing.catalog.price_catalog import Catalog

FOLDER = Path(__file__).parent / "workload_files"
EXPECTED = {
    f"{folder.name}/{name}": expected
    for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir())
    for name, expected in yaml.safe_load((folder / "expected.yaml").read_text()).items()
}


def read_file(path: str, **answers: str) -> ParsedFile:
    options = SheetOptions(catalog=Catalog.embedded(), answers=answers.get("answers", {}))
    return read((FOLDER / path).read_bytes(), path.rpartition("/")[2], options)


def test_every_file_has_its_expectation() -> None:
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*") if path.name != "expected.yaml"}
    assert files == set(EXPECTED)
    assert all(sum(name.startswith(form) for name in files) >= 20 for form in ("skypilot/", "kubernetes/"))


@pytest.mark.parametrize("path", EXPECTED)
def test_a_file_is_read_or_refused(path: str) -> None:
    expected, parsed = EXPECTED[path], read_file(path)
    assert parsed.inputs.format == path.partition("/")[0]
    if "refused" in expected:
        problems = "\n".join(str(each) for each in parsed.complaints)
        assert all(words in problems for words in expected["refused"]), problems
        return
    assert parsed.complaints == ()
    found = {each["name"]: _flatten(each) for each in parsed.document["workloads"]}
    assert found.keys() == expected["workloads"].keys()
    for name, fields in expected["workloads"].items():
        for field, value in fields.items():
            assert found[name].get(field) == (
                pytest.approx(value, rel=1e-5) if isinstance(value, float | int) else value
            )
    assert {each.id for each in parsed.doubts} == set(expected["questions"])
    assert len(parsed.inputs.rows_refused) == expected.get("left_out", 0)
    assert parsed.inputs.rows_in == parsed.inputs.rows_used + len(parsed.inputs.rows_refused)
    notes = "\n".join(parsed.inputs.notes)
    assert all(words in notes for words in expected.get("notes", ())), notes
    parse_request({"as_of": date(2026, 11, 21), **parsed.document})


@pytest.mark.parametrize("path", [path for path, expected in EXPECTED.items() if "refused" not in expected])
def test_values_have_places_and_nothing_else_is_unused(path: str) -> None:
    expected, parsed = EXPECTED[path], read_file(path)
    for index, workload in enumerate(parsed.document["workloads"]):
        for field in ("name", "demand.accelerator_hours_per_month", "demand.accelerator"):
            assert parsed.places[f"workloads[{index}].{field}"].startswith("line "), workload
    for note in parsed.inputs.notes:
        assert "not used" not in note or any(words in note for words in expected.get("notes", ())), note


def _flatten(workload: dict[str, Any]) -> dict[str, Any]:
    demand = workload["demand"]
    return {**workload, "hours": demand["accelerator_hours_per_month"], "accelerator": demand["accelerator"]}


def answered(path: str, answers: dict[str, str]) -> dict[str, float]:
    parsed = read_file(path, answers=answers)
    assert parsed.complaints == ()
    return {each["name"]: each["demand"]["accelerator_hours_per_month"] for each in parsed.document["workloads"]}


def test_one_answer_is_for_all_jobs_and_one_of_a_job_before_it() -> None:
    path = "skypilot/13-pipeline.yaml"
    assert answered(path, {"hours a month: jobs": "100"}) == {"train": 800, "evaluate": 100}
    own = {"hours a month: jobs": "100", "hours a month: evaluate": "7"}
    assert answered(path, own) == {"train": 800, "evaluate": 7}


def test_runs_and_their_length_are_answered() -> None:
    path = "slurm/01-gres-with-type.sbatch"
    half = {"runs a month: jobs": "3", "hours of the limit: jobs": "half"}
    assert answered(path, half) == {"pretrain": 32 * 24 * 3}
    assert answered(path, {"runs a month: jobs": "2", "hours of the limit: jobs": "10"}) == {"pretrain": 32 * 10 * 2}
    assert answered("slurm/06-range-of-nodes.sbatch", {"nodes": "2"}) == {"06-range-of-nodes": 16 * 36}


def test_replicas_between_bounds_are_answered() -> None:
    path = "kubernetes/02-scaled-from-a-start.yaml"
    assert answered(path, {"replicas: rank": "2.5", "hours a month: services": "400"}) == {"rank": 1000}


def test_pods_of_a_job_may_work_separately() -> None:
    parsed = read_file("kubernetes/06-job-over-nodes.yaml", answers={"pods: pretrain": "separate"})
    (workload,) = parsed.document["workloads"]
    assert (workload["gang"], workload["parallel_jobs"]) == (8, 4)
    assert workload["demand"]["accelerator_hours_per_month"] == 32 * 730


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("kubernetes/18-no-part-named.yaml", "chat"),
        ("slurm/07-no-type.sbatch", "07-no-type"),
        ("kubernetes/24-volcano-queue.yaml", "research"),
    ],
)
def test_an_accelerator_that_is_not_named_is_answered(path: str, name: str) -> None:
    for question in ("accelerator", f"accelerator: {name}"):
        (workload,) = read_file(path, answers={question: "H100 SXM"}).document["workloads"]
        assert workload["demand"]["accelerator"] == "H100-80GB-SXM"
    (problem,) = read_file(path, answers={"accelerator": "Z900"}).complaints
    assert problem.value == "Z900"


def test_answers_are_numbers_above_0_and_asked_for() -> None:
    parsed = read_file("skypilot/01-one-node.yaml", answers={"hours a month: jobs": "often", "season": "dry"})
    assert [(each.place, each.value) for each in parsed.complaints] == [("answer 'hours a month: jobs'", "often")]
    assert "the answer to 'season' is not used: nothing in this file asks it" in parsed.inputs.notes


def test_every_question_stops_planning_until_it_is_answered_or_accepted() -> None:
    for path, expected in EXPECTED.items():
        for doubt in read_file(path).doubts if "refused" not in expected else ():
            assert doubt.stops_planning is not doubt.id.startswith("pods: ")


SAME_JOB = {
    "skypilot": "name: ranking\nresources:\n  accelerators: H100:8\nrun: python x.py\n",
    "kubernetes": """
apiVersion: batch/v1
kind: Job
metadata: {name: ranking}
spec:
  template:
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
      containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]
""",
    "slurm": "#!/bin/bash\n#SBATCH -J ranking --gres=gpu:H100-SXM:8\nsrun x\n",
}


@pytest.mark.parametrize("format_name", [each.name for each in formats() if each.asks and not each.is_usage])
def test_the_same_job_in_every_kind_of_file(format_name: str) -> None:
    parsed = read(SAME_JOB[format_name].encode(), "-", SheetOptions(catalog=Catalog.embedded()))
    assert (parsed.inputs.format, parsed.complaints) == (format_name, ())
    (workload,) = parsed.document["workloads"]
    assert (workload["name"], workload["kind"], workload["gang"]) == ("ranking", "batch", 8)
    assert workload["demand"] == {"accelerator_hours_per_month": 8 * 730, "accelerator": "H100-80GB-SXM"}
    assert [each.id for each in parsed.doubts] == ["hours a month: jobs"]


@given(st.integers(0, 59), st.integers(0, 23), st.integers(1, 7))
def test_a_schedule_of_one_time_on_some_weekdays(minute: int, hour: int, days: int) -> None:
    """365 days a year: each weekday 365/7 times, a twelfth of them a month."""
    listed = ",".join(str(day) for day in range(days))
    assert runs_per_month(f"{minute} {hour} * * {listed}") == pytest.approx(days * 365 / 7 / 12)


@pytest.mark.parametrize(
    ("schedule", "runs"),
    [
        ("*/15 * * * *", 4 * 24 * 365 / 12),
        ("0 0 1 * *", 1),
        ("0 9-17/4 * * mon-fri", 3 * 5 * 365 / 84),
        ("@weekly", 365 / 84),
        ("0 0 13 * 5", 365 / 84 + 1 - 1 / 7),
        ("61 * * * *", None),
        ("* * * *", None),
        ("0 0 31 2 *", 0),
        ("TZ=UTC 0 0 1 jan *", 1 / 12),
    ],
)
def test_schedules(schedule: str, runs: float | None) -> None:
    found = runs_per_month(schedule)
    assert found == (None if runs is None else pytest.approx(runs, rel=2e-3))


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_bytes_raise(data: bytes) -> None:
    for head in (
        b"resources:\n  accelerators: ",
        b"apiVersion: v1\nkind: Pod\nspec:\n  containers: ",
        b"#SBATCH --gres=",
    ):
        assert read(head + data, "-", SheetOptions(catalog=Catalog.embedded())).inputs.sha256
