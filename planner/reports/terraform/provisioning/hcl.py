"""Terraform text: values written so that no part of them is code, blocks in the layout of `terraform fmt`, and a
reader of the declarations in this product's own modules. Knows no cloud.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from pricing.frozen_values import dataclass

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
TEMPLATE = re.compile(r"[$%](?=\{)")
"""The start of a template, written as an escape code: `$${` means the same, but not every reader of HCL accepts it."""
SURROGATE = re.compile("[\ud800-\udfff]")
BLOCK = re.compile(
    r'^(?P<kind>\w+)(?: "(?P<label>[\w-]+)")?(?: "[\w-]+")? \{\n(?P<body>.*?)^\}', re.MULTILINE | re.DOTALL
)
ATTRIBUTE = re.compile(r"^  (?P<name>\w+)\s+= (?P<value>.*?)(?=\n  \w|\n\n|\n\Z)", re.MULTILINE | re.DOTALL)
PROVIDER = re.compile(r'([\w-]+) = \{\s*source\s*= "([^"]+)"\s*version\s*= "([^"]+)"')


@dataclass(frozen=True, slots=True)
class RawExpression:
    """An expression that is written as it is: only ever made from names that this package chose."""

    text: str


HclValue = RawExpression | str | bool | int | float | None | Sequence["HclValue"] | Mapping[str, "HclValue"]


@dataclass(frozen=True, slots=True)
class HclBlock:
    """`kind "label" ... { items }`; an item is a (name, value) pair, or a block inside. None values are left out."""

    header: str
    items: tuple[tuple[str, HclValue] | HclBlock, ...]


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """A variable that a module declares; `type` as written there, on one line."""

    name: str
    type: str
    description: str
    required: bool


def quote_string(text: str) -> str:
    """`text` as a quoted string: no template, quote or line end is left alive. Lone surrogates become U+FFFD."""
    clean = SURROGATE.sub("\ufffd", text)
    quoted = "".join(ESCAPES.get(char) or (char if char.isprintable() else _escape_code(char)) for char in clean)
    return '"' + TEMPLATE.sub(lambda start: _escape_code(start[0]), quoted) + '"'


def _escape_code(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def format_expression(value: HclValue) -> str:
    """`value` on one line. Mapping keys are quoted unless they are names."""
    match value:
        case RawExpression():
            return value.text
        case None | bool() | int() | float():
            return json.dumps(value)
        case str():
            return quote_string(value)
        case Mapping():
            pairs = (
                f"{name if name.isidentifier() else quote_string(name)} = {format_expression(item)}"
                for name, item in value.items()
            )
            inside = ", ".join(pairs)
            return f"{{ {inside} }}" if inside else "{}"
        case _:
            return "[" + ", ".join(format_expression(item) for item in value) + "]"


def format_document(blocks: Sequence[HclBlock], comment: str = "") -> str:
    """The text of a file; `comment` comes first and must not be a user's text."""
    head = [f"# {line}".rstrip() for line in comment.splitlines()]
    parts = ["\n".join(head)] if head else []
    parts += ["\n".join(_block_lines(block)) for block in blocks]
    return "\n\n".join(parts) + "\n"


def format_assignment(name: str, value: HclValue) -> str:
    """`name = value` as a file of values has it: a mapping or a list of mappings with one entry a line."""
    match value:
        case Mapping() if value:
            keys = {key: key if key.isidentifier() else quote_string(key) for key in value}
            width = max(len(key) for key in keys.values())
            lines = [f"  {keys[key]:<{width}} = {format_expression(item)}" for key, item in value.items()]
            return "\n".join([f"{name} = {{", *lines, "}"])
        case [Mapping(), *_]:
            return "\n".join([f"{name} = [", *(f"  {format_expression(item)}," for item in value), "]"])
    return f"{name} = {format_expression(value)}"


def _block_lines(block: HclBlock) -> Iterator[str]:
    """A block's lines: attributes with their equal signs in one column, then inner blocks, an empty line between."""
    pairs = [item for item in block.items if isinstance(item, tuple) and item[1] is not None]
    inner = [item for item in block.items if isinstance(item, HclBlock)]
    if not pairs and not inner:
        yield f"{block.header} {{}}"
        return
    width = max((len(name) for name, _ in pairs), default=0)
    yield f"{block.header} {{"
    for name, value in pairs:
        yield f"  {name:<{width}} = {format_expression(value)}"
    for index, item in enumerate(inner):
        if pairs or index:
            yield ""
        yield from (f"  {line}".rstrip() for line in _block_lines(item))
    yield "}"


def read_variables(text: str) -> dict[str, ModuleVariable]:
    """The variables that a file declares, by name. Reads the layout of `terraform fmt`, not any HCL."""
    declared = {}
    for block in BLOCK.finditer(text):
        if block["kind"] != "variable":
            continue
        attributes = {item["name"]: " ".join(item["value"].split()) for item in ATTRIBUTE.finditer(block["body"])}
        description = attributes["description"].strip('"').replace('\\"', '"')
        required = "default" not in attributes
        declared[block["label"]] = ModuleVariable(block["label"], attributes["type"], description, required)
    return declared


def read_required_providers(text: str) -> dict[str, tuple[str, str]]:
    """(source, version constraint) of each provider that a versions.tf requires, by local name."""
    return {name: (source, version) for name, source, version in PROVIDER.findall(text)}
