"""A measurement file in a request: read from beside it by a command, never by the service; every fault named."""

from __future__ import annotations

import json

import pytest

REQUEST = """
as_of: 2026-11-21
months: 3
workloads:
  - name: train
    unit: steps
    demand: {{units_per_month: 5.0e9}}
    measurements:
{measurements}
"""


def written(folder, measurements: str) -> str:
    path = folder / "job.yaml"
    path.write_text(REQUEST.format(measurements=measurements))
    return str(path)


def measurement(folder, name: str = "t4.json", **fields) -> str:
    stated = {"accelerator": "T4", "count": 1, "units_per_second": 400.0, "per": "job", "scaling": "weak", **fields}
    (folder / name).write_text(json.dumps({"format": "gpu-planner measurement 1", "measurement": stated}))
    return name


def test_a_measurement_file_is_as_good_as_its_figures(planner, tmp_path):
    (tmp_path / "sub").mkdir()
    name = measurement(tmp_path / "sub")
    by_file = planner("estimate", written(tmp_path, f"      - file: sub/{name}"), "--format", "json")
    assert by_file.code == 0, by_file.err
    spelled = "      - {accelerator: T4, count: 1, units_per_second: 400.0, per: job, scaling: weak}"
    by_hand = planner("estimate", written(tmp_path, spelled), "--format", "json")
    costs = [[strategy["present_cost"] for strategy in json.loads(ran.out)["strategies"]] for ran in (by_file, by_hand)]
    assert costs[0] == costs[1]
    assert costs[0][0] > 0


@pytest.mark.slow
def test_what_stands_beside_the_file_goes_before_it(planner, tmp_path):
    name = measurement(tmp_path)
    slow, fast = (
        json.loads(planner("estimate", written(tmp_path, text), "--format", "json").out)["strategies"][0]["total_cost"]
        for text in (f"      - file: {name}", f"      - {{file: {name}, units_per_second: 4000.0}}")
    )
    assert fast < slow


def test_every_file_that_says_nothing_is_named(planner, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    text = "      - file: none.json\n      - file: other.json\n      - {accelerator: T4, per: job}"
    ran = planner("estimate", written(tmp_path, text))
    assert ran.code == 2
    assert "none.json: cannot be read" in ran.err
    assert "other.json" in ran.err
    assert "give exactly one of units_per_second and units_per_hour" in ran.err
    assert "Traceback" not in ran.err


def test_the_service_reads_no_file_that_a_caller_names(client):
    demand = {"units_per_month": 5.0e9}
    workload = {"name": "train", "unit": "steps", "demand": demand, "measurements": [{"file": "/etc/hostname"}]}
    answer = client.post("/plan", json={"as_of": "2026-11-21", "workloads": [workload]})
    assert answer.status_code == 422
    assert "only commands read a file that is named here" in answer.text
