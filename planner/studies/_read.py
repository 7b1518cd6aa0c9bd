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
DEPTH_MAX = 20


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
        faults.append(Complaint(path, f"{name} {path}", "no example", _shown(written), SHAPE))
        return None
    found = [*_of_texts(written, path), *_of_expected(written.get("expected"), f"{path}.expected")]
    found += _of_tolerance(written.get("tolerance", {}), f"{path}.tolerance", DEPTH_MAX)
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
            yield Complaint(f"{path}.{key}", "", "no text", _shown(written[key]))


def _of_expected(value: object, path: str) -> Iterator[Complaint]:
    if isinstance(value, Mapping) and value:
        yield from _of_printed(value, path, DEPTH_MAX)
    else:
        yield Complaint(path, "", "no printed figures", _shown(value), "numbers by name")


def _of_printed(value: object, path: str, depth: int) -> Iterator[Complaint]:
    """What is printed: numbers, texts such as "never", null for the same, in dicts and lists that are not empty."""
    if isinstance(value, Mapping | list) and value and depth:
        for at, below in _parts(value, path):
            yield from _of_printed(below, at, depth - 1)
    elif isinstance(value, bool) or not isinstance(value, int | float | str | None):
        text = "no printed figure" if depth else f"more than {DEPTH_MAX} levels deep"
        yield Complaint(path, "", text, _shown(value), "a number")


def _of_tolerance(value: object, path: str, depth: int) -> Iterator[Complaint]:
    if not isinstance(value, Mapping | list) or not depth:
        expected = f"abs, rel or both, or these by the name of a figure, at most {DEPTH_MAX} levels deep"
        yield Complaint(path, "", "no tolerance", _shown(value), expected)
        return
    for at, below in _parts(value, path):
        if not at.endswith((".abs", ".rel")):
            yield from _of_tolerance(below, at, depth - 1)
        elif isinstance(below, bool) or not isinstance(below, int | float) or below < 0:
            yield Complaint(at, "", "no tolerance", _shown(below), "0 or more")


def _parts(value: Mapping[str, Any] | list[Any], path: str) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"{path}.{key}", below) for key, below in value.items()]
    return [(f"{path}[{index}]", below) for index, below in enumerate(value)]


def _shown(value: object) -> str:
    return "" if value is None else repr(value)[:80]


def _of_inputs(error: ValidationError, written: Any, path: str) -> Iterator[Complaint]:
    """One complaint for each place; a value that may take several forms is refused once for each of them."""
    found: dict[str, Complaint] = {}
    for item in error.errors(include_url=False):
        missing = item["type"] == "missing"
        at = path + _place(item["loc"], written, missing)
        message = item["msg"].removeprefix("Value error, ").partition(" or instance of ")[0]
        if at in found and message not in found[at].message:
            message = f"{found[at].message}, or {message[:1].lower()}{message[1:]}"
        value = item.get("input")
        shown = "" if missing or isinstance(value, dict | list) else _shown(value)
        found[at] = Complaint(at, "", message, shown)
    # What is wrong inside one form of a value says more than that it is not of another form.
    yield from (each for at, each in found.items() if not any(o.startswith((f"{at}.", f"{at}[")) for o in found))


def _place(location: tuple[int | str, ...], written: Any, missing: bool) -> str:
    """The path in the document: what pydantic adds between (forms that a value may take) is not in it."""
    path = ""
    for index, part in enumerate(location):
        inside = isinstance(written, Mapping) and part in written
        if inside or (isinstance(written, list) and isinstance(part, int) and part < len(written)):
            written = written[part]
        elif not (missing and index == len(location) - 1):
            continue
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path
