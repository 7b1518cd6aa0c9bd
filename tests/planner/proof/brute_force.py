"""The least present cost by trying every whole number, and a small linear program for what is not whole.

Whole: nodes and node-days started in each month, gangs of a service ready or in reserve in each month and block,
operators, nodes and gangs that count against a quota. Tried from outside: the accelerator and gang that a job keeps,
the place where a service rents. What is left (node-hours, money committed an hour) is continuous; HiGHS solves it as a
plain linear program and never sees that anything is whole.

Ranges are cut only where more can never help (Question._most). With `cut`, a branch is left when even its linear
program without whole numbers is infeasible or costs no less than the best found: none of its leaves can be less. Where
that program gives whole numbers by itself, it is the least of all leaves of the branch. Without `cut` every leaf is
solved.
"""

from __future__ import annotations

import itertools
import math

from proof_question import INFINITY, Question  # loaded by conftest.py: tests are no package

WHOLE = 1e-6


def least(given, *, cut: bool = True) -> tuple[float, int]:
    """The least present cost (infinite where nothing is possible) and how many linear programs it took."""
    best, solved = INFINITY, 0
    for forbidden in _choices(given):
        question = Question(given)
        for n, t, b in (name[1:] for name in list(question.linear.numbers) if name[0] == "hours"):
            if n in forbidden:
                question.linear.bound(("hours", n, t, b), 0.0, 0.0)
                if ("ready", n, t, b) in question.linear.numbers:
                    question.linear.bound(("ready", n, t, b), 0.0, 0.0)
        best, count = _search(question, best, cut=cut)
        solved += count
    return best, solved


def leaves(given) -> int:
    """How many combinations of whole numbers there are."""
    question = Question(given)
    ranges = (question.linear.range(name) for name in question.linear.whole)
    return math.prod(round(upper) - round(lower) + 1 for lower, upper in ranges) * len(list(_choices(given)))


def _choices(given):
    """For every job that keeps its accelerator and gang, one of them; for every service, one place to rent by the
    hour: the ways that each combination forbids."""
    per_work = []
    for k, work in enumerate(given.works):
        mine = [n for n, way in enumerate(given.ways) if way.work == k]
        if work.keeps_team:
            label = {n: (given.ways[n].accelerator, given.ways[n].gang) for n in mine}
        elif work.serving:
            label = {n: given.sources[given.ways[n].source].place for n in mine if _by_hour(given, n)}
        else:
            label = {}
        kept = sorted(set(label.values())) or [None]
        per_work.append([{n for n in label if label[n] != one} for one in kept])
    for combination in itertools.product(*per_work):
        yield set().union(*combination)


def _by_hour(given, n: int) -> bool:
    return given.sources[given.ways[n].source].kind == "hourly"


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
        order = ("start", "some", "hired", "nodes", "gangs", "ready", "spare")
        self.whole = sorted(self.linear.whole, key=lambda name: order.index(name[0]))
        self.spanning = [
            name
            for name in self.linear.numbers
            if name[0] == "hours" and self._span(name) > 1 and not _by_hour(self.given, name[1])
        ]

    def _span(self, name: tuple) -> int:
        return self.given.ways[name[1]].span

    def _nodes(self, name: tuple) -> list[tuple]:
        """The starts whose nodes the gangs of a column of hours share."""
        return self.capacity.get((self.given.ways[name[1]].source, name[2]), [])

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
