"""The outputs of a plan: their formats, and writing either all of them or none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from planner.library.file_problems import unwritable_file
from planner.reports import companion_format, folder_format, formats, load
from planner.request.errors import InputProblem, InvalidRequest
from planner.result import Plan
from pricing.file_replacement import StagedFile, stage_file
from pricing.frozen_values import dataclass

STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Standard output as a path: opened again, a file behind it would be emptied."""
DEFAULT = "text"
OUTPUT_FLAG = "-o "
"""Before the path of an output in problems of the command line."""


@dataclass(frozen=True, slots=True)
class Output:
    """One output: `path` is "" for standard output; `folder` formats write several files into it."""

    path: str
    format: str
    folder: bool = False
    sections: tuple[str, ...] = ()
    """Of a text: the parts of the report, in place of the first screen."""
    full: bool = False
    """Of a text: the whole report."""


def parse_output(path: str, format_name: str | None, flag: str = OUTPUT_FLAG) -> Output | InputProblem:
    """The output that a path means: by its suffix, or a folder; `flag` goes before it in a problem."""
    by_suffix = {load(name).SUFFIX: name for name in formats()}
    folders = [name for name in by_suffix.values() if folder_format(name)]
    if path.endswith(("/", os.sep)) or Path(path).is_dir():
        folder_name = format_name if format_name in folders else None
        return Output(path, folder_name or folders[0], folder=True)
    if fitting := [suffix for suffix in by_suffix if path.lower().endswith(suffix)]:
        return Output(path, by_suffix[max(fitting, key=len)])  # plan.focus.csv is .focus.csv, though it is .csv too
    if format_name is not None:
        return Output(path, format_name, folder=format_name in folders)
    expected = f"a suffix of {', '.join(sorted(by_suffix))}, a folder/ for {', '.join(folders)}, or a named format"
    return InputProblem("", f"{flag}{path}", "no known suffix", Path(path).name, expected)


def render_plan(plan: Plan, outputs: Sequence[Output]) -> list[tuple[Output, Mapping[str, bytes]]]:
    """Each output with its content, for `write_outputs`: the files of a folder by path, or one file by "" and its other
    files."""
    return [(output, _render_output(plan, output)) for output in outputs]


def _render_output(plan: Plan, output: Output) -> Mapping[str, bytes]:
    if output.folder and (folder := folder_format(output.format)):
        return folder.files(plan)
    if output.sections or output.full:
        from planner.reports.text import render_sections

        return {"": render_sections(plan, output.sections)}
    is_device = Path(output.path).exists() and not Path(output.path).is_file()
    if output.path and not is_device and (companion := companion_format(output.format)):
        return companion.render_with_files(plan, Path(output.path).stem)
    return {"": load(output.format).render(plan)}


def write_outputs(rendered: Sequence[tuple[Output, Mapping[str, bytes]]], flag: str = OUTPUT_FLAG) -> list[str]:
    """Write all outputs that have a path, or none; gives one line for each file or folder written.

    Raises InvalidRequest, before any file is replaced, if a path cannot be written; `flag` goes before it there.
    """
    staged: list[StagedFile] = []
    messages = []
    try:
        for output, files in rendered:
            if output.path:
                _stage_files(output, files, staged, flag)
                messages.append(_describe_written(output, files))
        for file in staged:  # before any file is replaced: a device may refuse
            _write_through(file, flag)
        for file in staged:
            file.replace_target()
    finally:
        for file in staged:
            file.discard()
    return messages


def _describe_written(output: Output, files: Mapping[str, bytes]) -> str:
    size = sum(len(data) for data in files.values())
    others = [] if output.folder else [name for name in files if name]
    more = f", beside it {', '.join(others)}" if others else ""
    return f"wrote {output.path} ({output.format}, {max(1, round(size / 1024)):,} KiB){more}"


def _stage_files(output: Output, files: Mapping[str, bytes], staged: list[StagedFile], flag: str) -> None:
    """Adds each file, written beside its target."""
    root = Path(output.path)
    if output.folder and (strangers := _foreign_files(root, files)):
        message = "has Terraform files of another plan, which would be applied too"
        raise InvalidRequest(
            (InputProblem("", f"{flag}{output.path}", message, ", ".join(strangers), "an empty folder"),)
        )
    try:
        for name, data in files.items():
            target = (root / name if output.folder else root.with_name(name)) if name else root
            staged.append(stage_file(target, data))
    except OSError as error:
        raise InvalidRequest((unwritable_file(f"{flag}{output.path}", error),)) from None


def _write_through(file: StagedFile, flag: str) -> None:
    try:
        file.write_through()
    except OSError as error:
        raise InvalidRequest((unwritable_file(f"{flag}{file.target}", error),)) from None


def _foreign_files(root: Path, files: Mapping[str, bytes]) -> list[str]:
    """Other Terraform files in the folder: leftovers of an older plan would be applied together with the new one."""
    present = (path.relative_to(root).as_posix() for pattern in ("*.tf", "*/*.tf") for path in root.glob(pattern))
    return sorted(name for name in present if name not in files)
