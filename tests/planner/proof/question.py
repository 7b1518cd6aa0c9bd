"""The linear program of one question, with its whole columns named: made here from the words of a request.

Node-hours of each way of doing work in each month and block, gangs of services, what is started, and every limit.
"""

from __future__ import annotations

import math
from collections import defaultdict

import highspy

INFINITY = math.inf
SLACK = 1e-9


class Linear:
    """A linear program that grows column by column; names are the caller's."""

    def __init__(self) -> None:
        self.lp = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1)):
            self.lp.setOptionValue(option, value)
        self.numbers: dict[tuple, int] = {}
        self.costs: list[float] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.whole: list[tuple] = []
        self.possible = True

    def column(self, name: tuple, cost: float, upper: float = INFINITY, *, whole: bool = False) -> tuple:
        number = self.numbers[name] = len(self.costs)
        self.costs.append(cost)
        self.lower.append(0.0)
        self.upper.append(upper)
        self.lp.addVar(0.0, upper)
        self.lp.changeColCost(number, cost)
        if whole:
            self.whole.append(name)
        return name

    def row(self, lower: float, upper: float, entries: list[tuple[tuple, float]]) -> None:
        if not entries:
            self.possible &= lower <= 0 <= upper
            return
        sums: dict[int, float] = defaultdict(float)
        for name, value in entries:
            sums[self.numbers[name]] += value
        biggest = max((abs(v) for v in sums.values()), default=0.0) or 1.0
        self.lp.addRow(lower / biggest, upper / biggest, len(sums), list(sums), [v / biggest for v in sums.values()])

    def bound(self, name: tuple, lower: float, upper: float) -> None:
        number = self.numbers[name]
        self.lower[number], self.upper[number] = lower, upper
        self.lp.changeColBounds(number, lower, upper)

    def range(self, name: tuple) -> tuple[float, float]:
        number = self.numbers[name]
        return self.lower[number], self.upper[number]

    def solve(self) -> tuple[float, list[float]] | None:
        if not self.possible or not self.costs:
            return (0.0, []) if self.possible else None
        self.lp.run()
        status = self.lp.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return self.lp.getObjectiveValue(), list(self.lp.getSolution().col_value)
        assert status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible), status
        return None


