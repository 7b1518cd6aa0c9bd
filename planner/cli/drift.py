"""`planner drift`: how reality left a plan, and why."""

from __future__ import annotations

import click

SHARE_HELP = "Exit with 5 if cost is further from the plan than this share, up or down: 10% or 0.1."


@click.command()
@click.argument("plan", metavar="PLAN")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--strategy", metavar="NAME", help="Strategy: cloud, onprem or hybrid.  [default: the recommended one]")
@click.option(
    "--tag", metavar="KEY", help="Tag, column or label whose values name the workloads.  [default: the best match]"
)
@click.option("--max-drift", metavar="SHARE", help=SHARE_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, with all digits.")
def command(
    plan: str, files: tuple[str, ...], strategy: str | None, tag: str | None, max_drift: str | None, *, as_json: bool
) -> int:
    """Compare the accelerators of a plan with bills, or with measured use, of the same months, and part the difference
    of their cost by cause, in this order: unplanned workloads, volume, ways of paying, place, price, unused
    commitments. The parts add up to the difference.

    PLAN is a plan as JSON (`planner estimate -o plan.json`). FILE is what `planner usage` reads. Workloads are the same
    if their names are; full months count, or else the days of the last month that are covered. Measured use without
    costs is valued at the rates of the plan: volume and unplanned workloads show, prices do not.

    \b
    Examples:
      planner drift plan.json focus-2026-12.csv
      planner drift --max-drift 10% --tag team plan.json cur-2026-12.csv.gz cur-2027-01.csv.gz
      planner drift --json plan.json sacct-2026-12.txt

    \b
    Exit codes: 0 compared; 2 invalid input (every problem); 5 further off than --max-drift (the table is printed).
    """
    from planner.cli._plan_drift import show_drift

    return show_drift(plan, files, strategy, tag or "", max_drift, as_json=as_json)
