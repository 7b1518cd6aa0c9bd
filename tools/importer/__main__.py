"""`python -m tools.importer FOLDER`: builds the catalogue that the package ships from a folder of fact tables.

With `--serving FILE.csv` it takes over published results of served models instead (tools.importer.serving_results).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from pricing.catalog.price_catalog import ROOT
from pricing.errors import InvalidSnapshot
from tools.importer import ImportReport, import_facts
from tools.importer.serving_results import import_serving_results


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.importer", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("folder", type=Path, nargs="?", help="folder with the fact tables")
    what.add_argument("--serving", type=Path, metavar="FILE.csv", help="table of results of served models")
    options = parser.parse_args()
    try:
        if options.serving is not None:
            counts = import_serving_results(options.serving)
            sys.stdout.write("".join(f"{count:,} {name}\n" for name, count in counts.items()))
            return 0
        report = import_facts(options.folder, ROOT)
    except InvalidSnapshot as error:
        sys.stderr.write("".join(f"{fault}\n" for fault in error.faults))
        return 2
    sys.stdout.write("".join(f"{line}\n" for line in import_report_lines(report)))
    return 0


def import_report_lines(report: ImportReport) -> Iterator[str]:
    """The counts of an import of fact tables, one per line."""
    for field in fields(report):
        value = getattr(report, field.name)
        text = f"{value:,}" if isinstance(value, int) else str(value)
        if isinstance(value, tuple):
            text = ", ".join(value) or "none"
        elif isinstance(value, dict):
            text = f"{sum(value.values()):,}"
        yield f"{field.name.replace('_', ' '):12} {text}"
        if isinstance(value, dict):
            yield from (f"  {count:6,} {reason}" for reason, count in value.items())


if __name__ == "__main__":
    sys.exit(main())