class Question:
    """The linear program of one question; whole columns first in the order in which they are tried."""

    def __init__(self, given) -> None:
        self.given, self.linear = given, Linear()
        self.blocks = range(len(given.block_hours))
        self.capacity: dict[tuple[int, int], list[tuple]] = defaultdict(list)
        self.entries: dict[tuple, list[tuple[tuple, float]]] = defaultdict(list)
        self._starts()
        self._ways()
        self._rows()

    def _starts(self) -> None:
        given = self.given
        for number, source in enumerate(given.sources):
            for month, covers, paid in source.starts:
                used = any(self._uses(way, number) for way in given.ways)
                if not used and source.fixed is None:
                    continue
                name = ("start", number, month)
                most = INFINITY if source.kind == "money" else self._most(number)
                self.linear.column(name, given.worth(paid), most, whole=source.kind != "money")
                if source.fixed is not None:
                    self.linear.bound(name, source.fixed, source.fixed)
                for covered in covers:
                    self.capacity[number, covered - 1].append(name)
                for at, _, category, amount in paid:
                    if amount > 0:
                        kind = "capex" if category in ("hardware", "installation") else "opex"
                        self.entries[kind, (at - 1) // 12].append((name, amount))

    def _uses(self, way, number: int) -> bool:
        source, given = self.given.sources[number], self.given
        own = given.sources[way.source]
        return way.source == number or (source.kind == "money" and own.kind == "hourly" and own.pool == source.pool)

    def _most(self, number: int) -> int:
        """Units beyond which a start never helps, if a unit costs something: in every month and block, all work that
        can use the source fits on so many, its gangs and spare replicas too; so units past it are never needed.

        A shaped load needs its busiest block. Work at any hour can be moved, on this source alone, to be even over the
        month. A job with P gangs at once never runs on more nodes than those take. A node-day is spent in its month.
        """
        given, most = self.given, 0
        source = given.sources[number]
        for way in given.ways:
            if way.source != number:
                continue
            work = given.works[way.work]
            if source.kind == "days":
                most += max(way.span, math.ceil(max(work.monthly) / way.speed / 24 - SLACK))
                continue
            if work.shaped:
                nodes = max(
                    (
                        units / way.speed / hours
                        for month in work.due
                        for units, hours in zip(month, given.block_hours, strict=True)
                    ),
                    default=0.0,
                )
            else:
                nodes = max(work.monthly) / way.speed / math.fsum(given.block_hours)
                if work.at_once is not None:
                    nodes = work.at_once * way.granule
            most += max(way.span, math.ceil(nodes + work.spare * way.granule - SLACK))
        return most

    def _ways(self) -> None:
        """Node-hours of each way in each month and block, and the gangs of services."""
        given = self.given
        for n, way in enumerate(given.ways):
            work, source = given.works[way.work], given.sources[way.source]
            last = given.months if work.deadline is None else work.deadline
            for t in range(last):
                due = max(work.monthly) if work.deadline is not None else work.monthly[t]
                if due == 0 or (source.kind == "hourly" and t >= given.hourly_until[way.work]):
                    continue
                if source.kind != "hourly" and not self.capacity.get((way.source, t)):
                    continue
                share = work.deadline / due if work.deadline is not None else 1 / due
                self._month(n, t, way.data * share)

    def _month(self, n: int, t: int, data_per_unit: float) -> None:
        given, linear = self.given, self.linear
        way = given.ways[n]
        work, source = given.works[way.work], given.sources[way.source]
        later = (1 + given.rate) ** -(t + 1)
        hour = source.hour[t] if source.hour else 0.0
        rented = source.kind == "hourly" and work.serving
        for b in self.blocks:
            if work.shaped and work.due[t][b] == 0:
                continue
            data, use = data_per_unit * way.speed, 0.0 if rented else hour
            x = linear.column(("hours", n, t, b), (data + use) * later)
            self._spend(x, t, data + use)
            key = ("due", way.work, t if work.deadline is None else 0, b if work.shaped else 0)
            self.entries[key].append((x, way.speed))
            if way.spot:
                self.entries["spot", way.work, t if work.deadline is None else 0].append((x, way.speed))
            if work.at_once is not None:
                self.entries["at once", way.work, t, b].append((x, 1 / way.granule))
            if source.kind != "hourly":
                self._take(way.source, t, b, x, 1.0)
                if work.spare:
                    self.entries["idle", way.work, t, b] += []
                    idle = way.granule * given.block_hours[b]  # standing ready draws the power of a node at work
                    s = linear.column(("spare", n, t, b), idle * hour * later, work.spare, whole=True)
                    self._spend(s, t, idle * hour)
                    self.entries["idle", way.work, t, b].append((s, 1.0))
                    self._take(way.source, t, b, s, idle)
            elif rented:
                ready = way.span * given.block_hours[b]
                most = math.ceil(work.due[t][b] / way.speed / ready - SLACK) + work.spare
                g = linear.column(("ready", n, t, b), ready * hour * later, most, whole=True)
                self._spend(g, t, ready * hour)
                linear.row(-INFINITY, 0.0, [(x, 1.0), (g, -ready)])
                self._draw(way.source, t, b, g, ready)
                if work.spare:
                    gangs = way.granule * given.block_hours[b]
                    self.entries["idle", way.work, t, b] += [(g, ready / gangs), (x, -1 / gangs)]
            else:
                self._draw(way.source, t, b, x, 1.0)

    def _spend(self, name: tuple, t: int, amount: float) -> None:
        if amount:
            self.entries["opex", t // 12].append((name, amount))

    def _take(self, number: int, t: int, b: int, name: tuple, hours: float) -> None:
        source = self.given.sources[number]
        if source.kind == "days":
            self.entries["days", number, t].append((name, hours))
        else:
            self.entries["nodes", number, t, b].append((name, hours))

    def _draw(self, number: int, t: int, b: int, name: tuple, hours: float) -> None:
        """Hours that committed money pays for."""
        source = self.given.sources[number]
        for n, money in enumerate(self.given.sources):
            if source.pool and money.kind == "money" and money.pool == source.pool:
                self.entries["money", n, t, b].append((name, hours * source.weight))

    def _rows(self) -> None:
        given, linear = self.given, self.linear
        self._operators()
        for k, work in enumerate(given.works):
            self._due(k, work)
        for key, entries in list(self.entries.items()):
            if key[0] in ("nodes", "money", "days"):
                _, number, t, *rest = key
                each = 24.0 if key[0] == "days" else given.block_hours[rest[0]]
                linear.row(-INFINITY, 0.0, [*entries, *((y, -each) for y in self.capacity.get((number, t), ()))])
            elif key[0] == "at once":
                _, k, _, b = key
                linear.row(-INFINITY, given.works[k].at_once * given.block_hours[b], entries)
            elif key[0] == "idle":
                linear.row(given.works[key[1]].spare, INFINITY, entries)
            elif key[0] == "spot" and given.works[key[1]].spot_share < 1:
                work = given.works[key[1]]
                total = max(work.monthly) if work.deadline is not None else math.fsum(work.due[key[2]])
                linear.row(-INFINITY, work.spot_share * total, entries)
        for kind, yearly in (("capex", given.capex), ("opex", given.opex)):
            for year, amount in enumerate(yearly or ()):
                linear.row(-INFINITY, amount, self.entries.get((kind, year), []))
        for limit, each in ((given.power_kw, "power_kw"), (given.racks, "racks")):
            for t in range(given.months) if limit is not None else ():
                linear.row(-INFINITY, limit, [(y, getattr(s, each)) for y, s in self._on_site(t)])
        self._quotas()

    def _on_site(self, t: int) -> list[tuple[tuple, object]]:
        """The starts of owned nodes that stand on the site in a month, working or not yet."""
        return [
            (("start", n, month), source)
            for n, source in enumerate(self.given.sources)
            for (month, _, _), there in zip(source.starts, source.there, strict=False)
            if t + 1 in there and ("start", n, month) in self.linear.numbers
        ]

    def _operators(self) -> None:
        """Hired one by one: enough for all accelerators owned, and the fewest in a month with any."""
        given, linear = self.given, self.linear
        if given.operators is None:
            return
        cost, each, fewest = given.operators
        for t in range(given.months):
            owned = self._on_site(t)
            if not owned:
                continue
            most = sum(linear.range(y)[1] * source.accelerators for y, source in owned)
            hired = linear.column(
                ("hired", t), cost * (1 + given.rate) ** -(t + 1), math.ceil(most / each + fewest), whole=True
            )
            some = linear.column(("some", t), 0.0, 1.0, whole=True)
            linear.row(-INFINITY, 0.0, [*((y, source.accelerators) for y, source in owned), (hired, -each)])
            linear.row(-INFINITY, 0.0, [(some, fewest), (hired, -1.0)])
            for y, _ in owned:
                linear.row(-INFINITY, 0.0, [(y, 1.0), (some, -max(linear.range(y)[1], 1.0))])
            self._spend(hired, t, cost)

    def _due(self, k: int, work) -> None:
        given = self.given
        for t in range(given.months) if work.deadline is None else (0,):
            blocks = self.blocks if work.shaped else (0,)
            for b in blocks:
                units = max(work.monthly) if work.deadline is not None else work.due[t][b]
                if units:
                    self.linear.row(units, units, self.entries.get(("due", k, t, b), []))

    def _quotas(self) -> None:
        """No more nodes at once than a quota leaves: whole nodes of each type and way of paying, whole gangs that span
        nodes, the busiest hours of different workloads added up; free work spread over its month."""
        given, linear = self.given, self.linear
        for number, source in enumerate(given.sources):
            if not source.counts or source.fixed is not None:
                continue
            for t in range(given.months):
                most = min(math.floor(given.free[key] / each + SLACK) for key, each in source.counts)
                running = [(y, 1.0) for y in self.capacity.get((number, t), ())]
                if source.kind == "days":
                    running = [(y, 24 / 730) for y, _ in running]
                if source.kind == "hourly":
                    running = [entry for n, way in enumerate(given.ways) if way.source == number
                               for entry in self._peak(n, t, most)]  # fmt: skip
                if not running:
                    continue
                nodes = linear.column(("nodes", number, t), 0.0, most, whole=True)
                linear.row(-INFINITY, 0.0, [*running, (nodes, -1.0)])
                for key, each in source.counts:
                    self.entries["quota", key, t].append((nodes, each))
        for (kind, *key), entries in list(self.entries.items()):
            if kind == "quota":
                linear.row(-INFINITY, given.free[key[0]], entries)

    def _peak(self, n: int, t: int, most: int) -> list[tuple[tuple, float]]:
        given, linear = self.given, self.linear
        way = given.ways[n]
        work, source = given.works[way.work], given.sources[way.source]
        there = [b for b in self.blocks if ("hours", n, t, b) in linear.numbers]
        if not there:
            return []
        spread = not work.shaped and work.at_once is None and not source.pool
        whole = way.span > 1
        gangs = linear.column(("gangs", n, t), 0.0, most // way.span if whole else INFINITY, whole=whole)
        if spread:
            total = math.fsum(given.block_hours)
            linear.row(-INFINITY, 0.0, [*((("hours", n, t, b), 1 / total) for b in there), (gangs, -way.span)])
        for b in () if spread else there:
            hours = given.block_hours[b]
            ready = ("ready", n, t, b)
            entry = (ready, float(way.span)) if work.serving else (("hours", n, t, b), 1 / hours)
            linear.row(-INFINITY, 0.0, [entry, (gangs, -way.span)])
        return [(gangs, float(way.span))]
