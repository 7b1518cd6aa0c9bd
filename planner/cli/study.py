"""`planner study`: worked examples of published cost studies."""

from __future__ import annotations

import click


@click.command()
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="Output format; JSON has every figure unrounded.")  # fmt: skip
def command(file: str, format_name: str) -> int:
    """Reproduce the examples of FILE (JSON; "-": standard input) with the functions that plans use, compare each
    printed figure with its tolerance, and tell the full cost of the same under the planner's conventions.

    FILE holds {"examples": [...]}, each with id, title, method, inputs, expected, tolerance {"abs": ..., "rel": ...}
    and source. A case that cannot be worked (an unknown method, faulty inputs) is told with every problem and its
    place; all other cases are worked.

    \b
    Examples:
      planner study study.json
      planner study --format json study.json > figures.json

    \b
    Exit codes: 0 every printed figure is reproduced; 2 no such file, or a case that cannot be worked; 5 some figure is
    not reproduced.
    """
    from planner.cli._study_report import report_study

    return report_study(file, format_name)
