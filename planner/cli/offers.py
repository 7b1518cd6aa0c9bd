"""`planner offers`: the offerings of the catalogue with their prices."""

from __future__ import annotations

import click

from planner.cli._plan_options import PRICE_FILE_OPTIONS, with_options


class OfferFilterCommand(click.Command):
    """A command with one option per field of an offer query, built on first use."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        from planner.cli._offer_listings import filter_options

        return [*filter_options(), *super().get_params(ctx)]


@click.command(cls=OfferFilterCommand)
@with_options(PRICE_FILE_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: all values, sources and gaps.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one line per price.")
def command(
    as_json: bool,
    as_csv: bool,
    exchange_rates: str | None,
    private_prices: str | None,
    **filters: bool | tuple[str, ...],
) -> None:
    """List every matching offering at each of its known prices, with source and date.

    Options with names may be repeated or take comma-separated names (any of them). Values per node count all its
    accelerators; a slice is a fraction (1/6 of an A10). Rows without the sort key are last and are counted. Matching
    offerings without a known price are listed below the table as gaps: they are not free.

    \b
    Examples:
      planner offers --accelerator H100 --count 8 --sort price
      planner offers --accelerator H100,H200 --option spot --region us-east-1,us-central1
      planner offers --min-memory-gib 80 --sort price_per_rate --precision fp8 --limit 10
      planner offers --type g6f.xlarge --json
    """
    from planner.cli._offer_listings import show_offers
    from planner.cli._tables import one_format

    format_name = one_format(as_json, as_csv)
    texts = {name: ("true",) if isinstance(value, bool) else value for name, value in filters.items() if value}
    show_offers(texts, (private_prices, exchange_rates), format_name)
