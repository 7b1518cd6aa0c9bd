"""`planner diff`: why one plan costs more or less than another."""

from __future__ import annotations

import click


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--strategy",
    metavar="NAME",
    help="Strategy to compare: cloud, onprem or hybrid.  [default: the one each plan recommends]",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, with all digits.")
def command(old: str, new: str, strategy: str | None, as_json: bool) -> int:
    """Break the cost difference between two plans down by cause: exchange rate, discount rate, price, data, throughput,
    demand, assumption, existing, months, requirement, limit, decisions. The parts add up to the difference.

    OLD and NEW are plans as JSON (`planner estimate -o plan.json`, or an answer of POST /plan). The plans
    are not optimised again: the purchases of the old plan are repriced, one change at a time.

    \b
    Examples:
      planner diff january.json february.json
      planner diff --strategy hybrid january.json february.json
    """
    from planner.cli._plan_comparison import show_diff

    return show_diff(old, new, strategy, as_json)
