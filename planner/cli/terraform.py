"""`planner terraform`: a plan -> Terraform that provisions it."""

from __future__ import annotations

import click


@click.command(short_help="Write Terraform that provisions a plan.")
@click.argument("plan", metavar="PLAN")
@click.option("-o", "--output", "path", required=True, metavar="DIR", help="Folder to write, or a .zip.")
@click.option("--strategy", metavar="NAME", help="Of cloud, onprem, hybrid.  [default: what the plan recommends]")
@click.option(
    "--nodes",
    metavar="KIND",
    default="vm",
    help="vm: machines of their own; kubernetes: node pools of clusters that are there.  [default: vm]",
)
def command(plan: str, path: str, strategy: str | None, nodes: str) -> int:
    """Write one Terraform root module a provider for what PLAN rents, with everything the plan knows filled in.

    PLAN is a plan as JSON (`planner estimate -o plan.json`, or an answer of POST /plan), or any file that
    `planner estimate` plans. DIR/README.md says what each part is, what it costs, what you must fill in, and in which
    month what is to be applied or destroyed. Commitments and hardware are lists beside it: nothing that binds you for
    longer is bought by default. The same plan gives the same bytes.

    \b
    Examples:
      planner terraform plan.json -o infra
      planner terraform --strategy hybrid --nodes kubernetes plan.json -o infra

    \b
    Exit codes: 0 written; 2 asked wrongly (every fault with its place, nothing written);
    3 no plan is possible (the reasons are written); 1 a bug; 130 interrupted.
    """
    from planner.cli._terraform_files import write_terraform

    return write_terraform(plan, path, strategy, nodes)
