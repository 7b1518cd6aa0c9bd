"""`planner quota`: the quotas of the accounts, as a table that a request can refer to."""

from __future__ import annotations

import click


@click.command()
@click.option("--provider", multiple=True, metavar="LIST", help="Only these providers; repeat or use commas.")
@click.option("--regions", multiple=True, metavar="LIST", help="Only these regions; repeat or use commas.")
@click.option("--endpoint", multiple=True, metavar="PROVIDER.SERVICE=URL", help="Call a service at another address.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=300, show_default=True,
              metavar="SECONDS", help="For each provider, waits and retries included.")  # fmt: skip
@click.option("-o", "--output", default="-", metavar="FILE", help="File to write.  [default: standard output]")
def command(
    provider: tuple[str, ...], regions: tuple[str, ...], endpoint: tuple[str, ...], time_limit: float, output: str
) -> int:
    """Read quotas with the credentials of this machine and write them as CSV: one line per quota.

    A plan then lists the quota increases to request: where, how much and by which month. Parts that cannot be read are
    listed, with exit code 4; the other quotas are still written.

    \b
    Examples:
      planner quota -o quotas.csv
      planner quota --provider aws,gcp --regions us-east-1,us-central1 -o quotas.csv
      planner estimate --quotas quotas.csv review.xlsx
    """
    from planner.cli._quota_tables import read_quotas

    return read_quotas(provider, regions, endpoint, time_limit, output)
