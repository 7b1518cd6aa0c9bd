"""README.md of the root: what each part is in the plan, what must be filled in, and what Terraform does not do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from planner.answer import Plan, Purchase, Strategy
from planner.reports._shared.clean import plain
from planner.reports._shared.figures import money, month_name, months_named, number
from planner.reports.terraform._pools import Pool, Rented, RootInput

MARKUP = re.compile(r"([\\`*_\[\](){}<>|#~&$!])")
Refused = Sequence[tuple[Rented, str]]


def readme(
    plan: Plan, strategy: Strategy | None, pools: Sequence[Pool], refused: Refused, inputs: Sequence[RootInput]
) -> str:
    """The whole text; all that is left of it where there is no strategy is why."""
    lines = [f"# Terraform for plan {_text(plan.plan_id)}", "", _text(plan.recommendation.sentence), ""]
    if strategy is None:
        lines += ["No strategy serves the demand: there is nothing to provision, and no Terraform here.", ""]
        lines += [f"- {_text(reason)}" for reason in plan.reasons or plan.recommendation.reasons]
    elif pools:
        lines += [*_steps(plan, strategy), *_inputs(inputs), *_table_of_pools(plan, pools)]
        lines += [line for pool in pools for line in _pool(plan, pool)]
    else:
        lines += [
            f"The strategy {strategy.name} has nothing in a cloud that Terraform could create: no Terraform here.",
            "",
        ]
    if strategy is not None:
        lines += [*_refused(refused), *_commitments(plan, strategy), *_owned(plan, strategy)]
    return "\n".join(lines).rstrip() + "\n"


def _text(value: str) -> str:
    """A text from outside on one line of Markdown, without a mark-up character left alive."""
    return MARKUP.sub(r"\\\1", plain(value))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)] + [""]


def _steps(plan: Plan, strategy: Strategy) -> list[str]:
    rates = [f"Converted at {_text(rate.words)}." for rate in plan.exchange_rates]
    return [
        f"Strategy {strategy.name}, {months_named(plan, 1, plan.months)}. Amounts are the plan's, in {plan.currency}.",
        *rates,
        "",
        "1. Copy `terraform.tfvars.example` to `terraform.tfvars`, fill it in. Credentials come from the environment.",
        "2. `terraform init`, `terraform plan`, read what it would create, `terraform apply`.",
        "3. Each pool starts with the nodes of its busiest month. At the start of a month set `node_counts` to what",
        "   the tables below say (0 for a month without work), and apply.",
        "4. Nodes are paid for as long as they exist, the plan pays for the node-hours below. Where these are fewer",
        "   than the nodes for a whole month, stop idle nodes, or the bill is higher than the plan.",
        "",
    ]


def _inputs(inputs: Sequence[RootInput]) -> list[str]:
    rows = [
        (f"`{item.input.root}`", "yes" if item.required else "no", item.input.description, _keys(item))
        for item in inputs
    ]
    return ["## What must be filled in", "", *_table(("variable", "needed", "what it is", "a value for"), rows)]


def _keys(item: RootInput) -> str:
    if item.input.scope == "plan":
        return "the plan"
    return ", ".join(f"`{key}`" for key in item.needed) or f"any {item.input.scope}"


def _table_of_pools(plan: Plan, pools: Sequence[Pool]) -> list[str]:
    titles = ("pool", "instance type", "region", "started as", "paid as", "nodes at most", f"use, {plan.currency}")
    rows = [
        (
            f"`{pool.rented.label}`",
            f"`{pool.rented.instance_type}`",
            f"{pool.rented.provider} {pool.rented.region}",
            pool.rented.started,
            ", ".join(pool.rented.paid),
            str(pool.rented.peak),
            money(sum(pool.rented.cost)),
        )
        for pool in pools
    ]
    told = "Use is rented hours with storage and egress; committed nodes are paid for as commitments, further down."
    return ["## Pools", "", told, "", *_table(titles, rows)]


def _pool(plan: Plan, pool: Pool) -> list[str]:
    part = pool.rented
    lines = [f"### {part.label}", ""]
    accelerators = f"{number(part.accelerators_per_node)} x {part.accelerator} a node"
    lines += [f"Module `modules/{pool.found.module.provider}/{pool.found.module.name}`, {accelerators}.", ""]
    lines += [f"- workloads: {', '.join(map(_text, part.workloads))}"]
    lines += [f"- teams: {', '.join(map(_text, part.teams))}"] if part.teams else []
    lines += [f"- note: {pool.found.note}"] if pool.found.note else []
    months = [
        (month_name(plan, month), str(nodes), money(hours), money(cost))
        for month, (nodes, hours, cost) in enumerate(zip(part.nodes, part.node_hours, part.cost, strict=True), start=1)
    ]
    return [*lines, "", *_table(("month", "nodes at once", "node-hours", f"cost of use, {plan.currency}"), months)]


def _refused(refused: Refused) -> list[str]:
    if not refused:
        return []
    lines = ["## In the plan, but not provisioned here", ""]
    for part, reason in refused:
        what = f"{part.peak} x `{part.instance_type}` in {part.provider} {part.region}, {', '.join(part.paid)}"
        lines.append(f"- {what}: {reason}. For {', '.join(map(_text, part.workloads))}.")
    return [*lines, ""]


def _commitments(plan: Plan, strategy: Strategy) -> list[str]:
    bought = [item for item in strategy.purchases if item.what == "commitment"]
    if not bought:
        return []
    titles = ("month", "provider", "region", "type", "option", "count", "months", "upfront", "a month")
    rows = [
        (
            month_name(plan, item.month),
            item.provider,
            item.region,
            f"`{item.name}`",
            item.purchase_option,
            str(item.count),
            str(item.term_months),
            money(item.upfront),
            money(item.per_month),
        )
        for item in bought
    ]
    told = "Terraform does not buy these. Once bought, they pay for matching on-demand nodes by themselves."
    return ["## Commitments to buy", "", told, "", *_table(titles, rows)]


def _owned(plan: Plan, strategy: Strategy) -> list[str]:
    bought = [item for item in strategy.purchases if item.what == "owned"]
    if not bought:
        return []
    titles = ("ordered", "usable", "system", "accelerators", "count", "price", "a month")
    rows = [_owned_row(plan, item) for item in bought]
    return ["## Owned nodes", "", "Bought and run by you; nothing of them is in Terraform.", "", *_table(titles, rows)]


def _owned_row(plan: Plan, item: Purchase) -> tuple[str, ...]:
    return (
        month_name(plan, item.month),
        months_named(plan, item.usable_from, item.usable_to),
        _text(item.name),
        f"{number(item.accelerators_per_node)} x {item.accelerator}",
        str(item.count),
        money(item.upfront),
        money(item.per_month),
    )
