"""`planner negotiate`: what to ask vendors for."""

from __future__ import annotations

import click


@click.command(short_help="Tell which price of which vendor would change the plan's choice.")
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--months", metavar="N", help="Months to plan, 1 to 120.  [default: the file's, else 12]")
@click.option("--start", metavar="YYYY-MM", help="First month of the plan.  [default: the file's, else the next month]")
@click.option("--as-of", metavar="YYYY-MM-DD", help="Date of the plan.  [default: today]")
@click.option("--strategies", metavar="LIST", multiple=True, help="Strategies to plan.  [default: all three]")
@click.option("--providers", metavar="LIST", multiple=True, help="The only providers to rent from.")
@click.option("--regions", metavar="LIST", multiple=True, help="The only regions to rent in.  [default: all]")
@click.option("--currency", metavar="CODE", help="Currency of the plan.  [default: the file's, else USD]")
@click.option("--exchange-rates", metavar="FILE", help="CSV of dated exchange rates.  [default: the data folder's]")
@click.option("--private-prices", metavar="FILE", help="CSV of your negotiated prices.  [default: the data folder's]")
@click.option("--assumptions", metavar="FILE", help="YAML or JSON of assumption names and values.")
@click.option("--setup", metavar="FILE", help="YAML or JSON of existing hardware, quotes, site, finance and limits.")
@click.option("--effort", metavar="LEVEL", help="How long to search: quick, standard or proof.")
@click.option("--json", "as_json", is_flag=True, help="Print the prices as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the prices as CSV.")
def command(
    file: str,
    exchange_rates: str | None,
    private_prices: str | None,
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
      planner negotiate --providers aws --regions us-west-2 --months 36 service.yaml --csv > ask.csv

    \b
    Exit codes: 0 done; 2 invalid input (every problem with its place); 3 no feasible plan.
    """
    from planner.cli._negotiation_report import report_negotiation
    from planner.cli._tables import one_format

    return report_negotiation(file, options, (private_prices, exchange_rates), one_format(as_json, as_csv))
