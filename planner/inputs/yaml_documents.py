"""Documents of a YAML text as nodes with places; JSON is read so, too.

Plain data only, with the scalars of YAML 1.2: NO is a text, 010 is ten, 1e12 is a number, 12:30 is a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from planner.inputs.document_tree import DEPTH_MAX, NODES_MAX, DocumentNode, document_text
from planner.inputs.parsed_file import UnreadableFile

if TYPE_CHECKING:
    import yaml

_DIGITS = "0123456789"
_PLAIN_SCALARS: dict[str, tuple[str, list[str], Callable[[str], Any]]] = {
    "tag:yaml.org,2002:null": (r"~|null|Null|NULL|", [*"~nN", ""], lambda _: None),
    "tag:yaml.org,2002:bool": (r"true|True|TRUE|false|False|FALSE", [*"tTfF"], lambda text: text.casefold() == "true"),
    "tag:yaml.org,2002:int": (r"[-+]?[0-9][0-9_]*", [*"-+", *_DIGITS], lambda text: int(text.replace("_", ""))),
    "tag:yaml.org,2002:float": (
        r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
        [*"-+.", *_DIGITS],
        lambda text: float(text.replace("_", "")),
    ),
    "tag:yaml.org,2002:timestamp": (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", [*_DIGITS], date.fromisoformat),
}
"""Plain scalars by tag: their pattern, their first characters, and their value."""


def parse_documents(data: bytes) -> list[DocumentNode]:
    """The root of each document that is not empty. Raises UnreadableFile where there is none, or no YAML."""
    import yaml

    try:
        text = document_text(data)
        _check_depth(yaml.parse(text, Loader=_yaml_loader()))
        composed = [node for node in yaml.compose_all(text, Loader=_yaml_loader()) if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UnreadableFile(
            f"not YAML: {error.problem or error.context}", _describe_place(mark) if mark else ""
        ) from None
    except yaml.YAMLError as error:
        raise UnreadableFile(f"not YAML: {' '.join(str(error).split())[:120]}") from None
    except RecursionError:
        raise UnreadableFile("nested too deep") from None
    if not composed:
        raise UnreadableFile("the document is empty")
    count = [0]
    return [_convert_node(node, 0, count) for node in composed]


def _check_depth(events: Iterable[Any]) -> None:
    """Rejects deep nesting before composing: the C composer recurses until the process dies."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEPTH_MAX:
            raise UnreadableFile("nested too deep", _describe_place(event.start_mark))


@cache
def _yaml_loader() -> Any:
    """A loader with the scalars of YAML 1.2; the one in C where the library has it."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}})
    for tag, (pattern, first, _) in _PLAIN_SCALARS.items():
        loader.add_implicit_resolver(tag, re.compile(rf"(?:{pattern})\Z"), first)
    return loader


def _convert_node(node: yaml.Node, depth: int, count: list[int]) -> DocumentNode:
    import yaml

    count[0] += 1
    if depth > DEPTH_MAX or count[0] > NODES_MAX:
        raise UnreadableFile("nested too deep, or aliases that grow without end")
    place = _describe_place(node.start_mark)
    if isinstance(node, yaml.MappingNode):
        pairs = [
            (_convert_node(key, depth + 1, count), _convert_node(value, depth + 1, count)) for key, value in node.value
        ]
        return DocumentNode(place, pairs, "map")
    if isinstance(node, yaml.SequenceNode):
        return DocumentNode(place, [_convert_node(item, depth + 1, count) for item in node.value], "list")
    return DocumentNode(place, _convert_scalar(node))


def _describe_place(mark: Any) -> str:
    return f"line {mark.line + 1} column {mark.column + 1}"


def _convert_scalar(node: Any) -> Any:
    """The value of a scalar; any other tag stays a text."""
    text = str(node.value)
    plain = _PLAIN_SCALARS.get(str(node.tag))
    try:
        return plain[2](text) if plain else text
    except ValueError:
        return text
