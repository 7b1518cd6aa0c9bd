"""`planner diff`: why one plan costs more or less than another."""

from __future__ import annotations

import click


@click.command(short_help="Say why one plan costs more or less than another.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--strategy", metavar="NAME", help="Of cloud, onprem, hybrid.  [default: what each plan recommends]")
@click.option("--json", "as_json", is_flag=True, help="Everything, with all digits, as JSON.")
def command(old: str, new: str, strategy: str | None, as_json: bool) -> int:
    """Take the difference between two plans apart: exchange rate, discount rate, price, data, throughput, demand,
    assumption, existing, months, decisions. The parts add up to the difference.

    OLD and NEW are plans as JSON (`planner estimate -o plan.json`, or an answer of POST /plan). Nothing is planned
    again: what the old plan buys and uses is paid for again, with one change after the other.

    \b
    Examples:
      planner diff january.json february.json
      planner diff --strategy hybrid january.json february.json
    """
    from planner.cli._plan_comparison import show_diff

    return show_diff(old, new, strategy, as_json)
