"""The doors of Terraform: `planner terraform`, `planner estimate -o DIR/`, GET /plans/ID/terraform: the same bytes."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def plan(planner, job):
    assert planner("estimate", str(job), "-o", "plan.json", "-o", "direct/").code == 0
    return "plan.json"


def test_a_plan_a_file_of_workloads_and_estimate_give_the_same_bytes(planner, job, plan, tmp_path):
    ran = planner("terraform", plan, "-o", "from_plan")
    assert ran.code == 0, ran.err
    assert ran.out == ""
    assert ran.err.startswith("wrote from_plan (terraform, ")
    assert planner("terraform", str(job), "-o", "from_job").code == 0
    direct = contents(tmp_path / "direct")
    assert contents(tmp_path / "from_plan") == direct
    assert contents(tmp_path / "from_job") == direct
    assert any(name.endswith("/main.tf") for name in direct)
    assert planner("terraform", plan, "-o", "again.zip").code == 0
    assert unzipped((tmp_path / "again.zip").read_bytes()) == direct


def test_it_may_be_written_twice_but_not_over_the_roots_of_another_plan(planner, plan, tmp_path):
    assert planner("terraform", plan, "-o", "infra").code == 0
    assert planner("terraform", plan, "-o", "infra").code == 0
    (tmp_path / "infra/oracle").mkdir()
    (tmp_path / "infra/oracle/main.tf").write_text("# of an older plan")
    ran = planner("terraform", plan, "-o", "infra")
    assert ran.code == 2
    assert "oracle/main.tf" in ran.err


def test_values_of_ones_own_outlive_a_later_plan(planner, plan, tmp_path):
    assert planner("terraform", plan, "-o", "infra").code == 0
    (root,) = {path.parent for path in (tmp_path / "infra").glob("*/main.tf")}
    (root / "own.auto.tfvars").write_text('month = "2026-12"\n')
    assert planner("terraform", plan, "-o", "infra").code == 0
    assert (root / "own.auto.tfvars").read_text() == 'month = "2026-12"\n'


def test_everything_wrong_is_told_at_once(planner, plan, tmp_path):
    ran = planner("terraform", plan, "-o", "infra", "--strategy", "cheap", "--nodes", "pods")
    assert ran.code == 2
    assert "2 problems" in ran.err
    assert "--strategy: no strategy of the plan that is possible; read cheap" in ran.err
    assert "--nodes: unknown kind of nodes; read pods; expected one of vm, kubernetes" in ran.err
    assert not (tmp_path / "infra").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [('{"schema_version": "0"}', "is a plan of schema version 0"), ('{"schema_version": "2"}', "is no plan")],
)
def test_what_is_no_plan_is_refused(planner, tmp_path, content, told):
    (tmp_path / "plan.json").write_text(content)
    ran = planner("terraform", "plan.json", "-o", "infra")
    assert ran.code == 2
    assert told in ran.err
    assert planner("terraform", "nowhere.json", "-o", "infra").code == 2


def test_an_infeasible_plan_is_its_reasons_and_exit_code_3(planner, tmp_path):
    workload = {"name": "w", "demand": {"accelerator_hours_per_month": 10, "accelerator": "T4"}}
    (tmp_path / "job.json").write_text(json.dumps(workload | {"memory_gib_per_accelerator": 300}))
    ran = planner("terraform", "job.json", "-o", "infra")
    assert ran.code == 3, ran.err
    assert [path.name for path in (tmp_path / "infra").iterdir()] == ["README.md"]


@pytest.mark.usefixtures("plan")
def test_the_service_gives_the_terraform_of_a_plan_it_answered(client, job, tmp_path):
    answer = client.post("/plan", content=job.read_bytes(), headers={"content-type": "application/json"})
    identity = answer.json()["plan_id"]
    first = client.get(f"/plans/{identity}/terraform")
    assert first.status_code == 200, first.text
    assert first.headers["content-type"] == "application/zip"
    assert client.get(f"/plans/{identity}/terraform").content == first.content
    ours, theirs = unzipped(first.content), contents(tmp_path / "direct")
    assert ours == theirs
    as_text = client.post("/plan?format=text", content=job.read_bytes(), headers={"content-type": "application/json"})
    assert as_text.status_code == 200
    assert client.get(f"/plans/{identity}/terraform").content == first.content


def test_what_the_service_cannot_give_is_a_problem(client, job):
    missing = client.get("/plans/feedfeedfeed/terraform")
    assert (missing.status_code, missing.json()["type"]) == (404, "urn:gpu-planner:problem:no-such-plan")
    answer = client.post("/plan", content=job.read_bytes(), headers={"content-type": "application/json"})
    url = f"/plans/{answer.json()['plan_id']}/terraform"
    wrong = client.get(url, params={"strategy": "cheap", "nodes": "pods"})
    assert wrong.status_code == 422
    assert {fault["path"] for fault in wrong.json()["errors"]} == {"?strategy", "?nodes"}
    assert client.get(url, params={"colour": "red"}).json()["errors"][0]["path"] == "?colour"
