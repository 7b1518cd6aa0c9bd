"""Whole nodes that committed money pays for, in the program by place (place_program.py).

Its relaxation knows only how much money there is in all hours of a month, and so is below every plan. Where homes and
units are chosen, work at any hour is paid on whole nodes that run in all hours of a block, as in every plan
(constraints.py): money for 1.5 nodes pays for one node and not for two that run for three quarters of each hour.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from planner.optimization.constraints import commit_whole_nodes
from planner.optimization.linear_program import ANY_HOUR, LinearProgram, ProgramColumn, RowEntries
from planner.optimization.place_program import PlaceProgram


def pay_whole_nodes(by_place: PlaceProgram) -> PlaceProgram:
    """The program with whole nodes: columns and rows after all that it has. The same one where no work at any hour is
    paid with committed money."""
    rows = by_place.capacity
    groups = (group for there in by_place.groups.values() for group in there)
    of_money = {rows.sets[group.items]: group.node_price for group in groups if group.is_money}
    capacity: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
    for item_set, month, block, row in zip(*(part.tolist() for part in rows[1:]), strict=True):
        if item_set in of_money:
            capacity[item_set, month][block] = row
    paying = {key: by_block for key, by_block in capacity.items() if ANY_HOUR in by_block}
    if not paying:
        return by_place
    program = by_place.program.copy()
    entries = _read_rows(by_place, [row for by_block in paying.values() for row in by_block.values()])
    starts: dict[int, float] = {}
    for (item_set, month), by_block in paying.items():
        in_blocks = {block: entries[row] for block, row in by_block.items()}
        if (price := of_money[item_set]) is not None:
            starts |= {number: price for number, _ in in_blocks[ANY_HOUR] if program.columns[number].kind == "start"}
            continue
        _add_nodes(program, ProgramColumn("paid_nodes", item_set, month), in_blocks, by_place.block_hours)
    for number, price in starts.items():
        if program.lower[number] < program.upper[number]:
            commit_whole_nodes(program, number, price)
    return replace(by_place, program=program, numbers=program.to_arrays())


def _read_rows(by_place: PlaceProgram, rows: Iterable[int]) -> dict[int, RowEntries]:
    """The entries of rows, as they were before these were scaled."""
    import numpy as np

    numbers, scale = by_place.numbers, by_place.program.row_scale
    entries: dict[int, RowEntries] = {row: [] for row in rows}
    at = np.flatnonzero(np.isin(numbers.entry_row, list(entries)))
    parts = (numbers.entry_row[at], numbers.entry_column[at], numbers.entry_value[at])
    for row, column, value in zip(*(part.tolist() for part in parts), strict=True):
        entries[row].append((column, value * scale[row]))
    return entries


def _add_nodes(
    program: LinearProgram, meaning: ProgramColumn, rows: dict[int, RowEntries], block_hours: Sequence[float]
) -> None:
    """The nodes of one pool of money in one month, given its rows of capacity by block: places with the same price
    together, in each block where the money also pays for work that stands there, else as many in all of them."""
    columns, month_hours = program.columns, math.fsum(block_hours)
    starts = [(number, value) for number, value in rows[ANY_HOUR] if columns[number].kind == "start"]
    at_price: dict[float, list[int]] = defaultdict(list)
    for number, price in rows[ANY_HOUR]:
        if columns[number].kind == "covered" and columns[number].block == ANY_HOUR:
            at_price[round(price, 9)].append(number)
    standing = {block: entries for block, entries in rows.items() if block != ANY_HOUR}
    blocks = dict(enumerate(block_hours)) if standing else {ANY_HOUR: month_hours}
    money = {block: list(standing.get(block, starts)) for block in blocks}
    for price, numbers in at_price.items():
        on_nodes: RowEntries = [(number, 1.0) for number in numbers]
        for block, hours in blocks.items():
            nodes = program.column(meaning._replace(block=block), 0.0, math.inf, whole=True)
            money[block].append((nodes, price))
            on_nodes.append((nodes, -hours / month_hours))
        program.row(-math.inf, 0.0, on_nodes)
    for each in money.values():
        program.row(-math.inf, 0.0, each)
