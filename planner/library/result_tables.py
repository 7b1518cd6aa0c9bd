"""Tables of a plan: every list of values that it holds, as rows, as an Arrow table or as a pandas frame.

The tables follow from the types of the answer: a list of a strategy has a column `strategy`, rows of a month
its name, rows of amounts their currency. Messages become their texts.
"""

from __future__ import annotations

import dataclasses
import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from planner.request.optional_libraries import load_library
from planner.result import Message, Plan, Strategy
from pricing.csv_tables import find_nearest_names
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import pandas
    import pyarrow

EXTRA = "frames"
Row = dict[str, Any]
ARROW_TYPES: Mapping[Any, str] = {
    str: "string", int: "int64", float: "float64", bool: "bool_", date: "date32",
}  # fmt: skip
"""The names of Arrow's types of columns; others become text."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows with the type of each column, which an empty table has too."""

    columns: Mapping[str, Any]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table of a plan: the type of its rows, the columns before theirs, and its rows with the values of these."""

    kind: type
    context: Mapping[str, Any]
    list_rows: Callable[[Plan], Iterable[tuple[Row, Any]]]


class TabularResult:
    """Something with tables by name; subclasses name and build them."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, for `frame`, `arrow` and `rows`."""
        raise NotImplementedError

    def _build_table(self, name: str) -> ResultTable:
        raise NotImplementedError

    def rows(self, name: str) -> list[Row]:
        """The table as a list of mappings; needs no other library. UnknownName for another name."""
        return list(self._find_table(name).rows)

    def arrow(self, name: str) -> pyarrow.Table:
        """The table as a `pyarrow.Table`, which polars, DuckDB and others take as it is (`polars.from_arrow`).

        Raises MissingLibrary, which names the extra to install.
        """
        return to_arrow(self._find_table(name))

    def frame(self, name: str) -> pandas.DataFrame:
        """The table as a pandas DataFrame. Raises MissingLibrary, which names the extra to install."""
        load_library("pandas", EXTRA)
        frame: pandas.DataFrame = self.arrow(name).to_pandas(date_as_object=False)
        return frame

    def _find_table(self, name: str) -> ResultTable:
        if name not in self.tables:
            raise UnknownName("table", name, tuple(find_nearest_names(name, self.tables)) or self.tables)
        return self._build_table(name)


def plan_table_names() -> tuple[str, ...]:
    """The tables that every plan has.

    >>> {"cash", "uses", "purchases", "workloads", "prices"} <= set(plan_table_names())
    True
    """
    return tuple(_plan_tables())


def build_plan_table(plan: Plan, name: str) -> ResultTable:
    """A table of a plan. KeyError for an unknown name."""
    source = _plan_tables()[name]
    hints = get_type_hints(source.kind)
    columns = {field.name: hints[field.name] for field in dataclasses.fields(source.kind)}
    if source.kind is Strategy:  # whose lists are tables of their own
        columns = {name: hint for name, hint in columns.items() if not _row_type(hint)}
    has_month = columns.get("month") is int and "month_name" not in columns
    names = {"month_name": str} if has_month else {}
    rows = [
        {
            **context,
            **({"month_name": _month_name(plan, each.month)} if has_month else {}),
            **{name: plain_cell(getattr(each, name)) for name in columns},
        }
        for context, each in source.list_rows(plan)
    ]
    return ResultTable({**source.context, **names, **columns}, rows)


def _month_name(plan: Plan, month: int) -> str:
    """The calendar name of a month of the plan; empty outside of it."""
    return plan.month_names[month - 1] if 1 <= month <= plan.months else ""


@cache
def _plan_tables() -> Mapping[str, TableSource]:
    sources: dict[str, TableSource] = {}
    for field, kind in list_fields(Strategy):
        sources[field] = TableSource(kind, {"strategy": str, "currency": str}, _rows_of_strategies(field))
    hints = get_type_hints(Plan)
    for field, kind in list_fields(Plan):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower() + "s" if field in sources else field
        sources[name] = TableSource(kind, {}, _rows_of_plan(field))
    for part in dataclasses.fields(Plan):
        holder = next((each for each in _alternatives(hints[part.name]) if _is_record(each)), None)
        for field, kind in list_fields(holder) if holder else ():
            name = field if part.name in ("views", field) else f"{part.name}_{field}"
            sources.setdefault(name, TableSource(kind, {}, _rows_of_part(part.name, field)))
    return dict(sorted(sources.items()))


