"""What shared resources do of the levels of work in the program by place (place_program.py), and no more than they can.

Columns and rows are made in arrays, in any order, and numbered by keys. Of each level first come the columns of what
its groups do (a day of a gang after what it does), then those that hold committed money; first the rows of the days of
gangs, then those of money, then that of its work. The rows of capacity come last, as each is first used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.optimization.constraints import is_done_in_month, limit_paid_share
from planner.optimization.linear_program import ANY_HOUR, LinearProgram, ProgramColumn
from planner.optimization.place_levels import WorkLevels
from planner.optimization.program_names import NameList, name_numbers, name_values
from planner.optimization.resource_groups import ResourceGroup, StartsOfItems
from planner.optimization.row_table import RowTable, join_numbers, rank_keys
from planner.optimization.stays import Place
from planner.supply.costs import SharedResource
from planner.workloads.demand import PortfolioDemand
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

FIRST, SECOND = 0, 1
"""Parts of a row."""


class _CoveredWork(NamedTuple):
    """What groups do of levels, in the order of its columns: level and position of the group among those there (both
    from 0), the set of items of the group, block, hours of a unit and its cost, and what a unit takes of the capacity.
    `in_gangs`: in days of whole gangs. `by_reserved_money`: by money that is reserved for a task."""

    level: Numbers
    position: Numbers
    item_set: Numbers
    block: Numbers
    hours: Floats
    cost: Floats
    weight: Floats
    in_gangs: Flags
    by_reserved_money: Flags


@dataclass(frozen=True, slots=True)
class SharedOffers:
    """The shared resources: in groups by place, and the columns of their starts."""

    shared: Sequence[SharedResource]
    groups: Mapping[Place, Sequence[ResourceGroup]]
    starts: StartsOfItems


class CapacityRows(NamedTuple):
    """The rows of capacity, in arrays: set of items (its number in `sets`), month, block and number of the row."""

    sets: Mapping[tuple[int, ...], int]
    item_set: Numbers
    month: Numbers
    block: Numbers
    row: Numbers

    @classmethod
    def none(cls, sets: Mapping[tuple[int, ...], int]) -> CapacityRows:
        import numpy as np

        return cls(sets, *(np.empty(0, dtype=np.int64) for _ in range(4)))


def add_levels(
    program: LinearProgram, levels: WorkLevels, offers: SharedOffers, demands: PortfolioDemand, names: NameList
) -> CapacityRows:
    """What shared resources do at each level, and no more than they can in all."""
    covered = _cover_levels(levels, offers, demands.block_hours)
    return _CoveredLevels.of(levels, covered, offers.starts, demands, len(program.columns)).write(program, names)


def _cover_levels(levels: WorkLevels, offers: SharedOffers, block_hours: Sequence[float]) -> _CoveredWork:
    """All that groups do of any level: those of its place, and for overflow those elsewhere."""
    import numpy as np

    sites: dict[tuple[Place, frozenset[int]], int] = {}
    of_kind = np.array([sites.setdefault((kind.place, kind.elsewhere), len(sites)) for kind in levels.kinds])
    of_level = of_kind[levels.kind]
    by_site = np.argsort(of_level, kind="stable")
    first = np.searchsorted(of_level[by_site], np.arange(len(sites) + 1))
    parts = []
    for (place, elsewhere), number in sites.items():
        at = by_site[first[number] : first[number + 1]]
        there = _list_groups_at(place, elsewhere, offers)
        parts += [_cover_by(group, at, position, levels, offers, block_hours) for position, group in enumerate(there)]
    if not parts:
        return _CoveredWork._make(np.empty(0, dtype=np.int64) for _ in _CoveredWork._fields)
    joined = _CoveredWork._make(np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(join_numbers(joined.level, joined.position, joined.block + 1))
    return _CoveredWork._make(each[order] for each in joined)


def _list_groups_at(place: Place, elsewhere: frozenset[int], offers: SharedOffers) -> Iterator[ResourceGroup]:
    yield from offers.groups.get(place, ())
    for other in (offers.shared[item].resource.place for item in elsewhere):
        yield from (group for group in offers.groups.get(other, ()) if not elsewhere.isdisjoint(group.items))


def _cover_by(
    group: ResourceGroup,
    at: Numbers,
    position: int,
    levels: WorkLevels,
    offers: SharedOffers,
    block_hours: Sequence[float],
) -> _CoveredWork:
    """What one group does of the levels `at` a place: those that are worth more than the use of its units."""
    import numpy as np

    item_set = offers.starts.numbers[group.items]
    month, rate = levels.month[at], levels.rate[at]
    use = np.array(group.use_costs)[month - 1] if group.use_costs else np.zeros(len(at))
    is_sold = np.isfinite(rate)
    saving = np.where(is_sold, rate - use, -use)
    does = (offers.starts.count(np.full(len(at), item_set), month) > 0) & ~(is_sold & (saving <= 0))
    at, saving = at[does], saving[does]
    if group.by_month:
        block, hours = np.full(len(at), ANY_HOUR), np.full(len(at), float(HOURS_PER_DAY))
    else:
        block = levels.block[at]
        hours = np.array([*block_hours, math.fsum(block_hours)])[block]  # the last of them at any hour
    of_all = np.full(len(at), position), np.full(len(at), item_set)
    weight = np.full(len(at), float(group.weight))
    in_gangs, by_reserved_money = group.by_month & (levels.span[at] > 1), group.is_money & (levels.need[at] >= 0)
    return _CoveredWork(at, *of_all, block, hours, -saving * hours, weight, in_gangs, by_reserved_money)


@dataclass(frozen=True, slots=True)
class _CoveredLevels:
    """Writes the columns and rows of levels into a program that has `known` columns. `level_names`, `set_names` and
    `names`: of each level, each set of items, and what a group does of a level (program_names.py)."""

    levels: WorkLevels
    covered: _CoveredWork
    starts: StartsOfItems
    demands: PortfolioDemand
    known: int
    level_names: Numbers
    set_names: Numbers
    names: Numbers

    @classmethod
    def of(
        cls, levels: WorkLevels, covered: _CoveredWork, starts: StartsOfItems, demands: PortfolioDemand, known: int
    ) -> _CoveredLevels:
        """With the names of all of them."""
        import numpy as np

        of_levels = levels.name_levels()
        of_sets = np.array([name_values(items) for items in starts.numbers], dtype=np.int64)
        names = name_numbers(of_levels[covered.level], of_sets[covered.item_set], covered.block)
        return cls(levels, covered, starts, demands, known, of_levels, of_sets, names)

    def write(self, program: LinearProgram, names: NameList) -> CapacityRows:
        """What groups do, how money is reserved, how much work there is, and the capacity."""
        import numpy as np

        covered, rows = self.covered, RowTable()
        # Of one level: two keys for each thing that a group does, then two for each group that holds money, then one.
        blocks, positions = len(self.demands.block_hours) + 1, int(covered.position.max(initial=0)) + 1
        of_level = 2 * positions * (blocks + 1) + 1
        keys = covered.level * of_level + 2 * (covered.position * blocks + covered.block + 1)
        reserved = np.flatnonzero(covered.by_reserved_money)
        money_keys = covered.level[reserved] * of_level + 2 * (positions * blocks + covered.position[reserved])
        divided = self._are_divided(reserved)
        numbers = self.known + rank_keys(np.concatenate([keys, keys[covered.in_gangs] + 1, money_keys[divided]]))
        columns, days, gangs = np.split(numbers, np.cumsum([len(keys), int(covered.in_gangs.sum())]))
        self._write_columns(program, numbers, reserved[divided])
        self._add_days(rows, keys, columns, days)
        self._add_money(rows, money_keys, reserved, columns, divided, gangs)
        self._add_work(rows, of_level, columns)
        capacity = self._add_capacity(rows, len(self.levels.month) * of_level, columns, days)
        number, row_names = rows.write(program)
        names.add(self._name_columns(numbers, reserved[divided]), row_names)
        return capacity._replace(row=number[capacity.row])

    def _name_columns(self, numbers: Numbers, reserved: Numbers) -> Numbers:
        """Names of columns with these numbers: what groups do, days of whole gangs, and money for all of a gang."""
        import numpy as np

        parts = self.names, self.names[self.covered.in_gangs], self.names[reserved]
        kinds = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return name_numbers(np.concatenate(parts), kinds)[np.argsort(numbers)]

    def _are_divided(self, reserved: Numbers) -> Flags:
        """Whether a part of a task that money is reserved for may be done in other months or places."""
        import numpy as np

        is_done = np.array([is_done_in_month(need) for need in self.demands.needs])
        divided: Flags = ~is_done[self.levels.need[self.covered.level[reserved]]]
        return divided

    def _write_columns(self, program: LinearProgram, numbers: Numbers, reserved: Numbers) -> None:
        """What groups do, days of whole gangs, and whether money is there for all of a gang, by their numbers."""
        import numpy as np

        covered, month, blocks = self.covered, self._months_of(self.covered.level), len(self.demands.block_hours) + 1
        months = range(1, int(self.levels.month.max()) + 1)
        meanings = [ProgramColumn("covered", -1, at, block) for at in months for block in range(ANY_HOUR, blocks - 1)]
        meanings += [ProgramColumn("gang_days", -1, at) for at in months] + [
            ProgramColumn("gang", -1, at) for at in months
        ]
        of_days, of_gangs = len(months) * blocks, len(months) * (blocks + 1)
        own, days, gangs = (month[at] - 1 for at in (slice(None), covered.in_gangs, reserved))
        meaning = np.concatenate([own * blocks + covered.block + 1, of_days + days, of_gangs + gangs])
        others = np.zeros(len(numbers) - len(covered.cost))
        cost, upper = np.concatenate([covered.cost, others]), np.full(len(numbers), np.inf)
        upper[len(numbers) - len(reserved) :] = 1.0
        order = np.argsort(numbers)
        whole = order >= len(covered.cost)
        program.add_columns([meanings[each] for each in meaning[order].tolist()], cost[order], upper[order], whole)

    def _months_of(self, level: Numbers) -> Numbers:
        return self.levels.month[level]

    def _add_days(self, rows: RowTable, keys: Numbers, columns: Numbers, days: Numbers) -> None:
        """Days are of whole gangs."""
        in_gangs = self.covered.in_gangs
        at = rows.add(keys[in_gangs], self.names[in_gangs])
        rows.put(at, FIRST, columns[in_gangs], 1.0)
        rows.put(at, SECOND, days, -self.levels.span[self.covered.level[in_gangs]])

    def _add_money(
        self,
        rows: RowTable,
        keys: Numbers,
        reserved: Numbers,
        columns: Numbers,
        divided: Flags,
        gangs: Numbers,
    ) -> None:
        """Money for a part of a gang's nodes does no more than that part of a task; where a part of the task is done in
        other months or places it does all or none."""
        import numpy as np

        covered, level = self.covered, self.covered.level[reserved]
        hours, span = self.levels.task_hours[level], self.levels.span[level]
        of_gang = span * covered.weight[reserved]
        a_month = span * math.fsum(self.demands.block_hours)
        paid, most = np.array([limit_paid_share(gangs) for gangs in (hours / a_month).tolist()]).reshape(-1, 2).T
        has_row = divided | (paid > 0)  # else hours of the month tell
        row = np.full(len(reserved), -1)
        names = self.names[reserved]
        upper = np.where(divided, 0.0, most * of_gang)[has_row]
        row[has_row] = rows.add(keys[has_row], names[has_row], upper=upper)
        share = covered.hours[reserved] / hours * np.where(divided, 1.0, of_gang)
        rows.put(row[has_row], FIRST, columns[reserved[has_row]], share[has_row])
        rows.put(row[divided], SECOND, gangs, -1.0)
        row[divided] = rows.add(keys[divided] + 1, name_numbers(names[divided], np.ones_like(names[divided])))
        rows.put(row[divided], FIRST, gangs, of_gang[divided])
        pair, starts = self.starts.look_up(covered.item_set[reserved[has_row]], self._months_of(level[has_row]))
        of_starts = np.where(divided, 1.0, paid)[has_row][pair]
        rows.put(row[has_row][pair], SECOND, starts, -of_starts)

    def _add_work(self, rows: RowTable, of_level: int, columns: Numbers) -> None:
        """No more is done instead than there is, and all of it where no hour is sold."""
        import numpy as np

        levels, covered = self.levels, self.covered
        is_unsold = np.isinf(levels.rate)
        has_row = is_unsold.copy()
        has_row[covered.level] = True
        at, row = np.flatnonzero(has_row), np.full(len(has_row), -1)
        row[at] = rows.add((at + 1) * of_level - 1, self.level_names[at], np.where(is_unsold[at], 0.0, -np.inf))
        rows.put(row[covered.level], FIRST, columns, covered.hours)
        there = has_row[levels.work_level]
        rows.put(row[levels.work_level[there]], SECOND, levels.work_column[there], -levels.work_hours[there])

    def _add_capacity(self, rows: RowTable, first_key: int, columns: Numbers, days: Numbers) -> CapacityRows:
        """No shared capacity is used twice: in a block no more stands than is there, and in all hours of the month
        there is no more work at any hour than what stands leaves."""
        import numpy as np

        covered, month, blocks = self.covered, self._months_of(self.covered.level), len(self.demands.block_hours) + 1
        key = (covered.item_set * (int(month.max(initial=0)) + 1) + month) * blocks + covered.block + 1
        each, first, which = np.unique(key, return_index=True, return_inverse=True)
        names = name_numbers(self.set_names[covered.item_set[first]], month[first], covered.block[first])
        row = rows.add(first_key + first, names)
        used, taken = columns.copy(), covered.weight.copy()
        used[covered.in_gangs], taken[covered.in_gangs] = days, self.levels.span[covered.level[covered.in_gangs]]
        rows.put(row[which], FIRST, used, taken)
        in_month = key - covered.block - 1
        at = np.minimum(np.searchsorted(each, in_month), len(each) - 1)
        stands = (covered.block != ANY_HOUR) & (each[at] == in_month)
        share = covered.weight * covered.hours / math.fsum(self.demands.block_hours)
        rows.put(row[at[stands]], FIRST, used[stands], share[stands])
        pair, starts = self.starts.look_up(covered.item_set[first], month[first])
        rows.put(row[pair], SECOND, starts, -1.0)
        return CapacityRows(self.starts.numbers, covered.item_set[first], month[first], covered.block[first], row)
