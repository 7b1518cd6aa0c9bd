"""When the nodes of a pool run: how many of them in each month, for how long, and in which hours of the week.

A plan pays node-hours, Terraform starts nodes. Where nodes that stay on would take more than TOLERANCE times the hours
that the plan pays, they get hours: work that may run at any hour has those after the start of the month, standing work
its hours of the week. Nodes that are committed are paid in any case and run for the whole month. Times are in UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from math import ceil, floor, fsum, inf

from planner.request.calendar import days_of_month
from planner.result import Plan, Strategy, Use

TOLERANCE = 1.1
"""The most node-hours of nodes that stay on, as a multiple of what the plan pays."""
NODE_ROUNDING = 1e-6
WEEK = 168
OWN_HOURS = "hours"
"""The name of a pool of work that ends within a month, beside one that follows the hours of the week."""
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


@dataclass(frozen=True, slots=True)
class MonthProfile:
    """The nodes of a pool in one month. `steps` are (hours after its start, nodes from then on); where `week` has
    values, they are the nodes in each hour of the week, from Monday 0:00, and `steps` has their least."""

    peak: int
    steps: tuple[tuple[int, int], ...]
    week: tuple[int, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether some nodes run for a part of the month only."""
        return bool(self.week) or len(self.steps) > 1

    def node_hours(self, hours_per_month: float) -> float:
        """Node-hours of the month when nodes run as the profile says."""
        if self.week:
            return fsum(self.week) / WEEK * hours_per_month
        ends = [start for start, _ in self.steps[1:]] + [hours_per_month]
        return fsum(nodes * (end - start) for (start, nodes), end in zip(self.steps, ends, strict=True))


@dataclass(frozen=True, slots=True)
class WeekWindow:
    """Nodes for `hours` hours from `hour` on some days of the week, in a month of the calendar."""

    month: str
    days: tuple[str, ...]
    hour: int
    hours: int
    nodes: int


@dataclass(frozen=True, slots=True)
class _MonthNeeds:
    """The nodes of a month by when they run: `whole` for all of it, `ending` (hours after its start, nodes), `week` in
    each hour of the week; `peak` at once; `paid`: the node-hours that the plan pays."""

    whole: int
    ending: tuple[tuple[float, int], ...]
    week: tuple[int, ...]
    peak: int
    paid: float


def month_profile(plan: Plan, strategy: Strategy, month: int, uses: Sequence[Use], *, dated: bool) -> MonthProfile:
    """How the nodes run that serve the `uses` of a pool in a month. `dated`: they end with their reservation."""
    needs = _count_month_needs(plan, strategy, uses)
    hours, peak = plan.hours_per_month, needs.peak
    always = MonthProfile(peak, ((0, peak),))
    if dated or not peak or peak * hours <= TOLERANCE * needs.paid:
        return always
    calendar_hours = min(hours, 24 * days_of_month(plan.month_names[month - 1]))
    choices = [MonthProfile(peak, _list_changes(peak, needs.ending, calendar_hours))]
    if needs.week:
        by_hour = tuple(standing + peak - max(needs.week) for standing in needs.week)
        choices.append(MonthProfile(peak, ((0, min(by_hour)),), by_hour))
    return min(choices, key=lambda profile: profile.node_hours(hours))


def divide_by_hours(plan: Plan, strategy: Strategy, uses: Sequence[Use]) -> tuple[tuple[str, Sequence[Use]], ...]:
    """The uses of nodes that start in one way, by the pool that they need: one (""), or those of OWN_HOURS apart.

    One pool follows either the hours of the week or the end of what runs for a part of the month. Where it has both,
    and would take more than TOLERANCE times what the plan pays, work of any hour has a pool of its own.
    """
    for month in sorted({use.month for use in uses}):
        same = [use for use in uses if use.month == month]
        needs = _count_month_needs(plan, strategy, same)
        if needs.ending and needs.week:
            profile = month_profile(plan, strategy, month, same, dated=False)
            if profile.node_hours(plan.hours_per_month) > TOLERANCE * needs.paid:
                break
    else:
        return (("", uses),)
    is_any_hour = [
        not _follows_week(plan, use) and _committed_nodes(strategy, use, use.purchase_option) == inf for use in uses
    ]
    return (
        ("", [use for use, any_hour in zip(uses, is_any_hour, strict=True) if not any_hour]),
        (OWN_HOURS, [use for use, any_hour in zip(uses, is_any_hour, strict=True) if any_hour]),
    )


def _count_month_needs(plan: Plan, strategy: Strategy, uses: Sequence[Use]) -> _MonthNeeds:
    hours = plan.hours_per_month
    nodes, node_hours, gangs, weekly = _divide_uses(plan, strategy, uses)
    # work without a gang fills whole nodes, and others for a part of the month
    whole = min(_round_up(nodes), floor(node_hours / hours + NODE_ROUNDING))
    others = _round_up(nodes) - whole
    ending = (*gangs, *([((node_hours - whole * hours) / others, others)] if others else []))
    week = _week_nodes(plan, weekly)
    peak = max(
        whole + max(week, default=0) + sum(count for _, count in ending),
        *(gang_nodes(plan, use) for use in uses),
        0,
    )
    paid = whole * hours + fsum(after * count for after, count in ending) + fsum(week) / WEEK * hours
    return _MonthNeeds(whole, ending, week, peak, paid)


