"""The examples: read without a complaint, accepted as requests, and made by their own script."""

from __future__ import annotations

import runpy
from datetime import date
from pathlib import Path

import pytest
import yaml

from planner.inputs.file_reader import read
from planner.request.assumptions import override_names
from planner.request.assumptions import validate_assumptions as assumption_complaints
from planner.request.models import parse_request
from pricing.catalog.price_catalog import Catalog

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = ["capacity-review.xlsx", "capacity-review.csv", "finetune.yaml", "request.json"]


@pytest.mark.parametrize("name", FILES)
def test_an_example_is_a_request(name: str) -> None:
    found = read((EXAMPLES / name).read_bytes(), name)
    request = parse_request({"as_of": date(2026, 11, 21), **found.document}, found.complaints, found.places)
    assert request.workloads
    assert found.inputs.rows_used + len(found.inputs.rows_refused) == found.inputs.rows_in
    assert assumption_complaints(request.assumptions) == []


def test_the_review_is_what_a_reviewer_would_see() -> None:
    found = read((EXAMPLES / "capacity-review.xlsx").read_bytes(), "capacity-review.xlsx")
    workloads = {w["name"]: w for w in found.document["workloads"]}
    assert len(workloads) == 14
    assert {w["kind"] for w in workloads.values()} == {"training", "batch", "inference", "interactive"}
    assert [(row.place, row.reason.split(";")[0]) for row in found.inputs.rows_refused] == [
        ("Plan!15", "blank"),
        ("Plan!18", "hidden row"),
        ("Plan!22", "total"),
        ("Plan!24", "note or heading: a single text"),
        ("Plan!25", "note or heading: a single text"),
    ]
    ramp = workloads["Video model training"]["demand"]["accelerator_hours_per_month"]
    assert next(iter(ramp)) == "2026-12"
    assert list(ramp)[-1] == "2027-11"
    assert workloads["Data-science notebooks"]["demand"]["accelerator_hours_per_month"] == 12 * 190
    assert found.document["assumptions"] == {
        "electricity_price_per_kwh": 0.118,
        "colocation_per_kw_month": 165,
        "pue": 1.35,
    }


def test_the_assumptions_file_names_known_assumptions() -> None:
    values = yaml.safe_load((EXAMPLES / "assumptions.yaml").read_text(encoding="utf-8"))
    systems = [name for system in Catalog.embedded().systems for name in override_names(system.name)]
    assert assumption_complaints(values, systems) == []


def test_the_review_is_what_its_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = runpy.run_path(str(EXAMPLES / "make_review.py"))
    target = tmp_path / "capacity-review.xlsx"
    monkeypatch.setitem(script["main"].__globals__, "TARGET", target)
    script["main"]()
    assert target.read_bytes() == (EXAMPLES / "capacity-review.xlsx").read_bytes()
