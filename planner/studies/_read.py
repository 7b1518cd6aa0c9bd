"""A file of worked examples -> Examples, or every fault of it with its place. Nothing is skipped silently."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from pydantic import ValidationError

from planner.errors import Complaint, InvalidRequest
from planner.studies import Example, methods
from pricing.table import nearest

TEXTS = ("id", "title", "source", "notes")
SHAPE = "a list of examples, each with method, inputs and expected"
PARTS = ("abs", "rel")


def read(data: bytes, name: str) -> tuple[Example, ...]:
    """The examples of a file called `name`: {"examples": [...]}, the list alone, or one example alone.

    InvalidRequest tells all faults, each with its JSON path, or line and column where it is no JSON.
    """
    document = _document(data, name)
    found: Any = document if isinstance(document, list) else [document]
    prefix = ""
    if isinstance(document, Mapping) and "method" not in document:
        found, prefix = document.get("examples"), "examples"
    if not isinstance(found, list) or not found:
        raise InvalidRequest((Complaint(prefix, f"{name} {prefix}".rstrip(), "no examples", "", SHAPE),))
    faults: list[Complaint] = []
    examples = [_example(each, f"{prefix}[{index}]", name, faults) for index, each in enumerate(found)]
    if faults:
        raise InvalidRequest(tuple(faults))
    return tuple(example for example in examples if example is not None)


def _document(data: bytes, name: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        fault = Complaint("", name, f"no text: byte {error.start} is not UTF-8", "", "JSON in UTF-8")
    except json.JSONDecodeError as error:
        fault = Complaint("", f"{name} line {error.lineno} column {error.colno}", f"no JSON: {error.msg}")
    except (ValueError, RecursionError) as error:
        fault = Complaint("", name, f"not read: {error}", "", "JSON with finite numbers")
    raise InvalidRequest((fault,))


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _example(written: object, path: str, name: str, faults: list[Complaint]) -> Example | None:
    """The example; None with all its faults added."""
    if not isinstance(written, Mapping):
        faults.append(Complaint(path, f"{name} {path}", "no example", repr(written)[:80], SHAPE))
        return None
    found = [*_of_texts(written, path), *_of_printed(written.get("expected"), f"{path}.expected")]
    found += _of_tolerance(written.get("tolerance", {}), f"{path}.tolerance")
    method, inputs = written.get("method"), None
    if isinstance(method, str) and method in methods():
        try:
            inputs = methods()[method].Inputs.model_validate(written.get("inputs", {}))
        except ValidationError as error:
            found += _of_inputs(error, written.get("inputs", {}), f"{path}.inputs")
    else:
        expected = f"one of {', '.join(nearest(str(method), methods()) or methods())}"
        found.append(Complaint(f"{path}.method", "", "unknown method", str(method), expected))
    faults += [Complaint(f.path, f"{name} {f.path}", f.message, f.value, f.expected) for f in found]
    if found or inputs is None or not isinstance(method, str):
        return None
    return Example(
        id=written.get("id") or path,
        title=written.get("title", ""),
        method=method,
        inputs=inputs,
        expected=written["expected"],
        tolerance=written.get("tolerance", {}),
        source=written.get("source", ""),
        notes=written.get("notes", ""),
    )


def _of_texts(written: Mapping[str, Any], path: str) -> Iterator[Complaint]:
    for key in TEXTS:
        if not isinstance(written.get(key, ""), str):
            yield Complaint(f"{path}.{key}", "", "no text", repr(written[key])[:80])


def _of_printed(value: object, path: str) -> Iterator[Complaint]:
    """What is printed: numbers, or texts such as "never", in dicts and lists that are not empty."""
    if isinstance(value, Mapping | list) and value:
        parts = [(f"{path}.{key}", below) for key, below in value.items()] if isinstance(value, Mapping) else [
            (f"{path}[{index}]", below) for index, below in enumerate(value)
        ]  # fmt: skip
        for at, below in parts:
            if below is not None:
                yield from _of_printed(below, at)
    elif isinstance(value, bool) or not isinstance(value, int | float | str) or "." not in path.partition("]")[2][1:]:
        yield Complaint(path, "", "no printed figures", repr(value)[:80], "numbers by name")


def _of_tolerance(value: object, path: str) -> Iterator[Complaint]:
    if not isinstance(value, Mapping):
        yield Complaint(
            path, "", "no tolerance", repr(value)[:80], "abs, rel or both, or these by the name of a figure"
        )
        return
    for key, below in value.items():
        if key not in PARTS:
            yield from _of_tolerance(below, f"{path}.{key}")
        elif isinstance(below, bool) or not isinstance(below, int | float) or below < 0:
            yield Complaint(f"{path}.{key}", "", "no tolerance", repr(below)[:80], "0 or more")


def _of_inputs(error: ValidationError, written: Any, path: str) -> Iterator[Complaint]:
    """One complaint for each place; a value that may take several forms is refused once for each of them."""
    found: dict[str, Complaint] = {}
    for item in error.errors(include_url=False):
        at = path + _place(item["loc"], written)
        message = item["msg"].removeprefix("Value error, ")
        value = item.get("input")
        shown = "" if isinstance(value, dict | list) else repr(value)[:80]
        if at in found:
            message = found[at].message if message in found[at].message else f"{found[at].message}, or {message}"
        found[at] = Complaint(at, "", message, "" if item["type"] == "missing" else shown)
    yield from found.values()


def _place(location: tuple[int | str, ...], written: Any) -> str:
    """The path in the document: what pydantic adds between (forms that a value may take) is not in it."""
    path = ""
    for index, part in enumerate(location):
        inside = isinstance(written, Mapping) and part in written
        if inside or (isinstance(written, list) and isinstance(part, int) and part < len(written)):
            written = written[part]
        elif index < len(location) - 1 or not isinstance(written, Mapping):
            continue
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path
