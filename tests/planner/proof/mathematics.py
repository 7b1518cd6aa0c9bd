"""The mathematics of the docstring of planner.model, stated again in linopy: sets, decisions, objective, constraints.

Written from those words, not from the code: nothing is pruned, nothing is scaled, no row is added to help the solver.
"""

from __future__ import annotations

import math
from collections import defaultdict

import linopy
import pandas as pd
import xarray

INFINITY = math.inf
GAP = 1e-7

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
        self.teams: dict[tuple, int] = {}

    def least(self) -> float:
        """The least present cost, proven to a gap of 1e-7; infinite where nothing is possible."""
        self._decide_starts()
        for j, way in enumerate(self.given.ways):
            self._decide_work(j, way)
        self._tasks()
        self._limits()
        if any(family.is_impossible for family in self.families.values()):
            return INFINITY
        variables = {
            name: self.model.add_variables(
                pd.Series(self.lower[name]), pd.Series(self.upper[name]),
                coords=[pd.RangeIndex(len(costs), name="i")], name=name, integer=name in "yrzvws",
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
        """y[i,a]; committed money is not whole and called m."""
        for i, source in enumerate(self.given.sources):
            name = "m" if source.kind == "money" else "y"
            for _, covers, paid in source.starts:
                lower, upper = (source.fixed, source.fixed) if source.fixed is not None else (0.0, 1e5)
                y = self._variable(name, self.given.worth(paid), upper, lower)
                for month in covers:
                    self.covering[i, month - 1].append((name, y))
                for month, _, category, amount in paid:
                    if amount > 0:
                        kind = "capex" if category in ("hardware", "installation") else "opex"
                        self._spend(kind, month, name, y, amount)

    def _spend(self, kind: str, month: int, name: str, index: int, amount: float) -> None:
        yearly = self.given.capex if kind == "capex" else self.given.opex
        if yearly is not None and amount:
            family = self._family(kind, "<=")
            year = (month - 1) // 12
            family.add(family.row((year,), yearly[year]), name, index, amount)

    def _decide_work(self, j: int, way) -> None:
        given = self.given
        work, source = given.works[way.work], given.sources[way.source]
        for t in range(given.months if work.deadline is None else work.deadline):
            if source.kind == "hourly" and t >= given.hourly_until[way.work]:
                continue
            if source.kind != "hourly" and not self.covering.get((way.source, t)):
                continue
            for b, hours in enumerate(given.block_hours):
                units = work.due[t][b] if work.shaped else max(work.monthly) if work.deadline else work.monthly[t]
                if units:
                    self._share(j, t, b, hours, units)
        del source

    def _share(self, j: int, t: int, b: int, hours: float, units: float) -> None:
        """f[q,j,t,b] and, for a service by the hour, r[j,t,b]."""
        given, way = self.given, self.given.ways[j]
        work, source = given.works[way.work], given.sources[way.source]
        later = (1 + given.rate) ** -(t + 1)
        by_hour = source.kind == "hourly"
        node_hours = units / way.speed
        data = way.data * (work.deadline or 1.0) if work.deadline else way.data * units / work.monthly[t]
        rate = source.hour[t] if source.hour else 0.0
        paid = data + (0.0 if by_hour and work.serving else rate * node_hours)
        f = self._variable("f", paid * later, 1.0)
        self._spend("opex", t + 1, "f", f, paid)
        task = (way.work, 0 if work.deadline else t, b if work.shaped else 0)
        done = self._family("every task is done", "=")
        done.add(done.row(task, 1.0), "f", f, 1.0)
        if work.at_once is not None:
            running = self._family("at most P gangs at once", "<=")
            row = running.row((way.work, t, b), work.at_once * hours)
            running.add(row, "f", f, node_hours / way.granule)
        if way.spot and work.spot_share < 1:
            total = max(work.monthly) if work.deadline else math.fsum(work.due[t])
            spot = self._family("at most a share on spot", "<=")
            spot.add(spot.row(task[:2], work.spot_share), "f", f, units / total)
        if work.keeps_team:
            self._keep_team(way, task, f)
        if not by_hour:
            self._take(way.source, t, b, "f", f, node_hours)
            if way.span > 1:
                self._span(j, t, task, f)
            return
        if not work.serving:
            self._draw(way.source, t, b, "f", f, node_hours)
            return
        gang = way.span * hours
        most = math.ceil(node_hours / gang)
        r = self._variable("r", rate * gang * later, most)
        self._spend("opex", t + 1, "r", r, rate * gang)
        ready = self._family("whole nodes are ready", "<=")
        row = ready.row((j, t, b), 0.0)
        ready.add(row, "f", f, node_hours)
        ready.add(row, "r", r, -gang)
        self._draw(way.source, t, b, "r", r, gang)
        self._stay(way, source.place, r, most)

    def _take(self, i: int, t: int, b: int, name: str, index: int, amount: float) -> None:
        """What is shared is not used twice."""
        source, given = self.given.sources[i], self.given
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

    def _keep_team(self, way, task: tuple, f: int) -> None:
        one = (way.work, way.accelerator, way.gang)
        if one not in self.teams:
            self.teams[one] = self._variable("v", 0.0, 1.0)
            chosen = self._family("one team", "=")
            chosen.add(chosen.row((way.work,), 1.0), "v", self.teams[one], 1.0)
        family = self._family("work in its team", "<=")
        is_new = (one, task) not in family.rows
        row = family.row((one, task), 0.0)
        family.add(row, "f", f, 1.0)
        if is_new:
            family.add(row, "v", self.teams[one], -1.0)

    def _stay(self, way, place: tuple[str, ...], r: int, most: int) -> None:
        one = (way.work, place)
        if one not in self.teams:
            self.teams[one] = self._variable("w", 0.0, 1.0)
            chosen = self._family("one place", "<=")
            chosen.add(chosen.row((way.work,), 1.0), "w", self.teams[one], 1.0)
        family = self._family("rent in its place", "<=")
        row = family.row((r,), 0.0)
        family.add(row, "r", r, 1.0)
        family.add(row, "w", self.teams[one], -most)

    def _span(self, j: int, t: int, task: tuple, f: int) -> None:
        """A gang on shared nodes has all of them."""
        if (j, t) not in self.teams:
            z = self.teams[j, t] = self._variable("z", 0.0, 1.0)
            nodes = self._family("all its nodes", "<=")
            row = nodes.row((j, t), 0.0)
            nodes.add(row, "z", z, self.given.ways[j].span)
            for kind, y in self.covering[self.given.ways[j].source, t]:
                nodes.add(row, kind, y, -1.0)
        family = self._family("a whole gang", "<=")
        is_new = (j, t, task) not in family.rows
        row = family.row((j, t, task), 0.0)
        family.add(row, "f", f, 1.0)
        if is_new:
            family.add(row, "z", self.teams[j, t], -1.0)

    def _tasks(self) -> None:
        """A task that nothing can do has a row all the same: 0 = 1."""
        given, done = self.given, self._family("every task is done", "=")
        for k, work in enumerate(given.works):
            for t in (0,) if work.deadline else range(given.months):
                for b in range(len(given.block_hours)) if work.shaped else (0,):
                    if work.deadline or (work.due[t][b] if work.shaped else work.monthly[t]):
                        done.row((k, t, b), 1.0)

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
