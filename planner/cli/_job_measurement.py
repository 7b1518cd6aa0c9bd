"""Behind `planner measure`: checks the options, watches the job, writes the file and prints a summary.

The summary goes to standard error: standard output belongs to the job.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from planner.cli._exit_codes import DONE, INVALID_INPUT
from planner.measure import measurement_file
from planner.measure.amd_sampler import open_amd
from planner.measure.cpu_sampler import PROC, describe_machine
from planner.measure.job_watcher import JobObservation, WatchedCommand, watch_job
from planner.measure.nvidia_sampler import open_nvidia
from planner.measure.progress_sources import WorkSeries, compile_pattern
from planner.measure.telemetry_samples import NoAccelerators, SamplerAccess
from planner.messages import text_of
from planner.request.errors import InputProblem, InvalidRequest
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from pricing.plain_text import plain_line

STALLED, SIGNALLED = 124, 128
SUFFIX = ".measured.json"
DESCRIPTION_OPTIONS = ("unit", "scope", "scaling", "precision", "batch", "count", "accelerator", "total_units")
SUMMARY_MAX = 3
"""Notes and findings that are printed; the file has all."""


def measure(command: tuple[str, ...], output: str | None, options: Mapping[str, Any]) -> int:
    """The exit code, once the job has ended and its file is written."""
    description = measurement_file.JobDescription(
        name=options["name"] or _default_name(command), **{key: options[key] for key in DESCRIPTION_OPTIONS}
    )
    path = Path(output or description.name + SUFFIX)
    job = _build_job(command, options, _find_problems(command, path, options))
    opened = _open_accelerators(os.environ)
    if not opened.accelerators.devices():
        print_to_stderr(f"no readable accelerator, so the CPU is measured ({'; '.join(opened.notes)})")
    try:
        report = partial(_report_progress, description.unit) if sys.stderr.isatty() else None
        watched = watch_job(job, opened.accelerators, os.environ, print_to_stderr, report)
    except OSError as error:
        raise InvalidRequest((InputProblem("", command[0], f"cannot be run: {error.strerror or error}"),)) from None
    finally:
        opened.accelerators.close()
    measured = measurement_file.evaluate(
        watched, job, description, describe_machine(), Catalog.current().names, opened.notes
    )
    _write_measurement(path, measurement_file.to_bytes(measurement_file.build_document(measured, today(), text_of)))
    for line in summary_lines(measured, opened.notes):
        print_to_stderr(line)
    return _exit_code(measured, options)


def print_to_stderr(line: str) -> None:
    """Print one line on standard error, without control characters."""
    click.echo(f"planner: {plain_line(line)}", err=True)


def _report_progress(unit: str, seconds: float, series: WorkSeries) -> None:
    """Print the progress of the job on a terminal."""
    done = series.points[-1][1] - series.points[0][1] if series.points else 0.0
    print_to_stderr(f"{seconds:.0f} s, {done:,.10g} {unit} since the first report")


def _default_name(command: Sequence[str]) -> str:
    """train for `python train.py`: the last part that names a file of the job, without its suffix."""
    named = next(
        (word for word in command[1:] if word.endswith((".py", ".sh")) and not word.startswith("-")), command[0]
    )
    return re.sub(r"[^\w.-]+", "-", Path(named).stem).strip(".-") or "job"


def _find_problems(command: tuple[str, ...], path: Path, options: Mapping[str, Any]) -> list[InputProblem]:
    """Problems of the options, found before the job starts."""
    faults = []

    def add_problem(place: str, message: str, value: str = "", expected: str = "") -> None:
        faults.append(InputProblem("", place, message, value, expected))

    if not PROC.joinpath("self/stat").exists():
        add_problem("planner measure", "needs Linux: it reads /proc")
    if shutil.which(command[0]) is None:
        add_problem(command[0], "no such command, or not executable", "", "a program on PATH or a path")
    if path.is_dir():
        add_problem(f"-o {path}", "is a folder", "", "the name of a JSON file")
    elif not os.access(path.parent, os.W_OK):
        add_problem(f"-o {path}", "cannot be written", "", "a file in a folder that is there and writable")
    if options["pattern"] and options["progress"]:
        add_problem("--progress", "two ways of reading work", "--pattern and --progress", "one of them")
    if options["end_stalled"] and options["stall"] is None:
        add_problem("--end-stalled", "needs a time", "", "--stall SECONDS")
    return faults


def _build_job(command: tuple[str, ...], options: Mapping[str, Any], faults: list[InputProblem]) -> WatchedCommand:
    pattern = compile_pattern(options["pattern"]) if options["pattern"] else None
    if isinstance(pattern, InputProblem):
        faults.append(pattern)
    if faults or isinstance(pattern, InputProblem):
        raise InvalidRequest(tuple(faults))
    return WatchedCommand(
        command=command,
        interval_s=options["interval"],
        pattern=pattern,
        counter=Path(options["progress"]) if options["progress"] else None,
        warm_up_s=options["warmup"],
        seconds=options["seconds"],
        until_steady=options["until_steady"],
        stall_s=options["stall"],
        end_stalled=options["end_stalled"],
        grace_s=options["grace"],
    )


def _open_accelerators(environment: Mapping[str, str]) -> SamplerAccess:
    """The first library that lists an accelerator; else none, with the notes of each."""
    notes: list[str] = []
    for open_one in (open_nvidia, open_amd):
        opened = open_one(environment)
        notes += opened.notes
        if opened.accelerators.devices():
            return opened
        opened.accelerators.close()
    return SamplerAccess(NoAccelerators(), notes)


def _write_measurement(path: Path, data: bytes) -> None:
    """Write the file atomically; if that fails, into the temporary folder, so that the measurement is not lost."""
    from pricing.file_replacement import write_atomically

    try:
        write_atomically(path, data)
        print_to_stderr(f"written to {path}")
    except OSError as error:
        handle, fallback = tempfile.mkstemp(prefix="planner-", suffix=SUFFIX)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        print_to_stderr(f"{path} cannot be written ({error.strerror or error}); saved as {fallback}")


def _exit_code(measured: measurement_file.JobMeasurement, options: Mapping[str, Any]) -> int:
    watched = measured.watched
    if watched.status == "stalled" and not watched.interrupted_by:
        return STALLED
    if watched.interrupted_by:
        return SIGNALLED + watched.interrupted_by
    if watched.status == "failed":
        return watched.returned if watched.returned > 0 else SIGNALLED - watched.returned
    without_work = not watched.series.points and (options["pattern"] or options["progress"])
    return INVALID_INPUT if without_work else DONE


def summary_lines(measured: measurement_file.JobMeasurement, already_printed: Sequence[str]) -> Iterator[str]:
    """The summary of a measurement."""
    watched, description, steady = measured.watched, measured.description, measured.steady
    yield f"job {description.name}: {watched.status}{_describe_ending(watched)}, {watched.end - watched.start:.1f} s"
    if isinstance(steady, Message):
        yield f"no rate: {text_of(steady)}"
        yield from _explain_missing_rate(watched)
    else:
        yield _describe_rate(measured)
        if steady.why_not is not None:
            yield f"  not steady: {text_of(steady.why_not)}"
    if (joules := measured.joules_per_unit) is not None:
        unit = description.unit
        singular = unit[:-1] if unit.endswith("s") and len(unit) > 2 else unit
        yield f"  energy {joules:,.4g} J of accelerators per {singular}"
    if (total := measured.total_seconds) is not None:
        expected, low, high = total
        interval = (
            "" if low is None or high is None else f" (95 %: {_format_duration(low)} to {_format_duration(high)})"
        )
        yield f"  {description.total_units:,.10g} {description.unit} take {_format_duration(expected)}{interval}"
    for number, finding in enumerate(measured.findings[:SUMMARY_MAX]):
        evidence = ", ".join(f"{name} {value:.3g}" for name, value in finding.evidence.items())
        yield f"{'  also:' if number else 'limit:'} {finding.limit}: {text_of(finding.because)} ({evidence})"
    for note in [note for note in measured.notes if note not in already_printed][:SUMMARY_MAX]:
        yield f"note: {note if isinstance(note, str) else text_of(note)}"


def _describe_ending(watched: JobObservation) -> str:
    if watched.ended_because:
        return f" {watched.ended_because}"
    if watched.returned < 0:
        return f" (signal {-watched.returned})"
    return f" (exit code {watched.returned})" if watched.returned else ""


def _describe_rate(measured: measurement_file.JobMeasurement) -> str:
    steady, description = measured.steady, measured.description
    assert not isinstance(steady, Message)
    wide = "" if steady.half_width is None else f" +- {steady.half_width:.1%}"
    where = f"{measured.count:g} x {measured.accelerator}" if measured.accelerator else measured.machine.name
    each = " for each" if description.scope == "device" else ""
    window = f"{steady.end - steady.start:.1f} s from second {steady.start - measured.watched.start:.1f} on"
    return f"{steady.rate:,.5g} {description.unit}/s{each}{wide} (95 %) on {where}, over {window}"


def _explain_missing_rate(watched: JobObservation) -> Iterator[str]:
    if watched.lines is None:
        if not watched.series.points:
            yield "  it never called planner.measure.progress, and neither --pattern nor --progress was given"
        return
    if not watched.lines.matched:
        yield f"  --pattern matched none of its lines; the first {len(watched.lines.first)} of them:"
        yield from (f"    {line[:120]}" for line in watched.lines.first)


def _format_duration(seconds: float) -> str:
    return f"{seconds / 3600:,.4g} hours" if seconds >= 3600 else f"{seconds:,.4g} s"
