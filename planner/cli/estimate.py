"""`planner estimate`: a file of workloads -> a plan."""

from __future__ import annotations

import click

OUTPUT_HELP = (
    "Also write a file (its suffix names the format) or a folder/ (Terraform); may be repeated. - is standard output."
)
RATES_HELP = "CSV of dated exchange rates: date,from,to,rate,source."
MAP_HELP = "What a column is, by its title (a field, a month or ignore); may be repeated."
CARD_HELP = "CSV of your discounts and negotiated prices."
BUDGET_HELP = "Exit with 5 if it costs more: AMOUNT in all, AMOUNT/month, or workloads (their own); may be repeated."
AGE_HELP = "Exit with 5 if a price is older at the date of the plan."


class ReportFormatType(click.ParamType[str]):
    """A name from the walk of planner.reports; told in the help, checked together with everything else."""

    name = "format"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002  (click's signature)
        from planner.reports import formats

        return f"[{'|'.join(formats())}]"


@click.command(short_help="Plan the workloads of a spreadsheet, a YAML or a JSON file.")
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--months", metavar="N", help="Months to plan, 1 to 120.  [default: the file's, else 12]")
@click.option("--start", metavar="YYYY-MM", help="First month of the plan.  [default: the file's, else the next month]")
@click.option("--as-of", metavar="YYYY-MM-DD", help="Date of the plan; prices are judged by it.  [default: today]")
@click.option("--strategies", metavar="LIST", multiple=True, help="Of cloud, onprem, hybrid.  [default: all three]")
@click.option("--providers", metavar="LIST", multiple=True, help="The only providers to rent from.  [default: all]")
@click.option("--regions", metavar="LIST", multiple=True, help="The only regions to rent in.  [default: all]")
@click.option(
    "--currency", metavar="CODE", help="Currency of the plan and of all amounts asked with it.  [default: USD]"
)
@click.option("--exchange-rates", metavar="FILE", help=f"{RATES_HELP}  [default: the data folder's]")
@click.option("--private-prices", metavar="FILE", help=f"{CARD_HELP}  [default: the data folder's]")
@click.option("--discount-rate", metavar="RATE", help="Yearly discount rate: 0.08 or 8%.  [default: see the plan]")
@click.option(
    "--assumptions", metavar="FILE", help="YAML or JSON of assumption names and values that replace defaults."
)
@click.option("--setup", metavar="FILE", help="YAML or JSON of what is owned, quotes, site, finance and limits.")
@click.option("--quotas", metavar="FILE", help="CSV of what your accounts may run, as `planner quota` writes it.")
@click.option("--measured-only", is_flag=True, help="Plan only what was measured; predict no throughput.")
@click.option("--no-estimates", is_flag=True, help="Use listed prices only, no estimated discounts.")
@click.option("--risk", is_flag=True, help="Also look into how sure the plan is: what moves it, draws, waiting.")
@click.option("--seed", metavar="N", help="Seed of the draws; asks for --risk.  [default: the file's, else 0]")
@click.option("--draws", metavar="N", help="Number of draws; asks for --risk.  [default: the file's, else 10,000]")
@click.option("--reoptimise", metavar="N", help="Draws planned anew, up to 200: slow; asks for --risk.  [default: 0]")
@click.option("--map", "maps", multiple=True, metavar="COLUMN=FIELD", help=MAP_HELP)
@click.option("--mapping", metavar="FILE", help="YAML of what columns are, as --save-mapping writes it.")
@click.option("--save-mapping", metavar="FILE", help="Write down how the columns were understood, for --mapping.")
@click.option("--dates", metavar="dmy|mdy", help="Order of day and month in dates such as 3/4/2027.")
@click.option("--growth", metavar="RATE", help="Growth of a bill's hours each month: 0.03 or 3%.  [default: 0]")
@click.option("--tag", metavar="KEY", help="The tag that tells a bill's workloads apart.  [default: see the plan]")
@click.option("--substitution", is_flag=True, help="Let other accelerators do a bill's work.")
@click.option(
    "--compare-to", metavar="OLD", help="The last review, its plan as JSON or its workbook: tell what changed."
)
@click.option("--explain-input", is_flag=True, help="Print how every column and row was understood; plan nothing.")
@click.option("--fail-over-budget", multiple=True, metavar="LIMIT", help=BUDGET_HELP)
@click.option("--max-price-age", metavar="DAYS", help=AGE_HELP)
@click.option("--format", "format_name", type=ReportFormatType(), help="Format of what is printed.  [default: text]")
@click.option("-o", "--output", "paths", multiple=True, metavar="PATH", help=OUTPUT_HELP)
def command(
    file: str,
    format_name: str | None,
    paths: tuple[str, ...],
    exchange_rates: str | None,
    private_prices: str | None,
    maps: tuple[str, ...],
    mapping: str | None,
    save_mapping: str | None,
    dates: str | None,
    growth: str | None,
    tag: str | None,
    compare_to: str | None,
    *,
    substitution: bool,
    explain_input: bool,
    **options: str | bool | tuple[str, ...] | None,
) -> int:
    """Plan the workloads in FILE (or on standard input): what to rent, commit to or buy, month by month.

    FILE is XLSX, ODS, CSV, an export of a price calculator, a billing export, YAML or JSON. Options win over what the
    file says. LIST is comma-separated and may be repeated.
    The report is printed; with -o it is written in further formats too: plan.xlsx is a workbook, plan.json everything
    there is to know, plan.csv and plan.md tables, terraform/ a folder to provision from. All are written or none.

    \b
    Examples:
      planner estimate --months 12 review.xlsx
      planner estimate review.xlsx -o out/plan.xlsx -o out/plan.json -o out/terraform/
      planner estimate --strategies cloud,hybrid --providers aws,gcp --discount-rate 9% job.yaml
      planner estimate --currency EUR --exchange-rates rates.csv --private-prices ours.csv review.xlsx
      planner estimate --format json - < request.json | jq .recommendation.sentence
      planner estimate --setup ours.yaml --risk --fail-over-budget 250000 --max-price-age 90 review.xlsx
      planner estimate --months 12 --growth 0.03 focus-2026-10.csv
      planner estimate --as-of 2026-11-21 --assumptions ours.yaml --compare-to october.json review.csv -o november.xlsx
      planner estimate --explain-input --map 'Boards=gpus' --save-mapping ours-columns.yaml review.xlsx

    \b
    Exit codes: 0 a plan; 2 asked wrongly (every fault with its place, nothing written);
    3 no plan is possible, 5 over a budget or a price too old (why is told, all is written); 1 a bug; 130 interrupted.
    """
    from planner.application import BillForecastOptions
    from planner.cli._estimate_settings import estimate
    from planner.cli._input_explanation import FileReadingOptions, explain

    reading = FileReadingOptions(maps, mapping, save_mapping, dates)
    bill = BillForecastOptions(growth, tag, substitution)
    if explain_input:
        return explain(file, reading, bill)
    return estimate(file, format_name, paths, options, (private_prices, exchange_rates), reading, bill, compare_to)
