"""Disaster recovery as a section of the readable report: its levels side by side."""

from __future__ import annotations

from planner.reports._content.number_format import NO_VALUE, format_money, format_number
from planner.reports._content.sections import Section, make_table
from planner.result import Plan, RecoveryOption
from pricing.counted_nouns import format_count

LEVELS = {
    "pilot_light": "pilot light",
    "warm_standby": "warm standby",
    "active_active": "active in two places",
}
NOTE = (
    "* in the plan. Cost is above the same plan without a second place of that workload, in the recommended strategy."
    " Hours count from the loss of the first place: failover_minutes, and where nodes must start node_start_minutes"
    " and the restart of the workload. The nodes that start then are not reserved: a provider may have none."
)
PLANNING_VALUES = (
    "~ a planning value, not a measurement: state the minutes of your own drill in assumptions (failover_minutes,"
    " node_start_minutes). AWS publishes tens of minutes for a pilot light, minutes for a warm standby and potentially"
    " none for two active places (Well-Architected Framework, Reliability Pillar, REL13-BP02)."
)


def recovery_section(plan: Plan) -> Section | None:
    """A row for each level of each workload with a second place; None where there is none."""
    if not plan.recovery:
        return None
    titles = ("workload", "level", "place", "nodes there", f"added, {plan.currency}", "hours to a part", "hours to all")
    table = make_table(titles, [_option_row(each) for each in plan.recovery], range(3, 7))
    notes = (NOTE,) if all(each.is_stated for each in plan.recovery) else (NOTE, PLANNING_VALUES)
    return Section(f"Disaster recovery, {format_count(plan.months, 'month')}", (table, *notes))


def _option_row(each: RecoveryOption) -> tuple[str, ...]:
    return (
        each.workload,
        LEVELS[each.level] + (" *" if each.is_chosen else ""),
        each.place,
        "cannot be planned" if each.nodes is None else format_number(each.nodes),
        NO_VALUE if each.cost_added is None else format_money(each.cost_added),
        *(f"{'' if each.is_stated else '~ '}{format_number(h, 2)}" for h in (each.hours_to_part, each.hours_to_all)),
    )
