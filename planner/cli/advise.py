"""`planner advise`: a shortlist of hardware for work told in a few words or figures."""

from __future__ import annotations

import click


@click.command()
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@click.option("--memory-gib", metavar="N", help="Memory of each accelerator, at least.")
@click.option("--bandwidth-gbs", metavar="N", help="Memory bandwidth of each accelerator in GB/s, at least.")
@click.option("--tflops", metavar="N", help="Dense peak of each accelerator at the precision, at least.")
@click.option("--cpus", metavar="N", help="Virtual processors of the node, at least.")
@click.option("--host-memory-gib", metavar="N", help="Main memory of the node, at least.")
@click.option("--precision", type=click.Choice(["fp32", "tf32", "bf16", "fp16", "fp8", "fp4"]), default="bf16",
              show_default=True, help="Precision of the arithmetic.")  # fmt: skip
@click.option("--family", type=click.Choice(["training", "llm_training", "inference", "prefill", "decode"]),
              default="training", show_default=True, help="Kind of work that speeds are compared at.")  # fmt: skip
@click.option("--limit", metavar="N", help="Lines of each list.  [default: 5]")
@click.option("--format", "format_name", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True,
              help="Output format.")  # fmt: skip
def command(
    words: tuple[str, ...], precision: str, family: str, limit: str | None, format_name: str, **figures: str | None
) -> int:
    """List the cards, workstations, servers and cloud types that are enough for the work, by the cost of an hour of the
    work of an A100, with ECC and the limits of licence and driver; for light work machines with CPUs only, too.

    WORDS name a tier: light, complex or demanding. Figures replace those of the tier. What is bought costs its list
    price over its life, and power, at work around the clock.

    \b
    Examples:
      planner advise light inference
      planner advise very demanding training --memory-gib 96
      planner advise --memory-gib 24 --cpus 16 --host-memory-gib 64
    """
    from planner.cli._hardware_lists import report_advice

    return report_advice(words, precision, family, limit, figures, format_name)
