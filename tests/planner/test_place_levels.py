"""Work by levels and rows made in arrays: what they are when each piece is taken by itself."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.optimization.linear_program import LinearProgram, ProgramColumn
from planner.optimization.place_levels import LevelWork
from planner.optimization.row_table import RowTable
from planner.optimization.stays import Stay

MONTHS = 3
rates = st.sampled_from([0.5, 1.25, 2.0, math.inf])
pieces = st.lists(st.tuples(rates, rates, st.integers(1, 9), st.integers(0, 9)), min_size=MONTHS, max_size=MONTHS)


def _stay(need: int, work: list[tuple[float, float, int, int]]) -> Stay:
    """A stay at the one place: by month, rates of steady work and on spot, and hours of each."""
    steady_rates, spot_rates, steady, spot = (np.array(each, dtype=np.float64) for each in zip(*work, strict=True))
    months, any_hour, nothing = np.arange(1, MONTHS + 1), np.full(MONTHS, -1), np.zeros(MONTHS)
    return Stay(
        need, ("aws", "here", "a node"), months, any_hour, steady, steady_rates, spot, spot_rates, nothing, 1.0, True,
        (), None, MONTHS, 1,
    )  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(st.lists(pieces, min_size=1, max_size=4))
def test_work_of_one_month_and_rate_is_one_level(works: list[list[tuple[float, float, int, int]]]) -> None:
    """Two parts of a workload at one rate are added up; levels and columns come as they first appear."""
    work, expected = LevelWork(), defaultdict[tuple[int, float], dict[int, float]](dict)
    tasks = defaultdict[tuple[int, float], float](float)
    slots = np.arange(MONTHS)
    for column, each in enumerate(works):
        stay = _stay(column, each)
        for hours, of_hour in stay.levels():
            work.add(stay, -1, slots, np.full(MONTHS, column), hours, of_hour)
            for month, (amount, rate) in enumerate(zip(hours.tolist(), of_hour.tolist(), strict=True), 1):
                entries = expected[month, rate]
                entries[column] = entries.get(column, 0.0) + amount
                of_task = each[month - 1][2] + each[month - 1][3]
                tasks[month, rate] = max(tasks[month, rate], of_task)
    levels = work.group_levels()
    assert levels is not None
    named = list(zip(levels.month.tolist(), levels.rate.tolist(), strict=True))
    assert named == list(expected)
    assert levels.task_hours.tolist() == [tasks[each] for each in named]
    found = list(zip(levels.work_level.tolist(), levels.work_column.tolist(), levels.work_hours.tolist(), strict=True))
    assert found == [
        (number, column, hours) for number, entries in enumerate(expected.values()) for column, hours in entries.items()
    ]


def test_rates_that_agree_to_six_digits_are_one_level_at_the_highest() -> None:
    """Rounded up to six digits, 1.0000001 and 1.000001 are 1.00001; 1.1 is another level."""
    work = LevelWork()
    work.add(_stay(0, [(1.0, 1.0, 1, 0)] * MONTHS), -1, np.arange(3), np.arange(3), np.ones(3), np.ones(3))
    other = _stay(1, [(1.0, 1.0, 1, 0)] * MONTHS)
    same_month = np.zeros(3, dtype=np.int64)
    work.add(other, -1, same_month, np.arange(3, 6), np.ones(3), np.array([1.0000001, 1.000001, 1.1]))
    levels = work.group_levels()
    assert levels is not None
    assert levels.rate.tolist() == [1.0, 1.0, 1.0, 1.00001, 1.1]
    assert levels.work_level.tolist() == [0, 1, 2, 3, 3, 4]


COLUMNS = 5
entries = st.dictionaries(st.integers(0, COLUMNS - 1), st.sampled_from([-8.0, -1.0, 0.25, 1.0, 3.0]), min_size=1)


@given(st.lists(st.tuples(st.booleans(), entries), min_size=1, max_size=6))
def test_rows_added_together_are_those_added_one_by_one(rows: list[tuple[bool, dict[int, float]]]) -> None:
    one, together = LinearProgram(), LinearProgram()
    for program in (one, together):
        for month in range(COLUMNS):
            program.column(ProgramColumn("home", 0, month), 1.0, 1.0, whole=False)
        program.row(1.0, 1.0, [(0, 1.0), (1, 1.0)], 0)
    table, lower = RowTable(), [0.0 if is_equal else -math.inf for is_equal, _ in rows]
    backwards = np.arange(len(rows))[::-1]  # keys put the last one made first
    numbers = table.add(backwards, backwards + 100, np.array(lower[::-1]))
    for number, (_, values) in zip(numbers, rows[::-1], strict=True):
        ordered = sorted(values)
        table.put(np.full(len(ordered), number), 0, np.array(ordered), np.array([values[each] for each in ordered]))
    _, names = table.write(together)
    for least, (_, values) in zip(lower, rows, strict=True):
        one.row(least, 0.0, sorted(values.items()))
    assert together == one
    assert names.tolist() == [100 + number for number in range(len(rows))]
