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
    from planner.cli._prices import providers, raise_all
    from planner.cli._run import DONE
    from planner.cli._tables import one_format, show

    wanted = one_format(as_json, as_csv)

    from planner.cli import _status
    from planner.clock import today
    from planner.errors import Complaint
    from pricing import local
    from pricing.catalog import Catalog

    catalog, faults = Catalog.current(), list[Complaint]()
    among = providers(catalog, provider, faults)
    raise_all(faults)
    found = _status.status(catalog, local.folder(), today(), among, by == "family")
    show({"json": _status.as_json, "csv": _status.as_csv, "text": _status.as_text}[wanted](found))
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
    from planner.cli._prices import providers, raise_all
    from planner.cli._run import DONE
    from planner.cli._tables import one_format, show

    wanted = one_format(as_json, as_csv)

    from planner.cli import _lists
    from planner.errors import Complaint
    from pricing import local
    from pricing.catalog import Catalog

    faults = list[Complaint]()
    among = providers(Catalog.current(), provider, faults)
    raise_all(faults)
    found = _lists.difference(old, new, among, local.folder())
    as_text = {"json": _lists.difference_json, "csv": _lists.difference_csv}.get(wanted)
    show(as_text(found) if as_text else _lists.difference_text(found, limit))
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
    from planner.cli._prices import checked, providers, raise_all, types
    from planner.cli._run import DONE
    from planner.cli._tables import one_format, show

    wanted = one_format(as_json, as_csv)

    from planner.cli import _lists
    from planner.errors import Complaint
    from pricing import local
    from pricing.catalog import Catalog

    catalog, faults = Catalog.current(), list[Complaint]()
    among = providers(catalog, provider, faults)
    named = types(catalog, type, among, faults)
    regions = checked("--region", region, lambda text: catalog.check_region(text)[0].region, faults)
    options = checked("--option", option, catalog.check_option, faults)
    raise_all(faults)
    found = _lists.history(named, regions, options, local.folder())
    show({"json": _lists.history_json, "csv": _lists.history_csv, "text": _lists.history_text}[wanted](found))
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
      a folder            fact tables: makes the catalogue that is shipped

    All files are read and judged first; one fault and nothing is written. Importing a file again changes nothing.

    \b
    Examples:
      planner prices import aws/vms.csv --as-of 2026-11-20
      planner prices import catalog/azure.csv --provider azure --as-of 2026-11-20
      planner prices import our-rates.csv
    """
    from planner.cli._prices import raise_all, reasons
    from planner.errors import Complaint

    faults = list[Complaint]()
    accepted = reasons(accept, faults)
    raise_all(faults)

    from pathlib import Path

    from planner.cli._import import About, import_files
    from planner.clock import today

    return import_files([Path(file) for file in files], About(provider, as_of, source, accepted), today())


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
    from planner.cli import _prices
    from planner.cli._refresh import refresh_all
    from planner.errors import Complaint
    from pricing.catalog import Catalog
    from pricing.refresh import adapter_of

    catalog, faults = Catalog.current(), list[Complaint]()
    among = _prices.providers(catalog, provider, faults)
    services = {name: adapter.SERVICES for name in among if (adapter := adapter_of(name))}
    if provider:
        expected = f"one of {', '.join(filter(adapter_of, catalog.providers))}, or an import"
        for name in among:
            if name not in services:
                faults.append(Complaint("", "--provider", "it has no adapter to refresh it", name, expected))
    wanted = _prices.regions_by_provider(catalog, regions, list(services), faults)
    called = _prices.endpoints(endpoint, services, faults)
    accepted = _prices.reasons(accept, faults)
    if regions and provider and not faults:
        listed = ", ".join(_prices.parts(regions))
        faults += [Complaint("", "--regions", f"none of {name}", listed) for name in services if name not in wanted]
    _prices.raise_all(faults)
    asked = [name for name in services if name in wanted or not regions]
    return refresh_all(asked, wanted, called, accepted, time_limit)
