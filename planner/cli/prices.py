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


@click.group(short_help="Refresh, import and compare prices; show their age and coverage.")
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
    from planner.cli._catalog_options import raise_problems, select_providers
    from planner.cli._exit_codes import DONE
    from planner.cli._tables import one_format, print_text

    format_name = one_format(as_json, as_csv)

    from planner.cli import _catalog_status
    from planner.request.errors import InputProblem
    from pricing.catalog import data_folder
    from pricing.catalog.price_catalog import Catalog
    from pricing.clock import today

    catalog, faults = Catalog.current(), list[InputProblem]()
    among = select_providers(catalog, provider, faults)
    raise_problems(faults)
    report = _catalog_status.describe_catalog(catalog, data_folder.user_data_folder(), today(), among, by == "family")
    print_text(
        {"json": _catalog_status.as_json, "csv": _catalog_status.as_csv, "text": _catalog_status.as_text}[format_name](
            report
        )
    )
    return DONE


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
    from planner.cli._catalog_options import raise_problems, select_providers
    from planner.cli._exit_codes import DONE
    from planner.cli._tables import one_format, print_text

    format_name = one_format(as_json, as_csv)

    from planner.cli import _price_changes
    from planner.request.errors import InputProblem
    from pricing.catalog import data_folder
    from pricing.catalog.price_catalog import Catalog

    faults = list[InputProblem]()
    among = select_providers(Catalog.current(), provider, faults)
    raise_problems(faults)
    comparison = _price_changes.compare_price_lists(old, new, among, data_folder.user_data_folder())
    as_text = {"json": _price_changes.difference_json, "csv": _price_changes.difference_csv}.get(format_name)
    print_text(as_text(comparison) if as_text else _price_changes.difference_text(comparison, limit))
    return DONE


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
    from planner.cli._catalog_options import check_names, match_types, raise_problems, select_providers
    from planner.cli._exit_codes import DONE
    from planner.cli._tables import one_format, print_text

    format_name = one_format(as_json, as_csv)

    from planner.cli import _price_changes
    from planner.request.errors import InputProblem
    from pricing.catalog import data_folder
    from pricing.catalog.price_catalog import Catalog

    catalog, faults = Catalog.current(), list[InputProblem]()
    among = select_providers(catalog, provider, faults)
    named = match_types(catalog, type, among, faults)
    regions = check_names("--region", region, lambda text: catalog.check_region(text)[0].region, faults)
    options = check_names("--option", option, catalog.check_option, faults)
    raise_problems(faults)
    series = _price_changes.price_history(named, regions, options, data_folder.user_data_folder())
    print_text(
        {"json": _price_changes.history_json, "csv": _price_changes.history_csv, "text": _price_changes.history_text}[
            format_name
        ](series)
    )
    return DONE


@command.command("import", short_help="Import prices from files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--provider", metavar="NAME", help="Provider of a SkyPilot or gpuhunt file, if its path does not name it."
)
@click.option("--as-of", metavar="DATE", help="Date of the prices in a SkyPilot or gpuhunt file.")
@click.option("--source", metavar="TEXT", default="", help="Origin of the file, recorded with each price.")
@ACCEPT
def import_(
    files: tuple[str, ...], provider: str | None, as_of: str | None, source: str, accept: tuple[str, ...]
) -> int:
    """Import each FILE. Its kind is detected from its content.

    \b
      SkyPilot catalogue  catalogs/v8/<cloud>/vms.csv: on-demand and spot prices, as a new snapshot
      gpuhunt catalogue   <provider>.csv: likewise
      private prices      your rate card, used by every plan from then on
      exchange rates      dated rates, likewise

    All files are checked first: a problem in any of them stops the import. Importing a file twice has no effect.

    \b
    Examples:
      planner prices import aws/vms.csv --as-of 2026-11-20
      planner prices import catalog/azure.csv --provider azure --as-of 2026-11-20
      planner prices import our-rates.csv
    """
    from planner.cli._catalog_options import parse_reasons, raise_problems
    from planner.request.errors import InputProblem

    faults = list[InputProblem]()
    accepted = parse_reasons(accept, faults)
    raise_problems(faults)

    from pathlib import Path

    from planner.cli._price_imports import PriceImportOptions, import_files
    from pricing.clock import today

    return import_files([Path(file) for file in files], PriceImportOptions(provider, as_of, source, accepted), today())


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
    from planner.cli import _catalog_options
    from planner.cli._price_refresh import refresh_all
    from planner.request.errors import InputProblem
    from pricing.catalog.price_catalog import Catalog
    from pricing.refresh.price_refresh import load_adapter

    catalog, faults = Catalog.current(), list[InputProblem]()
    among = _catalog_options.select_providers(catalog, provider, faults)
    services = {name: adapter.SERVICES for name in among if (adapter := load_adapter(name))}
    if provider:
        expected = f"one of {', '.join(filter(load_adapter, catalog.providers))}, or an import"
        for name in among:
            if name not in services:
                faults.append(InputProblem("", "--provider", "has no adapter to refresh it", name, expected))
    regions_to_read = _catalog_options.regions_by_provider(catalog, regions, list(services), faults)
    called = _catalog_options.parse_endpoints(endpoint, services, faults)
    accepted = _catalog_options.parse_reasons(accept, faults)
    if regions and provider and not faults:
        listed = ", ".join(_catalog_options.split_names(regions))
        faults += [
            InputProblem("", "--regions", f"none of {name}", listed) for name in services if name not in regions_to_read
        ]
    _catalog_options.raise_problems(faults)
    selected = [name for name in services if name in regions_to_read or not regions]
    return refresh_all(selected, regions_to_read, called, accepted, time_limit)
