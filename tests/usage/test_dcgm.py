"""Metrics of the DCGM exporter: GPUs in use and how busy they were, by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from planner.inputs.file_reader import read
from planner.inputs.measured_use import MeasuredUsage, UnreadableUse, read_use
from planner.inputs.measured_use.use_record import UNALLOCATED
from planner.inputs.measured_use.use_summary import sum_uses, sum_uses_by
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog

CATALOG = Catalog.embedded()
START = int(datetime(2026, 9, 1, tzinfo=UTC).timestamp())
UTIL, ACTIVE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"


def series(metric: str, values: list[float | str], step: int = 3600, **labels: str) -> dict[str, Any]:
    shown = {"modelName": "NVIDIA H100 80GB HBM3", "Hostname": "node1", "gpu": "0", "UUID": "GPU-a"} | labels
    points = [[START + step * index, str(value)] for index, value in enumerate(values)]
    return {"metric": {"__name__": metric, **shown}, "values": points}


def answer(*result: dict[str, Any]) -> bytes:
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": list(result)}}).encode()


def usage_of(data: bytes, tag: str = "") -> MeasuredUsage:
    return read_use(data, "dcgm", CATALOG, tag, {})


def test_percent_is_the_busy_part_of_each_hour() -> None:
    usage = usage_of(answer(series(UTIL, [50, 100, 0, 50], pod="train-0", namespace="nlp")))
    total = sum_uses(usage.uses)
    assert (total.hours, total.busy_hours, total.utilisation) == pytest.approx((4, 2, 0.5))
    assert {(use.workload, use.team, use.accelerator) for use in usage.uses} == {("nlp", "nlp", "H100-80GB-SXM")}


def test_a_fraction_is_taken_instead_of_percent_of_the_same_gpu() -> None:
    own = {"pod": "train-0", "namespace": "nlp"}
    usage = usage_of(answer(series(UTIL, [100, 100], **own), series(ACTIVE, [0.25, 0.75], **own)))
    assert sum_uses(usage.uses).busy_hours == pytest.approx(1)
    assert (usage.rows_in, usage.rows_used) == (2, 1)
    assert usage.left_out[0].reason == f"{ACTIVE} of the same GPU is used"


def test_a_gpu_without_a_pod_is_unallocated_and_the_exporters_own_pod_is_none() -> None:
    usage = usage_of(
        answer(
            series(UTIL, [80] * 5, pod="chat-1", namespace="prod"),
            series(UTIL, [0] * 5, UUID="GPU-b", pod="", namespace=""),
            series(UTIL, [0] * 5, UUID="GPU-c", pod="dcgm-exporter-x7k", namespace="gpu-operator"),
        )
    )
    sums = sum_uses_by(usage.uses, lambda use: use.workload)
    assert {name: (its.hours, its.unallocated_hours) for name, its in sums.items()} == {
        "prod": pytest.approx((5, 0)),
        UNALLOCATED: pytest.approx((0, 10)),
    }


def test_pods_that_share_a_gpu_share_its_hours() -> None:
    both = [series(UTIL, [40] * 4, pod=pod, namespace=space) for pod, space in (("a-0", "a"), ("b-0", "b"))]
    assert sum_uses(usage_of(answer(*both)).uses).hours == pytest.approx(4)


def test_a_slice_is_its_part_of_a_gpu() -> None:
    own = {
        "modelName": "NVIDIA A100-SXM4-80GB",
        "GPU_I_PROFILE": "1g.10gb",
        "GPU_I_ID": "7",
        "namespace": "lab",
        "pod": "n",
    }
    assert sum_uses(usage_of(answer(series(ACTIVE, [1] * 7, **own))).uses).hours == pytest.approx(1)


def test_without_pods_all_gpus_count() -> None:
    usage = usage_of(answer(series(UTIL, [0] * 3), series(UTIL, [90] * 3, UUID="GPU-b")))
    assert sum_uses(usage.uses).hours == pytest.approx(6)
    assert "no series names a pod: all GPUs count as in use, busy or not" in usage.notes


def test_samples_that_are_no_number_are_left_out() -> None:
    usage = usage_of(answer(series(UTIL, [100, "NaN", 100], pod="a", namespace="n")))
    assert sum_uses(usage.uses).hours == pytest.approx(2)


LONG = """timestamp,metric,value,UUID,modelName,namespace,pod
1788220800,DCGM_FI_DEV_GPU_UTIL,50,GPU-a,NVIDIA L4,prod,chat
1788224400,DCGM_FI_DEV_GPU_UTIL,70,GPU-a,NVIDIA L4,prod,chat
1788220800,DCGM_FI_DEV_FB_USED,9000,GPU-a,NVIDIA L4,prod,chat
1788224400,DCGM_FI_DEV_FB_USED,9000,GPU-a,NVIDIA L4,prod,chat
"""
NAMED = """time,DCGM_FI_DEV_GPU_UTIL,UUID,modelName,namespace,pod
2026-09-01 00:00:00,50,GPU-a,NVIDIA L4,prod,chat
2026-09-01 01:00:00,70,GPU-a,NVIDIA L4,prod,chat
"""
WIDE = """Time,"DCGM_FI_DEV_GPU_UTIL{UUID=""GPU-a"", modelName=""NVIDIA L4"", namespace=""prod"", pod=""chat""}"
2026-09-01T00:00:00Z,50
2026-09-01T01:00:00Z,70
"""


@pytest.mark.parametrize("text", [LONG, NAMED, WIDE])
def test_an_export_as_csv_in_each_of_its_forms(text: str) -> None:
    usage = usage_of(text.encode())
    total = sum_uses(usage.uses)
    assert (total.hours, total.busy_hours) == pytest.approx((2, 1.2))
    assert {(use.workload, use.accelerator, f"{use.start:%Y-%m-%d}") for use in usage.uses} == {
        ("prod", "L4-24GB", "2026-09-01")
    }


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (answer(series(UTIL, [101.5] * 3)), "beyond its range"),
        (answer(series(ACTIVE, [80] * 3)), "beyond its range"),
        (answer(series(UTIL, ["fast"] * 3)), "expected a time and a number"),
        (answer(series(UTIL, [5])), "two samples or more"),
        (b'{"data": {"resultType": "vector", "result": ["DCGM_FI_DEV_GPU_UTIL"]}}', "no answer of a range query"),
        (b"DCGM_FI_DEV_GPU_UTIL,colour\n1,red\n", "no column for the time"),
        (b"time,DCGM_FI_DEV_GPU_UTIL\nnoon,5\nlater,5\n", "the time is 'noon'"),
    ],
)
def test_files_that_are_refused(data: bytes, says: str) -> None:
    with pytest.raises(UnreadableUse, match=says):
        usage_of(data)
    (complaint,) = read(data, "x.json", SheetOptions(catalog=CATALOG)).complaints
    assert says in str(complaint)


def test_a_month_of_samples_is_a_demand() -> None:
    """Two GPUs for the 30 days of September, a sample each five minutes, become 2 x 730 hours."""
    month = [60.0] * (30 * 24 * 12)
    data = answer(*(series(UTIL, month, 300, UUID=f"GPU-{n}", pod=f"chat-{n}", namespace="prod") for n in range(2)))
    (workload,) = read(data, "x.json", SheetOptions(catalog=CATALOG)).document["workloads"]
    assert workload["demand"]["accelerator_hours_per_month"] == pytest.approx(2 * 730)
    assert workload["demand"]["accelerator"] == "H100-80GB-SXM"
