"""`planner throughput`: the throughput of workloads on every accelerator, and the most valuable next measurements."""

from __future__ import annotations

import click

from planner.cli._plan_options import PRICE_FILE_OPTIONS, with_options


@click.command()
@click.argument("file", default="", metavar="[FILE]")
@click.option("--workload", "workloads", metavar="LIST", multiple=True, help="Only these; repeat or use commas.")
@click.option("--accelerator", "accelerators", metavar="LIST", multiple=True, help="Only these; repeat or use commas.")
@click.option(
    "--count",
    "counts",
    metavar="LIST",
    multiple=True,
    help="Also estimate gangs of these sizes, besides the stated or measured one.",
)
@click.option(
    "--providers",
    metavar="LIST",
    multiple=True,
    help="The only providers to rent from.  [default: all but those on request]",
)
@click.option("--regions", metavar="LIST", multiple=True, help="The only regions to rent in.  [default: all]")
@with_options(PRICE_FILE_OPTIONS)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also list accelerators that cannot be rented or used, with the reason (JSON and CSV always do).",
)
@click.option("--errors", "errors_file", metavar="FILE",
              help="Instead: errors of predictions on FILE, a table of results.")  # fmt: skip
@click.option("--format", "format_name", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True,
              help="Output format.")  # fmt: skip
def command(
    file: str,
    workloads: tuple[str, ...],
    accelerators: tuple[str, ...],
    counts: tuple[str, ...],
    format_name: str,
    errors_file: str | None,
    *,
    everything: bool,
    **options: tuple[str, ...] | str | None,
) -> int:
    """Print, for each workload of FILE, the throughput on every accelerator with its 80 % interval and its basis, the
    lowest hourly price, and the further measurements that have the highest expected value.

    The value of a measurement is the expected saving over the work of the plan, should it change the choice of
    accelerator, less one hour of rent of whole nodes.

    \b
    Examples:
      planner throughput job.yaml
      planner throughput --all --count 8,64 job.yaml
      planner throughput --errors results.csv
    """
    if errors_file is not None:
        from planner.cli._throughput_errors import report_errors

        return report_errors(errors_file, format_name)
    from planner.cli._throughput_tables import report_throughput

    return report_throughput(file, workloads, accelerators, counts, options, format_name, everything=everything)
