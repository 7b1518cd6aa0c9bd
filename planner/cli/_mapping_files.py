"""Files of names and values for a request: assumptions, a setup, settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.library.file_problems import unreadable_file
from planner.request.errors import InputProblem
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class MappingFile:
    """Names and values, the place of each, and the problems of the file."""

    values: dict[str, Any]
    places: dict[str, str]
    problems: tuple[InputProblem, ...] = ()


def read_mapping(path: str, kind: str, place: str, expected: str, *, prefix: str = "") -> MappingFile:
    """A file read as a request in YAML (or JSON) is. `kind` names its contents, `place` its option or variable;
    `prefix` is the part of the request that it fills."""
    from planner.inputs.formats import yaml

    try:
        source = yaml.read(Path(path).read_bytes(), path)
    except OSError as error:
        return MappingFile({}, {}, (unreadable_file(f"{place} {path}", error),))
    faults = tuple(
        replace(fault, place=fault.place if fault.place.startswith(path) else f"{path} {fault.place}")
        for fault in source.complaints
    )
    if "workloads" in source.document:  # unreadable, or a request or a list
        faults = faults or (InputProblem("", path, f"no list of {kind}" if prefix else f"no {kind}"),)
        return MappingFile({}, {}, tuple(replace(fault, path=kind, expected=expected) for fault in faults))
    places = {f"{prefix}{name}": f"{path} {at}" for name, at in source.places.items()}
    return MappingFile(dict(source.document), places, faults)
