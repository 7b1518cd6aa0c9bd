"""The rules of decision 0029 stated again in linopy, as one program in which homes are decisions too.

Written from those words, not from the code: nothing is pruned, nothing is scaled, no row is added to help the solver.
Without quotas, operators hired one by one and nodes that workloads share, which brute force covers.
"""

from __future__ import annotations

import math
from collections import defaultdict

import linopy
import pandas as pd
import xarray
from proof_homes import homes  # loaded by conftest.py: tests are no package
from proof_standing import nodes_of, replicas

INFINITY = math.inf
GAP = 1e-7

WHOLE = ("y", "d", "k", "z", "v", "n", "o")

Terms = list[tuple[int, int, float]]
"""Row, index of the variable, coefficient."""


class Family:
    """Rows of one kind: sums of terms of any variables on the left, one number on the right."""

    def __init__(self, model: linopy.Model, name: str, sign: str) -> None:
        self.model, self.name, self.sign = model, name, sign
        self.right: list[float] = []
        self.terms: dict[str, Terms] = defaultdict(list)
        self.rows: dict[tuple, int] = {}

    def row(self, key: tuple, right: float) -> int:
        if key not in self.rows:
            self.rows[key] = len(self.right)
            self.right.append(right)
        return self.rows[key]

    def add(self, row: int, variable: str, index: int, coefficient: float) -> None:
        self.terms[variable].append((row, index, coefficient))

    @property
    def is_impossible(self) -> bool:
        """Whether a row without terms asks for something: a task that nothing can do."""
        stated = {row for terms in self.terms.values() for row, _, coefficient in terms if coefficient}
        return self.sign == "=" and any(right and row not in stated for row, right in enumerate(self.right))

    def state(self, variables: dict[str, linopy.Variable]) -> None:
        left = None
        for name, terms in self.terms.items():
            # a zero in every row, so that the parts of all variables have the same rows
            every = [*terms, *((row, 0, 0.0) for row in range(len(self.right)))]
            rows, indices, coefficients = zip(*every, strict=True)
            taken = variables[name].isel(i=xarray.DataArray(list(indices), dims="term"))
            part = (taken * xarray.DataArray(list(coefficients), dims="term")).groupby(
                xarray.DataArray(list(rows), dims="term", name="row")
            )
            left = part.sum() if left is None else left + part.sum()
        if left is None:
            return
        right = xarray.DataArray(self.right, dims="row", coords={"row": range(len(self.right))})
        self.model.add_constraints(left, self.sign, right, name=self.name)


