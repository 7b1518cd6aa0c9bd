"""The files of one provider's root: pins, provider blocks, module calls, outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from planner.reports.terraform.module_calls import ModuleCall, RootModule, root_inputs, undecided_inputs
from planner.reports.terraform.node_pools import slug
from planner.reports.terraform.provisioning import hcl
from planner.reports.terraform.provisioning.hcl import HclBlock, RawExpression
from planner.reports.terraform.provisioning.module_catalog import EVERY_MONTH
from planner.reports.terraform.root_variables import fill_variables, format_tfvars, format_variables
from planner.result import Plan

TERRAFORM = ">= 1.5"
COUNTS = "{{ for pool, counts in var.{name} : pool => lookup(counts, local.month, 0) }}"
CHANGES = "{{ for pool, rows in var.{name} : pool => [for row in rows : row if timecmp({time}, local.start) >= 0] }}"
"""What is planned from the month on: what was before is over."""
HEADER_COMMENT = "Written by gpu-planner from a plan; README.md in the folder above describes each part."


def root_module_files(plan: Plan, made: RootModule) -> dict[str, bytes]:
    """Path inside the provider's folder -> content."""
    filled_variables, open_inputs = fill_variables(plan, made), root_inputs(made)
    written = {
        "versions.tf": _versions_file(made),
        "main.tf": _main_file(plan, made),
        "variables.tf": format_variables(filled_variables, open_inputs),
        "outputs.tf": hcl.format_document([_output_block(call) for call in made.calls]),
        "terraform.tfvars": format_tfvars(filled_variables, open_inputs, plan.month_names),
    }
    encoded = {path: text.encode() for path, text in written.items()}
    for module in (call.module for call in made.calls):
        for file in module.files():
            encoded[f"modules/{module.name}/{file.name}"] = file.read_bytes()
    return encoded


def _versions_file(made: RootModule) -> str:
    pins = {(name, *pin) for call in made.calls for name, pin in call.module.required_providers.items()}
    for module, started in ((pool.match.module, pool.rented.started) for pool in made.pools):
        for name, version in module.provider_versions.get(started, {}).items():
            pins.add((name, module.required_providers[name][0], version))
    requirements = tuple(
        (name, {"source": source, "version": join_constraints(version for *_, version in same)})
        for (name, source), same in groupby(sorted(pins), key=itemgetter(0, 1))
    )
    return hcl.format_document(
        [HclBlock("terraform", (("required_version", TERRAFORM), HclBlock("required_providers", requirements)))]
    )


def join_constraints(constraints: Iterable[str]) -> str:
    """Version constraints as one, of their lower limits the highest.

    >>> join_constraints([">= 6.0, < 8.0", ">= 6.42, < 8.0", ">= 7.42"])
    '>= 7.42, < 8.0'
    """
    parts = {part.strip() for constraint in constraints for part in constraint.split(",")}
    least = sorted((part for part in parts if part.startswith(">=")), key=_version_numbers)[-1:]
    return ", ".join([*least, *sorted(part for part in parts if not part.startswith(">="))])


def _version_numbers(constraint: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", constraint)]


def _main_file(plan: Plan, made: RootModule) -> str:
    """main.tf: a provider block (or one a region), the nodes of the month and the changes that follow, a module call a
    pool and an extra."""
    has_base = any(pool.rented.base_nodes for pool in made.pools)
    chosen = HclBlock(
        "locals",
        (
            ("month", RawExpression(f"coalesce(var.month, {hcl.quote_string(plan.month_names[0])})")),
            ("start", RawExpression('format("%s-01T00:00:00Z", local.month)')),
            ("node_counts", RawExpression(COUNTS.format(name="node_counts"))),
            ("base_counts", RawExpression(COUNTS.format(name="base_counts")) if has_base else None),
            ("schedules", RawExpression(CHANGES.format(name="schedules", time="row.start"))),
            ("weeks", RawExpression(CHANGES.format(name="weeks", time='format("%s-01T00:00:00Z", row.month)'))),
        ),
    )
    return hcl.format_document(
        [*_provider_blocks(made), chosen, *(_call_block(made, call) for call in made.calls)], HEADER_COMMENT
    )


def _provider_blocks(made: RootModule) -> Iterator[HclBlock]:
    cloud = made.cloud
    for name in sorted({name for call in made.calls for name in call.module.required_providers}):
        setup = cloud.providers[name]
        for region in sorted({call.region for call in made.calls}) if setup.each_region else [""]:
            alias = ("alias", slug(region, "_") or None)
            fixed = ((key, value.format(region=region)) for key, value in setup.arguments.items())
            left = ((key, RawExpression(f"var.{cloud.inputs[key].root}")) for key in setup.inputs)
            yield HclBlock(f'provider "{name}"', (alias, *fixed, *left, *_nested_blocks(setup.blocks)))


def _nested_blocks(blocks: Mapping[str, Any]) -> Iterator[HclBlock]:
    """Blocks in blocks, as a cloud's own file has them: a table is a block, anything else an argument."""
    for name, inside in blocks.items():
        arguments = ((key, value) for key, value in inside.items() if not isinstance(value, dict))
        yield HclBlock(name, (*arguments, *_nested_blocks({k: v for k, v in inside.items() if isinstance(v, dict)})))


def _call_block(made: RootModule, call: ModuleCall) -> HclBlock:
    aliased = [name for name in call.module.required_providers if made.cloud.providers[name].each_region]
    arguments: dict[str, hcl.HclValue] = {
        "source": f"./modules/{call.module.name}",
        "providers": {name: RawExpression(f"{name}.{slug(call.region, '_')}") for name in aliased} or None,
        **call.arguments,
    }
    for item in undecided_inputs(call):
        if item.scope == "plan":
            arguments[item.name] = RawExpression(f"var.{item.root}")
            continue
        is_needed = item.name not in call.known and (item.required or item.name in call.needed)
        known = hcl.format_expression(call.known.get(item.name))
        root, key = f"var.{item.root}", hcl.quote_string(call.key(item))
        if item.scope == "month":
            choices = [f"{root}[{key}][local.month]", f'{root}[{key}]["{EVERY_MONTH}"]', "null"]
            if is_needed:  # a month without nodes keeps another's id: a template that is bound is none without any
                choices.insert(2, f"local.node_counts[{key}] == 0 ? values({root}[{key}])[0] : null")
            arguments[item.name] = RawExpression(f"try({', '.join(choices)})")
            continue
        arguments[item.name] = RawExpression(f"{root}[{key}]" if is_needed else f"lookup({root}, {key}, {known})")
    return HclBlock(f'module "{call.label}"', tuple(arguments.items()))


def _output_block(call: ModuleCall) -> HclBlock:
    return HclBlock(
        f'output "{call.label}"', (("description", call.description), ("value", RawExpression(f"module.{call.label}")))
    )
