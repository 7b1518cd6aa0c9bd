"""Root variables that the plan fills in, and the terraform.tfvars with their values.

Variables that only the reader can fill in are in the same file, commented out, with an example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from planner.reports.terraform.module_calls import RootInput, RootModule
from planner.reports.terraform.node_pools import NodePool
from planner.reports.terraform.provisioning import hcl
from planner.reports.terraform.provisioning.hcl import HclBlock, HclValue, RawExpression
from planner.reports.terraform.provisioning.module_catalog import EVERY_MONTH, ExtraModule
from planner.reports.terraform.running_hours import list_steps, list_week_windows, month_after
from planner.result import Plan, QuotaRequest
from pricing.frozen_values import dataclass

ValidationRule = tuple[str, str]
PREFIX_MAX = 6
"""With the 33 characters of RentedNodes.resource_name and a hyphen: 40, the longest name that every module takes."""
NO_DEFAULT = RawExpression("")
QUOTA_HCL = "list(object({ region = string, code = string, title = string, unit = string, value = number }))"
TFVARS_HEADER = """Written by gpu-planner: variables known from the plan are filled in, the others are commented out
with an example.
Put your own values into own.auto.tfvars in this folder: it overrides this file, and no later plan overwrites it.
README.md in the folder above describes each variable."""


@dataclass(frozen=True, slots=True)
class FilledVariable:
    """A root variable and its value from the plan. `is_default`: the value is written as the default and
    commented out in the file of values, for the reader to change."""

    name: str
    type: str
    description: str
    value: HclValue
    is_default: bool = False
    example: HclValue = None
    checks: tuple[ValidationRule, ...] = ()


def fill_variables(plan: Plan, made: RootModule) -> tuple[FilledVariable, ...]:
    """The variables of a provider's root that the plan fills in."""
    filled_variables = (
        FilledVariable("plan_id", "string", "Plan that everything belongs to; becomes the tag plan.", plan.plan_id),
        FilledVariable(
            "month",
            "string",
            f"Month to run the nodes of, YYYY-MM; null is the first of the plan, {plan.month_names[0]}.",
            None,
            checks=(_month_rule(plan),),
        ),
        *_pool_variables(plan, made.pools),
        *_extra_variables(plan, made),
        NAME_PREFIX,
    )
    has_tags = any("tags" in call.arguments for call in made.calls)
    return (*filled_variables, TAGS) if has_tags else filled_variables


def _pool_variables(plan: Plan, pools: Sequence[NodePool]) -> tuple[FilledVariable, ...]:
    """What each pool has: when its nodes run, and for whom."""
    labels = [pool.rented.label for pool in pools]
    mixed = {
        pool.rented.label: dict(zip(plan.month_names, pool.rented.base_nodes, strict=True))
        for pool in pools
        if pool.rented.base_nodes
    }
    return (
        FilledVariable(
            "node_counts",
            COUNTS_TYPE,
            "Nodes by pool and month; a month that is not there has none.",
            {pool.rented.label: dict(zip(plan.month_names, pool.rented.nodes, strict=True)) for pool in pools},
            checks=(_keys_rule("node_counts", labels), _counts_rule("node_counts")),
        ),
        *([_base_counts_variable(mixed)] if mixed else []),
        FilledVariable(
            "schedules",
            "map(list(object({ start = string, node_count = number })))",
            "Nodes by pool from a time on (UTC). Each month begins with those that it needs at once; what does not need"
            " the whole month ends before, and what follows on dated days begins after them; there are none after the"
            " plan.",
            {pool.rented.label: _schedule_rows(plan, pool) for pool in pools},
            checks=(_keys_rule("schedules", labels),),
        ),
        FilledVariable(
            "weeks",
            "map(list(object({ month = string, days = list(string), hour = number, hours = number,"
            " node_count = number })))",
            "Nodes by pool in the hours of the week (UTC), for pools that follow the hours of the week.",
            {pool.rented.label: _week_rows(plan, pool) for pool in pools},
            checks=(_keys_rule("weeks", labels),),
        ),
        FilledVariable(
            "workloads",
            "map(list(string))",
            "Workloads by pool; become the tag workloads.",
            {pool.rented.label: pool.rented.workloads for pool in pools},
            checks=(_keys_rule("workloads", labels),),
        ),
        FilledVariable(
            "teams",
            "map(list(string))",
            "Teams that own the workloads, by pool; become the tag team.",
            {pool.rented.label: pool.rented.teams for pool in pools},
            checks=(_keys_rule("teams", labels),),
        ),
    )


