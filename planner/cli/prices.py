"""`planner prices`: the prices in use and their age, price changes, and new prices from clouds and files."""

from __future__ import annotations

import click

PROVIDER = click.option("--provider", multiple=True, metavar="NAME", help="Only this provider; repeat or use commas.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON: all values.")
CSV = click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one line per row.")
ACCEPT = click.option(
    "--accept",
    multiple=True,
    metavar="PATTERN=REASON",
    help="Accept price changes beyond the plausibility limit for these types, with a reason.",
)


@click.group()
def command() -> None:
    """Show the prices that plans use, refresh or import newer ones, and compare them.

    \b
    Examples:
      planner prices status --by family
      planner prices refresh --provider aws
      planner prices diff previous current
      planner prices history p5.48xlarge --region us-east-1
      planner prices import aws/vms.csv --as-of 2026-11-20
    """


@command.command("status", short_help="Show the coverage and age of the catalogue.")
@PROVIDER
@click.option("--by", type=click.Choice(["option", "family"]), default="option", show_default=True, help="Grouping.")
@JSON
@CSV
def status(provider: tuple[str, ...], by: str, as_json: bool, as_csv: bool) -> int:
    """Show the snapshot in use of each provider with its age and coverage, and the gaps: types without a known price.

    CSV has the coverage, JSON everything.
    """
    from planner.cli._catalog_status import show_status
    from planner.cli._tables import one_format

    return show_status(provider, by == "family", one_format(as_json, as_csv))


@command.command("diff", short_help="Compare two price lists.")
@click.argument("old")
@click.argument("new")
@PROVIDER
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Price changes to print.")
@JSON
@CSV
def diff(old: str, new: str, provider: tuple[str, ...], limit: int, as_json: bool, as_csv: bool) -> int:
    """Compare the price lists OLD and NEW row by row.

    Each is embedded (the prices of the package), current (in use), previous (the one before it), the id of a snapshot
    or its beginning, or a folder. An equal price with another date is unchanged. JSON and CSV have every row.

    \b
    Examples:
      planner prices diff embedded current
      planner prices diff previous current --provider aws --csv
    """
    from planner.cli._price_changes import show_differences
    from planner.cli._tables import one_format

    return show_differences(old, new, provider, limit, one_format(as_json, as_csv))


@command.command("history", short_help="Show the price history of one instance type.")
@click.argument("type", metavar="TYPE")
@PROVIDER
@click.option("--region", multiple=True, metavar="NAME", help="Only this region; repeat or use commas.")
@click.option("--option", multiple=True, metavar="NAME", help="Only this purchase option: its kind or full name.")
@JSON
@CSV
def history(
    type: str,  # noqa: A002  (the name of the argument)
    provider: tuple[str, ...],
    region: tuple[str, ...],
    option: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
) -> int:
    """Show the dated prices of instance type TYPE, from every stored snapshot and from superseded prices.

    A price that did not change is one line, from the first to the last day it was observed.

    \b
    Examples:
      planner prices history p5.48xlarge --region us-east-1 --option on_demand
    """
    from planner.cli._price_changes import show_history
    from planner.cli._tables import one_format

    return show_history(type, provider, region, option, one_format(as_json, as_csv))


@command.command("import", short_help="Import prices from files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--provider",
    metavar="NAME",
    help="Provider of a catalogue or price list, if its path does not name it; a new name adds a cloud of your own.",
)
@click.option("--as-of", metavar="DATE", help="Date of the prices in a catalogue or price list.")
@click.option("--source", metavar="TEXT", default="", help="Origin of the file, recorded with each price.")
@ACCEPT
def import_(
    files: tuple[str, ...], provider: str | None, as_of: str | None, source: str, accept: tuple[str, ...]
) -> int:
    """Import each FILE. Its kind is detected from its content.

    \b
      SkyPilot catalogue  catalogs/v8/<cloud>/vms.csv: on-demand and spot prices, as a new snapshot
      gpuhunt catalogue   <provider>.csv: likewise
      price list          any cloud's CSV with columns called like type, gpu, gpu count, region, price, spot price
      private prices      your rate card, used by every plan from then on
      exchange rates      dated rates, likewise

    All files are checked first: a problem in any of them stops the import. Importing a file twice has no effect.

    \b
    Examples:
      planner prices import aws/vms.csv --as-of 2026-11-20
      planner prices import catalog/azure.csv --provider azure --as-of 2026-11-20
      planner prices import price-list.csv --provider crusoe --as-of 2026-11-20 --source "crusoe.ai/pricing"
      planner prices import our-rates.csv
    """
    from planner.cli._exit_codes import DONE
    from planner.cli._price_audit import record_price_change
    from planner.cli._price_imports import import_files

    code = import_files(files, provider, as_of, source, accept)
    if code == DONE:
        record_price_change("import", files)
    return code


@command.command("refresh", short_help="Read current prices from the clouds.")
@PROVIDER
@click.option("--regions", multiple=True, metavar="LIST", help="Only these regions; repeat or use commas.")
@click.option("--endpoint", multiple=True, metavar="PROVIDER.SERVICE=URL", help="Call a service at another address.")
@ACCEPT
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=900, show_default=True,
              metavar="SECONDS", help="For each provider, waits and retries included.")  # fmt: skip
def refresh(
    provider: tuple[str, ...],
    regions: tuple[str, ...],
    endpoint: tuple[str, ...],
    accept: tuple[str, ...],
    time_limit: float,
) -> int:
    """Read offerings and prices with the credentials of this machine, check them, and write a new snapshot.

    Where a provider fails, its previous snapshot stays in use; the others are still updated. Exit code 4: some failed.

    \b
    Examples:
      planner prices refresh
      planner prices refresh --provider aws --regions us-east-1,eu-west-1
      planner prices refresh --provider aws --accept "p5.*=price cut announced in June 2025"
    """
    from planner.cli._exit_codes import DONE, NOT_REFRESHED
    from planner.cli._price_audit import record_price_change
    from planner.cli._price_refresh import refresh_all

    code = refresh_all(provider, regions, endpoint, accept, time_limit)
    if code in (DONE, NOT_REFRESHED):
        record_price_change("refresh", provider)
    return code
