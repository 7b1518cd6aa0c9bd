"""The least present cost by trying every home and every whole number, and a small linear program for the rest.

Tried from outside: one home of every workload (homes.py). Whole: nodes and node-days started in each month, days of
gangs, nodes of each side of divided work in each month and block, nodes that committed money pays for, shared nodes,
operators, nodes and gangs that count against a quota. What is left (node-hours, shares of work, money committed an
hour) is continuous; HiGHS solves it as a plain linear program and never sees that anything is whole.

Ranges are cut only where more can never help (Question._most). With `cut`, a branch is left when even its linear
program without whole numbers is infeasible or costs no less than the best found: none of its leaves can be less. Where
that program gives whole numbers by itself, it is the least of all leaves of the branch. Without `cut` every leaf is
solved.
"""

from __future__ import annotations

import math

from proof_homes import combinations, homes  # loaded by conftest.py: tests are no package
from proof_linear import INFINITY
from proof_question import Question

WHOLE = 1e-9


def least(given, *, cut: bool = True) -> tuple[float, int]:
    """The least present cost (infinite where nothing is possible) and how many linear programs it took."""
    if not cut:
        best, solved = INFINITY, 0
        for one in combinations(given):
            best, count = _search(Question(given, one), best, cut=False)
            solved += count
        return best, solved
    return _settle(given, tuple(tuple(homes(given, k)) for k in range(len(given.works))), INFINITY)


def leaves(given) -> int:
    """How many combinations of homes and whole numbers there are."""
    count = 0
    for one in combinations(given):
        linear = Question(given, one).linear
        ranges = (linear.range(name) for name in linear.whole)
        count += math.prod(round(upper) - round(lower) + 1 for lower, upper in ranges)
    return count


def _settle(given, open_to: tuple, best: float) -> tuple[float, int]:
    """The least cost of any choice among the homes that are open, if less than `best`: settles one workload after the
    other, the most promising home first."""
    k = next((k for k, some in enumerate(open_to) if len(some) > 1), None)
    if k is None:
        return _search(Question(given, open_to), best, cut=True)
    solved, promising = 0, []
    for home in open_to[k]:
        settled = (*open_to[:k], (home,), *open_to[k + 1 :])
        relaxed = Question(given, settled).linear.solve()
        solved += 1
        if relaxed is not None:
            promising.append((relaxed[0], len(promising), settled))
    for bound, _, settled in sorted(promising):
        if bound < (best - 1e-9 * abs(best) if math.isfinite(best) else best):
            best, count = _settle(given, settled, best)
            solved += count
    return best, solved


def _search(question: Question, best: float, *, cut: bool) -> tuple[float, int]:
    """The least cost of any leaf, if less than `best`, and how many programs were solved."""
    search = _Search(question, best, cut)
    search.go()
    return search.best, search.solved


class _Search:
    """Tries every value of one whole column after the other, depth first."""

    def __init__(self, question: Question, best: float, cut: bool) -> None:
        self.linear, self.given, self.capacity = question.linear, question.given, question.capacity
        self.best, self.cut, self.solved = best, cut, 0
        order = (
            "start", "paid nodes", "on paid nodes", "whole gangs", "gang days", "paid", "some",
            "hired", "nodes", "gangs", "whole", "others", "shared",
        )  # fmt: skip
        self.whole = sorted(self.linear.whole, key=lambda name: order.index(name[0]))
        self.spanning = [
            name for name in self.linear.numbers if name[0] == "hours" and self._span(name) > 1 and self._is_there(name)
        ]

    def _span(self, name: tuple) -> int:
        return self.given.ways[name[1]].span

    def _is_there(self, name: tuple) -> bool:
        """Whether the gang of a column works on owned or committed nodes, at any hour."""
        way = self.given.ways[name[1]]
        return self.given.sources[way.source].kind == "nodes" and not self.given.works[way.work].standing

    def _nodes(self, name: tuple) -> list[tuple]:
        """The starts whose nodes the gangs of a column of hours share: those of one commitment, or of one system."""
        mine = self.given.ways[name[1]].source
        sources = self.given.sources
        same = [n for n, s in enumerate(sources) if sources[mine].owned and s.owned and s.place == sources[mine].place]
        return [y for n in same or [mine] for y in self.capacity.get((n, name[2]), [])]

    def go(self) -> None:
        """A gang that spans more shared nodes than there can be does not work there in that month."""
        linear = self.linear
        closed = [
            name
            for name in self.spanning
            if linear.range(name)[1] > 0 and sum(linear.range(y)[1] for y in self._nodes(name)) < self._span(name)
        ]
        for name in closed:
            linear.bound(name, 0.0, 0.0)
        self._branch()
        for name in closed:
            linear.bound(name, 0.0, INFINITY)

    def _branch(self) -> None:
        linear, near = self.linear, 0.0
        name = next((n for n in self.whole if linear.range(n)[0] < linear.range(n)[1]), None)
        if self.cut or name is None:
            self.solved += 1
            relaxed = linear.solve()
            if relaxed is None or (self.cut and relaxed[0] >= self.best - 1e-9 * abs(self.best)):
                return
            values = relaxed[1]
            name = self._open(values) if self.cut else name
            if name is None:
                self.best = min(self.best, relaxed[0])
                return
            near = values[linear.numbers[name]]
        assert name is not None
        lower, upper = linear.range(name)
        for value in sorted(range(round(lower), round(upper) + 1), key=lambda v: abs(v - near)):
            linear.bound(name, value, value)
            self.go()
        linear.bound(name, lower, upper)

    def _open(self, values: list[float]) -> tuple | None:
        """A column to settle next: one that is not whole, or whose nodes are too few for a gang at work; None where
        the solution is a leaf."""
        number = self.linear.numbers
        for name in self.whole:
            value = values[number[name]]
            if abs(value - round(value)) > WHOLE:
                return name
        for name in self.spanning:
            nodes = self._nodes(name)
            if values[number[name]] > WHOLE and sum(values[number[y]] for y in nodes) < self._span(name) - WHOLE:
                return next(y for y in nodes if self.linear.range(y)[0] < self.linear.range(y)[1])
        return None
