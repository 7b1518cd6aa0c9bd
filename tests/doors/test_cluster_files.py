"""Workload files and measured use as their owners bring them: the command line and the service."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml

from planner.inputs.file_reader import formats

MANIFEST = """apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 2
  template:
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers: [{name: a, image: b, resources: {limits: {nvidia.com/gpu: 1}}}]
"""
SCRIPT = """#!/bin/bash
#SBATCH --job-name=sweep --gres=gpu:l4:1
#SBATCH --array=0-9
#SBATCH --time=6:00:00
srun python sweep.py
"""
JOBS = "JobID|Account|State|Submit|Start|ElapsedRaw|AllocTRES\n" + "\n".join(
    f"{day}|{('cv', 'nlp')[day % 2]}|COMPLETED|2026-09-{day:02d}T00:00:00|2026-09-{day:02d}T01:00:00|82800|"
    "gres/gpu:l4=2"
    for day in range(1, 31)
)
QUICK = ("--as-of", "2026-11-21", "--months", "2", "--strategies", "cloud", "--providers", "gcp", "--effort", "quick")
SETTINGS = "as_of=2026-11-21&months=2&strategies=cloud&providers=gcp&effort=quick"
SERVICE_HOURS = "hours a month: services"


def demand_of(text: str) -> dict[str, float]:
    return {each["name"]: each["demand"][0] for each in json.loads(text)["workloads"]}


def test_questions_stop_a_plan_and_their_answers_make_one(planner, tmp_path):
    (tmp_path / "chat.yaml").write_text(MANIFEST)
    asked = planner("estimate", *QUICK, "chat.yaml", "--save-answers", "answers.yaml")
    assert asked.code == 2
    assert f"answer '{SERVICE_HOURS}'" in asked.err
    assert yaml.safe_load((tmp_path / "answers.yaml").read_text()) == {"answers": {SERVICE_HOURS: "730"}}
    (tmp_path / "answers.yaml").write_text(f'answers:\n  "{SERVICE_HOURS}": 365\n')
    answered = planner("estimate", *QUICK, "chat.yaml", "--answers", "answers.yaml", "--format", "json")
    assert answered.code == 0, answered.err
    assert demand_of(answered.out) == {"chat": pytest.approx(2 * 365)}


def test_a_batch_script_on_standard_input_with_its_proposals(planner):
    ran = planner("estimate", *QUICK, "--accept-proposals", "--format", "json", "-", stdin=SCRIPT.encode())
    assert ran.code == 0, ran.err
    assert demand_of(ran.out) == {"sweep": pytest.approx(60)}  # ten tasks of the six hours that they may take
    assert any("up to 6 hours" in note for note in json.loads(ran.out)["inputs"]["notes"])


def test_the_service_asks_the_same(client):
    files = {"file": ("chat.yaml", MANIFEST.encode())}
    asked = client.post(f"/plan?{SETTINGS}", files=files)
    assert asked.status_code == 422
    assert [each["id"] for each in asked.json()["questions"]] == [SERVICE_HOURS]
    answered = client.post(f"/plan?{SETTINGS}&answer={SERVICE_HOURS}=365", files=files)
    assert answered.status_code == 200, answered.text
    assert demand_of(answered.text) == {"chat": pytest.approx(730)}


def test_options_of_use_are_for_use(planner, tmp_path):
    (tmp_path / "chat.yaml").write_text(MANIFEST)
    ran = planner("estimate", *QUICK, "--growth", "3%", "--map", "a=gpus", "chat.yaml")
    assert ran.code == 2
    assert "--growth: chat.yaml is not a billing export" in ran.err
    assert "--map a=gpus: chat.yaml is not a sheet" in ran.err


def test_measured_use_is_shown_and_planned_forward(planner, tmp_path):
    """Two GPUs for 23 hours of 30 days, by turns for two accounts: 1,380 hours, 1,399.17 in a month of 730."""
    (tmp_path / "jobs.txt").write_text(JOBS)
    shown = planner("usage", "jobs.txt")
    assert shown.code == 0, shown.err
    assert "30 rows = 30 of use + 0 left out" in shown.out
    found = json.loads(planner("usage", "--json", "jobs.txt").out)
    assert found["total"]["hours"] == pytest.approx(1380)
    assert found["total"]["mean_wait_hours"] == pytest.approx(1)
    assert {name: its["hours"] for name, its in found["by"]["workload"].items()} == pytest.approx(
        {"cv": 690, "nlp": 690}
    )
    assert len(found["hours_of_week"]) == 168
    rows = list(csv.DictReader(io.StringIO(planner("usage", "--csv", "jobs.txt").out)))
    assert [(row["month"], row["workload"], float(row["hours"])) for row in rows] == [
        ("2026-09", "cv", 690),
        ("2026-09", "nlp", 690),
    ]
    planned = planner("estimate", *QUICK, "--growth", "10%", "--format", "json", "jobs.txt")
    assert planned.code == 0, planned.err
    demands = {each["name"]: each["demand"] for each in json.loads(planned.out)["workloads"]}
    assert demands["nlp"] == pytest.approx([690 * 730 / 720, 690 * 730 / 720 * 1.1])


def test_bills_and_measured_use_are_not_mixed(planner, tmp_path, repository):
    (tmp_path / "jobs.txt").write_text(JOBS)
    bill = str(repository / "examples/bill-focus.csv")
    ran = planner("usage", "jobs.txt", bill)
    assert ran.code == 2
    assert "bills or measured use, not both" in ran.err
    assert "no column 'Squad'" in planner("usage", "--tag", "Squad", "jobs.txt").err


def test_texts_of_a_cluster_are_no_escape_sequences(planner, tmp_path):
    (tmp_path / "jobs.txt").write_text(JOBS.replace("nlp", "\x1b[31mnlp").replace("cv", "=cv()"))
    assert "\x1b" not in planner("usage", "jobs.txt").out
    assert "\n2026-09,=cv()" not in planner("usage", "--csv", "jobs.txt").out
    (tmp_path / "chat.yaml").write_text(MANIFEST.replace("chat", '"\\e[31mchat"'))
    assert "\x1b" not in planner("estimate", "--explain-input", "chat.yaml").out


def test_the_help_and_the_reference_name_every_kind_of_file(planner):
    text = planner("estimate", "--help").out
    for name in ("SkyPilot", "Kubernetes", "Slurm", "sacct", "DCGM", "OpenCost"):
        assert name in text
    assert {"skypilot", "kubernetes", "slurm", "sacct", "dcgm", "opencost"} <= {each.name for each in formats()}
