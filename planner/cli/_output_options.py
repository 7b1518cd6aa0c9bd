"""The options of commands that say what is written, and where (--format, -o, --section and --full), and what is
printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from planner.cli._terminal import has_colours, paint_headings
from planner.library.plan_outputs import DEFAULT, STANDARD_OUTPUT, Output, parse_output
from planner.reports import formats, load
from planner.request.errors import InputProblem
from pricing.csv_tables import find_nearest_names
from pricing.frozen_values import dataclass


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
    files = [path for path in paths if path not in STANDARD_OUTPUT]
    outputs = [Output("", (format_name or DEFAULT) if len(files) < len(paths) or not files else DEFAULT)]
    for path in files:
        output = parse_output(path, format_name)
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


def print_outputs(rendered: Sequence[tuple[Output, Mapping[str, bytes]]]) -> None:
    """Print the outputs that have no path, which are UTF-8 independent of the locale; a text with its headings in bold
    on a terminal."""
    for output, files in rendered:
        if not output.path:
            print_report_bytes(b"".join(files.values()), output.format)


def print_report_bytes(report: bytes, format_name: str) -> None:
    """Print a report of a format."""
    if format_name == DEFAULT and has_colours(sys.stdout):
        report = paint_headings(report.decode()).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(report)
    sys.stdout.buffer.flush()
