"""The linear program of one question, with its whole columns named: made here from the words of a request.

Node-hours of each way of doing work in each month and block, what is started, and every limit. Where a workload has one
home, its rules are all here; where several are still open, what is here is less than any of them asks for, so that no
plan of theirs costs less.
"""

from __future__ import annotations

import math
from collections import defaultdict

from proof_linear import INFINITY, SLACK, Linear  # loaded by conftest.py: tests are no package
from proof_standing import Standing, nodes_of


class Question:
    """The linear program of one question; whole columns first in the order in which they are tried."""

    def __init__(self, given, homes) -> None:
        """`homes[k]` are the homes that are open to workload k."""
        self.given, self.linear, self.homes = given, Linear(), homes
        self.blocks = range(len(given.block_hours))
        self.months = {
            n: range(side.first, side.end) if len(open_to) == 1 else range(given.months)
            for open_to in homes
            for home in open_to
            for side in home
            for n in side.ways
        }
        self.capacity: dict[tuple[int, int], list[tuple]] = defaultdict(list)
        self.entries: dict[tuple, list[tuple[tuple, float]]] = defaultdict(list)
        self.standing = Standing(self)
        self._starts()
        self._ways()
        self._rows()

    def _starts(self) -> None:
        given = self.given
        for number, source in enumerate(given.sources):
            for month, covers, paid in source.starts:
                used = any(self._uses(given.ways[n], number) for n in self.months)
                if not used and source.fixed is None:
                    continue
                name = ("start", number, month)
                most = INFINITY if source.kind == "money" else self._most(number)
                self.linear.column(name, given.worth(paid), most, whole=source.kind != "money")
                if source.kind == "money" and len(prices := self._paid_prices(number)) == 1:
                    nodes = self.linear.column(("paid nodes", number, month), 0.0, self._most(number), whole=True)
                    self.linear.row(0.0, 0.0, [(name, 1.0), (nodes, -prices.pop())])
                if source.fixed is not None:
                    self.linear.bound(name, source.fixed, source.fixed)
                for covered in covers:
                    self.capacity[number, covered - 1].append(name)
                for at, _, category, amount in paid:
                    if amount > 0:
                        kind = "capex" if category in ("hardware", "installation") else "opex"
                        self.entries[kind, max(at - 1, 0) // 12].append((name, amount))

    def _uses(self, way, number: int) -> bool:
        source, given = self.given.sources[number], self.given
        own = given.sources[way.source]
        return way.source == number or (source.kind == "money" and own.kind == "hourly" and own.pool == source.pool)

    def _paid_prices(self, number: int) -> set[float]:
        """The prices of all that money pays for, some of it at any hour; none where all of it stands."""
        ways = [self.given.ways[n] for n in self.months if self._uses(self.given.ways[n], number)]
        is_free = any(not self.given.works[way.work].standing for way in ways)
        return {self.given.sources[way.source].weight for way in ways} if is_free else set()

    def _most(self, number: int) -> int:
        """Units beyond which a start never helps, if a unit costs something: in every month and block, all work that
        can use the source fits on so many, its gangs and spare replicas too; so units past it are never needed.

        A shaped load needs its busiest block. Work at any hour can be moved, on this source alone, to be even over the
        month. A job with P gangs at once never runs on more nodes than those take. A node-day is spent in its month.
        """
        given, most = self.given, 0
        source = given.sources[number]
        for n in self.months:
            way = given.ways[n]
            if not self._uses(way, number):
                continue
            work = given.works[way.work]
            if source.kind == "days":
                most += math.ceil(max(work.monthly) / way.speed / 24 / way.span - SLACK) * way.span
                continue
            if work.standing:
                nodes = max(
                    (nodes_of(given, way, t, b) for t in range(given.months) for b in self.blocks if work.due[t][b]),
                    default=0,
                )
            elif work.at_once is not None:
                nodes = work.at_once * way.granule
            else:
                nodes = max(work.monthly) / way.speed / math.fsum(given.block_hours)
            most += max(way.span, math.ceil(nodes - SLACK))
        return most

    def _ways(self) -> None:
        """Node-hours of each way in each month and block."""
        given = self.given
        for n, months in self.months.items():
            way = given.ways[n]
            work, source = given.works[way.work], given.sources[way.source]
            for t in months:
                due = max(work.monthly) if work.deadline is not None else work.monthly[t]
                if due == 0 or t >= (work.deadline or given.months) or (source.last is not None and t >= source.last):
                    continue
                if source.kind == "hourly" and t >= given.hourly_until[way.work]:
                    continue
                if source.kind != "hourly" and not self.capacity.get((way.source, t)):
                    continue
                if work.standing:
                    self.standing.way(n, t)
                else:
                    self._free(n, t, way.data * (work.deadline or 1) / due)
        self.standing.rows()

    def _free(self, n: int, t: int, data_per_unit: float) -> None:
        """Work that may run at any hour of the month: in each block, as there are nodes."""
        given, linear = self.given, self.linear
        way = given.ways[n]
        work, source = given.works[way.work], given.sources[way.source]
        done = 0 if work.deadline is not None else t
        columns = [linear.column(("hours", n, t, b), 0.0) for b in self.blocks]
        for b, x in enumerate(columns):
            self.cost(x, t, data_per_unit * way.speed + (source.hour[t] if source.hour else 0.0))
            self.entries["due", way.work, done].append((x, way.speed))
            if way.spot:
                self.entries["spot", way.work, done].append((x, way.speed))
            if work.at_once is not None:
                self.entries["at once", way.work, t, b].append((x, 1 / way.granule))
                if source.kind == "days":
                    self.entries["days at once", way.work, t].append((x, 1 / way.granule))
            if source.kind == "nodes" and way.span > 1:
                system = source.place if source.owned else way.source
                self.entries["whole gangs", system, way.span, t].append((x, 1.0))
            if source.pool:
                self._pay_nodes(way.source, t, b, x)
            elif source.kind != "days" or way.span == 1:
                self.take(way.source, t, b, x, 1.0)
        if source.kind == "days" and way.span > 1:
            most = math.ceil(max(work.monthly) / way.speed / 24 / way.span - SLACK)
            whole = linear.column(("gang days", n, t), 0.0, most, whole=True)
            linear.row(-INFINITY, 0.0, [*((x, 1.0) for x in columns), (whole, -24.0 * way.span)])
            self.entries["days", way.source, t].append((whole, 24.0 * way.span))
        if source.pool:
            self._pay_gangs(n, t, columns)

    def _pay_nodes(self, number: int, t: int, b: int, name: tuple) -> None:
        """Work at any hour is done on whole nodes, which money pays for in all hours of a block: it is committed to for
        whole nodes where it pays for nodes of one price, else in each block for some whole nodes of each price."""
        pool = self.given.sources[number].pool
        money = next(n for n, s in enumerate(self.given.sources) if s.kind == "money" and s.pool == pool)
        if len(self._paid_prices(money)) == 1:
            self.take(number, t, b, name, 1.0)
            return
        key = ("on paid nodes", number, t, b)
        if key not in self.entries:
            hours, given = self.given.block_hours[b], self.given
            ways = [way for way in given.ways if way.source == number]
            most = sum(math.ceil(max(given.works[way.work].monthly) / way.speed / hours) for way in ways)
            nodes = self.linear.column(key, 0.0, most, whole=True)
            self.entries[key].append((nodes, -hours))
            self.take(number, t, b, nodes, hours)
        self.entries[key].append((name, 1.0))

    def _whole_gangs(self) -> None:
        """Gangs of one size on the nodes of a system, or of a commitment: so many whole ones at once."""
        given, linear = self.given, self.linear
        for key, entries in self.entries.items():
            if key[0] != "whole gangs":
                continue
            _, system, span, t = key
            nodes = [
                y for n, s in enumerate(given.sources) if system == (s.place if s.owned else n)
                for y in self.capacity.get((n, t), ())
            ]  # fmt: skip
            hours = span * math.fsum(given.block_hours)
            ways = {name[1]: given.ways[name[1]] for name, _ in entries}.values()
            most = sum(math.ceil(max(given.works[way.work].monthly) / way.speed / hours - SLACK) for way in ways)
            gangs = linear.column(key, 0.0, most, whole=True)
            linear.row(-INFINITY, 0.0, [(gangs, float(span)), *((y, -1.0) for y in nodes)])
            entries.append((gangs, -hours))

    def _pay_gangs(self, n: int, t: int, columns: list[tuple]) -> None:
        """Money pays in each hour for what runs in it. A gang of G nodes takes G times their price, in all of its
        hours: where all its work of the month is here, money for a part of G pays for that part of them; else
        for all nodes of whole gangs."""
        given, linear = self.given, self.linear
        way = given.ways[n]
        work = given.works[way.work]
        hours = (max(work.monthly) if work.deadline is not None else work.monthly[t]) / way.speed
        number = next(
            i for i, s in enumerate(given.sources) if s.kind == "money" and s.pool == given.sources[way.source].pool
        )
        a_gang = way.span * given.sources[way.source].weight
        money = self.capacity.get((number, t), ())
        if work.deadline is None and not work.spread:
            # q gangs run at all hours and one more in a part of them, in which money pays what it suffices for
            gangs, month = hours / way.span / math.fsum(given.block_hours), math.fsum(given.block_hours)
            whole = math.floor(gangs + SLACK)
            part = max(gangs - whole, 0.0)
            paid = [(x, a_gang / way.span / month) for x in columns]
            linear.row(-INFINITY, whole * (1 - part) * a_gang, [*paid, *((y, -part) for y in money)])
        else:
            of_gang = way.span * math.fsum(given.block_hours)
            paid = linear.column(("paid", n, t), 0.0, max(1, math.ceil(hours / of_gang - SLACK)), whole=True)
            linear.row(-INFINITY, 0.0, [*((x, 1.0) for x in columns), (paid, -of_gang)])
            linear.row(-INFINITY, 0.0, [*((x, 1.0) for x in columns), (paid, -hours)])
            linear.row(-INFINITY, 0.0, [(paid, a_gang), *((y, -1.0) for y in money)])

    def cost(self, name: tuple, t: int, amount: float) -> None:
        """Paid at the end of month t for each unit of a column."""
        self.linear.price(name, amount * (1 + self.given.rate) ** -(t + 1))
        self._spend(name, t, amount)

    def _spend(self, name: tuple, t: int, amount: float) -> None:
        if amount:
            self.entries["opex", t // 12].append((name, amount))

    def take(self, number: int, t: int, b: int, name: tuple, hours: float) -> None:
        """Hours that a column takes of what was started, of days or of money; of what is rented it takes nothing."""
        source = self.given.sources[number]
        if source.kind == "days":
            self.entries["days", number, t].append((name, hours))
        elif source.kind == "nodes":
            self.entries["nodes", number, t, b].append((name, hours))
        for n, money in enumerate(self.given.sources):
            if source.pool and money.kind == "money" and money.pool == source.pool:
                self.entries["money", n, t, b].append((name, hours * source.weight))

    def _rows(self) -> None:
        given, linear = self.given, self.linear
        self._operators()
        for k, work in enumerate(given.works):
            self._due(k, work)
        self._whole_gangs()
        for key, entries in list(self.entries.items()):
            if key[0] in ("nodes", "money", "days"):
                _, number, t, *rest = key
                each = 24.0 if key[0] == "days" else given.block_hours[rest[0]]
                linear.row(-INFINITY, 0.0, [*entries, *((y, -each) for y in self.capacity.get((number, t), ()))])
            elif key[0] in ("whole gangs", "on paid nodes"):
                linear.row(-INFINITY, 0.0, entries)
            elif key[0] == "at once":
                _, k, _, b = key
                linear.row(-INFINITY, given.works[k].at_once * given.block_hours[b], entries)
            elif key[0] == "days at once":
                linear.row(-INFINITY, given.works[key[1]].at_once * 24.0 * given.days[key[2]], entries)
            elif key[0] == "spot" and given.works[key[1]].spot_share < 1:
                work = given.works[key[1]]
                total = max(work.monthly) if work.deadline is not None else work.monthly[key[2]]
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
        if work.standing:
            return
        for t in range(self.given.months) if work.deadline is None else (0,):
            units = max(work.monthly) if work.deadline is not None else work.monthly[t]
            if units:
                self.linear.row(units, units, self.entries.get(("due", k, t), []))

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
                    running = [entry for n in self.months if given.ways[n].source == number
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
        gangs = linear.column(("gangs", n, t), 0.0, most // way.span if way.span > 1 else INFINITY, whole=way.span > 1)
        if not work.standing and work.at_once is None and not source.pool:
            total = math.fsum(given.block_hours)
            linear.row(-INFINITY, 0.0, [*((("hours", n, t, b), 1 / total) for b in there), (gangs, -way.span)])
        else:
            for b in there:
                linear.row(-INFINITY, 0.0, [(("hours", n, t, b), 1 / given.block_hours[b]), (gangs, -way.span)])
        return [(gangs, float(way.span))]
