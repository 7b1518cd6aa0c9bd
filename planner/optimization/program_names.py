"""Names of the columns and rows of programs that are much alike, by which one goes on from the basis of another.

A name is a number made of what a column or row stands for, and says nothing of the other columns. Should two have the
same name, the relaxation only begins from a worse basis.
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import TYPE_CHECKING

from planner.optimization.linear_program import LinearProgram
from planner.optimization.solver import Solution
from planner.optimization.solver_model import AT_LOWER, BASIC, Basis
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

FACTOR, SHIFT = 0x9E3779B97F4A7C15, 29
"""An odd number near 2^64 divided by the golden ratio, and a shift: they spread numbers over all 64 bits."""


def name_numbers(*parts: Numbers) -> Numbers:
    """One name for the numbers in each place of the parts."""
    import numpy as np

    names = np.zeros(1, dtype=np.uint64)
    for part in parts:
        names = (names ^ part.view(np.uint64)) * np.uint64(FACTOR)
        names = names ^ (names >> np.uint64(SHIFT))
    return names.view(np.int64)


def name_values(*values: object) -> int:
    """One name for some values, by how they are written."""
    return int.from_bytes(hashlib.blake2b(repr(values).encode(), digest_size=8).digest(), "little", signed=True)


@dataclass(frozen=True, slots=True)
class ProgramNames:
    """The names of all columns and rows of a program."""

    columns: Numbers
    rows: Numbers


@dataclass(frozen=True, slots=True)
class NamedBasis:
    """A basis of a program with these names."""

    names: ProgramNames
    basis: Basis

    @classmethod
    def of(cls, names: ProgramNames, solution: Solution) -> NamedBasis | None:
        """That of a solution; None where it has none."""
        return None if solution.basis is None else cls(names, solution.basis)

    def carry(self, names: ProgramNames) -> Basis:
        """The same for a program with other names, where what is new is not used."""
        return Basis(
            _carry_states(self.basis.columns, self.names.columns, names.columns, AT_LOWER),
            _carry_states(self.basis.rows, self.names.rows, names.rows, BASIC),
        )


def _carry_states(states: bytes, known: Numbers, names: Numbers, new: int) -> bytes:
    import numpy as np

    if not states:
        return bytes([new]) * len(names)
    order = np.argsort(known, kind="stable")
    at = order[np.minimum(np.searchsorted(known[order], names), len(known) - 1)]
    found = np.frombuffer(states, dtype=np.uint8)[at]
    return np.where(known[at] == names, found, np.uint8(new)).tobytes()


@dataclass(slots=True)
class NameList:
    """The names of a program that is being built, in the order of its columns and rows."""

    _columns: list[Numbers] = field(default_factory=list)
    _rows: list[Numbers] = field(default_factory=list)
    _named_columns: int = 0
    _named_rows: int = 0

    def add(self, columns: Numbers, rows: Numbers) -> None:
        """The names of the next columns and rows."""
        self._columns.append(columns)
        self._rows.append(rows)
        self._named_columns += len(columns)
        self._named_rows += len(rows)

    def name_rest(self, program: LinearProgram, *owner: object) -> None:
        """All that has no name so far is of one owner: named by it and their order."""
        import numpy as np

        of = np.array([name_values(*owner)])
        columns = len(program.columns) - self._named_columns
        rows = len(program.row_lower) - self._named_rows
        self.add(name_numbers(of, np.arange(columns)), name_numbers(of, np.arange(rows)))

    def list_names(self) -> ProgramNames:
        """The names of all columns and rows so far."""
        import numpy as np

        return ProgramNames(np.concatenate(self._columns), np.concatenate(self._rows))
