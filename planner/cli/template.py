"""`planner template`: an empty workbook to fill in."""

from __future__ import annotations

import click


@click.command(short_help="Write an empty workbook to fill in.")
@click.option("-o", "--output", "path", required=True, metavar="FILE.xlsx", help="The workbook to write.")
@click.option("--start", metavar="YYYY-MM", help="First of the month columns.  [default: the next month]")
@click.option("--months", metavar="N", help="Number of month columns, 0 to 60.  [default: 0]")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(path: str, start: str | None, months: str | None, *, force: bool) -> int:
    """Write a workbook with the columns that `planner estimate` reads, to be filled in: one row a workload.

    Cells with a choice offer a list; every header has a note on what it means and in which unit. One row is an example:
    it is marked as such and left out when the file is read. The sheet Assumptions takes values that replace defaults.

    \b
    Examples:
      planner template -o review.xlsx
      planner template --start 2027-01 --months 12 -o review.xlsx

    \b
    Exit codes: 0 written; 2 asked wrongly (every fault, nothing written); 1 a bug; 130 interrupted.
    """
    from planner.cli._template_workbook import write_template

    return write_template(path, start, months, force=force)
