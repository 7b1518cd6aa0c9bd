"""The files of the root: providers, one module call a pool, variables for what the plan leaves open, outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from planner.answer import Plan
from planner.reports.terraform._pools import Pool, RootInput, slug
from planner.shipped import hcl
from planner.shipped.hcl import Block, Raw

TERRAFORM = ">= 1.5"
PREFIX_MAX = 6
"""With the 33 characters of Rented.resource_name and a hyphen: 40, the longest name that every module takes."""
WRITTEN = "Written by gpu-planner from a plan; README.md says what each part is in it."


def main(plan: Plan, pools: Sequence[Pool]) -> str:
    """main.tf: the pins, a provider block a cloud (or a region), a module call a pool."""
    pins = {name: pin for pool in pools for name, pin in pool.found.module.required_providers.items()}
    asked = tuple((name, {"source": source, "version": version}) for name, (source, version) in sorted(pins.items()))
    head = Block("terraform", (("required_version", TERRAFORM), Block("required_providers", asked)))
    by_cloud = groupby(pools, key=lambda pool: pool.rented.provider)
    setups = [block for _, same in by_cloud for block in _providers(list(same))]
    return hcl.document([head, *setups, *(_call(plan, pool) for pool in pools)], WRITTEN)


def _providers(pools: Sequence[Pool]) -> Iterator[Block]:
    cloud = pools[0].cloud
    for name in sorted({name for pool in pools for name in pool.found.module.required_providers}):
        setup = cloud.providers[name]
        for region in sorted({pool.rented.region for pool in pools}) if setup.each_region else [""]:
            alias = ("alias", slug(region, "_") or None)
            fixed = ((key, value.format(region=region)) for key, value in setup.arguments.items())
            left = ((key, Raw(f"var.{cloud.inputs[key].root}")) for key in setup.inputs)
            yield Block(f'provider "{name}"', (alias, *fixed, *left, *(Block(inner, ()) for inner in setup.blocks)))


def _call(plan: Plan, pool: Pool) -> Block:
    part, module = pool.rented, pool.found.module
    aliased = [name for name in module.required_providers if pool.cloud.providers[name].each_region]
    arguments: dict[str, hcl.Value] = {
        "source": f"./modules/{module.provider}/{module.name}",
        "providers": {name: Raw(f"{name}.{slug(part.region, '_')}") for name in aliased} or None,
        "name": Raw('"${var.name_prefix}-' + part.resource_name + '"'),
        "plan_id": plan.plan_id,
        "workloads": part.workloads,
        "teams": part.teams,
        "purchase_option": part.started,
        "node_count": Raw(f'lookup(var.node_counts, "{part.label}", {part.peak})'),
        **{name: value.format(region=part.region) for name, value in module.arguments.items()},
        **pool.found.arguments,
    }
    for item, required in pool.inputs():
        if item.name in module.variables:
            root, key = f"var.{item.root}", hcl.quote(pool.key(item))
            by_key = f"{root}[{key}]" if required else f"lookup({root}, {key}, null)"
            arguments[item.name] = Raw(root if item.scope == "plan" else by_key)
    return Block(f'module "{part.label}"', tuple(arguments.items()))


def variables(inputs: Sequence[RootInput]) -> str:
    """variables.tf: the two that every root has, then what the modules ask for."""
    prefix = _variable(
        "name_prefix",
        "string",
        "Starts the name of everything that is created; change it to apply two plans in one account.",
        "gp",
        (
            f'can(regex("^[a-z][a-z0-9]{{0,{PREFIX_MAX - 1}}}$", var.name_prefix))',
            f"name_prefix is a lower-case letter and up to {PREFIX_MAX - 1} more letters and digits.",
        ),
    )
    counts = _variable(
        "node_counts",
        "map(number)",
        "Nodes by pool, where they differ from the busiest month of the plan; README.md has every month's.",
        {},
        ("alltrue([for count in values(var.node_counts) : count >= 0])", "node_counts holds no negative number."),
    )
    return hcl.document([prefix, counts, *(_input(item) for item in inputs)])


def _input(item: RootInput) -> Block:
    """The root variable of an input: a value, or a map with a value for each key that needs one."""
    root, kind, description = item.input.root, item.input.type, item.input.description
    if item.input.scope == "plan":
        return _variable(root, kind, description, None if item.required else Raw("null"), None)
    check = None
    if item.needed:
        condition = f"alltrue([for key in {hcl.expression(item.needed)} : contains(keys(var.{root}), key)])"
        check = (condition, f"{root} needs a value for: {', '.join(item.needed)}.")
    description = f"{description} One value a {item.input.scope}."
    return _variable(root, f"map({kind})", description, None if item.needed else {}, check)


def _variable(name: str, kind: str, description: str, default: hcl.Value, check: tuple[str, str] | None) -> Block:
    items: list[tuple[str, hcl.Value] | Block] = [
        ("description", description),
        ("type", Raw(kind)),
        ("default", default),
    ]
    if check:
        items.append(Block("validation", (("condition", Raw(check[0])), ("error_message", check[1]))))
    return Block(f'variable "{name}"', tuple(items))


def outputs(pools: Sequence[Pool]) -> str:
    """outputs.tf: everything that each pool's module tells."""
    return hcl.document([_output(pool) for pool in pools])


def _output(pool: Pool) -> Block:
    part = pool.rented
    told = ("description", f"{part.instance_type} in {part.region}, started as {part.started}.")
    return Block(f'output "{part.label}"', (told, ("value", Raw(f"module.{part.label}"))))


def example(inputs: Sequence[RootInput]) -> str:
    """Values to copy into terraform.tfvars: what must be filled in, then, commented out, what may be."""
    lines = ["# Copy to terraform.tfvars and put your own values in. Every value here is made up."]
    for item in inputs:
        keys = item.needed or item.allowed[:1]
        values = {key: _placed(item.input.example, item.regions[key]) for key in keys}
        value = values[""] if item.input.scope == "plan" else values
        mark = "" if item.required else "# "
        lines += ["", f"# {item.input.description}", f"{mark}{item.input.root} = {hcl.expression(value)}"]
    return "\n".join(lines) + "\n"


def _placed(value: Any, region: str) -> Any:
    return value.replace("{region}", region) if isinstance(value, str) else value
