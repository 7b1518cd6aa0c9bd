"""`planner usage`: bills or measured use -> the accelerators in use, their cost, and what is not used."""

from __future__ import annotations

import click


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--tag",
    metavar="KEY",
    help="Tag, column or label whose values name the workloads.  [default: the best match of the usual ones]",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row for each month and kind of usage as CSV.")
def command(files: tuple[str, ...], tag: str | None, *, as_json: bool, as_csv: bool) -> int:
    """Sum the accelerators of bills, or of what a cluster measured, by month, workload and type.

    FILE is a FOCUS, AWS CUR, Azure, Google Cloud or Oracle export: CSV (also .gz), Parquet or JSON lines, recognised by
    its columns. Several files are read together, such as the parts or the months of one export. Every row is counted:
    as accelerator usage, as other spend with its sum, or as rejected with the reason. Billed (cash) and effective
    (amortised) cost are two views of the same spend and are never added; nor are currencies.

    Or FILE is output of Slurm's sacct, DCGM metrics from Prometheus (JSON or CSV), or allocations of OpenCost (JSON or
    CSV): accelerator-hours by month and hour of the week, how busy they were, how long runs waited, and what was lost.

    \b
    Examples:
      planner usage focus-2026-10.csv
      planner usage --tag team cur-2026-09.csv.gz cur-2026-10.csv.gz
      planner usage --csv export.parquet > accelerators.csv
      planner usage --tag JobName sacct-2026-10.txt
      planner estimate --months 12 --growth 0.03 focus-2026-10.csv

    \b
    Exit codes: 0 read (even if it has no accelerators); 2 neither a bill nor measured use, or invalid input.
    """
    from planner.cli._tables import one_format
    from planner.cli._usage_report import report_usage

    return report_usage(files, tag or "", one_format(as_json, as_csv))
