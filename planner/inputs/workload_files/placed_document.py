"""A document with the place of every value and a record of which values were used, so that the others can be named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from planner.inputs.cell_grid import Cell, shorten_text
from planner.inputs.document_tree import DocumentNode
from pricing.frozen_values import dataclass

ANY = "*"
"""In a pattern: any one key or index."""
TEXT_MAX = 60
Step = str | int
Path = tuple[Step, ...]
Pattern = Sequence[Step]
PatternTree = dict[Step, Any]
END = ""
"""Of a pattern in a tree of them; no key of a document that is read is empty."""


@dataclass(frozen=True, slots=True)
class UnusedValue:
    """A value without any use."""

    path: str
    place: str
    text: str


@dataclass(slots=True)
class PlacedDocument:
    """One document: `value` is plain data, `places` the place of each path in it. The first of equal keys counts."""

    value: Any
    places: dict[Path, str]
    repeated: list[tuple[str, str]] = field(default_factory=list)
    _used: set[Path] = field(default_factory=set)

    @classmethod
    def of(cls, root: DocumentNode) -> PlacedDocument:
        document = cls(None, {})
        document.value = document._convert_node(root, ())
        return document

    def _convert_node(self, node: DocumentNode, path: Path) -> Any:
        self.places[path] = node.place
        if node.shape == "list":
            return [self._convert_node(item, (*path, index)) for index, item in enumerate(node.value)]
        if node.shape == "map":
            result: dict[str, Any] = {}
            for key, item in node.value:
                name = str(key.value)
                if name in result:
                    self.repeated.append((name, key.place))
                else:
                    result[name] = self._convert_node(item, (*path, name))
            return result
        return node.value

    def find(self, *path: Step) -> Any:
        """The value at a path, without using it; None where there is none."""
        value = self.value
        for step in path:
            if isinstance(value, Mapping) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    def take(self, *path: Step) -> Any:
        """The value at a path, which is used by this; None where there is none."""
        value = self.find(*path)
        if value is not None:
            self._used.add(path)
        return value

    def take_text(self, *path: Step) -> str:
        """The text of a scalar at a path, used; empty where there is none."""
        value = self.take(*path)
        return "" if value is None or isinstance(value, Mapping | list) else format_scalar(value)

    def names(self, *path: Step) -> tuple[str, ...]:
        """The keys of a mapping at a path; empty for anything else."""
        value = self.find(*path)
        return tuple(value) if isinstance(value, Mapping) else ()

    def indexes(self, *path: Step) -> range:
        """The indexes of a list at a path; none for anything else."""
        value = self.find(*path)
        return range(len(value)) if isinstance(value, list) else range(0)

    def place(self, *path: Step) -> str:
        """The place of a path, else that of the nearest value above it."""
        while path not in self.places and path:
            path = path[:-1]
        return self.places.get(path, "")

    def cell(self, *path: Step) -> Cell:
        """A path with its text as a cell, for questions."""
        return Cell(self.place(*path), describe_value(self.find(*path)))

    def unused(self, without_effect: Iterable[Pattern]) -> Iterator[UnusedValue]:
        """The unused values that match no pattern, each as high in the document as possible."""
        above = {path[:length] for path in self._used for length in range(len(path))}
        yield from self._find_unused((), self.value, [_build_tree(without_effect)], above)

    def _find_unused(self, path: Path, value: Any, trees: list[PatternTree], above: set[Path]) -> Iterator[UnusedValue]:
        """Those at a path and below; `trees` are the rest of the patterns here, `above` all paths to used values."""
        if path in self._used or any(END in tree for tree in trees):
            return
        keys: Iterable[Step] = (
            value if isinstance(value, Mapping) else range(len(value)) if isinstance(value, list) else ()
        )
        if value and keys and (path in above or trees):
            for key in keys:
                below = [tree[step] for tree in trees for step in (key, ANY) if step in tree]
                yield from self._find_unused((*path, key), value[key], below, above)
        elif value is not None:
            yield UnusedValue(format_path(path), self.place(*path), describe_value(value))


def _build_tree(patterns: Iterable[Pattern]) -> PatternTree:
    """The patterns as nested mappings by step, with END where one ends."""
    root: PatternTree = {}
    for pattern in patterns:
        tree = root
        for step in pattern:
            tree = tree.setdefault(step, {})
        tree[END] = {}
    return root


def format_path(path: Path) -> str:
    """
    >>> format_path(("spec", "containers", 0, "resources", "nvidia.com/gpu"))
    'spec.containers[0].resources.nvidia.com/gpu'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def format_scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value).strip()


def describe_value(value: Any) -> str:
    """A value in short: its text, or how much is in it."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{name}: {format_scalar(each)}" for name, each in value.items() if not _is_nested(each))
        return shorten_text(inside or ", ".join(value) or "{}", TEXT_MAX)
    if isinstance(value, list):
        return shorten_text(", ".join(describe_value(each) for each in value), TEXT_MAX)
    return "" if value is None else shorten_text(format_scalar(value), TEXT_MAX)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list)


def positive_number(value: Any) -> float | None:
    """A number above 0, also written as text; None for anything else.

    >>> positive_number("8"), positive_number(0.5), positive_number(True), positive_number("many")
    (8.0, 0.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < 1e9 else None
