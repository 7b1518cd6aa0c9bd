"""Behind `planner throughput --errors`: how far off the model is on work that its fit had not seen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli._exit_codes import DONE
from planner.cli._tables import print_text
from planner.request.errors import InputProblem, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pricing.accelerator import AcceleratorNames
    from tools.throughput.published_results import PublishedResult, ResultsTable


def report_errors(file: str) -> int:
    """Prints the errors on the shipped measurements, each fold left out in turn, or on those of a file."""
    from pricing.catalog.price_catalog import Catalog
    from tools.throughput.published_results import MEASUREMENTS, read_results

    names = Catalog.embedded().names
    table = read_results(Path(file), names) if file else None
    known = read_results(MEASUREMENTS, names).results
    print_text(_shipped_errors(known, names) if table is None else _file_errors(file, table, known, names))
    return DONE


def _shipped_errors(known: list[PublishedResult], names: AcceleratorNames) -> str:
    from tools.throughput import cross_validation
    from tools.throughput.error_report import format_errors

    return format_errors(cross_validation.cross_validate(known, names, _report_fold))


def _report_fold(title: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"leaving out each {title} ...", err=True)


def _file_errors(file: str, table: ResultsTable, known: list[PublishedResult], names: AcceleratorNames) -> str:
    """InvalidRequest where no result can be held against another; else its left-out rows go to standard error."""
    from tools.throughput import cross_validation
    from tools.throughput.error_report import format_errors
    from tools.throughput.published_results import EXPECTED_TABLE

    faults = [InputProblem("", f"{file}:{one.line}", f"left out: {one.reason}") for one in table.refused]
    pairs = cross_validation.prediction_pairs(table.results, names, lambda _: True)
    if not pairs:
        alone = InputProblem(
            "", file, "no two results of one benchmark in it", f"{len(table.used)} usable rows", EXPECTED_TABLE
        )
        raise InvalidRequest((*faults, alone))
    for one in table.refused:
        click.echo(f"{file}:{one.line}: left out: {one.reason}", err=True)
    compared = {_result_key(result) for _, pair in pairs for result in pair}
    # The first line of `told` names a fold; nothing is left out here.
    text = format_errors({"": cross_validation.validate_unseen(known, table.results, names)}).partition("\n")[2]
    head, tail = f"{file}, predicted by the fit of the shipped measurements", _row_count_lines(table, compared, known)
    return "\n".join((head, text.rstrip("\n"), "", *tail, ""))


def _row_count_lines(table: ResultsTable, compared: Collection[object], known: list[PublishedResult]) -> Iterator[str]:
    """Where every row went."""
    used, refused = len(table.used), len(table.refused)
    alone = sum(not any(_result_key(result) in compared for result in row) for row in table.used)
    shipped = set(known)
    seen = sum(any(result in shipped for result in row) for row in table.used)
    yield f"{used + refused:,} rows: {used:,} used, {refused:,} left out"
    if alone:
        yield f"{alone:,} of those used stand alone: no other result of the same benchmark to be held against"
    if seen:
        yield f"{seen:,} of those used are among the shipped measurements: the fit has seen them"


def _result_key(result: PublishedResult) -> tuple[str, str, float]:
    return result.cell, result.accelerator, result.count
