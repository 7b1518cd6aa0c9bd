"""Cost allocations of OpenCost and Kubecost: GPU-hours and their costs, by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.inputs.file_reader import read
from planner.inputs.measured_use import MeasuredUsage, UnreadableUse, read_use
from planner.inputs.measured_use.use_record import UNALLOCATED
from planner.inputs.measured_use.use_summary import sum_uses, sum_uses_by
from planner.inputs.sheet_options import SheetOptions
from pricing.catalog.price_catalog import Catalog

CATALOG = Catalog.embedded()


def allocation(name: str, hours: float, cost: float, day: int = 1, **more: Any) -> dict[str, Any]:
    return {
        name: {
            "name": name,
            "properties": {"namespace": "prod", "controller": name, "controllerKind": "deployment"},
            "window": {"start": f"2026-09-{day:02d}T00:00:00Z", "end": f"2026-09-{day + 1:02d}T00:00:00Z"},
            "start": f"2026-09-{day:02d}T00:00:00Z",
            "end": f"2026-09-{day + 1:02d}T00:00:00Z",
            "gpuHours": hours,
            "gpuCost": cost,
            "gpuCostAdjustment": 0,
            "gpuAllocation": {"gpuModel": "NVIDIA L4", "gpuUsageAverage": 0.5, "isGPUShared": False},
        }
        | more
    }


def document(*steps: dict[str, Any]) -> bytes:
    return json.dumps({"code": 200, "data": list(steps)}).encode()


def usage_of(data: bytes, tag: str = "", **answers: str) -> MeasuredUsage:
    return read_use(data, "opencost", CATALOG, tag, answers)


def test_hours_costs_and_utilisation_of_each_step_are_summed() -> None:
    usage = usage_of(
        document(
            allocation("chat", 48, 36.0) | allocation("web", 0, 0.0),
            allocation("chat", 24, 18.0, 2, gpuCostAdjustment=-1.5),
        )
    )
    total = sum_uses(usage.uses)
    assert (total.hours, total.busy_hours, total.cost) == pytest.approx((72, 36, 52.5))
    assert (usage.rows_in, usage.rows_used) == (3, 2)
    assert {(use.workload, use.team, use.accelerator) for use in usage.uses} == {("chat", "prod", "L4-24GB")}


def test_idle_nodes_cost_and_are_nobodys() -> None:
    usage = usage_of(document(allocation("chat", 24, 18.0) | allocation("__idle__", 12, 9.0)))
    sums = sum_uses_by(usage.uses, lambda use: use.workload)
    assert sums["chat"].cost == pytest.approx(18)
    assert (sums[UNALLOCATED].hours, sums[UNALLOCATED].unallocated_hours, sums[UNALLOCATED].cost) == pytest.approx(
        (0, 12, 9)
    )


def test_a_property_names_the_workloads() -> None:
    assert {use.workload for use in usage_of(document(allocation("chat", 24, 18.0)), "namespace").uses} == {"prod"}
    with pytest.raises(UnreadableUse, match="no property 'squad'"):
        usage_of(document(allocation("chat", 24, 18.0)), "squad")


FLAT = """name,start,end,gpuHours,gpuCost,properties.namespace,properties.controller
prod/chat,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z,48,36,prod,chat
"""
EXPORT = """Date,Namespace,ControllerKind,ControllerName,Pod,Container,Labels,GPUs,CPUCost,GPUCost,TotalCost
2026-09-01,prod,deployment,chat,chat-1,server,,2,1.5,36,40
2026-09-01,prod,deployment,web,web-1,server,,0,1.5,0,2
"""


def test_flat_csv_has_hours_and_the_export_has_gpus_while_a_pod_ran() -> None:
    assert sum_uses(usage_of(FLAT.encode()).uses).hours == pytest.approx(48)
    whole = usage_of(EXPORT.encode())
    assert sum_uses(whole.uses).hours == pytest.approx(48)
    assert any("24 hours a day" in note for note in whole.notes)
    answered = usage_of(EXPORT.encode(), **{"hours a day": "6"})
    assert (sum_uses(answered.uses).hours, sum_uses(answered.uses).cost) == pytest.approx((12, 36))
    with pytest.raises(UnreadableUse, match="expected hours up to 24"):
        usage_of(EXPORT.encode(), **{"hours a day": "30"})


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (document(allocation("chat", 24, 18.0, start="soon")), "its time is 'soon'"),
        (document({"chat": {"gpuHours": "many", "gpuCost": 1, "start": "2026-09-01"}}), "gpuhours is 'many'"),
        (b'{"data": "gpuHours gpuCost", "x": {"gpuHours": 1, "gpuCost": 1}}', "data is no list of steps"),
    ],
)
def test_files_that_are_refused(data: bytes, says: str) -> None:
    with pytest.raises(UnreadableUse, match=says):
        usage_of(data)


def test_a_month_is_a_demand_with_the_answer_on_its_accelerator() -> None:
    steps = [allocation("chat", 48, 36.0, day, gpuAllocation={}) for day in range(1, 30)]
    last = allocation("chat", 48, 36.0, 29, start="2026-09-30T00:00:00Z", end="2026-10-01T00:00:00Z", gpuAllocation={})
    data = document(*steps, last)
    (complaint,) = read(data, "x.json", SheetOptions(catalog=CATALOG)).complaints
    assert "its accelerators are not named" in str(complaint)
    (workload,) = read(data, "x.json", SheetOptions(catalog=CATALOG, answers={"accelerator": "L4"})).document[
        "workloads"
    ]
    assert workload["demand"] == {"accelerator_hours_per_month": pytest.approx(2 * 730), "accelerator": "L4-24GB"}
