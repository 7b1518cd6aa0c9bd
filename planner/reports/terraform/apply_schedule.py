"""The schedule of `terraform apply` and `terraform destroy`, from the nodes of the pools by month."""

from __future__ import annotations

from collections.abc import Sequence

from planner.reports._content.markdown_text import table_lines
from planner.reports.terraform.module_calls import RootModule
from planner.result import Plan


def schedule_lines(plan: Plan, roots: Sequence[RootModule]) -> list[str]:
    """A table of counts and steps for each provider; a month without a change has no step."""
    lines = [
        "## Month by month",
        "",
        "At the start of a month set `month` in each `own.auto.tfvars`, read `terraform plan`, apply. The counts are",
        "in `terraform.tfvars`, in `node_counts`. `terraform destroy` takes storage that a root made with it: copy",
        "your data first.",
        "",
    ]
    for root in roots:
        titles = ("month", "next step", *(f"`{pool.rented.label}`" for pool in root.pools))
        rows = [
            (plan.month_names[at], month_step(plan, root, at), *(str(pool.rented.nodes[at]) for pool in root.pools))
            for at in range(plan.months)
        ]
        lines += [f"### {root.provider}", "", *table_lines(titles, rows)]
    return lines


def month_step(plan: Plan, root: RootModule, at: int) -> str:
    """The step at the start of the month with index `at`."""
    totals = [sum(pool.rented.nodes[month] for pool in root.pools) for month in range(plan.months)]
    before = [pool.rented.nodes[at - 1] if at else 0 for pool in root.pools]
    now = [pool.rented.nodes[at] for pool in root.pools]
    name = plan.month_names[at]
    if not any(totals[: at + 1]):
        return "none yet"
    if not any(totals[at:]):
        return "`terraform destroy`" if any(before) else "none: destroyed"
    if not any(totals[:at]):
        return f'first apply, `month = "{name}"`'
    if now == before:
        return "no change"
    return f'apply, `month = "{name}"`'