def _rows_of_strategies(field: str) -> Callable[[Plan], Iterator[tuple[Row, Any]]]:
    def list_rows(plan: Plan) -> Iterator[tuple[Row, Any]]:
        for strategy in plan.strategies:
            context = {"strategy": strategy.name, "currency": plan.currency}
            yield from ((context, each) for each in getattr(strategy, field))

    return list_rows


def _rows_of_plan(field: str) -> Callable[[Plan], Iterator[tuple[Row, Any]]]:
    return lambda plan: (({}, each) for each in getattr(plan, field) or ())


def _rows_of_part(part: str, field: str) -> Callable[[Plan], Iterator[tuple[Row, Any]]]:
    def list_rows(plan: Plan) -> Iterator[tuple[Row, Any]]:
        holder = getattr(plan, part)
        return (({}, each) for each in (getattr(holder, field) or () if holder is not None else ()))

    return list_rows


def list_fields(holder: type) -> Iterator[tuple[str, type]]:
    """The fields of a dataclass that list other dataclasses, each with the type of its items."""
    hints = get_type_hints(holder)
    for field in dataclasses.fields(holder):
        if kind := _row_type(hints[field.name]):
            yield field.name, kind


def _row_type(hint: Any) -> type | None:
    """The dataclass that a field of a type lists, None for any other type."""
    for each in _alternatives(hint):
        parts = get_args(each)
        if get_origin(each) is tuple and len(parts) == 2 and parts[1] is Ellipsis and _is_record(parts[0]):
            kind: type = parts[0]
            return kind
    return None


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """The types of a union; a type alone otherwise."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _is_record(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) and hint is not Message


def plain_cell(value: Any) -> Any:
    """A value of a row without our types: messages as their texts, lists of values as lists of mappings."""
    if isinstance(value, Message):
        return str(value)
    if isinstance(value, tuple):
        if value and all(isinstance(each, Message) for each in value):
            return "; ".join(map(str, value))
        return [plain_cell(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): plain_cell(each) for name, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain_cell(getattr(value, each.name)) for each in dataclasses.fields(value)}
    return value


def to_arrow(table: ResultTable) -> Any:
    """The table in Arrow's types; text for columns of several types."""
    arrow = load_library("pyarrow", EXTRA)
    fields, columns = [], []
    for name, hint in table.columns.items():
        kind = _arrow_type(arrow, hint)
        values = [row.get(name) for row in table.rows]
        if kind is None or (kind == arrow.string() and any(not isinstance(each, str | None) for each in values)):
            kind, values = arrow.string(), [_text_cell(each) for each in values]
        fields.append(arrow.field(name, kind))
        columns.append(arrow.array(values, type=kind))
    return arrow.Table.from_arrays(columns, schema=arrow.schema(fields))


def _arrow_type(arrow: Any, hint: Any) -> Any:
    """Arrow's type of a column; None where it has none."""
    if get_origin(hint) in (Union, types.UnionType, Literal):
        is_choice = get_origin(hint) is Literal
        kinds = {type(each) if is_choice else each for each in get_args(hint)} - {type(None)}
        return _arrow_type(arrow, kinds.pop()) if len(kinds) == 1 else None
    if hint is Message or hint == tuple[Message, ...]:
        return arrow.string()
    if get_origin(hint) is tuple:
        first, *others = get_args(hint)
        inner = _arrow_type(arrow, first) if others == [Ellipsis] else None
        return None if inner is None else arrow.list_(inner)
    if _is_record(hint):
        hints = get_type_hints(hint)
        parts = [(each.name, _arrow_type(arrow, hints[each.name])) for each in dataclasses.fields(hint)]
        return None if any(kind is None for _, kind in parts) else arrow.struct(parts)
    return getattr(arrow, ARROW_TYPES[hint])() if hint in ARROW_TYPES else None


def _text_cell(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)
