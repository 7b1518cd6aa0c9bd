"""Roots that call one module of Google Cloud many times (a start of terraform costs seconds), planned by it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder, hcl

GCP = find_shipped_folder("terraform") / "gcp"
SUBNET = "projects/p/regions/us-central1/subnetworks/gpu"
CLUSTER = "projects/my-project/locations/us-central1/clusters/ml"
GPU: Mapping[str, Any] = {"region": "us-central1", "subnetwork": SUBNET, "node_count": 2}
SHARED: Mapping[str, Mapping[str, Any]] = {
    "gpu_pool": {**GPU, "project": "my-project"},
    "tpu_pool": {"zone": "us-east5-a", "subnetwork": SUBNET, "node_count": 2, "project": "my-project"},
    "gke_pool": {"cluster_id": CLUSTER, "zone": "us-central1-a", "node_count": 3},
    "storage": {"workload": "w", "region": "us-central1", "project": "my-project", "capacity_gb": 1},
    "budget": {"currency": "EUR", "monthly_amount": 1234.5, "start_month": "2026-12", "project": "my-project"},
    "quota": {"project": "my-project"},
}

Found = dict[str, dict[str, Any]]


class Planned:
    """What terraform said of a root with a call of one module for each name."""

    def __init__(self, checked: Any) -> None:
        self.checked = checked

    def by_call(self, kind: str) -> Found:
        """The planned values of a kind of resource, by the call that they stand in."""
        return dict(self.each(kind))

    def each(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        assert self.checked.ok, self.checked.told
        made = [item for item in self.checked.planned if item["type"] == kind and item["mode"] == "managed"]
        return [(item["address"].split(".")[1], item["values"]) for item in made]

    @property
    def failure(self) -> str:
        """What was said against it, on one line."""
        assert not self.checked.ok
        found = (self.checked.steps["validate"].get("result") or {}).get("diagnostics", [])
        said = " ".join(item.get("detail", "") for item in found)
        return " ".join((said + self.checked.steps.get("plan", {}).get("output", "")).replace("│", " ").split())


@pytest.fixture
def plans(tfcheck: Callable[..., Any], tmp_path: Path) -> Callable[..., Planned]:
    def planned(module: str, calls: Mapping[str, Mapping[str, Any]]) -> Planned:
        root = tmp_path / module
        shutil.copytree(GCP / module, root / "modules" / module)
        blocks = []
        for name, call in calls.items():
            shared = {"source": f"./modules/{module}", "name": f"gp-{name.replace('_', '-')}", "plan_id": "p1"}
            blocks.append(hcl.HclBlock(f'module "{name}"', tuple({**shared, **SHARED[module], **call}.items())))
        (root / "main.tf").write_text(hcl.format_document(blocks))
        return Planned(tfcheck(root, plan=True))

    return planned
