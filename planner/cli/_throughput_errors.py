"""Behind `planner throughput --errors`: errors of predictions on a table of results, as text, CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli._exit_codes import DONE
from planner.cli._tables import print_report
from planner.performance.throughput.published_results import (
    EXPECTED_TABLE,
    MEASUREMENTS,
    PublishedResult,
    ResultsTable,
    is_mixed,
    read_results,
    setups_of,
)
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.text_tables import align_columns

if TYPE_CHECKING:
    from planner.performance.throughput.result_errors import PredictionErrors
    from planner.performance.throughput.result_pairs import ResultPair

HEAD = ("question", "cases", "groups", "median %", "p90 %", "ratio median %", "ratio p90 %", "in 80 % interval")
COLUMNS = ("title", "cases", "groups", "median", "p90", "covered", "ratio_median", "ratio_p90")
TITLES = {
    "accelerator": "another accelerator, same count",
    "same_architecture": "- same architecture",
    "same_vendor": "- across architectures",
    "across_vendors": "- across vendors",
    "fp32": "- FP32",
    "training": "- training",
    "llm_training": "- training of language models",
    "inference": "- inference in batches",
    "prefill": "- prefill, one stream",
    "decode": "- decode, one stream",
    "weak": "more of the same, batch of a device fixed",
    "strong": "more of the same, job fixed: throughput",
    "time_to_train": "more of the same, job fixed: time to train",
    "replicas": "more independent replicas",
    "stream": "more accelerators for one stream",
    "both": "accelerator and count",
}


def report_errors(file: str, format_name: str) -> int:
    """Print the errors of the shipped fit on the results of a file; InvalidRequest where no two can be compared."""
    from planner.performance.throughput.result_errors import file_cases, summarise_cases

    names = Catalog.embedded().names
    table = read_results(Path(file), names)
    pairs, cases = file_cases(table.results, names)
    if not pairs:
        problems = [InputProblem("", f"{file}:{row.line}", f"left out: {row.reason}") for row in table.refused]
        used = f"{len(table.used)} usable rows"
        alone = InputProblem("", file, "no two results of one benchmark in it", used, EXPECTED_TABLE)
        raise InvalidRequest((*problems, alone))
    summaries = summarise_cases(cases)
    shipped = set(read_results(MEASUREMENTS, names).results)
    lines = [*_table_lines(summaries), "", *_row_lines(file, table, pairs, shipped)]
    records = [asdict(one) for one in summaries]
    print_report(format_name, lines, COLUMNS, records, lambda: _document(records, table, pairs, shipped))
    return DONE


def _table_lines(summaries: Sequence[PredictionErrors]) -> list[str]:
    rows = [
        (TITLES[one.title], f"{one.cases:,}", str(one.groups), *map(_format_percent, (one.median, one.p90)),
         *map(_format_percent, (one.ratio_median, one.ratio_p90)), f"{one.covered:.0%}")
        for one in summaries
    ]  # fmt: skip
    return align_columns(HEAD, rows, HEAD[1:])


def _format_percent(fraction: float) -> str:
    return f"{100 * fraction:.1f}"


def _row_lines(
    file: str, table: ResultsTable, pairs: Sequence[ResultPair], shipped: set[PublishedResult]
) -> Iterator[str]:
    counts = count_rows(table, pairs, shipped)
    yield f"{format_count(counts['rows'], 'row')}: {counts['used']:,} used, {counts['left_out']:,} left out"
    if counts["alone"]:
        yield f"{counts['alone']:,} of those used have no other result to compare with"
    if counts["mixed"]:
        yield f"{counts['mixed']:,} results differ too much from others of their setup: they mix several setups"
    if counts["shipped"]:
        yield f"{counts['shipped']:,} of those used are among the shipped measurements: the fit has seen them"
    yield from (f"  {file}:{row.line}: left out: {row.reason}" for row in table.refused)


def count_rows(table: ResultsTable, pairs: Sequence[ResultPair], shipped: set[PublishedResult]) -> dict[str, int]:
    """Rows in all, used and left out; of those used, how many have no partner, mix setups, or are shipped."""
    compared = {_result_key(result) for pair in pairs for result in (pair.first, pair.second)}
    return {
        "rows": len(table.used) + len(table.refused),
        "used": len(table.used),
        "left_out": len(table.refused),
        "alone": sum(not any(_result_key(result) in compared for result in row) for row in table.used),
        "mixed": sum(len(setup) for setup in setups_of(table.results) if is_mixed(setup)),
        "shipped": sum(any(result in shipped for result in row) for row in table.used),
    }


def _result_key(result: PublishedResult) -> tuple[str, str, float]:
    return result.cell, result.accelerator, result.count


def _document(
    records: Sequence[dict[str, Any]], table: ResultsTable, pairs: Sequence[ResultPair], shipped: set[PublishedResult]
) -> dict[str, object]:
    refused = [asdict(row) for row in table.refused]
    return {"errors": records, "rows": count_rows(table, pairs, shipped), "refused": refused}
