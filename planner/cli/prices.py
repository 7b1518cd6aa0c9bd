"""`planner prices`: what is in use and how old it is, what changed, and new prices from clouds and files."""

from __future__ import annotations

import click

PROVIDER = click.option("--provider", multiple=True, metavar="NAME", help="Only this provider; repeat or use commas.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON: all figures.")
CSV = click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one line a row.")
ACCEPT = click.option(
    "--accept",
    multiple=True,
    metavar="PATTERN=REASON",
    help="Let prices of these types move past the band, for this reason.",
)


@click.group(short_help="Refresh, import and compare prices; tell how old they are and what they cover.")
def command() -> None:
    """Tell which prices plans use, bring newer ones, and show what changed.

    \b
    Examples:
      planner prices status --by family
      planner prices refresh --provider aws
      planner prices diff previous current
      planner prices history p5.48xlarge --region us-east-1
      planner prices import aws/vms.csv --as-of 2026-11-20
    """


@command.command("status", short_help="What the catalogue covers and how old it is.")
@PROVIDER
@click.option("--by", type=click.Choice(["option", "family"]), default="option", show_default=True, help="Grouping.")
@JSON
@CSV
def status(provider: tuple[str, ...], by: str, as_json: bool, as_csv: bool) -> int:
    """The snapshot in use of each provider with its age, what it covers, and the gaps: what no price is known for.

    The CSV holds the coverage, the JSON everything.
    """
    from planner.cli._catalog_options import raise_problems, select_providers
    from planner.cli._exit_codes import DONE
    from planner.cli._tables import one_format, print_text

    wanted = one_format(as_json, as_csv)

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
        {"json": _catalog_status.as_json, "csv": _catalog_status.as_csv, "text": _catalog_status.as_text}[wanted](
            report
        )
    )
    return DONE


@command.command("diff", short_help="What changed between two price lists, and by how much.")
@click.argument("old")
@click.argument("new")
@PROVIDER
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Movers that are shown.")
@JSON
@CSV
def diff(old: str, new: str, provider: tuple[str, ...], limit: int, as_json: bool, as_csv: bool) -> int:
    """Compare the price lists OLD and NEW: row by row, by key.

    Each is embedded (what is shipped), current (in use), previous (the one before it), the id of a snapshot or the
    beginning of one, or a folder. An equal price of another date is the same. JSON and CSV hold every row.

    \b
    Examples:
      planner prices diff embedded current
      planner prices diff previous current --provider aws --csv
    """
    from planner.cli._catalog_options import raise_problems, select_providers
    from planner.cli._exit_codes import DONE
    from planner.cli._tables import one_format, print_text

    wanted = one_format(as_json, as_csv)

    from planner.cli import _price_changes
    from planner.request.errors import InputProblem
    from pricing.catalog import data_folder
    from pricing.catalog.price_catalog import Catalog

    faults = list[InputProblem]()
    among = select_providers(Catalog.current(), provider, faults)
    raise_problems(faults)
    comparison = _price_changes.compare_price_lists(old, new, among, data_folder.user_data_folder())
    as_text = {"json": _price_changes.difference_json, "csv": _price_changes.difference_csv}.get(wanted)
    print_text(as_text(comparison) if as_text else _price_changes.difference_text(comparison, limit))
    return DONE


@command.command("history", short_help="How the prices of one type moved.")
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
    """The dated prices of instance type TYPE, from every snapshot kept here and from superseded prices.

    A price that did not change is one line, from the first to the last day it was seen.

    \b
    Examples:
      planner prices history p5.48xlarge --region us-east-1 --option on_demand
    """
    from planner.cli._catalog_options import check_names, match_types, raise_problems, select_providers
    from planner.cli._exit_codes import DONE
    from planner.cli._tables import one_format, print_text

    wanted = one_format(as_json, as_csv)

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
            wanted
        ](series)
    )
    return DONE


@command.command("import", short_help="Take in prices from files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--provider", metavar="NAME", help="Whose prices a SkyPilot or gpuhunt file holds, if not in its path.")
@click.option("--as-of", metavar="DATE", help="Of which day its prices are; the file carries none.")
@click.option("--source", metavar="TEXT", default="", help="Where it came from; written beside each price.")
@ACCEPT
def import_(
    files: tuple[str, ...], provider: str | None, as_of: str | None, source: str, accept: tuple[str, ...]
) -> int:
    """Take in each FILE; what it is, is told from its content.

    \b
      SkyPilot catalogue  catalogs/v8/<cloud>/vms.csv: on demand and spot, into a new snapshot
      gpuhunt catalogue   <provider>.csv: the same
      private prices      a rate card of your own, used by every plan from then on
      exchange rates      dated rates, the same

    All files are read and judged first; one fault and nothing is written. Importing a file again changes nothing.

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


@command.command("refresh", short_help="Read the live prices of the clouds.")
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

    Whatever fails leaves what was in use; the other providers land all the same. Exit code 4 names what failed.

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
                faults.append(InputProblem("", "--provider", "it has no adapter to refresh it", name, expected))
    wanted = _catalog_options.regions_by_provider(catalog, regions, list(services), faults)
    called = _catalog_options.parse_endpoints(endpoint, services, faults)
    accepted = _catalog_options.parse_reasons(accept, faults)
    if regions and provider and not faults:
        listed = ", ".join(_catalog_options.split_names(regions))
        faults += [InputProblem("", "--regions", f"none of {name}", listed) for name in services if name not in wanted]
    _catalog_options.raise_problems(faults)
    selected = [name for name in services if name in wanted or not regions]
    return refresh_all(selected, wanted, called, accepted, time_limit)
