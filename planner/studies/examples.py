"""A file of worked examples -> Examples, and cases that cannot be read with every fault and its place. Nothing is
skipped silently."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from pydantic import ValidationError

from planner.request.errors import InputProblem, InvalidRequest
from planner.studies import AssumedInput, Example, UnreadExample, discover_methods
from planner.studies.inputs import StudyInputs
from pricing.csv_tables import find_nearest_names

TEXTS = ("id", "title", "source", "notes")
ASSUMED_SHAPE = "a reason by the path of an input with one value, as machines.GPU.usd_per_hour"
SHAPE = "a list of examples, each with method, inputs and expected"
DEPTH_MAX = 20


def read_examples(data: bytes, name: str) -> tuple[Example | UnreadExample, ...]:
    """The examples of a file called `name`: {"examples": [...]}, the list alone, or one example alone.

    A faulty case keeps its place, with all its faults. InvalidRequest where the file holds no cases at all, with line
    and column where it is no JSON.
    """
    document = _parse_document(data, name)
    entries: Any = document if isinstance(document, list) else [document]
    prefix = ""
    if isinstance(document, Mapping) and "method" not in document:
        entries, prefix = document.get("examples"), "examples"
    if not isinstance(entries, list) or not entries:
        raise InvalidRequest((InputProblem(prefix, f"{name} {prefix}".rstrip(), "no examples", "", SHAPE),))
    return tuple(_parse_example(each, f"{prefix}[{index}]", name) for index, each in enumerate(entries))


def _parse_document(data: bytes, name: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_reject_constant)
    except UnicodeDecodeError as error:
        fault = InputProblem("", name, f"no text: byte {error.start} is not UTF-8", "", "JSON in UTF-8")
    except json.JSONDecodeError as error:
        fault = InputProblem("", f"{name} line {error.lineno} column {error.colno}", f"no JSON: {error.msg}")
    except (ValueError, RecursionError) as error:
        fault = InputProblem("", name, f"not read: {error}", "", "JSON with finite numbers")
    raise InvalidRequest((fault,))


def _reject_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _parse_example(written: object, path: str, name: str) -> Example | UnreadExample:
    """The example, or all its faults."""
    if not isinstance(written, Mapping):
        problem = InputProblem(path, f"{name} {path}", "no example", _short_repr(written), SHAPE)
        return UnreadExample(path, "", "", 0, (problem,))
    inputs, faults = _read_inputs(written, path)
    complaints = [*_check_texts(written, path), *_check_expected(written.get("expected"), f"{path}.expected")]
    complaints += [*_check_tolerance(written.get("tolerance", {}), f"{path}.tolerance", DEPTH_MAX), *faults]
    assumed = written.get("assumed", {})
    complaints += _check_assumed(assumed, written.get("inputs"), f"{path}.assumed")
    texts = {key: value if isinstance(value := written.get(key), str) else "" for key in (*TEXTS, "method")}
    texts["id"] = texts["id"] or path
    if complaints or inputs is None:
        placed = tuple(InputProblem(f.path, f"{name} {f.path}", f.message, f.value, f.expected) for f in complaints)
        figures = _count_figures(written.get("expected", []))
        return UnreadExample(texts["id"], texts["title"], texts["method"], figures, placed)
    marked = tuple(AssumedInput(name, find_value(written["inputs"], name), reason) for name, reason in assumed.items())
    tolerance = written.get("tolerance", {})
    return Example(**texts, inputs=inputs, expected=written["expected"], tolerance=tolerance, assumed=marked)


def _read_inputs(written: Mapping[str, Any], path: str) -> tuple[StudyInputs | None, tuple[InputProblem, ...]]:
    """The inputs of the case's method, checked; None with the faults, an unknown method among them."""
    method = written.get("method")
    if not isinstance(method, str) or method not in discover_methods():
        near = find_nearest_names(str(method), discover_methods())
        known = ", ".join(dict.fromkeys((*near, *discover_methods())))
        return None, (InputProblem(f"{path}.method", "", "unknown method", str(method), f"one of {known}"),)
    try:
        return discover_methods()[method].INPUTS.model_validate(written.get("inputs", {})), ()
    except ValidationError as error:
        return None, tuple(_convert_validation_errors(error, written.get("inputs", {}), f"{path}.inputs"))


