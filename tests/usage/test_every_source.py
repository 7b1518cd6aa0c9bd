"""The same use in every kind of file: two L4 for one workload, around the clock for September."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from planner.inputs.file_reader import formats, read
from planner.inputs.measured_use import list_sources, read_use
from planner.inputs.measured_use.use_summary import sum_by_hour_of_week, sum_by_month
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog

CATALOG = Catalog.embedded()
START = datetime(2026, 9, 1, tzinfo=UTC)
HOURS = [START + timedelta(hours=hour) for hour in range(30 * 24)]


def _dcgm() -> bytes:
    labels = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "modelName": "NVIDIA L4", "namespace": "chat"}
    values = [[at.timestamp(), "50"] for at in HOURS]
    result = [{"metric": {**labels, "UUID": f"GPU-{n}", "pod": f"chat-{n}"}, "values": values} for n in range(2)]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()


def _allocations() -> bytes:
    steps = []
    for day in range(30):
        start, end = START + timedelta(day), START + timedelta(day + 1)
        own = {
            "name": "chat", "properties": {"controller": "chat"}, "start": start.isoformat(), "end": end.isoformat(),
            "gpuHours": 48, "gpuCost": 30, "gpuAllocation": {"gpuModel": "NVIDIA L4", "gpuUsageAverage": 0.5},
        }  # fmt: skip
        steps.append({"chat": own})
    return json.dumps({"code": 200, "data": steps}).encode()


SAME_USE = {
    "slurm_accounting": b"JobID|Account|State|Start|Elapsed|AllocTRES\n"
    b"1|chat|COMPLETED|2026-09-01T00:00:00|30-00:00:00|gres/gpu:l4=2\n",
    "dcgm_metrics": _dcgm(),
    "cost_allocation": _allocations(),
}


@pytest.mark.parametrize("source", list_sources(), ids=lambda source: source.name)
def test_the_same_use_from_every_source(source) -> None:
    data = SAME_USE[source.name]
    assert [each.name for each in list_sources() if each.claims(data)] == [source.name]
    usage = read_use(data, "use", CATALOG, "", {})
    assert {month: its.hours for month, its in sum_by_month(usage.uses).items()} == pytest.approx({"2026-09": 1440})
    assert all(each.accelerators == pytest.approx(2) for each in sum_by_hour_of_week(usage.uses))
    parsed = read(data, "-", SheetOptions(catalog=CATALOG))
    (workload,) = parsed.document["workloads"]
    assert workload["name"] == "chat"
    assert workload["demand"] == {"accelerator_hours_per_month": pytest.approx(1460), "accelerator": "L4-24GB"}


def test_each_source_is_a_format_and_told_apart() -> None:
    names = {read(data, "-", SheetOptions(catalog=CATALOG)).inputs.format for data in SAME_USE.values()}
    assert names == {each.name for each in formats() if each.is_usage} - {"billing"}
