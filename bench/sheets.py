"""A sheet of many rows: read as XLSX and as CSV, against the plain call of the library that reads it.

`python bench/sheets.py 20000` makes and reads sheets of that many rows.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import Figure, medians, peak

ROWS = 100_000
RUNS = 3
HEADER = (
    "Workload", "Team", "Kind", "GPU", "GPUs", "Hours per month", "Utilisation (% of hours)", "Region", "Interruptible",
    "Notes",
)  # fmt: skip
PLAIN = {
    "xlsx": (
        "import python_calamine as c; "
        "rows = c.CalamineWorkbook.from_path('{path}').get_sheet_by_index(0).to_python(); "
        "assert len(rows) == {rows} + 1"
    ),
    "csv": (
        "import csv; file = open('{path}', newline='', encoding='utf-8'); rows = list(csv.reader(file)); "
        "assert len(rows) == {rows} + 1"
    ),
}
"""What the library does to give every cell once, as lists of values."""
OURS = (
    "from pathlib import Path; from planner.inputs.file_reader import read; "
    "found = read(Path('{path}').read_bytes(), '{path}'); "
    "assert found.inputs.rows_used == {rows} and not found.complaints"
)
"""Every row a workload: columns understood, each value with its cell and its unit."""


def sheets(rows: int = ROWS, runs: int = RUNS) -> Iterator[Figure]:
    """A sheet of workloads read, seconds and peak memory, against python-calamine (XLSX) and csv.reader (CSV)."""
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        for kind, write in (("xlsx", _xlsx), ("csv", _csv)):
            path = Path(folder) / f"sheet.{kind}"
            write(path, rows)
            plain, ours = (code.format(path=path, rows=rows) for code in (PLAIN[kind], OURS))
            least, whole = medians([lambda p=plain: peak(p), lambda o=ours: peak(o)], runs)  # type: ignore[misc]  # bound at once
            name = f"{rows:,} rows, {kind.upper()} of {path.stat().st_size / 1e6:,.0f} MB"
            against = "python-calamine" if kind == "xlsx" else "csv.reader"
            yield Figure(name, whole / 1000, whole / least, against, goal=5 if kind == "xlsx" else None, unit="s")
            most, ground = peak(ours), peak(plain)
            yield Figure(f"{name}: most in memory", most, most / ground, against, unit="MiB")


def _rows(count: int) -> Iterator[list[str | float]]:
    """As many workloads, no two of one name."""
    for i in range(count):
        kind, gpu = ("training", "batch", "inference")[i % 3], ("H100", "A100 80GB", "L4")[i % 3]
        region, may = ("eu-west-1", "us-east-1")[i % 2], ("yes", "no")[i % 2]
        name, team, note = f"job {i}", f"team {i % 40}", f"note on {i}"
        yield [name, team, kind, gpu, 1 + i % 8, 100 + i % 600, 0.5 + i % 50 / 100, region, may, note]


def _csv(path: Path, count: int) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows([f"{cell:.0%}" if isinstance(cell, float) else cell for cell in row] for row in _rows(count))


def _xlsx(path: Path, count: int) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet, percent = book.add_worksheet("Plan"), book.add_format({"num_format": "0%"})
        sheet.write_row(0, 0, HEADER)
        for number, row in enumerate(_rows(count), start=1):
            for column, cell in enumerate(row):
                sheet.write(number, column, cell, percent if isinstance(cell, float) else None)


if __name__ == "__main__":
    for figure in sheets(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS, 1):
        print(figure.line(), flush=True)
