"""`planner terraform`: a plan -> Terraform that provisions it."""

from __future__ import annotations

import click

from planner.cli._plan_options import READING_OPTIONS, with_options


@click.command()
@click.argument("plan", metavar="PLAN")
@click.option("-o", "--output", "path", required=True, metavar="DIR", help="Folder to write, or a .zip.")
@click.option(
    "--strategy", metavar="NAME", help="Strategy of the plan: cloud, onprem or hybrid.  [default: the recommended one]"
)
@click.option(
    "--nodes",
    metavar="KIND",
    default="vm",
    help="vm: virtual machines; kubernetes: node pools of existing clusters.  [default: vm]",
)
@with_options(READING_OPTIONS)
def command(
    plan: str, path: str, strategy: str | None, nodes: str, **options: str | bool | tuple[str, ...] | None
) -> int:
    """Write one Terraform root module per provider for the capacity that PLAN rents, filled in from the plan.

    PLAN is a plan as JSON (`planner estimate -o plan.json`, or an answer of POST /plan), or any file that
    `planner estimate` reads. DIR/README.md describes each module, its cost, the variables you must set, and the month
    in which to apply or destroy it. Commitments and hardware purchases are listed in separate files and are never made
    by default. Equal plans give equal bytes.

    \b
    Examples:
      planner terraform plan.json -o infra
      planner terraform --strategy hybrid --nodes kubernetes plan.json -o infra

    \b
    Exit codes: 0 written; 2 invalid input (every problem with its place, no files written);
    3 no feasible plan (the reasons are written); 1 internal error; 130 interrupted.
    """
    from planner.cli._input_explanation import FileReadingOptions
    from planner.cli._terraform_files import write_terraform

    return write_terraform(plan, path, strategy, nodes, FileReadingOptions.take_from(options))
