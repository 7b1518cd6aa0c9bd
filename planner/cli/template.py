"""`planner template`: an empty workbook to fill in."""

from __future__ import annotations

import click


@click.command()
@click.option("-o", "--output", "path", required=True, metavar="FILE.xlsx", help="The workbook to write.")
@click.option("--start", metavar="YYYY-MM", help="First month column.  [default: the next month]")
@click.option("--months", metavar="N", help="Number of month columns, 0 to 60.  [default: 0]")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(path: str, start: str | None, months: str | None, *, force: bool) -> int:
    """Write a workbook with the columns that `planner estimate` reads, to be filled in: one row per workload.

    Cells with a fixed set of values offer a list; every header has a note with its meaning and unit. One row is marked
    as an example and is ignored when the file is read. The sheet Assumptions takes values that replace defaults.

    \b
    Examples:
      planner template -o review.xlsx
      planner template --start 2027-01 --months 12 -o review.xlsx

    \b
    Exit codes: 0 written; 2 invalid input (every problem, no files written); 1 internal error; 130 interrupted.
    """
    from planner.cli._template_workbook import write_template

    return write_template(path, start, months, force=force)
