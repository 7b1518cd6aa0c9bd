"""`planner usage`: billing exports -> the accelerators in use, what they cost, what was paid for and not used."""

from __future__ import annotations

import click


@click.command(short_help="Read billing exports: the accelerators in use and what they cost.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--tag", metavar="KEY", help="The tag that tells workloads apart.  [default: the usual one that fits best]"
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row for each month and kind of usage as CSV.")
def command(files: tuple[str, ...], tag: str | None, *, as_json: bool, as_csv: bool) -> int:
    """Tell what accelerators a billing export has, by month, workload, account, region, type and way of paying.

    FILE is a FOCUS, AWS CUR, Azure, Google Cloud or Oracle export: CSV (also .gz), Parquet or JSON lines; which one it
    is, its columns tell. Several are read together, such as the parts or the months of one export. Every row is used,
    told apart with its sum, or refused with its reason. Billed (cash) and effective (amortised) cost are two views of
    one spend and are never added; nor are currencies.

    \b
    Examples:
      planner usage focus-2026-10.csv
      planner usage --tag team cur-2026-09.csv.gz cur-2026-10.csv.gz
      planner usage --csv export.parquet > accelerators.csv
      planner estimate --months 12 --growth 0.03 focus-2026-10.csv

    \b
    Exit codes: 0 read (also where it has no accelerators); 2 no bill, or asked wrongly (every fault with its place).
    """
    from planner.cli._tables import one_format
    from planner.cli._usage_report import report_usage

    return report_usage(files, tag or "", one_format(as_json, as_csv))
