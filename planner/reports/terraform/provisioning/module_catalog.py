"""The Terraform modules in `terraform/<provider>/<module>/`: their instance types and arguments, and the inputs that
only the reader of a plan can fill in. Knows no plan.

A folder with pool.toml is a pool of nodes, one with extra.toml an extra: a budget, a request for quota, storage.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from planner.reports.terraform.provisioning import find_shipped_folder, hcl, retired_types
from planner.reports.terraform.provisioning.reasons import reason
from planner.result.message import Message
from pricing.frozen_values import dataclass

Scope = Literal["plan", "region", "pool", "month"]
PoolKind = Literal["nodes", "kubernetes"]
ExtraKind = Literal["budget", "quota", "storage"]
EVERY_MONTH = "all"
COPIED_SUFFIXES = (".md", ".sh", ".tf", ".tftpl")
"""Suffixes of the module files that are copied to an emitted root; its TOML is for this package only."""
POOL_VARIABLES = ("name", "plan_id", "workloads", "teams", "purchase_option", "node_count", "schedule")
"""Variables that every pool module has; a plan fills them in."""
OPTIONAL_POOL_VARIABLES = ("tags", "cuda_line", "week", "scale_to_zero", "gang_nodes", "flex_start_hours")
"""Variables that a plan fills in where a module has them."""
EXTRA_VARIABLES: Mapping[ExtraKind, tuple[str, ...]] = {
    "budget": ("name", "plan_id", "currency", "monthly_amount", "start_month", "contacts"),
    "quota": ("name", "plan_id", "requests", "request"),
    "storage": ("name", "plan_id", "workload", "capacity_gb"),
}
"""Variables that every extra of a kind has; a plan fills them in."""
CONTAINER_EXAMPLES: Mapping[str, Any] = {
    "container_image": "registry.example.com/team/train:1.0",
    "container_command": ["python", "-m", "train"],
}
"""Inputs by pool, with an example, of every pool module that has such variables."""


@dataclass(frozen=True, slots=True)
class ModuleInput:
    """A value that no plan holds. The root variable `root` holds one for the plan, or a map by region, by pool, or by
    pool and month (the month EVERY_MONTH: for all that are not there)."""

    name: str
    root: str
    scope: Scope
    type: str
    description: str
    required: bool
    example: Any


@dataclass(frozen=True, slots=True)
class InstanceTypeRule:
    """Instance types that match `pattern` become `arguments`; `asks` names inputs that they make required. `mixes`:
    whether one group can hold them on demand and on spot, where groups of the module can."""

    pattern: str
    arguments: Mapping[str, str | bool]
    asks: Sequence[str] = ()
    note: str = ""
    mixes: bool = True


@dataclass(frozen=True, slots=True)
class ExclusionRule:
    """Instance types that match `pattern` are not provisioned, for `reason`."""

    pattern: str
    reason: str


@dataclass(frozen=True, slots=True)
class TerraformModule:
    """One module folder: its declarations, the arguments that follow from a region, the inputs left to the reader."""

    provider: str
    name: str
    folder: Path
    variables: Mapping[str, hcl.ModuleVariable]
    required_providers: Mapping[str, tuple[str, str]]
    arguments: Mapping[str, str]
    inputs: Mapping[str, ModuleInput]

    def files(self) -> tuple[Path, ...]:
        """The files that are copied to a root."""
        return tuple(sorted(path for path in self.folder.iterdir() if path.suffix in COPIED_SUFFIXES))


@dataclass(frozen=True, slots=True)
class PoolModule(TerraformModule):
    """A pool of nodes. `purchase_options` maps the options it can start to the inputs that each makes required;
    `partial_asks` are required where nodes run for a part of a month, and `hours_note` tells what then stops them;
    `changes_kept` is how many changes of a schedule an apply leaves behind, 0 where nodes start at an apply only;
    `gang_asks` are required where jobs span nodes; `option_refusals` has the reasons why options are not started.
    `provider_versions` has what a purchase option needs of a provider beyond the module's own constraint.
    `divides_placements`: nodes that one placement does not hold are in further ones, each of whole jobs.
    `base_count` is the variable for nodes on demand in a group of spot nodes; a module without it says why in
    `one_option_note`."""

    kind: PoolKind
    purchase_options: Mapping[str, Sequence[str]]
    shapes: tuple[InstanceTypeRule, ...]
    refusals: tuple[ExclusionRule, ...]
    partial_asks: Sequence[str] = ()
    gang_asks: Sequence[str] = ()
    option_refusals: Mapping[str, str] = field(default_factory=dict)
    hours_note: str = ""
    changes_kept: int = 0
    provider_versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    divides_placements: bool = False
    base_count: str = ""
    one_option_note: str = ""


@dataclass(frozen=True, slots=True)
class ExtraModule(TerraformModule):
    """A budget, a request for quota or storage."""

    kind: ExtraKind


@dataclass(frozen=True, slots=True)
class ProviderBlock:
    """How a root sets a provider up: `arguments`, `inputs` of the cloud, nested `blocks`; once, or once a
    region."""

    each_region: bool = False
    arguments: Mapping[str, str] = field(default_factory=dict)
    inputs: Sequence[str] = ()
    blocks: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CloudModules:
    """All modules of a provider and how to reach it."""

    provider: str
    providers: Mapping[str, ProviderBlock]
    inputs: Mapping[str, ModuleInput]
    modules: tuple[PoolModule, ...]
    extras: tuple[ExtraModule, ...]


@dataclass(frozen=True, slots=True)
class ModuleMatch:
    """The module that provisions an instance type, with typed arguments for it. `base_count`: see PoolModule; empty
    where no group holds the type on demand and on spot."""

    module: PoolModule
    arguments: Mapping[str, hcl.HclValue]
    asks: tuple[str, ...]
    note: str
    base_count: str


@cache
def load_clouds() -> Mapping[str, CloudModules]:
    """Every provider that has a folder under `terraform/`, by name."""
    root = find_shipped_folder("terraform")
    return {file.parent.name: read_cloud(file, file.parent.name) for file in sorted(root.glob("*/cloud.toml"))}


def match_module(cloud: CloudModules, instance_type: str, kind: PoolKind = "nodes") -> ModuleMatch | Message:
    """The module of `kind` and the arguments for `instance_type`, or the reason why none provisions it."""
    if retirement := retired_types.retirement_reason(cloud.provider, instance_type):
        return retirement
    modules = [module for module in cloud.modules if module.kind == kind]
    for module in modules:
        for refusal in module.refusals:
            if re.fullmatch(refusal.pattern, instance_type):
                return reason("type_excluded_by_module", explanation=refusal.reason)
    for module in modules:
        for shape in module.shapes:
            if pattern_match := re.fullmatch(shape.pattern, instance_type):
                arguments: dict[str, hcl.HclValue] = {}
                for name, value in shape.arguments.items():
                    filled = value.format(**pattern_match.groupdict()) if isinstance(value, str) else value
                    arguments[name] = int(filled) if module.variables[name].type == "number" else filled
                base_count = module.base_count if shape.mixes else ""
                return ModuleMatch(module, arguments, tuple(shape.asks), shape.note, base_count)
    code = "no_module_for_type" if kind == "nodes" else "no_kubernetes_module_for_type"
    return reason(code, provider=cloud.provider)


def read_cloud(file: Path, provider: str) -> CloudModules:
    """The modules beside a cloud.toml. OSError, ValueError, LookupError or TypeError where they are no modules."""
    data = _read_toml(file)
    blocks = {name: ProviderBlock(**item) for name, item in data.get("provider", {}).items()}
    modules = tuple(_load_pool(pool) for pool in sorted(file.parent.glob("*/pool.toml")))
    extras = tuple(_load_extra(extra) for extra in sorted(file.parent.glob("*/extra.toml")))
    inputs = {
        name: ModuleInput(name, name, item["scope"], item["type"], item["description"], True, item["example"])
        for name, item in data.get("inputs", {}).items()
    }
    for module in (*modules, *extras):
        inputs |= {name: item for name, item in module.inputs.items() if item.scope == "plan"}
    return CloudModules(provider, blocks, inputs, modules, extras)


def _read_toml(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _load_pool(file: Path) -> PoolModule:
    data = _read_toml(file)
    return PoolModule(
        **_module_fields(file, data, CONTAINER_EXAMPLES),
        kind=data.get("kind", "nodes"),
        purchase_options=data["purchase_options"],
        shapes=tuple(InstanceTypeRule(**item) for item in data["shape"]),
        refusals=tuple(ExclusionRule(**item) for item in data.get("refuse", ())),
        partial_asks=data.get("partial_asks", ()),
        gang_asks=data.get("gang_asks", ()),
        option_refusals=data.get("refused_options", {}),
        hours_note=data["hours_note"],
        changes_kept=data.get("changes_kept", 0),
        provider_versions=data.get("provider_versions", {}),
        divides_placements=data.get("divides_placements", False),
        base_count=data.get("base_count", ""),
        one_option_note=data.get("one_option_note", "a group of this module is on demand or on spot as a whole"),
    )


def _load_extra(file: Path) -> ExtraModule:
    data = _read_toml(file)
    return ExtraModule(**_module_fields(file, data, {}), kind=data["kind"])


def _module_fields(file: Path, data: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a TerraformModule; `shared` are examples of inputs that a module need not declare."""
    folder = file.parent
    variables = hcl.read_variables((folder / "variables.tf").read_text(encoding="utf-8"))
    shared_inputs = {
        name: {"scope": "pool", "example": example} for name, example in shared.items() if name in variables
    }
    inputs = {}
    for name, item in {**shared_inputs, **data.get("inputs", {})}.items():
        variable = variables[name]
        root = item.get("root", name)
        inputs[name] = ModuleInput(
            name, root, item["scope"], variable.type, variable.description, variable.required, item["example"]
        )
    return {
        "provider": folder.parent.name,
        "name": folder.name,
        "folder": folder,
        "variables": variables,
        "required_providers": hcl.read_required_providers((folder / "versions.tf").read_text(encoding="utf-8")),
        "arguments": data.get("arguments", {}),
        "inputs": inputs,
    }
