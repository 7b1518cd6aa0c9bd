"""Reads a file of any format as a request. A format is one module of the folder `formats`, found by walking it.

Reading turns bytes into a request document with the place of every value; prices are not used.

`read` runs in this process and relies on limits set from outside: the libraries beneath it abort the process where
memory runs out, and the YAML parser where nesting is too deep. The command line and the service call `read_isolated`.
Only a small text is read in the calling process: its nesting is checked first, it is too short to exhaust memory, and
a subprocess would add 0.2 s to the 0.4 s of a small plan.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import PurePath
from typing import Protocol

from planner.inputs.parsed_file import ParsedFile, reject_file
from planner.inputs.sandbox import SandboxFailure, SandboxLimits, run_isolated
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import binary_kind
from pricing.frozen_values import dataclass
from pricing.plugins import check_plugin

BYTES_MAX = 20_000_000
SMALL_TEXT = 64_000
"""Bytes. As YAML, the most expensive format, a text with as many values takes 40 MB and half a second."""
MEMORY_BYTES = 3 * 2**30
"""Address space. The largest sheet accepted, 200,000 rows of 10 columns, takes 2.0 GiB."""
SECONDS = 60.0
"""The same sheet takes 49 seconds on a slow core, including the transfer of the result."""


class FormatModule(Protocol):
    """The names of a module of `formats`, checked when it is loaded. Flags are optional.

    `claims`: the content alone identifies the format. IS_SURE: the content decides, whatever the file's suffix; only
    such a format may have no suffix. IS_SHEET: columns can be mapped. IS_ISOLATED: `read` runs its own worker process.
    ASKS: it has doubts, which answers settle, without being a sheet. IS_USAGE: it has use of the past, which is
    projected.
    """

    SUFFIXES: tuple[str, ...]

    def claims(self, data: bytes) -> bool: ...

    def read(self, data: bytes, name: str, options: SheetOptions) -> ParsedFile:
        """The request in the file. Never raises for bad input: problems are in `complaints`."""
        ...


@dataclass(frozen=True, slots=True)
class InputFormat:
    """A format that can be read: its name, and its module's hooks and flags."""

    name: str
    suffixes: tuple[str, ...]
    claims: Callable[[bytes], bool]
    read: Callable[[bytes, str, SheetOptions], ParsedFile]
    is_sure: bool
    is_sheet: bool
    is_isolated: bool
    asks: bool
    is_usage: bool


@cache
def formats() -> tuple[InputFormat, ...]:
    """Every format that can be read, by name."""
    folder = importlib.import_module("planner.inputs.formats")
    names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_"))
    return tuple(_load_format(name, f"{folder.__name__}.{name}") for name in names)


def _load_format(name: str, module_name: str) -> InputFormat:
    module = importlib.import_module(module_name)
    hooks: FormatModule = check_plugin(module, FormatModule, "input format")
    flags = (getattr(module, flag, False) for flag in ("IS_SURE", "IS_SHEET", "IS_ISOLATED", "ASKS", "IS_USAGE"))
    return InputFormat(name, hooks.SUFFIXES, hooks.claims, hooks.read, *flags)


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The request in `data`. `name` is the file's name, or "-" for standard input.

    Never raises for bad input: problems are in `complaints`, and a file of no known format is one problem.
    """
    # The cycle collector is paused for a large file: a million cells contain no cycles, and searching them takes a
    # quarter of the time.
    if len(data) <= SMALL_TEXT or not gc.isenabled():
        return _read_by_format(data, name, options)
    gc.disable()
    try:
        return _read_by_format(data, name, options)
    finally:
        gc.enable()


def _read_by_format(data: bytes, name: str, options: SheetOptions) -> ParsedFile:
    name = PurePath(name).name or "-"
    suffix = PurePath(name).suffix.casefold()
    kind = binary_kind(data)
    expected = "a file with workloads: " + ", ".join(each for format_ in formats() for each in format_.suffixes)
    if not data.strip():
        return reject_file(data, name, "", "the file is empty", expected=expected)
    if len(data) > BYTES_MAX:
        return reject_file(data, name, "", f"the file has {len(data):,} bytes", expected=f"at most {BYTES_MAX:,} bytes")
    claimed = [each for each in formats() if each.claims(data)]
    if kind is not None:
        candidates, problem = claimed, f"the file is {kind}, not a sheet or a request"
    else:
        named = [each for each in formats() if suffix in each.suffixes]
        candidates = [each for each in claimed if each.is_sure] or named or claimed
        problem = "the format is not recognised, neither by the file's name nor by its content"
    if not candidates:
        return reject_file(data, name, "", problem, expected=expected)
    return candidates[0].read(data, name, options)


def read_isolated(
    data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS, *, seconds: float = SECONDS
) -> ParsedFile:
    """As `read`, with limits of memory and time. A file that exceeds them, or aborts its reader, is one problem."""
    isolated = next((each for each in formats() if each.is_isolated and each.claims(data)), None)
    if isolated is not None:
        return isolated.read(data, PurePath(name).name or "-", replace(options, seconds=seconds))
    if len(data) <= SMALL_TEXT and binary_kind(data) is None:
        return read(data, name, options)
    try:
        return run_isolated(read, data, name, options, bounds=SandboxLimits(MEMORY_BYTES, seconds))
    except SandboxFailure as reason:
        expected = "a smaller file, or the same file saved again"
        return reject_file(data, PurePath(name).name or "-", "", str(reason), expected=expected)
