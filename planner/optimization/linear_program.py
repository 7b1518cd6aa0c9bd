"""A mixed-integer linear program in arrays, with the meaning of its columns. Independent of prices and solver."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from planner.supply.candidates import Candidate
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ANY_HOUR = -1
"""The block of work that may run at any hour of its month."""

FEASIBILITY = 1e-6
"""Of a scaled row: what the solver may leave."""
DemandTask = tuple[int, int, int]
"""A piece of demand that is to be done: workload, month (0: all up to a deadline), block (ANY_HOUR: any of the
month)."""
ColumnKind = Literal[
    "start", "work", "ready", "pooled", "home", "gang", "gang_days", "paid_nodes", "short", "peak", "nodes", "staff",
    "any", "top_up", "covered", "on_spot",
]  # fmt: skip
RowEntries = list[tuple[int, float]]


class ProgramColumn(NamedTuple):
    """The meaning of a variable; `owner` is the shared resource of a start, the workload of a home or team, else the
    index of a step (of pooled nodes, of any of those that share them).

    A column of work is a share of `task`: all of it does `units` and takes `node_hours`, on `nodes` at once where they
    stand for it. Where the nodes are counted by a column of their own (ready for the workload, or pooled with others),
    the hours are there and not with the work.
    """

    kind: ColumnKind
    owner: int
    month: int
    block: int = ANY_HOUR
    task: DemandTask = (-1, 0, 0)
    node_hours: float = 0.0
    units: float = 0.0
    nodes: float = 0.0


@dataclass(frozen=True, slots=True)
class CandidateActivity:
    """A candidate as the model uses it: by the hour, or on the shared resource of index `shared`, or both (`by_hour`
    and set against committed money); at a home of its own, or for the overflow of owned nodes."""

    candidate: Candidate
    shared: int | None
    by_hour: bool
    overflow: bool = False


@dataclass(frozen=True, slots=True)
class RequestLimit:
    """A limit of the request, of one or several rows: `amount` in `unit`; `subject` names which of its kind it is."""

    name: str
    subject: str
    amount: float
    unit: str

    @property
    def title(self) -> str:
        return f"{self.name} {self.subject}".strip()


@dataclass(frozen=True, slots=True)
class ProgramArrays:
    """The numbers of a program, as LinearProgram has them, in arrays: what a solver needs."""

    cost: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    whole: NDArray[np.bool_]
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    entry_row: NDArray[np.int64]
    entry_column: NDArray[np.int64]
    entry_value: NDArray[np.float64]


@dataclass(slots=True)
class LinearProgram:
    """Columns with cost and bounds, rows as lower <= a x <= upper with their entries, ready for a solver.

    `row_need` is the workload whose task a row is (-1: none), `row_limit` the limit that it is (None: none) and
    `row_scale` the divisor of its entries. There are ten times as many entries as columns, so they are in arrays.
    """

    columns: list[ProgramColumn] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    row_lower: list[float] = field(default_factory=list)
    row_upper: list[float] = field(default_factory=list)
    row_need: list[int] = field(default_factory=list)
    row_limit: list[RequestLimit | None] = field(default_factory=list)
    row_scale: list[float] = field(default_factory=list)
    entry_row: array[int] = field(default_factory=lambda: array("q"))
    entry_column: array[int] = field(default_factory=lambda: array("q"))
    entry_value: array[float] = field(default_factory=lambda: array("d"))
    steps: list[CandidateActivity] = field(default_factory=list)

    @property
    def limits(self) -> tuple[RequestLimit, ...]:
        """The limits of the request that rows are, each once."""
        return tuple(dict.fromkeys(limit for limit in self.row_limit if limit is not None))

    def column(self, column: ProgramColumn, cost: float, upper: float, whole: bool, lower: float = 0.0) -> int:
        self.columns.append(column)
        self.cost.append(cost)
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.columns) - 1

    def row(
        self,
        lower: float,
        upper: float,
        entries: RowEntries,
        need: int = -1,
        limit: RequestLimit | None = None,
        *,
        counts_small: bool = False,
    ) -> None:
        """A row scaled so that its largest entry is 1, or a smaller limit: what the solver may leave is a part of that.
        `counts_small`: its smallest entry, as it may be the only one in a plan. A row without entries is left out."""
        if not entries:
            return
        columns, values = zip(*entries, strict=True)
        scale = (min if counts_small else max)(map(abs, values)) or 1.0
        if limit is not None and 0 < upper < scale:
            scale = max(upper, FEASIBILITY * scale)
        number = len(self.row_lower)
        self.row_lower.append(lower / scale)
        self.row_upper.append(upper / scale)
        self.row_need.append(need)
        self.row_limit.append(limit)
        self.row_scale.append(scale)
        self.entry_row.extend([number] * len(entries))
        self.entry_column.extend(columns)
        self.entry_value.extend(values if scale == 1.0 else [value / scale for value in values])

    def add_columns(
        self,
        columns: Sequence[ProgramColumn],
        cost: NDArray[np.float64],
        upper: NDArray[np.float64],
        whole: NDArray[np.bool_],
    ) -> None:
        """Several columns from 0 on."""
        self.columns += columns
        self.cost += cost.tolist()
        self.lower += [0.0] * len(columns)
        self.upper += upper.tolist()
        self.whole += whole.tolist()

    def add_rows(
        self,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        entry_row: NDArray[np.int64],
        entry_column: NDArray[np.int64],
        entry_value: NDArray[np.float64],
    ) -> None:
        """Several rows, scaled as one is; entries of all of them, row by row (from 0)."""
        import numpy as np

        first = np.flatnonzero(np.diff(entry_row, prepend=-1))
        scale = np.maximum.reduceat(np.abs(entry_value), first)
        scale[scale == 0] = 1.0
        self.entry_row.frombytes((entry_row + len(self.row_lower)).tobytes())
        self.entry_column.frombytes(entry_column.tobytes())
        self.entry_value.frombytes((entry_value / scale[entry_row]).tobytes())
        self.row_lower += (lower / scale).tolist()
        self.row_upper += (upper / scale).tolist()
        self.row_need += [-1] * len(scale)
        self.row_limit += [None] * len(scale)
        self.row_scale += scale.tolist()

    def to_arrays(self) -> ProgramArrays:
        """The numbers of the program as it is now."""
        import numpy as np

        reals = (self.cost, self.lower, self.upper, self.row_lower, self.row_upper, self.entry_value)
        cost, lower, upper, row_lower, row_upper, value = (np.array(numbers, dtype=np.float64) for numbers in reals)
        row, column = (np.array(numbers, dtype=np.int64) for numbers in (self.entry_row, self.entry_column))
        whole = np.array(self.whole, dtype=np.bool_)
        return ProgramArrays(cost, lower, upper, whole, row_lower, row_upper, row, column, value)

    def copy(self) -> LinearProgram:
        """Another program with the same columns and rows, to be changed on its own."""
        names = [name for name in self.__slots__ if name != "steps"]
        return replace(self, **{name: getattr(self, name)[:] for name in names})

    def entry(self, row: int, column: int, value: float) -> None:
        """One more entry of a row, in the row's own scale."""
        self.entry_row.append(row)
        self.entry_column.append(column)
        self.entry_value.append(value)