def _divide_uses(
    plan: Plan, strategy: Strategy, uses: Sequence[Use]
) -> tuple[float, float, list[tuple[float, int]], list[Use]]:
    """Of work without a gang the nodes at once and their hours; (hours, nodes) of gangs; uses that follow the week."""
    by_option: dict[str, list[Use]] = {}
    for use in uses:
        by_option.setdefault(use.purchase_option, []).append(use)
    uses_by_workload = Counter(use.workload for use in uses)
    nodes, node_hours, gangs, weekly = 0.0, 0.0, [], []
    for option, same in by_option.items():
        committed = _committed_nodes(strategy, same[0], option)
        if committed < inf:
            # workloads that take turns on committed nodes never use more than these
            taken = min(fsum(use.nodes for use in same), committed)
            nodes, node_hours = nodes + taken, node_hours + taken * plan.hours_per_month
            continue
        for use in same:
            in_gang = gang_nodes(plan, use)
            if _follows_week(plan, use):
                weekly.append(use)
            elif in_gang > 1:
                count = max(_round_up(use.nodes), in_gang if uses_by_workload[use.workload] == 1 else 0)
                gangs.append((use.node_hours / count, count))
            else:
                nodes, node_hours = nodes + use.nodes, node_hours + use.node_hours
    return nodes, node_hours, gangs, weekly


def _follows_week(plan: Plan, use: Use) -> bool:
    """Whether the hours of the week say how many nodes stand there for `use`."""
    return bool(use.block_nodes and plan.block_of_hour)


def _committed_nodes(strategy: Strategy, use: Use, option: str) -> float:
    """Nodes like those of `use` that are committed under `option` in its month; no limit without such a commitment."""
    same = (use.provider, use.region, use.name, option)
    counts = [
        item.count
        for item in strategy.purchases
        if (item.provider, item.region, item.name, item.purchase_option) == same
        and item.unit == "node"
        and item.usable_from <= use.month <= item.usable_to
    ]
    return sum(counts) if counts else inf


def gang_nodes(plan: Plan, use: Use) -> int:
    """The nodes of one gang: it needs all of them while it works, however short that is."""
    gang = next((item.gang for item in plan.workloads if item.name == use.workload), 0.0)
    return _round_up(gang / use.accelerators_per_node)


def _week_nodes(plan: Plan, uses: Sequence[Use]) -> tuple[int, ...]:
    """Nodes of standing uses in each hour of the week; () without any."""
    if not uses:
        return ()
    return tuple(_round_up(fsum(use.block_nodes[block] for use in uses)) for block in plan.block_of_hour)


def _list_changes(peak: int, ending: Sequence[tuple[float, int]], hours: float) -> tuple[tuple[int, int], ...]:
    """Steps of a month that begins with all nodes: what does not fill the month stops after its hours."""
    changes = [(0, peak)]
    for after, parts in groupby(sorted(ending), key=lambda part: ceil(part[0] - NODE_ROUNDING)):
        if max(after, 1) * TOLERANCE < hours:
            changes.append((max(after, 1), changes[-1][1] - sum(count for _, count in parts)))
    return tuple(changes)


def _round_up(nodes: float) -> int:
    # without the tolerance, 2.0000000001 nodes of the solver would become 3
    return ceil(nodes - NODE_ROUNDING)


def list_steps(month_names: Sequence[str], profiles: Sequence[MonthProfile]) -> tuple[tuple[str, int], ...]:
    """(time, nodes from then on) over all months, and none after the last."""
    rows = [
        (_month_start(name) + timedelta(hours=after), nodes)
        for name, profile in zip(month_names, profiles, strict=True)
        for after, nodes in profile.steps
    ]
    rows.append((_month_after(month_names[-1]), 0))
    return tuple((f"{at:%Y-%m-%dT%H:%M:%SZ}", nodes) for at, nodes in rows)


def list_week_windows(month_names: Sequence[str], profiles: Sequence[MonthProfile]) -> tuple[WeekWindow, ...]:
    """The windows that make up the week, of each month that follows the hours of the week; days alike are together."""
    windows = []
    for name, profile in zip(month_names, profiles, strict=True):
        days_by_window: dict[tuple[int, int, int], list[str]] = {}
        for number, day in enumerate(DAYS if profile.week else ()):
            nodes = profile.week[24 * number : 24 * number + 24]
            changes = [0, *(hour for hour in range(1, 24) if nodes[hour] != nodes[hour - 1]), 24]
            for start, end in pairwise(changes):
                days_by_window.setdefault((start, end - start, nodes[start]), []).append(day)
        windows += [WeekWindow(name, tuple(days), *window) for window, days in days_by_window.items()]
    return tuple(windows)


def month_after(name: str) -> str:
    """The calendar month after another: 2027-01 after 2026-12."""
    return f"{_month_after(name):%Y-%m}"


def _month_start(name: str) -> datetime:
    return datetime(int(name[:4]), int(name[5:7]), 1)  # noqa: DTZ001 - UTC throughout


def _month_after(name: str) -> datetime:
    return _month_start(name) + timedelta(days=days_of_month(name))
