"""What the Terraform modules beside the code take: which offerings, with which arguments, and what only the reader of a
plan can fill in. Found by walking `terraform/<provider>/<module>/pool.toml`; knows nothing of plans.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from planner.shipped import hcl, shipped

Scope = Literal["plan", "region", "pool"]
MODULE_FILES = ("README.md", "main.tf", "outputs.tf", "variables.tf", "versions.tf")
SHARED = ("name", "plan_id", "workloads", "teams", "purchase_option", "node_count")
"""Variables that every pool module has; a plan fills them in."""


@dataclass(frozen=True, slots=True)
class Input:
    """A value that no plan holds. The root variable `root` holds one for the plan, or a map by region or by pool."""

    name: str
    root: str
    scope: Scope
    type: str
    description: str
    required: bool
    example: Any


@dataclass(frozen=True, slots=True)
class Shape:
    """Instance types that match `pattern` become `arguments`; `asks` names inputs that they make required."""

    pattern: re.Pattern[str]
    arguments: Mapping[str, str | bool]
    asks: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Instance types that match `pattern` are not provisioned, for `reason`."""

    pattern: re.Pattern[str]
    reason: str


@dataclass(frozen=True, slots=True)
class PoolModule:
    """One module folder. `purchase_options` maps what it can buy to the inputs that this makes required."""

    provider: str
    name: str
    folder: Path
    variables: Mapping[str, hcl.Variable]
    required_providers: Mapping[str, tuple[str, str]]
    purchase_options: Mapping[str, tuple[str, ...]]
    arguments: Mapping[str, str]
    shapes: tuple[Shape, ...]
    refusals: tuple[Refusal, ...]
    inputs: Mapping[str, Input]


@dataclass(frozen=True, slots=True)
class ProviderBlock:
    """How a root sets a provider up: `arguments`, `inputs` of the cloud, empty `blocks`; once, or once a region."""

    name: str
    each_region: bool
    arguments: Mapping[str, str]
    inputs: tuple[str, ...]
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cloud:
    """All modules of a provider and how to reach it."""

    provider: str
    providers: Mapping[str, ProviderBlock]
    inputs: Mapping[str, Input]
    modules: tuple[PoolModule, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """The module that provisions an instance type, with typed arguments for it."""

    module: PoolModule
    arguments: Mapping[str, hcl.Value]
    asks: tuple[str, ...]
    note: str


def clouds() -> dict[str, Cloud]:
    """Every provider that has a folder under `terraform/`, by name."""
    root = shipped("terraform")
    return {file.parent.name: _cloud(file) for file in sorted(root.glob("*/cloud.toml"))}


def match(cloud: Cloud, instance_type: str) -> Match | str:
    """The module and arguments for `instance_type`, or the reason why none provisions it."""
    for module in cloud.modules:
        for refusal in module.refusals:
            if refusal.pattern.fullmatch(instance_type):
                return refusal.reason
    for module in cloud.modules:
        for shape in module.shapes:
            if found := shape.pattern.fullmatch(instance_type):
                arguments = {
                    name: _typed(value.format(**found.groupdict()) if isinstance(value, str) else value, module, name)
                    for name, value in shape.arguments.items()
                }
                return Match(module, arguments, shape.asks, shape.note)
    return f"no module under terraform/{cloud.provider}/ takes this instance type"


def _typed(value: str | bool, module: PoolModule, name: str) -> hcl.Value:
    return int(value) if module.variables[name].type == "number" else value


def _cloud(file: Path) -> Cloud:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    provider = file.parent.name
    blocks = {
        name: ProviderBlock(
            name,
            bool(item.get("each_region", False)),
            item.get("arguments", {}),
            tuple(item.get("inputs", ())),
            tuple(item.get("blocks", ())),
        )
        for name, item in data["provider"].items()
    }
    modules = tuple(_module(provider, pool) for pool in sorted(file.parent.glob("*/pool.toml")))
    inputs = {
        name: Input(
            name,
            f"{provider}_{name}",
            item["scope"],
            item["type"],
            item["description"],
            required=True,
            example=item["example"],
        )
        for name, item in data.get("inputs", {}).items()
    }
    for module in modules:
        inputs |= {name: item for name, item in module.inputs.items() if item.scope == "plan"}
    return Cloud(provider, blocks, inputs, modules)


def _module(provider: str, file: Path) -> PoolModule:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    folder = file.parent
    variables = hcl.variables((folder / "variables.tf").read_text(encoding="utf-8"))
    inputs = {}
    for name, item in data["inputs"].items():
        variable = variables[name]
        inputs[name] = Input(
            name,
            f"{provider}_{item.get('root', name)}",
            item["scope"],
            variable.type,
            variable.description,
            variable.required,
            item["example"],
        )
    return PoolModule(
        provider=provider,
        name=folder.name,
        folder=folder,
        variables=variables,
        required_providers=hcl.required_providers((folder / "versions.tf").read_text(encoding="utf-8")),
        purchase_options={name: tuple(asks) for name, asks in data["purchase_options"].items()},
        arguments=data.get("arguments", {}),
        shapes=tuple(
            Shape(re.compile(item["pattern"]), item["arguments"], tuple(item.get("asks", ())), item.get("note", ""))
            for item in data["shape"]
        ),
        refusals=tuple(Refusal(re.compile(item["pattern"]), item["reason"]) for item in data.get("refuse", ())),
        inputs=inputs,
    )
