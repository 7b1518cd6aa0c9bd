"""When the nodes of a pool run: how many of them in each month, for how long, and in which hours of the week.

A plan pays node-hours, Terraform starts nodes. Where nodes that stay on would take more than TOLERANCE times the hours
that the plan pays, they get hours: work that may run at any hour has those after the start of the month, or after the
dated days of its workload in that month, and standing work its hours of the week. Nodes that are committed are paid in
any case and run for the whole month. Times are in UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from math import ceil, floor, fsum, inf
from typing import NamedTuple

from planner.request.calendar import days_of_month
from planner.result import Plan, Strategy, Use
from pricing.frozen_values import dataclass

TOLERANCE = 1.1
"""The most node-hours of nodes that stay on, as a multiple of what the plan pays."""
NODE_ROUNDING = 1e-6
WEEK = 168
OWN_HOURS = "hours"
"""The name of a pool of work that ends within a month, beside one that follows the hours of the week."""
DatedEnds = Mapping[tuple[str, int], int]
"""By workload and month the hour of the month at which its dated nodes are over; those without any are not in it."""
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


@dataclass(frozen=True, slots=True)
class MonthProfile:
    """The nodes of a pool in one month. `steps` are (hours after its start, nodes from then on); where `week` has
    values, they are the nodes in each hour of the week, from Monday 0:00, and `steps` has their least. `waits_until`:
    the hour at which dated nodes are over whose workload goes on here, 0 without any; `beside_hours`: for how long it
    runs beside them all the same, as the month has no hours after them."""

    peak: int
    steps: tuple[tuple[int, int], ...]
    week: tuple[int, ...] = ()
    waits_until: int = 0
    beside_hours: int = 0

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

    def nodes_at(self, hour: float) -> int:
        """Nodes at so many hours after the start of the month, by its steps."""
        return next((nodes for start, nodes in reversed(self.steps) if start <= hour), 0)


def most_at_once(profiles: Sequence[MonthProfile]) -> int:
    """The most nodes that several pools have at one time in a month."""
    times = {at for profile in profiles for at, _ in profile.steps}
    return max(
        (sum(profile.peak if profile.week else profile.nodes_at(at) for profile in profiles) for at in times), default=0
    )


class _Stretch(NamedTuple):
    """Nodes that run for some hours, at the earliest from an hour of the month on."""

    earliest: int
    hours: float
    nodes: int


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
    """The nodes of a month by when they run: `whole` for all of it, `ending` for a part, `week` in each hour of the
    week; `peak` at once; `paid`: the node-hours that the plan pays."""

    whole: int
    ending: tuple[_Stretch, ...]
    week: tuple[int, ...]
    peak: int
    paid: float


def month_profile(plan: Plan, strategy: Strategy, month: int, uses: Sequence[Use], ends: DatedEnds) -> MonthProfile:
    """How the nodes run that serve the `uses` of a pool in a month; `ends` of the dated nodes of their place."""
    needs = _count_month_needs(plan, strategy, uses, ends)
    hours, peak = plan.hours_per_month, needs.peak
    waits = max((part.earliest for part in needs.ending), default=0)
    if not peak or (not waits and peak * hours <= TOLERANCE * needs.paid):
        return always_on(peak)
    choices = [_profile_of_steps(needs, waits, hours, 24 * days_of_month(plan.month_names[month - 1]))]
    if needs.week:
        by_hour = tuple(standing + peak - max(needs.week) for standing in needs.week)
        choices.append(MonthProfile(peak, ((0, min(by_hour)),), by_hour))
    return min(choices, key=lambda profile: profile.node_hours(hours))


def always_on(nodes: int) -> MonthProfile:
    """Nodes that run for the whole month."""
    return MonthProfile(nodes, ((0, nodes),))


def divide_by_hours(
    plan: Plan, strategy: Strategy, uses: Sequence[Use], ends: DatedEnds
) -> tuple[tuple[str, Sequence[Use]], ...]:
    """The uses of nodes that start in one way, by the pool that they need: one (""), or those of OWN_HOURS apart.

    One pool follows either the hours of the week or the end of what runs for a part of the month. Where it has both,
    and would take more than TOLERANCE times what the plan pays, work of any hour has a pool of its own.
    """
    for month in sorted({use.month for use in uses}):
        same = [use for use in uses if use.month == month]
        needs = _count_month_needs(plan, strategy, same, ends)
        if needs.ending and needs.week:
            profile = month_profile(plan, strategy, month, same, ends)
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


def _count_month_needs(plan: Plan, strategy: Strategy, uses: Sequence[Use], ends: DatedEnds) -> _MonthNeeds:
    hours = plan.hours_per_month
    nodes, node_hours, stretches, weekly = _divide_uses(plan, strategy, uses, ends)
    # work without a gang fills whole nodes, and others for a part of the month
    whole = min(_round_up(nodes), floor(node_hours / hours + NODE_ROUNDING))
    others = _round_up(nodes) - whole
    ending = (*stretches, *([_Stretch(0, (node_hours - whole * hours) / others, others)] if others else []))
    week = _week_nodes(plan, weekly)
    peak = max(
        whole + max(week, default=0) + sum(part.nodes for part in ending),
        *(gang_nodes(plan, use) for use in uses),
        0,
    )
    paid = whole * hours + fsum(part.hours * part.nodes for part in ending) + fsum(week) / WEEK * hours
    return _MonthNeeds(whole, ending, week, peak, paid)


def _divide_uses(
    plan: Plan, strategy: Strategy, uses: Sequence[Use], ends: DatedEnds
) -> tuple[float, float, list[_Stretch], list[Use]]:
    """Of work without a gang the nodes at once and their hours; stretches of gangs and of work that waits for the end
    of dated nodes; uses that follow the week."""
    by_option: dict[str, list[Use]] = {}
    for use in uses:
        by_option.setdefault(use.purchase_option, []).append(use)
    uses_by_workload = Counter(use.workload for use in uses)
    nodes, node_hours, stretches, weekly = 0.0, 0.0, [], []
    for option, same in by_option.items():
        committed = _committed_nodes(strategy, same[0], option)
        if committed < inf:
            # workloads that take turns on committed nodes never use more than these
            taken = min(fsum(use.nodes for use in same), committed)
            nodes, node_hours = nodes + taken, node_hours + taken * plan.hours_per_month
            continue
        for use in same:
            in_gang, earliest = gang_nodes(plan, use), ends.get((use.workload, use.month), 0)
            if _follows_week(plan, use):
                weekly.append(use)
            elif in_gang > 1 or earliest:
                alone = uses_by_workload[use.workload] == 1 and not earliest
                count = max(_round_up(use.nodes), in_gang if alone else 0)
                stretches.append(_Stretch(earliest, use.node_hours / count, count))
            else:
                nodes, node_hours = nodes + use.nodes, node_hours + use.node_hours
    return nodes, node_hours, stretches, weekly


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


def _profile_of_steps(needs: _MonthNeeds, waits: int, hours: float, calendar_hours: int) -> MonthProfile:
    """Nodes of a month with what does not fill it for its hours only: from the start of the month on, or after dated
    nodes, as late as the month allows where it has too few hours after them."""
    always, changes, beside = needs.peak - sum(part.nodes for part in needs.ending), Counter({0: 0}), 0
    for part in needs.ending:
        lasts = max(ceil(part.hours - NODE_ROUNDING), 1)
        start = max(0, min(part.earliest, calendar_hours - lasts))
        beside = max(beside, min(part.earliest, start + lasts) - start)
        changes[start] += part.nodes
        if part.earliest or lasts * TOLERANCE < min(hours, calendar_hours):
            changes[min(start + lasts, calendar_hours)] -= part.nodes
    times = [at for at in sorted(changes) if changes[at] or not at]
    counts = [always + nodes for nodes in accumulate(changes[at] for at in times)]
    return MonthProfile(max(counts), tuple(zip(times, counts, strict=True)), (), waits, beside)


def _round_up(nodes: float) -> int:
    # without the tolerance, 2.0000000001 nodes of the solver would become 3
    return ceil(nodes - NODE_ROUNDING)


def list_steps(month_names: Sequence[str], profiles: Sequence[MonthProfile]) -> tuple[tuple[str, int], ...]:
    """(time, nodes from then on) over all months, and none after the last. Nodes that run beyond their month, as the
    days of a block begin and end at noon, stay on in the next."""
    rows: dict[datetime, int] = {}
    for name, profile, following in zip(month_names, profiles, (*profiles[1:], None), strict=True):
        length = 24 * days_of_month(name)
        for after, nodes in profile.steps:
            if after < length:
                rows.setdefault(_month_start(name) + timedelta(hours=after), nodes)
            elif following and after > length:
                rows[_month_after(name)] = max(profile.nodes_at(length), following.nodes_at(0))
                rows[_month_start(name) + timedelta(hours=after)] = following.nodes_at(after - length)
    rows[_month_after(month_names[-1])] = 0
    return tuple((f"{at:%Y-%m-%dT%H:%M:%SZ}", rows[at]) for at in sorted(rows))


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


def time_in_month(name: str, hour: int) -> str:
    """The time (UTC) at so many hours after the start of a month.

    >>> time_in_month("2026-12", 730)
    '2026-12-31 10:00'
    """
    return f"{_month_start(name) + timedelta(hours=hour):%Y-%m-%d %H:%M}"


def _month_start(name: str) -> datetime:
    return datetime(int(name[:4]), int(name[5:7]), 1)  # noqa: DTZ001 - UTC throughout


def _month_after(name: str) -> datetime:
    return _month_start(name) + timedelta(days=days_of_month(name))
