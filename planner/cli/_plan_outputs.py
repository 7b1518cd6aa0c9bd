"""The outputs of a plan: their formats, and writing either all of them or none."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner.cli._input_problems import unwritable_file
from planner.reports import companion_format, folder_format, formats, load
from planner.request.errors import InputProblem, InvalidRequest
from planner.result import Plan
from pricing.csv_tables import find_nearest_names

STANDARD_OUTPUT = "-"
DEFAULT = "text"


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


@dataclass(frozen=True, slots=True)
class OutputChoice:
    """The outputs as the options name them: `--format`, each `-o`, each `--section`, and `--full`."""

    format_name: str | None = None
    paths: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    full: bool = False


def choose_outputs(
    format_name: str | None, paths: Sequence[str]
) -> tuple[tuple[Output, ...], tuple[InputProblem, ...]]:
    """The outputs that `--format` and `-o` mean, and the problems of the two options.

    Standard output is always among them: in `format_name` if it is the only one or named by "-", else as text.
    """
    known = formats()
    complaints = []
    if format_name is not None and format_name not in known:
        close = find_nearest_names(format_name, known)
        expected = f"one of {', '.join(known)}" + (f"; nearest: {close[0]}" if close else "")
        return (), (InputProblem("", "--format", "unknown format", format_name, expected),)
    files = [path for path in paths if path != STANDARD_OUTPUT]
    outputs = [Output("", (format_name or DEFAULT) if len(files) < len(paths) or not files else DEFAULT)]
    by_suffix = {load(name).SUFFIX: name for name in known} if files else {}
    for path in files:
        output = _parse_output(path, format_name, by_suffix)
        if isinstance(output, Output):
            outputs.append(output)
        else:
            complaints.append(output)
    if not complaints and format_name not in {None, *(output.format for output in outputs)}:
        formats_by_path = ", ".join(f"{output.path} ({output.format})" for output in outputs if output.path)
        message = f"no output has this format: the suffix decides for {formats_by_path}"
        expected = f"no --format, or -o NAME{load(str(format_name)).SUFFIX}"
        complaints.append(InputProblem("", "--format", message, str(format_name), expected))
    return tuple(outputs), (*complaints, *_find_repeated_paths(files))


def select_sections(
    outputs: Sequence[Output], choice: OutputChoice
) -> tuple[tuple[Output, ...], tuple[InputProblem, ...]]:
    """The outputs with the parts of the report that their texts have, and the problems of `--section` and `--full`."""
    if not choice.sections and not choice.full:
        return tuple(outputs), ()
    from planner.reports.text import SECTIONS

    problems = []
    for name in choice.sections:
        if name not in SECTIONS:
            close = find_nearest_names(name, tuple(SECTIONS))
            expected = f"one of {', '.join(SECTIONS)}" + (f"; nearest: {close[0]}" if close else "")
            problems.append(InputProblem("", "--section", "no part of the report", name, expected))
    if all(output.format != DEFAULT for output in outputs):
        flag = "--full" if choice.full else "--section"
        message, expected = "only the format text has a first screen", f"--format {DEFAULT}, or no {flag}"
        problems.append(InputProblem("", flag, message, choice.format_name or "", expected))
    names = () if choice.full else tuple(dict.fromkeys(choice.sections))
    texts = (replace(output, sections=names, full=choice.full) for output in outputs)
    chosen = (text if text.format == DEFAULT else output for text, output in zip(texts, outputs, strict=True))
    return tuple(chosen), tuple(problems)


def _parse_output(path: str, format_name: str | None, by_suffix: Mapping[str, str]) -> Output | InputProblem:
    folders = [name for name in by_suffix.values() if folder_format(name)]
    if path.endswith(("/", os.sep)) or Path(path).is_dir():
        folder_name = format_name if format_name in folders else None
        return Output(path, folder_name or folders[0], folder=True)
    if fitting := [suffix for suffix in by_suffix if path.lower().endswith(suffix)]:
        return Output(path, by_suffix[max(fitting, key=len)])  # plan.focus.csv is .focus.csv, though it is .csv too
    if format_name is not None:
        return Output(path, format_name, folder=format_name in folders)
    expected = f"a suffix of {', '.join(sorted(by_suffix))}, a folder/ for {', '.join(folders)}, or --format"
    return InputProblem("", f"-o {path}", "no known suffix", Path(path).name, expected)


def _find_repeated_paths(files: Sequence[str]) -> list[InputProblem]:
    resolved = [Path(path).resolve() for path in files]
    return [
        InputProblem("", f"-o {path}", "named twice", path, "a path of its own for each output")
        for index, path in enumerate(files)
        if resolved[index] in resolved[:index]
    ]


def refuse_binary_to_terminal(outputs: Sequence[Output]) -> tuple[InputProblem, ...]:
    """A complaint where standard output is a terminal and the format is not text."""
    problems = []
    for output in outputs if sys.stdout.isatty() else ():
        form = load(output.format)
        if not output.path and not form.MEDIA_TYPE.startswith("text/") and "json" not in form.MEDIA_TYPE:
            message, advice = "a binary format would garble the terminal", f"-o plan{form.SUFFIX}, or a pipe"
            problems.append(InputProblem("", "--format", message, output.format, advice))
    return tuple(problems)


def write_plan(plan: Plan, outputs: Sequence[Output]) -> list[str]:
    """Write all outputs or none, standard output last; gives one line for each file or folder written.

    Raises InvalidRequest, before any file is replaced, if a path cannot be written.
    """
    return write_outputs([(output, _render_output(plan, output)) for output in outputs])


def _render_output(plan: Plan, output: Output) -> Mapping[str, bytes]:
    if output.folder and (folder := folder_format(output.format)):
        return folder.files(plan)
    if output.sections or output.full:
        from planner.reports.text import render_sections

        return {"": render_sections(plan, output.sections)}
    if output.path and (companion := companion_format(output.format)):
        return companion.render_with_files(plan, Path(output.path).stem)
    return {"": load(output.format).render(plan)}


def write_outputs(rendered: Sequence[tuple[Output, Mapping[str, bytes]]]) -> list[str]:
    """As `write_plan`, for rendered outputs: the files of a folder by path, or one file by "" and its other files."""
    staged: list[tuple[Path, Path]] = []
    messages = []
    try:
        for output, files in rendered:
            if output.path:
                staged += _stage_files(output, files)
                size = sum(len(data) for data in files.values())
                others = [] if output.folder else [name for name in files if name]
                more = f", beside it {', '.join(others)}" if others else ""
                messages.append(f"wrote {output.path} ({output.format}, {max(1, round(size / 1024)):,} KiB){more}")
        for temporary, target in staged:
            temporary.replace(target)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
    for output, files in rendered:
        if not output.path:
            sys.stdout.flush()
            sys.stdout.buffer.write(b"".join(files.values()))  # a report is UTF-8, independent of the locale
            sys.stdout.buffer.flush()
    return messages


def _stage_files(output: Output, files: Mapping[str, bytes]) -> list[tuple[Path, Path]]:
    """Write each file under a temporary name in the folder of its target: on one file system a rename is atomic."""
    import tempfile

    root = Path(output.path)
    if output.folder and (strangers := _foreign_files(root, files)):
        message = "has Terraform files of another plan, which would be applied too"
        raise InvalidRequest((InputProblem("", f"-o {output.path}", message, ", ".join(strangers), "an empty folder"),))
    staged: list[tuple[Path, Path]] = []
    try:
        for name, data in files.items():
            target = (root / name if output.folder else root.with_name(name)) if name else root
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".planner-", delete=False) as file:
                staged.append((Path(file.name), target))
                file.write(data)
            Path(file.name).chmod(0o666 & ~_current_umask())
    except BaseException as error:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InvalidRequest((unwritable_file(f"-o {output.path}", error),)) from None
        raise
    return staged


def _foreign_files(root: Path, files: Mapping[str, bytes]) -> list[str]:
    """Other Terraform files in the folder: leftovers of an older plan would be applied together with the new one."""
    present = (path.relative_to(root).as_posix() for pattern in ("*.tf", "*/*.tf") for path in root.glob(pattern))
    return sorted(name for name in present if name not in files)


def _current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
