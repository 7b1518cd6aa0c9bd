"""Work that is tied to hours of the week: whole nodes stand there for it in every block, however they are paid.

Replicas that spot may not hold stand on whole nodes that are not on spot: where a node holds four and one of two may be
on spot, the one node is not. The share holds for whole replicas and for whole nodes.
"""

from __future__ import annotations

import math
from collections import defaultdict

from proof_linear import INFINITY, SLACK


def replicas(given, way, t: int, b: int) -> int:
    """Whole replicas for a block's units, and the spare ones."""
    work = given.works[way.work]
    return math.ceil(work.due[t][b] / way.gang_rate / given.block_hours[b] - SLACK) + work.spare


def nodes_of(given, way, t: int, b: int) -> int:
    """Whole nodes for all replicas."""
    return math.ceil(replicas(given, way, t, b) * way.granule - SLACK)


class Standing:
    """The columns and rows of standing work in a question."""

    def __init__(self, question) -> None:
        self.question, self.given, self.linear = question, question.given, question.linear
        self.there: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        self.shared: dict[tuple[int, int, int], list[tuple]] = defaultdict(list)

    def way(self, n: int, t: int) -> None:
        given, question = self.given, self.question
        way = given.ways[n]
        work, source = given.works[way.work], given.sources[way.source]
        for b in question.blocks:
            if not work.due[t][b]:
                continue
            x = self.linear.column(("hours", n, t, b), 0.0)
            self.there[way.work, t, b].append(n)
            if work.shares:
                self.shared[way.source, t, b].append(x)
            else:
                question.take(way.source, t, b, x, 1.0)
                question.cost(x, t, source.hour[t] if source.hour else 0.0)

    def rows(self) -> None:
        for key, columns in self.shared.items():
            self._whole_nodes(key, columns)
        for k, work in enumerate(self.given.works):
            for t in range(self.given.months) if work.standing else ():
                for b in self.question.blocks:
                    if work.due[t][b]:
                        self._task(k, t, b)

    def _whole_nodes(self, key: tuple[int, int, int], columns: list[tuple]) -> None:
        """Parts of nodes of all that share them, in one way of paying, are whole nodes together."""
        number, t, b = key
        hours, source = self.given.block_hours[b], self.given.sources[number]
        most = sum(nodes_of(self.given, self.given.ways[n], t, b) for _, n, _, _ in columns)
        nodes = self.linear.column(("shared", *key), 0.0, most, whole=True)
        self.linear.row(-INFINITY, 0.0, [*((x, 1.0) for x in columns), (nodes, -hours)])
        self.question.take(number, t, b, nodes, hours)
        self.question.cost(nodes, t, (source.hour[t] if source.hour else 0.0) * hours)

    def _task(self, k: int, t: int, b: int) -> None:
        open_to, there = self.question.homes[k], self.there[k, t, b]
        if len(open_to) > 1:
            sides = [[n] for n in there]
        else:
            sides = [mine for side in open_to[0] if (mine := [n for n in side.ways if n in there])]
        if self.given.works[k].spread:
            sides = [side for side in sides if self._may_take_part(side[0], t, b)]
        parts = [(self._part(k, t, b, number), side) for number, side in enumerate(sides)]
        self.linear.row(1.0, 1.0, [(part, 1.0) for part, _ in parts])
        work, running, spot = self.given.works[k], [], []
        for part, side in parts:
            way = self.given.ways[side[0]]
            count = replicas(self.given, way, t, b)
            running.append((part, float(count)))
            self.question.cost(part, t, way.data * work.due[t][b] / work.monthly[t])
            if len(open_to) > 1:
                self._stands(side, t, b, [(part, count * way.granule)])
            else:
                spot += self._side(side, t, b, part, alone=len(parts) == 1)
        self.linear.row(-INFINITY, 1.0, spot)
        if work.at_once is not None and len(open_to) == 1:
            self.linear.row(-INFINITY, work.at_once, running)

    def _may_take_part(self, n: int, t: int, b: int) -> bool:
        """Whether all of a task would keep within the replicas that may run at once in a place."""
        way = self.given.ways[n]
        at_once = self.given.works[way.work].at_once
        return at_once is None or replicas(self.given, way, t, b) <= at_once

    def _part(self, k: int, t: int, b: int, number: int) -> tuple:
        return self.linear.column(("part", k, t, b, number), 0.0, 1.0)

    def _side(self, side: list[int], t: int, b: int, part: tuple, *, alone: bool) -> list[tuple[tuple, float]]:
        """The nodes of one side: all of them, those of a share, or parts of nodes where they are shared. Returns what
        relies on spot there, as a part of what may."""
        given, way = self.given, self.given.ways[side[0]]
        work, count = given.works[way.work], replicas(given, way, t, b)
        spot = [(("hours", n, t, b), 1 / given.block_hours[b]) for n in side if given.ways[n].spot]
        on_spot = math.floor(work.spot_share * count + SLACK)
        if work.shares and way.span == 1:
            self._stands(side, t, b, [(part, count * way.granule)])
            if not on_spot:
                self.linear.row(-INFINITY, 0.0, spot)
                return []
            return [(x, value / (on_spot * way.granule)) for x, value in spot]
        most, each = nodes_of(given, way, t, b), float(way.span)
        if alone:
            self._stands(side, t, b, [(part, float(most))])
            if spot:
                others = math.ceil((count - on_spot) * way.granule - SLACK)
                self.linear.row(-INFINITY, min(most - others, math.floor(work.spot_share * most + SLACK)), spot)
            return []
        nodes = self.linear.column(("whole", side[0], t, b), 0.0, most / each, whole=True)
        self.linear.row(-INFINITY, 0.0, [(part, count * way.granule), (nodes, -each)])
        self._stands(side, t, b, [(nodes, each)])
        if not spot:
            return []
        others = self.linear.column(("others", side[0], t, b), 0.0, most / each, whole=True)
        relies = self.linear.column(("relies", side[0], t, b), 0.0, on_spot / count)
        needed = count * way.granule
        self.linear.row(-INFINITY, 0.0, [(part, needed), (others, -each), (relies, -needed)])
        self.linear.row(-INFINITY, 0.0, [*spot, (others, each), (nodes, -each)])
        return [(relies, count / on_spot)] if on_spot else []

    def _stands(self, side: list[int], t: int, b: int, nodes: list[tuple[tuple, float]]) -> None:
        """Node-hours of all ways of paying are those of the nodes."""
        hours = self.given.block_hours[b]
        paid = [(("hours", n, t, b), 1.0) for n in side]
        self.linear.row(0.0, 0.0, [*paid, *((name, -value * hours) for name, value in nodes)])
