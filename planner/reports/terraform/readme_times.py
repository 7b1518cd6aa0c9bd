"""The parts of README.md on time: the steps by month, pools with hours of their own, and dated days."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from planner.reports._content.markdown_text import table_lines
from planner.reports._content.number_format import format_money
from planner.reports.terraform.dated_nodes import DATED
from planner.reports.terraform.module_calls import RootModule
from planner.reports.terraform.node_pools import NodePool
from planner.reports.terraform.running_hours import list_week_windows, month_after, time_in_month
from planner.result import Plan


def schedule_lines(plan: Plan, roots: Sequence[RootModule]) -> list[str]:
    """A table of counts and steps for each provider; a month without a change has no step."""
    lines = [
        "## Month by month",
        "",
        "At the start of a month set `month` in each `own.auto.tfvars`, read `terraform plan`, apply. The counts are",
        "in `terraform.tfvars`, in `node_counts`. Groups that take a schedule follow `schedules` without that too, and",
        "have no nodes after the plan. `terraform destroy` takes storage that a root made with it: copy your data",
        "first.",
        "",
    ]
    for root in roots:
        steps = _month_steps(plan, root)
        titles = ("month", "next step", *(f"`{pool.rented.label}`" for pool in root.pools))
        rows = [
            (plan.month_names[at], steps[at], *(str(pool.rented.nodes[at]) for pool in root.pools))
            for at in range(plan.months)
        ]
        after = month_after(plan.month_names[-1])
        last = "`terraform destroy`" if any(pool.rented.nodes[-1] for pool in root.pools) else "none: destroyed"
        rows.append((after, last, *("0" for _ in root.pools)))
        lines += [f"### {root.provider}", "", *table_lines(titles, rows)]
    return lines


def _month_steps(plan: Plan, root: RootModule) -> list[str]:
    """The step at the start of each month."""
    steps: list[str] = []
    applied = 0
    for at, name in enumerate(plan.month_names):
        now = [pool.rented.nodes[at] for pool in root.pools]
        before = [pool.rented.nodes[at - 1] if at else 0 for pool in root.pools]
        if not any(any(pool.rented.nodes[: at + 1]) for pool in root.pools):
            steps.append("none yet")
        elif not any(any(pool.rented.nodes[at:]) for pool in root.pools):
            steps.append("`terraform destroy`" if any(before) else "none: destroyed")
        elif not any(any(pool.rented.nodes[:at]) for pool in root.pools):
            steps.append(f'first apply, `month = "{name}"`')
            applied = at
        elif now != before or any(_needs_apply(plan, pool, applied, at) for pool in root.pools):
            steps.append(f'apply, `month = "{name}"`')
            applied = at
        else:
            steps.append("no change")
    return steps


def _needs_apply(plan: Plan, pool: NodePool, applied: int, at: int) -> bool:
    """Whether the nodes of the month with index `at` need an apply, though they are as many as in the month before and
    the last apply was in `applied`: each month of dated nodes is a purchase with an id of its own, and an apply leaves
    no more than some changes of a schedule behind."""
    part, kept = pool.rented, pool.match.module.changes_kept
    if not part.nodes[at] or part.started in DATED:
        return part.nodes[at] > 0
    if not kept:
        return part.profiles[at].is_partial
    months, profiles = plan.month_names[applied : at + 1], part.profiles[applied : at + 1]
    return sum(len(profile.steps) for profile in profiles) + len(list_week_windows(months, profiles)) > kept


def hours_lines(plan: Plan, pools: Sequence[NodePool]) -> list[str]:
    """Pools whose nodes must not stay on for the whole month, with what stops them."""
    hours = plan.hours_per_month
    rows = [
        (
            f"`{pool.rented.label}`",
            format_money(fsum(pool.rented.node_hours)),
            format_money(fsum(pool.rented.nodes) * hours),
            format_money(fsum(profile.node_hours(hours) for profile in pool.rented.profiles)),
            pool.match.module.hours_note,
        )
        for pool in pools
        if pool.rented.is_partial
    ]
    if not rows:
        return []
    intro = [
        "These pools use their nodes for a part of a month. `schedules` in `terraform.tfvars` has when they start and",
        "stop, `weeks` their hours of the week (UTC): move them to the hours in which your work runs.",
    ]
    titles = ("pool", "node-hours of the plan", "if always on", "as scheduled", "what starts and stops them")
    return ["## Hours", "", *intro, "", *table_lines(titles, rows), *_waiting_lines(plan, pools)]


def dated_lines(plan: Plan, pools: Sequence[NodePool]) -> list[str]:
    """The dated days of each pool as they are ordered, and when its nodes run in them."""
    over = time_in_month(month_after(plan.month_names[-1]), 0)
    rows = [
        (
            f"`{pool.rented.label}`",
            plan.month_names[at],
            str(order.nodes),
            str(order.first_day),
            str(order.days),
            *(min(time_in_month(plan.month_names[at], hour), over) for hour in _nodes_from_to(pool, at)),
        )
        for pool in pools
        for at, order in enumerate(pool.rented.orders)
        if order
    ]
    if not rows:
        return []
    intro = [
        "Each order is a purchase with an id of its own, and a pool for its nodes: give the id for its month, in",
        "`capacity_reservation_id` (AWS) or `reservation` (Google). Nodes run in their days only (UTC): blocks of AWS",
        "begin and end at 11:30, and EC2 ends their nodes half an hour before that, so N days have 24 N - 2 hours.",
        "Change `schedules` where you bought other days.",
    ]
    titles = ("pool", "month", "nodes", "first day", "days", "nodes from", "nodes until")
    return ["## Dated days", "", *intro, "", *table_lines(titles, rows)]


def _nodes_from_to(pool: NodePool, at: int) -> tuple[int, int]:
    """The hours of the month with index `at` at which the nodes of an order begin and end."""
    *_, (start, _), (end, _) = pool.rented.profiles[at].steps
    return start, end


def _waiting_lines(plan: Plan, pools: Sequence[NodePool]) -> list[str]:
    """What goes on after the dated days of its work, or beside them."""
    lines = []
    for pool in pools:
        for name, profile in zip(plan.month_names, pool.rented.profiles, strict=True):
            if profile.beside_hours:
                lines.append(
                    f"- `{pool.rented.label}`: {profile.beside_hours} hours in {name} run beside the dated days of its"
                    " work, as the month has no hours for them after these days."
                )
            elif profile.waits_until:
                start = time_in_month(name, profile.waits_until)
                lines.append(f"- `{pool.rented.label}`: from {start} on, when the dated days of its work are over.")
    return [*lines, ""] if lines else []
