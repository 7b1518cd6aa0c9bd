"""Roots that call one AWS module many times (a start of terraform costs seconds), planned by the real terraform."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder, hcl

AWS = find_shipped_folder("terraform") / "aws"
POOL: Mapping[str, hcl.HclValue] = {"node_count": 2, "subnet_ids": ["subnet-0123456789abcdef0"]}
CLUSTER: Mapping[str, hcl.HclValue] = {"cluster_name": "ml", "node_role_arn": "arn:aws:iam::123456789012:role/eks-node"}
GIVEN: Mapping[str, Mapping[str, hcl.HclValue]] = {"gpu_pool": POOL, "eks_pool": {**POOL, **CLUSTER}}


@dataclass(frozen=True)
class Planned:
    """What tfcheck said of a root."""

    checked: Any

    def by_call(self, kind: str) -> dict[str, dict[str, Any]]:
        """The planned values of the resources of a kind, by the module call that they stand in."""
        return dict(self.each(kind))

    def each(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """The same where a call has several."""
        assert self.checked.ok, self.checked.told
        made = [item for item in self.checked.planned if item["type"] == kind and item["mode"] == "managed"]
        return [(item["address"].split(".")[1], item["values"]) for item in made]

    @property
    def failure(self) -> str:
        """What terraform said against it, on one line."""
        assert not self.checked.ok
        found = (self.checked.steps["validate"].get("result") or {}).get("diagnostics", [])
        said = " ".join(item.get("detail", "") for item in found)
        said += self.checked.steps.get("plan", {}).get("output", "")
        return " ".join(said.replace("│", " ").split())


@pytest.fixture
def plans(
    tfcheck: Callable[..., Any], tmp_path: Path
) -> Callable[[str, Mapping[str, Mapping[str, hcl.HclValue]]], Planned]:
    """Plan a root with a call of `module` for each name; what every pool needs is there unless the call gives it."""

    def planned(module: str, calls: Mapping[str, Mapping[str, hcl.HclValue]]) -> Planned:
        root = tmp_path / module
        shutil.copytree(AWS / module, root / "modules" / module)
        shared: dict[str, hcl.HclValue] = {"source": f"./modules/{module}", "plan_id": "p1", **GIVEN.get(module, {})}
        blocks = [hcl.HclBlock('provider "aws"', (("region", "us-east-1"),))]
        for name, call in calls.items():
            arguments = {**shared, "name": f"gp-{name.replace('_', '-')}", **call}
            blocks.append(hcl.HclBlock(f'module "{name}"', tuple(arguments.items())))
        (root / "main.tf").write_text(hcl.format_document(blocks))
        return Planned(tfcheck(root, plan=True))

    return planned