TAGS = FilledVariable(
    "tags",
    "map(string)",
    "Further tags on everything that is created, such as the cost centre.",
    {},
    is_default=True,
    example={"cost_centre": "4711"},
)


NAME_PREFIX = FilledVariable(
    "name_prefix",
    "string",
    "Starts the name of everything that is created; change it to apply two plans in one account.",
    "gp",
    is_default=True,
    checks=(
        (
            f'can(regex("^[a-z][a-z0-9]{{0,{PREFIX_MAX - 1}}}$", var.name_prefix))',
            f"name_prefix is a lower-case letter and up to {PREFIX_MAX - 1} more letters and digits.",
        ),
    ),
)
COUNTS_TYPE = "map(map(number))"
COUNT_CONDITION = 'count >= 0 && floor(count) == count && can(regex("^\\\\d{4}-\\\\d{2}$", month))'


def _counts_rule(name: str) -> ValidationRule:
    counts = f"[for counts in values(var.{name}) : [for month, count in counts : {COUNT_CONDITION}]]"
    return f"alltrue(flatten({counts}))", f"{name} holds whole numbers of nodes, 0 or more, by month (YYYY-MM)."


def _base_counts_variable(mixed: Mapping[str, HclValue]) -> FilledVariable:
    return FilledVariable(
        "base_counts",
        COUNTS_TYPE,
        "Of the nodes of a pool that holds both, those on demand, by month; the others are on spot.",
        mixed,
        checks=(_keys_rule("base_counts", list(mixed)), _counts_rule("base_counts")),
    )


def _month_rule(plan: Plan) -> ValidationRule:
    first, after = plan.month_names[0], month_after(plan.month_names[-1])
    begun = f'timecmp(format("%s-01T00:00:00Z", var.month), "{first}-01T00:00:00Z") >= 0'
    return (
        f'var.month == null ? true : can(regex("^\\\\d{{4}}-\\\\d{{2}}$", var.month)) && try({begun}, false)',
        f"month is a month such as {first}, the first of the plan, or later; from {after} on there are no nodes.",
    )


def _schedule_rows(plan: Plan, pool: NodePool) -> list[Mapping[str, HclValue]]:
    steps = list_steps(plan.month_names, pool.rented.profiles)
    return [{"start": start, "node_count": nodes} for start, nodes in steps]


def _week_rows(plan: Plan, pool: NodePool) -> list[Mapping[str, HclValue]]:
    return [
        {"month": row.month, "days": row.days, "hour": row.hour, "hours": row.hours, "node_count": row.nodes}
        for row in list_week_windows(plan.month_names, pool.rented.profiles)
    ]


def _keys_rule(name: str, keys: Sequence[str]) -> ValidationRule:
    condition = f"alltrue([for key in {hcl.format_expression(keys)} : contains(keys(var.{name}), key)])"
    return condition, f"{name} needs a value for: {', '.join(keys)}."


def _extra_variables(plan: Plan, made: RootModule) -> Iterator[FilledVariable]:
    """The variables of the extras that the root calls."""
    kinds = {call.module.kind for call in made.calls if isinstance(call.module, ExtraModule)}
    if "budget" in kinds:
        yield FilledVariable("currency", "string", "Currency of the plan and of the budget.", plan.currency)
        description = f"Budget a month: the highest monthly cost of the plan on {made.provider}, rounded up."
        yield FilledVariable("monthly_budget", "number", description, ceil(made.extras.highest_bill))
        yield FilledVariable("budget_start_month", "string", "First month of the budget, YYYY-MM.", plan.month_names[0])
        description = "E-mail addresses that the budget warns; without any there is no budget."
        yield FilledVariable(
            "budget_contacts", "list(string)", description, [], is_default=True, example=["finance@example.com"]
        )
    if "quota" in kinds:
        description = "Limits that the plan needs and the account does not have yet."
        yield FilledVariable(
            "quota_requests", QUOTA_HCL, description, [_quota_request_value(item) for item in made.extras.quotas]
        )
        description = "Whether to request these limits from the provider; no request is made by default."
        yield FilledVariable("request_quotas", "bool", description, False, is_default=True, example=True)
    if made.extras.stores and "storage" in kinds:
        stores: dict[str, HclValue] = {
            store.label: {"workload": store.workload, "capacity_gb": store.capacity_gb} for store in made.extras.stores
        }
        kind = "map(object({ workload = string, capacity_gb = number }))"
        yield FilledVariable("storage", kind, "Storage that workloads requested.", stores)


