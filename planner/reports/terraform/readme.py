"""README.md over all roots: the parts of the plan and their costs, the variables to fill in, the steps by month."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from planner.reports._content.markdown_text import escape_line, escape_markdown, table_lines
from planner.reports._content.number_format import format_money, format_number, month_name, month_range_name
from planner.reports._content.uncertainty import UNIT_ENDINGS
from planner.reports.terraform.home_groups import list_divided_homes
from planner.reports.terraform.module_calls import RootInput, RootModule, root_inputs
from planner.reports.terraform.node_pools import NodePool, UnprovisionedNodes
from planner.reports.terraform.provisioning import cuda_versions
from planner.reports.terraform.purchase_lists import CommitmentEntry
from planner.reports.terraform.readme_times import dated_lines, hours_lines, schedule_lines
from planner.reports.terraform.running_hours import TOLERANCE, most_at_once
from planner.result import Plan, Strategy
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class ProvisioningPlan:
    """All that was made of one strategy."""

    plan: Plan
    strategy: Strategy
    roots: tuple[RootModule, ...]
    refused: tuple[UnprovisionedNodes, ...]
    commitments: tuple[CommitmentEntry, ...]

    @property
    def pools(self) -> tuple[NodePool, ...]:
        return tuple(pool for root in self.roots for pool in root.pools)


def empty_readme(plan: Plan) -> str:
    """The README of a plan without a strategy, with the reasons."""
    lines = [*_readme_head(plan), "No strategy serves the demand, so there is no Terraform here.", ""]
    lines += [f"- {escape_line(str(reason))}" for reason in plan.reasons or plan.recommendation.reasons]
    return "\n".join(lines).rstrip() + "\n"


def format_readme(parts: ProvisioningPlan) -> str:
    """The whole text."""
    plan, strategy = parts.plan, parts.strategy
    lines = _readme_head(plan)
    if strategy.name != plan.recommendation.strategy:
        lines += [f"This is the requested strategy, {strategy.name}; the plan recommends another.", ""]
    if parts.roots:
        lines += [*_step_lines(parts), *_folder_lines(parts)]
        lines += [line for root in parts.roots for line in _input_lines(root)]
        lines += [*schedule_lines(plan, parts.roots), *hours_lines(plan, parts.pools), *dated_lines(plan, parts.pools)]
        lines += _table_of_pools(parts)
        lines += [line for pool in parts.pools for line in _pool_lines(plan, pool)]
        lines += [*_cuda_lines(parts.pools), *_extra_lines(parts)]
    else:
        reason = f"The strategy {strategy.name} has no cloud resources for Terraform"
        lines += [f"{reason}, so there is no Terraform here.", ""]
    lines += [*_unprovisioned_lines(parts.refused), *_commitment_lines(parts), *_owned_lines(plan, strategy)]
    return "\n".join(lines).rstrip() + "\n"


def _readme_head(plan: Plan) -> list[str]:
    title = f"# Terraform for plan {escape_markdown(plan.plan_id)}"
    digest = (
        [f"Digest of the plan's content: {escape_markdown(plan.content_digest)}", ""] if plan.content_digest else []
    )
    return [title, "", escape_line(str(plan.recommendation.sentence)), "", *digest]


def _step_lines(parts: ProvisioningPlan) -> list[str]:
    plan = parts.plan
    rates = [f"Converted at {escape_markdown(rate.words)}." for rate in plan.exchange_rates]
    return [
        f"Strategy {parts.strategy.name}, {month_range_name(plan, 1, plan.months)}. Amounts are in {plan.currency}.",
        *rates,
        "",
        "1. One folder is one root module. In each, copy the needed variables that are commented out in",
        "   `terraform.tfvars` into `own.auto.tfvars`, with your values: a later plan overwrites only the former.",
        "   Credentials come from the environment.",
        "2. `terraform init`, `terraform plan`, review it, `terraform apply`.",
        f"3. With `month = null` the nodes are those of {plan.month_names[0]}, the first month of the plan.",
        "   «Month by month» has the steps of every month, to the last.",
        "4. Nodes cost money as long as they exist, the plan pays for the node-hours below. Where these are fewer",
        f"   than the nodes for a whole month by more than {TOLERANCE - 1:.0%}, the pool has hours: see «Hours».",
        "5. No commitment is made by default: commitments are a list, requests for quota and reserved capacity need a",
        "   variable set to true.",
        "",
    ]


def _folder_lines(parts: ProvisioningPlan) -> list[str]:
    rows = [
        (
            f"`{root.provider}/`",
            str(len(root.pools)),
            str(most_at_once([pool.rented.profiles[0] for pool in root.pools])),
            format_money(root.extras.highest_bill),
            format_money(sum(root.extras.bill)),
        )
        for root in parts.roots
    ]
    money = parts.plan.currency
    titles = ("folder", "pools", "nodes at once in the first month", "month of highest cost", f"all months, {money}")
    intro = "Amounts are use (hours, storage, egress) and monthly fees of commitments, without upfront payments."
    return ["## Folders", "", intro, "", *table_lines(titles, rows)]


def _input_lines(root: RootModule) -> list[str]:
    rows = [
        (f"`{item.input.root}`", "yes" if item.required else "no", item.input.description, _input_keys(item))
        for item in root_inputs(root)
    ]
    titles = ("variable", "needed", "its description", "a value for")
    return [f"## Variables to fill in: {root.provider}", "", *table_lines(titles, rows)]


def _input_keys(item: RootInput) -> str:
    if item.input.scope == "plan":
        return "the plan"
    any_key = "any pool and month" if item.input.scope == "month" else f"any {item.input.scope}"
    return ", ".join(f"`{escape_markdown(key)}`" for key in item.needed) or any_key


def _table_of_pools(parts: ProvisioningPlan) -> list[str]:
    titles = (
        "pool", "instance type", "region", "started as", "paid as", "nodes at most", f"use, {parts.plan.currency}",
    )  # fmt: skip
    rows = [
        (
            f"`{pool.rented.label}`",
            f"`{escape_markdown(pool.rented.instance_type)}`",
            f"{pool.rented.provider} {escape_markdown(pool.rented.region)}",
            pool.rented.started_words,
            escape_markdown(", ".join(pool.rented.paid)),
            str(pool.rented.peak),
            format_money(sum(pool.rented.cost)),
        )
        for pool in parts.pools
    ]
    intro = "Use is rented hours with storage and egress; committed nodes are paid for as commitments, further down."
    return ["## Pools", "", intro, "", *table_lines(titles, rows), *_divided_home_lines(parts)]


def _divided_home_lines(parts: ProvisioningPlan) -> list[str]:
    """Places whose nodes are in several groups, with the reasons."""
    lines = []
    for home in list_divided_homes(parts.pools):
        provider, region, name = map(escape_markdown, home.place)
        labels = ", ".join(f"`{label}`" for label in home.labels)
        reasons = "; ".join(escape_markdown(str(reason)) for reason in home.reasons)
        lines.append(f"- {name} in {provider} {region}: {labels}, since {reasons}.")
    return ["One place in several groups:", "", *lines, ""] if lines else []


def _pool_lines(plan: Plan, pool: NodePool) -> list[str]:
    part, module = pool.rented, pool.match.module
    accelerators = f"{format_number(part.accelerators_per_node)} x {escape_markdown(part.accelerator)} a node"
    line = cuda_versions.find_cuda_line(part.accelerator)
    cuda = line.newest_line if isinstance(line, cuda_versions.CudaLine) else f"none, {escape_markdown(line.text)}"
    lines = [
        f"### {part.label}",
        "",
        f"Module `{part.provider}/modules/{module.name}`, {accelerators}.",
        "",
        f"- workloads: {', '.join(map(escape_markdown, part.workloads))}",
        *([f"- jobs of {part.gang_nodes} nodes at once, joined by a fabric"] if part.gang_nodes > 1 else []),
        *([f"- teams: {', '.join(map(escape_markdown, part.teams))}"] if part.teams else []),
        f"- CUDA: {cuda}",
        *([f"- note: {pool.match.note}"] if pool.match.note else []),
    ]
    months = [
        (month_name(plan, month), str(nodes), format_money(hours), format_money(cost))
        for month, (nodes, hours, cost) in enumerate(zip(part.nodes, part.node_hours, part.cost, strict=True), start=1)
    ]
    if part.base_nodes:
        counts = ", ".join(f"{count} in {name}" for name, count in zip(plan.month_names, part.base_nodes, strict=True))
        lines.append(f"- on demand of its nodes: {counts}; the others on spot")
    return [*lines, "", *table_lines(("month", "nodes at once", "node-hours", f"cost of use, {plan.currency}"), months)]


def _cuda_lines(pools: Sequence[NodePool]) -> list[str]:
    """Which CUDA a container needs on each architecture in the plan, and why."""
    lines_by_architecture = {}
    for line in (cuda_versions.find_cuda_line(pool.rented.accelerator) for pool in pools):
        if isinstance(line, cuda_versions.CudaLine):
            lines_by_architecture[line.architecture] = line
    if not lines_by_architecture:
        return []
    rows = [
        (
            each.architecture,
            each.newest_line,
            each.least_line,
            f"{each.driver_branch}{', the last' if each.is_ended else ' or later'}",
            each.note or "later lines run too, on a later driver",
            f"<{each.source}>",
        )
        for _, each in sorted(lines_by_architecture.items())
    ]
    intro = "The line of CUDA that a container's image is built for, by the architecture of the accelerators."
    titles = ("architecture", "CUDA line", "at least", "driver branch", "why", "source")
    return ["## CUDA", "", intro, "", *table_lines(titles, rows)]


def _extra_lines(parts: ProvisioningPlan) -> list[str]:
    """Budgets, quota and storage."""
    lines = ["## Budgets, quotas and storage", ""]
    for root in parts.roots:
        kinds = {extra.kind for extra in root.cloud.extras}
        if "budget" in kinds and root.extras.highest_bill:
            amount = f"{format_money(ceil(root.extras.highest_bill))} {parts.plan.currency}"
            lines.append(f"- {root.provider}: a budget of {amount} a month, once `budget_contacts`")
            lines.append("  names the recipients.")
        for item in root.extras.quotas:
            how = "requested with `request_quotas = true`" if "quota" in kinds else "request it from the provider"
            by = month_name(parts.plan, item.first_month)
            quota = f"{escape_markdown(item.title or item.code)} in {escape_markdown(item.region)}"
            limit = f"{format_number(item.ask_for)} {item.unit}"
            lines.append(f"- {root.provider}: {quota} raised to {limit} by {by}, {how}.")
        for store in root.extras.stores:
            description = f"{format_number(store.capacity_gb)} GB for {escape_markdown(store.workload)}"
            description = f"{description} in {escape_markdown(store.region)}"
            how = f"`module.{store.label}`" if "storage" in kinds else "no module here creates it"
            lines.append(f"- {root.provider}: storage of {description}, {how}.")
    return [*lines, ""] if len(lines) > 2 else []


def _unprovisioned_lines(refused: Sequence[UnprovisionedNodes]) -> list[str]:
    if not refused:
        return []
    lines = ["## In the plan, but not provisioned here", ""]
    for part, reason in refused:
        where = f"{escape_markdown(part.provider)} {escape_markdown(part.region)}"
        nodes = f"{part.peak} x `{escape_markdown(part.instance_type)}` in {where}"
        users = ", ".join(map(escape_markdown, part.workloads))
        options = escape_markdown(", ".join(part.paid))
        lines.append(f"- {nodes}, {options}: {escape_markdown(str(reason))}. For {users}.")
    return [*lines, ""]


def _commitment_lines(parts: ProvisioningPlan) -> list[str]:
    if not parts.commitments:
        return []
    plan = parts.plan
    titles = ("month", "provider", "region", "type", "option", "count", "months", "upfront", "a month")
    rows = [
        (
            month_name(plan, item.month),
            escape_markdown(item.provider),
            escape_markdown(item.region),
            f"`{escape_markdown(item.name)}`",
            escape_markdown(item.purchase_option),
            (f"{item.money_per_hour:,.2f}" if item.unit == "money" else str(item.count)) + UNIT_ENDINGS[item.unit],
            str(item.term_months),
            format_money(item.upfront),
            format_money(item.per_month),
        )
        for item, _ in parts.commitments
    ]
    intro = [
        "Terraform does not buy these; `purchases.md` has the commands, `purchases.csv` the same as a table. Once",
        "purchased, those of a term apply to matching on-demand nodes automatically; nodes of dated days start in the",
        "reservation whose id you give.",
    ]
    return ["## Commitments to buy", "", *intro, "", *table_lines(titles, rows)]


def _owned_lines(plan: Plan, strategy: Strategy) -> list[str]:
    hardware = [item for item in strategy.purchases if item.what == "owned"]
    if not hardware:
        return []
    titles = ("ordered", "usable", "system", "accelerators", "count", "price", "a month")
    rows = [
        (
            month_name(plan, item.month),
            month_range_name(plan, item.usable_from, item.usable_to),
            escape_markdown(item.name),
            f"{format_number(item.accelerators_per_node)} x {escape_markdown(item.accelerator)}",
            str(item.count),
            format_money(item.upfront),
            format_money(item.per_month),
        )
        for item in hardware
    ]
    intro = [
        "Purchased and run by you. Terraform has only the rented nodes.",
        "`bill_of_materials.csv` has power, racks, network and the months of order and delivery.",
    ]
    return ["## Owned nodes", "", *intro, "", *table_lines(titles, rows)]
