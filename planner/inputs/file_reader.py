"""A file -> a request: one module a format, found by walking the folder `formats`.

Turns bytes into a request's JSON with the place of every value; knows no prices, no accelerator names and no doors.
A format is a public module with SUFFIXES, `claims(data)` (the bytes alone say so) and `read(data, name)`; where it is
one of sheets (IS_SHEET), `read(data, name, choices)`. Where its claim tells more than a suffix does (IS_SURE), it is
heard first.

`read` is pure, and trusts its guards: the libraries beneath it end the process where memory runs out, and the parser of
YAML where it is asked to go too deep. Doors call `read_apart`. Only a small text is read where it is: its levels are
counted first, it is too short to fill a memory, and a process would cost 0.2 s beside the 0.4 s of a small plan.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from types import ModuleType
from typing import cast

from planner.inputs.parsed_file import ParsedFile, reject_file
from planner.inputs.sandbox import SandboxFailure, SandboxLimits, run_isolated
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import binary_kind

BYTES_MAX = 20_000_000
SMALL_TEXT = 64_000
"""Bytes; as YAML, where it takes most, a text of so many values takes 40 MB and half a second."""
MEMORY_BYTES = 3 * 2**30
"""Of addresses: the largest sheet that is read, 200,000 rows of 10 columns, takes 2.0 GiB."""
SECONDS = 60.0
"""The same sheet takes 49 seconds on a slow core, the way back included."""


@dataclass(frozen=True, slots=True)
class InputFormat:
    """One way to write a request down: its name, the suffixes it goes by, and how it is recognised and read."""

    name: str
    suffixes: tuple[str, ...]
    claims: Callable[[bytes], bool]
    read: Callable[[bytes, str, SheetOptions], ParsedFile]
    is_sure: bool = False
    is_sheet: bool = False


@cache
def formats() -> tuple[InputFormat, ...]:
    """Every format that can be read, by name."""
    folder = importlib.import_module("planner.inputs.formats")
    names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_"))
    modules = [importlib.import_module(f"{folder.__name__}.{name}") for name in names]
    return tuple(
        InputFormat(name, module.SUFFIXES, module.claims, _format_reader(module), *_module_flags(module))
        for name, module in zip(names, modules, strict=True)
    )


def _module_flags(module: ModuleType) -> tuple[bool, bool]:
    """Whether it is sure of its claim, and whether it is one of sheets."""
    return getattr(module, "IS_SURE", False), getattr(module, "IS_SHEET", False)


def _format_reader(module: ModuleType) -> Callable[[bytes, str, SheetOptions], ParsedFile]:
    """How a module reads: choices are about sheets, and mean nothing to the others."""
    if _module_flags(module)[1]:
        return cast("Callable[[bytes, str, SheetOptions], ParsedFile]", module.read)
    return lambda data, name, _: module.read(data, name)


def read(data: bytes, name: str, choices: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """What `data` asks for: see `_read`.

    The search for cycles is put off while a large file is read: there are none among a million cells, and looking for
    them takes a quarter of the time.
    """
    if len(data) <= SMALL_TEXT or not gc.isenabled():
        return _dispatch_to_format(data, name, choices)
    gc.disable()
    try:
        return _dispatch_to_format(data, name, choices)
    finally:
        gc.enable()


def _dispatch_to_format(data: bytes, name: str, choices: SheetOptions) -> ParsedFile:
    """What `data` asks for. `name` is the file's name, or - for standard input, whose format its content tells.

    Never raises for bad input: faults are `complaints`, and a file that is no request at all is one complaint.
    """
    name = PurePath(name).name or "-"
    if not data.strip():
        return reject_file(data, name, "", "the file is empty", expected=_describe_expected_files())
    if len(data) > BYTES_MAX:
        return reject_file(data, name, "", f"{len(data):,} bytes are too many", expected=f"at most {BYTES_MAX:,}")
    suffix = PurePath(name).suffix.casefold()
    claimed = [each for each in formats() if each.claims(data)]
    named = [each for each in formats() if suffix in each.suffixes]
    if kind := binary_kind(data):
        if claimed:
            return claimed[0].read(data, name, choices)
        return reject_file(
            data, name, "", f"this is {kind}, not a sheet or a request", expected=_describe_expected_files()
        )
    if chosen := [each for each in claimed if each.is_sure] or named or claimed:
        return chosen[0].read(data, name, choices)
    return reject_file(
        data, name, "", "neither the name nor the content says what this is", expected=_describe_expected_files()
    )


def read_isolated(
    data: bytes, name: str, choices: SheetOptions = NO_SHEET_OPTIONS, *, seconds: float = SECONDS
) -> ParsedFile:
    """As `read`, within bounds of memory and time: where it passes them, or aborts, that is the one complaint."""
    if len(data) <= SMALL_TEXT and not binary_kind(data):
        return read(data, name, choices)
    try:
        return run_isolated(read, data, name, choices, bounds=SandboxLimits(MEMORY_BYTES, seconds))
    except SandboxFailure as reason:
        return reject_file(
            data, PurePath(name).name or "-", "", str(reason), expected="a smaller file, or it saved anew"
        )


def _describe_expected_files() -> str:
    return "a file with workloads: " + ", ".join(suffix for each in formats() for suffix in each.suffixes)
