"""Rows of a program that are made in any order, in arrays."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from planner.optimization.linear_program import LinearProgram
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]


def rank_keys(keys: Numbers) -> Numbers:
    """The place of each key in their order."""
    import numpy as np

    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return ranks


def join_numbers(*parts: Numbers) -> Numbers:
    """One number for several from 0 on, in the order of the first, then the second and so on."""
    joined = parts[0]
    for part in parts[1:]:
        joined = joined * (int(part.max(initial=0)) + 1) + part
    return joined


@dataclass(slots=True)
class RowTable:
    """Rows of at most 0 (or `upper`), by a key that orders them, and their entries: row, part of the row, column and
    value. Within a row they come by part, then column."""

    _keys: list[Numbers] = field(default_factory=list)
    _names: list[Numbers] = field(default_factory=list)
    _lower: list[Floats] = field(default_factory=list)
    _upper: list[Floats] = field(default_factory=list)
    _entries: list[tuple[Numbers, Numbers, Numbers, Floats]] = field(default_factory=list)
    _count: int = 0

    def add(self, keys: Numbers, names: Numbers, lower: Floats | None = None, upper: Floats | None = None) -> Numbers:
        """New rows with these keys and names; returns their numbers for `put`."""
        import numpy as np

        self._keys.append(keys)
        self._names.append(names)
        self._lower.append(np.full(len(keys), -np.inf) if lower is None else lower)
        self._upper.append(np.zeros(len(keys)) if upper is None else upper)
        self._count += len(keys)
        return np.arange(self._count - len(keys), self._count)

    def put(self, rows: Numbers, part: int, columns: Numbers, values: Floats | float) -> None:
        """Entries of rows."""
        import numpy as np

        parts, each = np.full(len(rows), part), np.broadcast_to(np.asarray(values, dtype=np.float64), len(rows))
        self._entries.append((rows, parts, columns, each))

    def write(self, program: LinearProgram) -> tuple[Numbers, Numbers]:
        """Adds the rows to a program; returns the number there of each, and their names in the program's order."""
        import numpy as np

        if not self._count:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        keys = np.concatenate(self._keys)
        lower, upper = np.concatenate(self._lower), np.concatenate(self._upper)
        row, part, column, value = (np.concatenate(each) for each in zip(*self._entries, strict=True))
        ranks, before = rank_keys(keys), len(program.row_lower)
        row = ranks[row]
        order = np.argsort(join_numbers(row, part, column))
        in_order = np.argsort(keys, kind="stable")
        program.add_rows(lower[in_order], upper[in_order], row[order], column[order], value[order])
        return ranks + before, np.concatenate(self._names)[in_order]
