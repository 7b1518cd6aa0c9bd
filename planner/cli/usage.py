"""`planner usage`: billing exports -> the accelerators in use, their cost, and unused commitments."""

from __future__ import annotations

import click


@click.command(short_help="Read billing exports: the accelerators in use and what they cost.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--tag", metavar="KEY", help="Tag whose values name the workloads.  [default: the best match of the usual ones]"
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row for each month and kind of usage as CSV.")
def command(files: tuple[str, ...], tag: str | None, *, as_json: bool, as_csv: bool) -> int:
    """Sum the accelerators of billing exports by month, workload, account, region, type and purchase option.

    FILE is a FOCUS, AWS CUR, Azure, Google Cloud or Oracle export: CSV (also .gz), Parquet or JSON lines, recognised by
    its columns. Several files are read together, such as the parts or the months of one export. Every row is counted:
    as accelerator usage, as other spend with its sum, or as rejected with the reason. Billed (cash) and effective
    (amortised) cost are two views of the same spend and are never added; nor are currencies.

    \b
    Examples:
      planner usage focus-2026-10.csv
      planner usage --tag team cur-2026-09.csv.gz cur-2026-10.csv.gz
      planner usage --csv export.parquet > accelerators.csv
      planner estimate --months 12 --growth 0.03 focus-2026-10.csv

    \b
    Exit codes: 0 read (even if it has no accelerators); 2 not a billing export, or invalid input (every problem).
    """
    from planner.cli._tables import one_format
    from planner.cli._usage_report import report_usage

    return report_usage(files, tag or "", one_format(as_json, as_csv))
