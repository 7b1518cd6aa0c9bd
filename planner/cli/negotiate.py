"""`planner negotiate`: what to ask vendors for."""

from __future__ import annotations

import click

from planner.cli._plan_options import BILL_OPTIONS, READING_OPTIONS, REQUEST_OPTIONS, with_options


@click.command()
@click.argument("file", default="-", metavar="[FILE]")
@with_options(REQUEST_OPTIONS, READING_OPTIONS, BILL_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print the prices as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the prices as CSV.")
def command(
    file: str,
    *,
    as_json: bool,
    as_csv: bool,
    **options: str | bool | tuple[str, ...] | None,
) -> int:
    """Plan the workloads in FILE, and tell for each price that the plan or its runner-up pays, for commitments without
    a known price and for hardware: the price from which another strategy is the choice, and the saving at stake.

    Each price is confirmed just below and above, with new solves where known plans and bounds leave the choice open, so
    it takes several times as long as `planner estimate`. All other prices are kept.

    \b
    Examples:
      planner negotiate --months 36 review.xlsx
      planner negotiate --answers answers.yaml --start 2026-12 teams.csv
      planner negotiate --providers aws --regions us-west-2 --months 36 service.yaml --csv > ask.csv

    \b
    Exit codes: 0 done; 2 invalid input (every problem with its place); 3 no feasible plan.
    """
    from planner.cli._estimate_settings import InputFileOptions
    from planner.cli._negotiation_report import report_negotiation
    from planner.cli._tables import one_format

    inputs = InputFileOptions.take_from(options)
    return report_negotiation(file, options, inputs, one_format(as_json, as_csv))