def _quota_request_value(item: QuotaRequest) -> Mapping[str, HclValue]:
    return {
        "region": item.region, "code": item.code, "title": item.title, "unit": item.unit, "value": item.ask_for,
    }  # fmt: skip


def format_variables(filled_variables: Sequence[FilledVariable], open_inputs: Sequence[RootInput]) -> str:
    """variables.tf: variables that the plan fills in, then inputs of the modules."""
    blocks = [
        _variable_block(
            item.name, item.type, item.description, _default_value(item), item.checks, not_null=item.name != "month"
        )
        for item in filled_variables
    ]
    return hcl.format_document([*blocks, *(_input_block(item) for item in open_inputs)])


def _default_value(item: FilledVariable) -> HclValue:
    return item.value if item.is_default else RawExpression("null") if item.value is None else NO_DEFAULT


def _input_block(item: RootInput) -> HclBlock:
    """The root variable of an input: a value, or a map with a value for each key that needs one."""
    root, kind, description = item.input.root, item.input.type, item.input.description
    if item.input.scope == "plan":
        return _variable_block(
            root, kind, description, NO_DEFAULT if item.required else RawExpression("null"), (), not_null=False
        )
    checks = (_keys_rule(root, item.needed),) if item.needed else ()
    by_month = item.input.scope == "month"
    what = f'pool and month (2027-03; "{EVERY_MONTH}" for all others)' if by_month else item.input.scope
    description = f"{description} One value a {what}."
    kind = f"map({kind})" if by_month else kind
    return _variable_block(root, f"map({kind})", description, NO_DEFAULT if item.needed else {}, checks, not_null=True)


def _variable_block(
    name: str, kind: str, description: str, default: HclValue, checks: Sequence[ValidationRule], *, not_null: bool
) -> HclBlock:
    items: list[tuple[str, HclValue] | HclBlock] = [("description", description), ("type", RawExpression(kind))]
    if default is not NO_DEFAULT:
        items.append(("default", default))
    if not_null:
        items.append(("nullable", False))
    items += [
        HclBlock("validation", (("condition", RawExpression(test)), ("error_message", text))) for test, text in checks
    ]
    return HclBlock(f'variable "{name}"', tuple(items))


def format_tfvars(
    filled_variables: Sequence[FilledVariable], open_inputs: Sequence[RootInput], month_names: Sequence[str]
) -> str:
    """terraform.tfvars: the plan's values; then, commented out, examples of required and of optional inputs."""
    parts = ["\n".join(f"# {line}" for line in TFVARS_HEADER.splitlines())]
    for item in filled_variables:
        text = hcl.format_assignment(item.name, item.value if item.example is None else item.example)
        parts.append(f"# {item.description}\n{_comment_out(text) if item.is_default else text}")
    for open_input in open_inputs:
        keys = open_input.needed or open_input.allowed[:1]
        by_key: dict[str, HclValue] = {
            key: _fill_region(open_input.input.example, open_input.regions[key]) for key in keys
        }
        if open_input.input.scope == "month":
            months = {key: [month_names[at] for at in open_input.dated_months[key]] or [EVERY_MONTH] for key in keys}
            by_key = {key: dict.fromkeys(months[key], example) for key, example in by_key.items()}
        value = open_input.input.example if open_input.input.scope == "plan" else by_key
        need = "Needed" if open_input.required else "Optional"
        parts.append(
            f"# {need}: "
            f"{open_input.input.description}\n{_comment_out(hcl.format_assignment(open_input.input.root, value))}"
        )
    return "\n\n".join(parts) + "\n"


def _comment_out(text: str) -> str:
    return "\n".join(f"# {line}" for line in text.splitlines())


def _fill_region(value: Any, region: str) -> Any:
    if isinstance(value, list):
        return [_fill_region(item, region) for item in value]
    return value.replace("{region}", region) if isinstance(value, str) else value
