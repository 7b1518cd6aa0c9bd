"""`planner quota`: how much of each type the accounts may run, as a table that a request can name."""

from __future__ import annotations

import click


@click.command(short_help="Read the quotas of your accounts, for plans to be held against.")
@click.option("--provider", multiple=True, metavar="LIST", help="Only these; repeat or use commas.")
@click.option("--regions", multiple=True, metavar="LIST", help="Only these regions; repeat or use commas.")
@click.option("--endpoint", multiple=True, metavar="PROVIDER.SERVICE=URL", help="Call a service at another address.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=300, show_default=True,
              metavar="SECONDS", help="For each provider, waits and retries included.")  # fmt: skip
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the table goes.  [default: standard output]")
def command(
    provider: tuple[str, ...], regions: tuple[str, ...], endpoint: tuple[str, ...], time_limit: float, output: str
) -> int:
    """Read quotas with the credentials of this machine and write them as CSV: one line for each limit.

    A plan then tells which quota to ask for, where, how much and by which month. What cannot be read is named, with
    exit code 4; the quotas of the others are written all the same.

    \b
    Examples:
      planner quota -o quotas.csv
      planner quota --provider aws,gcp --regions us-east-1,us-central1 -o quotas.csv
      planner estimate --quotas quotas.csv review.xlsx
    """
    from planner.cli import _prices
    from planner.cli._quota import read_all, refuse_folder
    from planner.errors import Complaint
    from pricing.catalog import Catalog
    from pricing.refresh import adapter_of

    catalog, faults = Catalog.current(), refuse_folder(output)
    among = _prices.providers(catalog, provider, faults)
    services = {name: adapter.SERVICES for name in among if (adapter := adapter_of(name))}
    if provider:
        expected = f"one of {', '.join(name for name in catalog.providers if adapter_of(name))}, or a table by hand"
        faults += [Complaint("", "--provider", "has no adapter that reads quotas", name, expected)
                   for name in among if name not in services]  # fmt: skip
    wanted = _prices.regions_by_provider(catalog, regions, list(services), faults)
    called = _prices.endpoints(endpoint, services, faults)
    if regions and provider and not faults:
        faults += [Complaint("", "--regions", f"none of {name}", ", ".join(_prices.parts(regions)))
                   for name in services if name not in wanted]  # fmt: skip
    _prices.raise_all(faults)
    asked = [name for name in services if name in wanted or not regions]
    return read_all(asked, wanted, called, time_limit, output)
