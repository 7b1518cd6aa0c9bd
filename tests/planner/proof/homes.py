"""The homes that a workload can have, from the words of decision 0029 alone: every one of them is a list of sides.

A side is a set of ways of doing the work in one place with one size of gang, for some of the months. A home in the
cloud is one side; where its type ends within the plan, a second place takes over. An owned home is two: the system, and
one place in the cloud for what its nodes cannot do, by the hour or in commitments that ran before the plan. A service
that may be spread (decision 0038) has all places as sides at once.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Side:
    """Ways (numbers of given.ways) in the months from `first` to before `end`; months count from 0."""

    ways: tuple[int, ...]
    first: int
    end: int


Home = tuple[Side, ...]


def homes(given, k: int) -> list[Home]:
    """Every home of workload k; one without sides where nothing can do its work."""
    work, months = given.works[k], given.months
    places: dict[tuple, list[int]] = defaultdict(list)
    for n, way in enumerate(given.ways):
        if way.work == k:
            source = given.sources[way.source]
            places[source.owned, source.place, way.accelerator, way.gang].append(n)
    if work.spread and work.standing:
        return [tuple(Side(tuple(ways), 0, months) for ways in places.values())]
    if work.spread:
        return _anywhere(work, places, months)
    cloud = {key: ways for key, ways in places.items() if not key[0]}
    found: list[Home] = []
    for ways in cloud.values():
        end = _end(given, ways)
        found.append((Side(tuple(ways), 0, end),))
        if end < months:
            found += [
                (Side(tuple(ways), 0, end), Side(tuple(other), end, months))
                for other in cloud.values()
                if other is not ways and _end(given, other) == months
            ]
    for key, ways in places.items():
        if key[0]:
            own = Side(tuple(ways), 0, months)
            beside = [_uncommitted(given, other) for one, other in cloud.items() if _goes_with(work, key, one)]
            found += [(own, Side(rest, 0, months)) for rest in beside if rest] or [(own,)]
    return found or [()]


def _anywhere(work, places: dict[tuple, list[int]], months: int) -> list[Home]:
    """All places together; a job of a fixed number of gangs keeps its accelerator and gang."""
    teams: dict[tuple, list[int]] = defaultdict(list)
    for (_, _, *team), ways in places.items():
        teams[tuple(team) if work.at_once is not None else ()] += ways
    return [(Side(tuple(ways), 0, months),) for ways in teams.values()]


def _end(given, ways: list[int]) -> int:
    """The months in which the type of a place in the cloud works."""
    return min((last for n in ways if (last := given.sources[given.ways[n].source].last) is not None),
               default=given.months)  # fmt: skip


def _goes_with(work, owned: tuple, cloud: tuple) -> bool:
    return work.at_once is None or owned[2:] == cloud[2:]


def _uncommitted(given, ways: list[int]) -> tuple[int, ...]:
    """By the hour, or in commitments that ran before the plan."""
    sources = {n: given.sources[given.ways[n].source] for n in ways}
    return tuple(n for n, s in sources.items() if s.fixed is not None or (s.kind == "hourly" and not s.pool))


def combinations(given) -> list[tuple[tuple[Home, ...], ...]]:
    """One home of every workload, in every combination."""
    return [tuple((home,) for home in one)
            for one in itertools.product(*(homes(given, k) for k in range(len(given.works))))]  # fmt: skip