def find_value(inputs: object, path: str) -> Any:
    """The value at a dotted path, names with spaces and dots of their own included; None where there is none.

    >>> find_value({"machines": {"A 2.0": {"kw": 3.0}}}, "machines.A 2.0.kw")
    3.0
    """
    if not isinstance(inputs, Mapping):
        return None
    if path in inputs:
        return inputs[path]
    below = (find_value(inputs[name], path[len(name) + 1 :]) for name in inputs if path.startswith(f"{name}."))
    return next((value for value in below if value is not None), None)


def _check_assumed(assumed: object, inputs: object, path: str) -> Iterator[InputProblem]:
    """Each mark is on one value of the inputs, and says why it is that."""
    if not isinstance(assumed, Mapping):
        yield InputProblem(path, "", "no marks of assumed inputs", _short_repr(assumed), ASSUMED_SHAPE)
        return
    for name, reason in assumed.items():
        value = find_value(inputs, name)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            yield InputProblem(f"{path}.{name}", "", "no such input with one value", "", ASSUMED_SHAPE)
        elif not isinstance(reason, str) or not reason.strip():
            yield InputProblem(f"{path}.{name}", "", "no reason", _short_repr(reason), "a text")


def _count_figures(printed: object) -> int:
    """How many figures a case prints, at any level."""
    if not isinstance(printed, Mapping | list):
        return 1
    return sum(_count_figures(below) for _, below in _list_parts(printed, ""))


def _check_texts(written: Mapping[str, Any], path: str) -> Iterator[InputProblem]:
    for key in TEXTS:
        if not isinstance(written.get(key, ""), str):
            yield InputProblem(f"{path}.{key}", "", "no text", _short_repr(written[key]))


def _check_expected(value: object, path: str) -> Iterator[InputProblem]:
    if isinstance(value, Mapping) and value:
        yield from _check_printed(value, path, DEPTH_MAX)
    else:
        yield InputProblem(path, "", "no printed figures", _short_repr(value), "numbers by name")


def _check_printed(value: object, path: str, depth: int) -> Iterator[InputProblem]:
    """What is printed: numbers, texts such as "never", null for the same, in dicts and lists that are not empty."""
    if isinstance(value, Mapping | list) and value and depth:
        for at, below in _list_parts(value, path):
            yield from _check_printed(below, at, depth - 1)
    elif isinstance(value, bool) or not isinstance(value, int | float | str | None):
        text = "no printed figure" if depth else f"more than {DEPTH_MAX} levels deep"
        yield InputProblem(path, "", text, _short_repr(value), "a number")


def _check_tolerance(value: object, path: str, depth: int) -> Iterator[InputProblem]:
    if not isinstance(value, Mapping | list) or not depth:
        expected = f"abs, rel or both, or these by the name of a figure, at most {DEPTH_MAX} levels deep"
        yield InputProblem(path, "", "no tolerance", _short_repr(value), expected)
        return
    for at, below in _list_parts(value, path):
        if not at.endswith((".abs", ".rel")):
            yield from _check_tolerance(below, at, depth - 1)
        elif isinstance(below, bool) or not isinstance(below, int | float) or below < 0:
            yield InputProblem(at, "", "no tolerance", _short_repr(below), "0 or more")


def _list_parts(value: Mapping[str, Any] | list[Any], path: str) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"{path}.{key}", below) for key, below in value.items()]
    return [(f"{path}[{index}]", below) for index, below in enumerate(value)]


def _short_repr(value: object) -> str:
    return "" if value is None else repr(value)[:80]


def _convert_validation_errors(error: ValidationError, written: Any, path: str) -> Iterator[InputProblem]:
    """One complaint for each place; a value that may take several forms is refused once for each of them."""
    complaint_by_path: dict[str, InputProblem] = {}
    for item in error.errors(include_url=False):
        missing = item["type"] == "missing"
        at = path + _document_path(item["loc"], written, missing)
        message = item["msg"].removeprefix("Value error, ").partition(" or instance of ")[0]
        if at in complaint_by_path and message not in complaint_by_path[at].message:
            message = f"{complaint_by_path[at].message}, or {message[:1].lower()}{message[1:]}"
        value = item.get("input")
        shown = "" if missing or isinstance(value, dict | list) else _short_repr(value)
        complaint_by_path[at] = InputProblem(at, "", message, shown)
    # What is wrong inside one form of a value says more than that it is not of another form.
    yield from (
        each
        for at, each in complaint_by_path.items()
        if not any(o.startswith((f"{at}.", f"{at}[")) for o in complaint_by_path)
    )


def _document_path(location: tuple[int | str, ...], written: Any, missing: bool) -> str:
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