class Mathematics:
    """The program of one question (given.Given)."""

    def __init__(self, given) -> None:
        self.given, self.model = given, linopy.Model()
        self.cost: dict[str, list[float]] = defaultdict(list)
        self.upper: dict[str, list[float]] = defaultdict(list)
        self.lower: dict[str, list[float]] = defaultdict(list)
        self.families: dict[str, Family] = {}
        self.covering: dict[tuple[int, int], list[tuple[str, int]]] = defaultdict(list)
        self.gangs: dict[tuple, int] = {}
        self.stated: set[tuple] = set()

    def least(self) -> float:
        """The least present cost, proven to a gap of 1e-7; infinite where nothing is possible."""
        self._decide_starts()
        for k in range(len(self.given.works)):
            self._choose_home(k)
        self._limits()
        if any(family.is_impossible for family in self.families.values()):
            return INFINITY
        variables = {
            name: self.model.add_variables(
                pd.Series(self.lower[name]), pd.Series(self.upper[name]),
                coords=[pd.RangeIndex(len(costs), name="i")], name=name, integer=name in WHOLE,
            )
            for name, costs in self.cost.items()
        }  # fmt: skip
        for family in self.families.values():
            family.state({**variables})
        self.model.add_objective(
            sum((variables[n] * xarray.DataArray(c, dims="i")).sum() for n, c in self.cost.items())
        )
        status, condition = self.model.solve(
            "highs", io_api="direct", log_to_console=False, output_flag=False, mip_rel_gap=GAP, threads=1,
            time_limit=300.0, progress=False,
        )  # fmt: skip
        if condition in ("infeasible", "infeasible_or_unbounded"):
            return INFINITY
        assert (status, condition) == ("ok", "optimal"), (status, condition)
        return float(self.model.objective.value)

    def _variable(self, name: str, cost: float, upper: float, lower: float = 0.0) -> int:
        self.cost[name].append(cost)
        self.upper[name].append(upper)
        self.lower[name].append(lower)
        return len(self.cost[name]) - 1

    def _family(self, name: str, sign: str) -> Family:
        return self.families.setdefault(name, Family(self.model, name, sign))

    def _decide_starts(self) -> None:
        """y[i,a]; committed money is not whole and called m, but where it pays for nodes of one price and for work at
        any hour it is for k[i,a] whole ones."""
        for i, source in enumerate(self.given.sources):
            name = "m" if source.kind == "money" else "y"
            prices = self._paid_prices(source.pool) if source.kind == "money" else set()
            for _, covers, paid in source.starts:
                lower, upper = (source.fixed, source.fixed) if source.fixed is not None else (0.0, 1e5)
                y = self._variable(name, self.given.worth(paid), upper, lower)
                if len(prices) == 1:
                    nodes = self._family("money for whole nodes", "=")
                    row = nodes.row((i, y), 0.0)
                    nodes.add(row, name, y, 1.0)
                    nodes.add(row, "k", self._variable("k", 0.0, 1e5), -min(prices))
                for month in covers:
                    self.covering[i, month - 1].append((name, y))
                for month, _, category, amount in paid:
                    if amount > 0:
                        kind = "capex" if category in ("hardware", "installation") else "opex"
                        self._spend(kind, month, name, y, amount)

    def _paid_prices(self, pool: tuple) -> set[float]:
        """The prices of all that money of a pool pays for, some of it at any hour; none where all of it stands."""
        given = self.given
        ways = [way for way in given.ways if given.sources[way.source].pool == pool]
        is_free = any(not given.works[way.work].standing for way in ways)
        return {given.sources[way.source].weight for way in ways} if is_free else set()

    def _spend(self, kind: str, month: int, name: str, index: int, amount: float) -> None:
        yearly = self.given.capex if kind == "capex" else self.given.opex
        if yearly is not None and amount:
            family = self._family(kind, "<=")
            year = max(month - 1, 0) // 12
            family.add(family.row((year,), yearly[year]), name, index, amount)

    def _choose_home(self, k: int) -> None:
        """v[k,h]: one home of each workload."""
        given, chosen = self.given, self._family("one home", "=")
        row = chosen.row((k,), 1.0)
        for number, home in enumerate(homes(given, k)):
            v = self._variable("v", 0.0, 1.0)
            chosen.add(row, "v", v, 1.0)
            work = given.works[k]
            for t in range(given.months):
                for b in range(len(given.block_hours)) if work.standing else (0,):
                    units = max(work.monthly) if work.deadline else work.due[t][b]
                    if units and (not work.deadline or t < work.deadline):
                        one = (k, number, 0 if work.deadline else t, b)
                        self._family("every task is done", "=").row(one, 0.0)
                        sides = [(n, [j for j in side.ways if self._works(j, t)]) for n, side in enumerate(home)
                                 if side.first <= t < side.end]  # fmt: skip
                        self._do_task(one, t, b, [(n, ways) for n, ways in sides if ways], v)

    def _works(self, j: int, t: int) -> bool:
        """Whether a way can do work in a month."""
        way = self.given.ways[j]
        source = self.given.sources[way.source]
        if source.last is not None and t >= source.last:
            return False
        return t < self.given.hourly_until[way.work] if source.kind == "hourly" else (way.source, t) in self.covering

    def _do_task(self, one: tuple, t: int, b: int, sides: list, v: int) -> None:
        done = self._family("every task is done", "=")
        row = done.row(one, 0.0)
        if ("home", one) not in self.stated:
            self.stated.add(("home", one))
            done.add(row, "v", v, -1.0)
        work = self.given.works[one[0]]
        for number, ways in sides:
            if work.standing:
                self._stand((*one, number), t, b, ways, v, alone=len(sides) == 1)
            else:
                for j in ways:
                    for block, hours in enumerate(self.given.block_hours):
                        self._share(one, j, t, block, hours)

    def _share(self, one: tuple, j: int, t: int, b: int, hours: float) -> None:
        """f[q,j,t,b] of work that may run at any hour."""
        given, way = self.given, self.given.ways[j]
        work, source = given.works[way.work], given.sources[way.source]
        units = max(work.monthly) if work.deadline else work.monthly[t]
        node_hours = units / way.speed
        paid = way.data * (work.deadline or 1.0) + (source.hour[t] if source.hour else 0.0) * node_hours
        f = self._variable("f", paid * (1 + given.rate) ** -(t + 1), 1.0)
        self._spend("opex", t + 1, "f", f, paid)
        done = self._family("every task is done", "=")
        done.add(done.row(one, 0.0), "f", f, 1.0)
        if work.at_once is not None:
            running = self._family("at most P gangs at once", "<=")
            running.add(running.row((way.work, t, b), work.at_once * hours), "f", f, node_hours / way.granule)
            if source.kind == "days":
                most = work.at_once * 24.0 * given.days[t]
                running.add(running.row((way.work, t), most), "f", f, node_hours / way.granule)
        if way.spot and work.spot_share < 1:
            spot = self._family("at most a share on spot", "<=")
            spot.add(spot.row((way.work, one[2]), work.spot_share), "f", f, 1.0)
        if way.span > 1 and source.kind == "days":
            self._gang_days(j, t, f, node_hours)
            return
        if source.pool and len(self._paid_prices(source.pool)) > 1:
            self._on_paid_nodes(way.source, t, b, f, node_hours)
        else:
            self._take(way.source, t, b, "f", f, node_hours)
        if (way.span > 1 and source.kind == "nodes") or source.pool:
            self._span(j, t, (one[0], one[2]), f, node_hours)

    def _stand(self, one: tuple, t: int, b: int, ways: list[int], v: int, *, alone: bool) -> None:
        """e[q,j] nodes in each way of paying; of one side alone as many as are known, else p[q] of the task on n."""
        given, way = self.given, self.given.ways[ways[0]]
        work, hours = given.works[one[0]], given.block_hours[b]
        count, nodes = replicas(given, way, t, b), nodes_of(given, way, t, b)
        data = way.data * work.due[t][b] / work.monthly[t]
        p = self._variable("p", data * (1 + given.rate) ** -(t + 1), 1.0)
        self._spend("opex", t + 1, "p", p, data)
        done = self._family("every task is done", "=")
        done.add(done.row(one[:4], 0.0), "p", p, 1.0)
        if work.at_once is not None:
            running = self._family("replicas at once", "<=")
            running.add(running.row(one[:4], work.at_once), "p", p, count)
        stands = self._family("its nodes stand there", "=")
        row = stands.row(one, 0.0)
        on_spot = math.floor(work.spot_share * count + 1e-9)
        spot = self._family("whole nodes on spot", "<=")
        if alone:
            stands.add(row, "v", v, -nodes)
            others = math.ceil((count - on_spot) * way.granule - 1e-9)
            spot.add(spot.row(one, min(nodes - others, math.floor(work.spot_share * nodes + 1e-9))), "v", v, 0.0)
        else:
            n, o = self._variable("n", 0.0, nodes), self._variable("o", 0.0, nodes)
            stands.add(row, "n", n, -way.span)
            enough = self._family("whole nodes for its share", "<=")
            for right, name, index in ((0.0, "n", n), (on_spot * way.granule, "o", o)):
                part = enough.row((*one, name), right)
                enough.add(part, "p", p, count * way.granule)
                enough.add(part, name, index, -way.span)
            spot.add(spot.row(one, 0.0), "o", o, way.span)
            spot.add(spot.row(one, 0.0), "n", n, -way.span)
        for j in ways:
            source = given.sources[given.ways[j].source]
            paid = (source.hour[t] if source.hour else 0.0) * hours
            e = self._variable("e", paid * (1 + given.rate) ** -(t + 1), INFINITY)
            self._spend("opex", t + 1, "e", e, paid)
            stands.add(row, "e", e, 1.0)
            if given.ways[j].spot:
                spot.add(spot.row(one, 0.0), "e", e, 1.0)
            self._take(given.ways[j].source, t, b, "e", e, hours)

    def _take(self, i: int, t: int, b: int, name: str, index: int, amount: float) -> None:
        """What is shared is not used twice."""
        source, given = self.given.sources[i], self.given
        if source.kind == "hourly":
            self._draw(i, t, b, name, index, amount)
            return
        family = self._family("nothing is used twice", "<=")
        stock = source.kind == "days"
        key = (i, t) if stock else (i, t, b)
        is_new = key not in family.rows
        row = family.row(key, 0.0)
        family.add(row, name, index, amount)
        if is_new:
            each = 24.0 if stock else given.block_hours[b]
            for kind, y in self.covering[i, t]:
                family.add(row, kind, y, -each)

    def _draw(self, i: int, t: int, b: int, name: str, index: int, node_hours: float) -> None:
        source = self.given.sources[i]
        for n, money in enumerate(self.given.sources):
            if source.pool and money.kind == "money" and money.pool == source.pool:
                self._take(n, t, b, name, index, node_hours * source.weight)

    def _on_paid_nodes(self, i: int, t: int, b: int, f: int, node_hours: float) -> None:
        """Money with several prices pays, for work at any hour, in each block for whole nodes of each price."""
        family, hours = self._family("work on paid nodes", "<="), self.given.block_hours[b]
        is_new = (i, t, b) not in family.rows
        row = family.row((i, t, b), 0.0)
        if is_new:
            k = self._variable("k", 0.0, 1e5)
            family.add(row, "k", k, -hours)
            self._take(i, t, b, "k", k, hours)
        family.add(row, "f", f, node_hours)

    def _gang_days(self, j: int, t: int, f: int, node_hours: float) -> None:
        """Whole days of all nodes of a gang."""
        way, days = self.given.ways[j], self._family("days of gangs", "<=")
        each = 24.0 * way.span
        if (j, t) not in self.gangs:
            d = self.gangs[j, t] = self._variable("d", 0.0, 1e5)
            days.add(days.row((j, t), 0.0), "d", d, -each)
            self._take(way.source, t, 0, "d", d, each)
        days.add(days.row((j, t), 0.0), "f", f, node_hours)

    def _span(self, j: int, t: int, task: tuple, f: int, node_hours: float) -> None:
        """Gangs on shared nodes have all of them: so many whole ones of a size at once. Committed money pays in each
        hour for what runs in it: for whole gangs where not all of their work is there in the month; else of q gangs at
        all hours, and one in a part of them, for those that it suffices for."""
        given, way = self.given, self.given.ways[j]
        source, work = given.sources[way.source], given.works[way.work]
        shared = [n for n, s in enumerate(given.sources) if s.kind == "money" and s.pool == source.pool]
        units = [unit for i in (shared if source.pool else [way.source]) for unit in self.covering[i, t]]
        of_gang = way.span * source.weight
        if source.pool and work.deadline is None and not work.spread:
            gangs = work.monthly[t] / way.speed / way.span / math.fsum(given.block_hours)
            whole = math.floor(gangs + 1e-9)
            part = max(gangs - whole, 0.0)
            family = self._family("a part of a gang", "<=")
            is_new = (j, t, task) not in family.rows
            row = family.row((j, t, task), of_gang * whole * (1 - part))
            family.add(row, "f", f, of_gang * gangs)
            for kind, y in units if is_new else ():
                family.add(row, kind, y, -part)
            return
        alike = way.source, way.span, t
        hours = self._family("hours of whole gangs", "<=")
        row = hours.row(alike, 0.0)
        hours.add(row, "f", f, node_hours)
        if alike not in self.gangs:
            z = self.gangs[alike] = self._variable("z", 0.0, 1e5)
            hours.add(row, "z", z, -way.span * math.fsum(given.block_hours))
            nodes = self._family("all its nodes", "<=")
            row = nodes.row(alike, 0.0)
            nodes.add(row, "z", z, of_gang)
            for kind, y in units:
                nodes.add(row, kind, y, -1.0)
        family = self._family("a whole gang", "<=")
        is_new = (j, t, task) not in family.rows
        row = family.row((j, t, task), 0.0)
        family.add(row, "f", f, 1.0)
        if is_new:
            family.add(row, "z", self.gangs[alike], -1.0)

    def _limits(self) -> None:
        given = self.given
        for limit, each in ((given.power_kw, "power_kw"), (given.racks, "racks")):
            if limit is None:
                continue
            family = self._family(each, "<=")
            for i, source in enumerate(given.sources):
                for t in range(given.months):
                    for kind, y in self.covering.get((i, t), ()):
                        if source.owned:
                            family.add(family.row((t,), limit), kind, y, getattr(source, each))


def least(given) -> float:
    return Mathematics(given).least()
