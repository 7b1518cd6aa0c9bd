"""`python -m tests.validation`: published worked examples from their own inputs, with the cost in full beside them."""

from __future__ import annotations

import click


@click.command(short_help="Reproduce published worked examples, with the full cost beside each.")
@click.argument("file", metavar="FILE.json")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How it is printed.")  # fmt: skip
def command(file: str, format_name: str) -> int:
    """Work published examples again from their own inputs and hold every printed figure to its tolerance.

    Beside each stands what the same thing costs in full under this planner's conventions (8,760 hours a year; network,
    power x PUE, colocation, staff and support, resale, discounting), and what the study leaves out.

    \b
    FILE.json ("-" is standard input) holds {"examples": [...]}, each with id, title, method, inputs, expected,
    tolerance {"abs": ..., "rel": ...} and source.

    \b
    Examples:
      python -m tests.validation examples.json
      python -m tests.validation --format json examples.json

    \b
    Exit codes:
      0  every printed figure is reproduced
      2  no such file of examples: every fault with its place
      5  some figure is not reproduced
    """
    from tests.validation.study_report import study

    return study(file, format_name)
