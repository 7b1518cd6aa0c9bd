"""The published results of served models, checked and written into the repository's own table.

Every row keeps its source, and its date where the source prints one. Rows that are no results are named, and nothing is
written where there is one.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from planner.performance.serving.serving_results import RESULT_COLUMNS, RESULTS_FILE, read_results
from pricing.accelerator import embedded_names
from pricing.csv_tables import format_table
from pricing.errors import InvalidSnapshot
from pricing.file_replacement import write_atomically


def import_serving_results(path: Path, target: Path = RESULTS_FILE) -> dict[str, int]:
    """Counts of what was written: rows, sources, and rows without a date. A second run changes no byte.

    Raises InvalidSnapshot with every row that is no result, or that has no source, and InvalidRequest where the file is
    no table of results.
    """
    table = read_results(path, embedded_names())
    faults = [f"{path.name}:{row.line}: {row.reason}" for row in table.refused]
    faults += [f"{path.name}:{row.line}: no source" for row in table.results if not row.source]
    if faults:
        raise InvalidSnapshot(tuple(faults))
    text = path.read_bytes().decode("utf-8-sig")
    rows = [[row[name] for name in RESULT_COLUMNS] for row in csv.DictReader(io.StringIO(text, newline=""))]
    write_atomically(target, format_table(RESULT_COLUMNS, rows).encode())
    return {
        "rows": len(rows),
        "sources": len({result.source for result in table.results}),
        "without a date": sum(not result.date for result in table.results),
    }
