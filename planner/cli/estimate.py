"""`planner estimate`: a file of workloads -> a plan."""

from __future__ import annotations

import click

from planner.cli._dask_option import dask_option, share_over_dask
from planner.cli._plan_options import BILL_OPTIONS, READING_OPTIONS, REQUEST_OPTIONS, with_options

OUTPUT_HELP = "Also write a file (format by suffix) or a folder/ (Terraform); may be repeated. - is standard output."
BUDGET_HELP = "Exit with 5 above a cost: AMOUNT in total, AMOUNT/month, or workloads (their budgets); may be repeated."
DEMAND_HELP = "Change of demand per year, lowest and highest: -20%,50%; implies --uncertainty.  [default: as planned]"
TAIL_HELP = "Weight of the mean of the dearest tenth of cases, 0 to 1; implies --uncertainty.  [default: 0]"
CALL_HELP = (
    "Prices of a million input and output tokens of calls, to compare a workload with: chat=0.5,1.5 (then the tokens of"
    " one work unit: chat=0.5,1.5,800,200); may be repeated."
)
SECTION_HELP = "Print one part of the report, such as cash, cost-centres or gaps; may be repeated."
AGE_HELP = "Exit with 5 if a price is older than this at the date of the plan."


class ReportFormatType(click.ParamType[str]):
    """The name of a report format: listed in the help, validated with all other options."""

    name = "format"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002  (click's signature)
        from planner.reports import formats

        return f"[{'|'.join(formats())}]"


@click.command()
@click.argument("file", default="-", metavar="[FILE]")
@with_options(REQUEST_OPTIONS)
@click.option("--risk", is_flag=True, help="Add a risk analysis: sensitivities, Monte Carlo draws, value of waiting.")
@click.option("--seed", metavar="N", help="Seed of the draws; implies --risk.  [default: the file's, else 0]")
@click.option("--draws", metavar="N", help="Number of draws; implies --risk.  [default: the file's, else 10,000]")
@click.option("--reoptimise", metavar="N", help="Draws to re-optimise, up to 200 (slow); implies --risk.  [default: 0]")
@dask_option
@click.option(
    "--uncertainty", is_flag=True, help="Add decisions under uncertainty: what to commit to now, and what later."
)
@click.option("--demand-range", metavar="LOW,HIGH", help=DEMAND_HELP)
@click.option("--tail-weight", metavar="SHARE", help=TAIL_HELP)
@click.option("--scenarios", metavar="N", help="Scenarios, 2 to 100; implies --uncertainty.  [default: 30]")
@click.option("--carbon-limit", metavar="KG", help="Largest emission of each year, in kg CO2e.  [default: no limit]")
@click.option("--call-price", metavar="WORKLOAD=IN,OUT", multiple=True, help=CALL_HELP)
@with_options(READING_OPTIONS, BILL_OPTIONS)
@click.option(
    "--compare-to", metavar="OLD", help="Report the changes since the last review: its plan as JSON, or its workbook."
)
@click.option("--explain-input", is_flag=True, help="Print how every column and row was read, without planning.")
@click.option("--fail-over-budget", multiple=True, metavar="LIMIT", help=BUDGET_HELP)
@click.option("--max-price-age", metavar="DAYS", help=AGE_HELP)
@click.option("--format", "format_name", type=ReportFormatType(), help="Format of the printed report.  [default: text]")
@click.option("--full", is_flag=True, help="Print the whole report, not the first screen.")
@click.option("--section", "sections", metavar="NAME", multiple=True, help=SECTION_HELP)
@click.option("-o", "--output", "paths", multiple=True, metavar="PATH", help=OUTPUT_HELP)
def command(
    file: str,
    format_name: str | None,
    paths: tuple[str, ...],
    sections: tuple[str, ...],
    compare_to: str | None,
    dask: str | None,
    *,
    explain_input: bool,
    full: bool,
    **options: str | bool | tuple[str, ...] | None,
) -> int:
    """Plan the workloads in FILE (or on standard input): capacity to rent, commit to or buy, month by month.

    FILE is XLSX, ODS, CSV, an export of a price calculator, a bill, YAML or JSON; a SkyPilot, Kubernetes or Slurm file;
    or what sacct, DCGM or OpenCost measured. Options override its settings. LIST is comma-separated, may be repeated.
    The first screen is printed (--full: all of the report); -o writes further formats: plan.xlsx is a workbook,
    plan.json the complete plan, terraform/ a folder. All are written or none.

    \b
    Examples:
      planner estimate --months 12 --demand-range -20%,50% review.xlsx
      planner estimate review.xlsx -o out/plan.xlsx -o out/plan.json -o out/terraform/
      planner estimate --setup company.yaml --risk --fail-over-budget 250000 --max-price-age 90 review.xlsx
      planner estimate --section cash --section cost-centres review.xlsx
      planner estimate --as-of 2026-11-21 --assumptions a.yaml --compare-to october.json review.csv -o november.xlsx
      planner estimate --explain-input --map 'Boards=gpus' --save-mapping columns.yaml review.xlsx

    \b
    Exit codes: 0 a plan; 2 invalid input (every problem with its place, no files written); 3 no feasible plan, 5 over
    budget or a price too old (the reasons are printed, all outputs written); 1 internal error; 130 interrupted.
    """
    from planner.cli._estimate_settings import InputFileOptions, estimate, explain
    from planner.cli._output_options import OutputChoice

    inputs = InputFileOptions.take_from(options)
    if explain_input:
        return explain(file, options, inputs)
    with share_over_dask(dask):
        return estimate(file, OutputChoice(format_name, paths, sections, full), options, inputs, compare_to)