def keeps_rows(program: LinearProgram, values: Sequence[float]) -> bool:
    """Whether values of the columns keep every row, to the solver's tolerance."""
    activity = [0.0] * len(program.row_lower)
    for row, column, value in zip(program.entry_row, program.entry_column, program.entry_value, strict=True):
        activity[row] += value * values[column]
    rows = zip(program.row_lower, activity, program.row_upper, strict=True)
    return all(lower - FEASIBILITY <= found <= upper + FEASIBILITY for lower, found, upper in rows)


def allow_shortage(program: LinearProgram) -> LinearProgram:
    """The program with work allowed to stay undone, at the only cost: its optimum is the least shortage."""
    relaxed = program.copy()
    relaxed.cost = [0.0] * len(program.cost)
    for row, need in enumerate(program.row_need):
        if need >= 0:
            relaxed.entry(row, relaxed.column(ProgramColumn("short", need, 0), 1.0, float("inf"), whole=False), 1.0)
    return relaxed


def raise_limit(program: LinearProgram, limit: RequestLimit, added: float) -> LinearProgram:
    """The same program with `added` more of one limit."""
    raised = program.copy()
    for row, of in enumerate(program.row_limit):
        if of == limit:
            raised.row_upper[row] += added / program.row_scale[row]
    return raised


def relax_limit(program: LinearProgram, limit: RequestLimit) -> LinearProgram:
    """The program with one limit allowed to be exceeded, at the only cost, in the unit of the limit."""
    relaxed = program.copy()
    relaxed.cost = [0.0] * len(program.cost)
    over = relaxed.column(ProgramColumn("short", -1, 0), 1.0, float("inf"), whole=False)
    for row, of in enumerate(program.row_limit):
        if of == limit:
            relaxed.entry(row, over, -1.0 / program.row_scale[row])
    return relaxed
