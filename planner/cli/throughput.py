"""`planner throughput`: how fast a workload would be on every accelerator, and what to measure next."""

from __future__ import annotations

import click

from planner.cli.estimate import CARD_HELP, RATES_HELP


@click.command(short_help="Tell how fast a job would be on every accelerator, how sure that is, what to measure next.")
@click.argument("file", default="", metavar="[FILE]")
@click.option("--workload", "workloads", metavar="LIST", multiple=True, help="Only these; repeat or use commas.")
@click.option("--accelerator", "accelerators", metavar="LIST", multiple=True, help="Only these; repeat or use commas.")
@click.option(
    "--count", "counts", metavar="LIST", multiple=True, help="Gangs of so many besides the one stated or measured."
)
@click.option("--providers", metavar="LIST", multiple=True, help="The only providers to rent from.  [default: all]")
@click.option("--regions", metavar="LIST", multiple=True, help="The only regions to rent in.  [default: all]")
@click.option("--exchange-rates", metavar="FILE", help=f"{RATES_HELP}  [default: the data folder's]")
@click.option("--private-prices", metavar="FILE", help=f"{CARD_HELP}  [default: the data folder's]")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also what cannot be rented or used, each with the reason (JSON and CSV always).",
)
@click.option("--format", "format_name", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True,
              help="How it is printed.")  # fmt: skip
def command(
    file: str,
    workloads: tuple[str, ...],
    accelerators: tuple[str, ...],
    counts: tuple[str, ...],
    format_name: str,
    *,
    everything: bool,
    **options: tuple[str, ...] | str | None,
) -> int:
    """Tell, for each workload of FILE, the throughput on every accelerator with its 80 % interval, where it comes from,
    and the cheapest price by the hour; and which further measurement is worth most.

    A measurement is worth what it could save over the plan's work if it changed the choice of accelerator, less an hour
    of rent of whole nodes.

    \b
    Examples:
      planner throughput job.yaml
      planner throughput --all --count 8,64 job.yaml
    """
    from planner.cli._throughput_tables import ThroughputSelection, report_throughput

    return report_throughput(
        file, options, ThroughputSelection(workloads, accelerators, counts, everything), format_name
    )
