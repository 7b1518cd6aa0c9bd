"""`planner estimate`: a file of workloads -> a plan."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.errors import Complaint, InvalidRequest

if TYPE_CHECKING:
    from planner.answer import Plan

STANDARD_INPUT = "-"
Option = str | bool | tuple[str, ...] | None


class Formats(click.ParamType[str]):
    """A name from the walk of planner.reports; told in the help, checked together with everything else."""

    name = "format"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002  (click's signature)
        from planner.reports import formats

        return f"[{'|'.join(formats())}]"


@click.command(short_help="Plan the workloads of a spreadsheet, a billing export, a YAML or a JSON file.")
@click.argument("file", default=STANDARD_INPUT, metavar="[FILE]")
@click.option("--months", metavar="N", help="Months to plan, 1 to 120.  [default: the file's, else 12]")
@click.option("--start", metavar="YYYY-MM", help="First month of the plan.  [default: the file's, else the next month]")
@click.option("--as-of", metavar="YYYY-MM-DD", help="Date of the plan; prices are judged by it.  [default: today]")
@click.option("--strategies", metavar="LIST", multiple=True, help="Of cloud, onprem, hybrid.  [default: all three]")
@click.option("--providers", metavar="LIST", multiple=True, help="The only providers to rent from.  [default: all]")
@click.option("--regions", metavar="LIST", multiple=True, help="The only regions to rent in.  [default: all]")
@click.option("--discount-rate", metavar="RATE", help="Yearly discount rate: 0.08 or 8%.  [default: see the plan]")
@click.option(
    "--assumptions", metavar="FILE", help="YAML or JSON of assumption names and values that replace defaults."
)
@click.option("--measured-only", is_flag=True, help="Plan only what was measured; predict no throughput.")
@click.option("--no-estimates", is_flag=True, help="Use listed prices only, no estimated discounts.")
@click.option("--format", "format_name", type=Formats(), help="Format of what is printed.  [default: text]")
@click.option("-o", "--output", "paths", multiple=True, metavar="PATH", help="Also write a file (its suffix names the format)"
              " or a folder/ (Terraform); may be repeated. - is standard output.")  # fmt: skip
def command(file: str, format_name: str | None, paths: tuple[str, ...], **options: Option) -> int:
    """Plan the workloads in FILE (or on standard input): what to rent, commit to or buy, month by month.

    FILE is XLSX, CSV, YAML or JSON. Options win over what the file says. LIST is comma-separated and may be repeated.
    The report is printed; with -o it is written in further formats too: plan.xlsx is a workbook, plan.json everything
    there is to know, plan.csv and plan.md tables, terraform/ a folder to provision from. All are written or none.

    \b
    Examples:
      planner estimate --months 12 review.xlsx
      planner estimate review.xlsx -o out/plan.xlsx -o out/plan.json -o out/terraform/
      planner estimate --strategies cloud,hybrid --providers aws,gcp --discount-rate 9% job.yaml
      planner estimate --format json - < request.json | jq .recommendation.sentence
      planner estimate --as-of 2026-11-21 --assumptions ours.yaml review.csv --format markdown

    \b
    Exit codes: 0 a plan; 2 asked wrongly (every fault with its place, nothing written);
    3 no plan is possible (the reasons are printed and written); 1 a bug; 130 interrupted.
    """
    from planner.cli._outputs import choose, deliver, refuse_binary_to_terminal

    outputs, faults = choose(format_name, paths)
    settings, places, more = _settings(options)
    complaints = [*faults, *refuse_binary_to_terminal(outputs), *more]
    result = _plan(file, settings, places, complaints)
    _progress("writing")
    for line in deliver(result, outputs):
        click.echo(line, err=True)
    from planner.cli._run import DONE, INFEASIBLE

    return INFEASIBLE if result.status == "infeasible" else DONE


def _plan(file: str, settings: dict[str, Any], places: dict[str, str], complaints: Sequence[Complaint]) -> Plan:
    from planner.ask import ask
    from planner.clock import today
    from planner.intake import read
    from pricing.catalog import Catalog

    _progress(f"reading {'standard input' if file == STANDARD_INPUT else file}")
    data = _bytes(file, complaints)
    source = read(data, file)
    values = {**source.document.get("assumptions", {}), **settings.pop("assumptions", {})}
    document = {
        "as_of": today().isoformat(),
        **source.document,
        **settings,
        **({"assumptions": values} if values else {}),
    }
    workloads = document.get("workloads") or ()
    _progress(f"planning {len(workloads)} workload{'s' if len(workloads) != 1 else ''}")
    return ask(
        document,
        Catalog.embedded(),
        inputs=source.inputs,
        complaints=(*complaints, *source.complaints),
        places={**source.places, **places},
    )


def _bytes(file: str, complaints: Sequence[Complaint]) -> bytes:
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        fault = Complaint("", "FILE", "cannot be read", file, error.strerror or "a readable file")
        raise InvalidRequest((*complaints, fault)) from None


Settings = tuple[dict[str, Any], dict[str, str], list[Complaint]]
FIELDS = {"discount_rate": "discount_rate_annual"}
"""Options whose field in the request has another name."""


def _settings(options: Mapping[str, Option]) -> Settings:
    """What the options put into the request, the place of each, and faults. Texts are judged with the request."""
    settings: dict[str, Any] = {}
    places: dict[str, str] = {}
    complaints: list[Complaint] = []
    for option, value in options.items():
        if not value:
            continue
        field, place = FIELDS.get(option, option), f"--{option.replace('_', '-')}"
        if option == "assumptions":
            settings[field], more, faults = _assumptions(str(value))
            places |= more
            complaints += faults
        elif option == "no_estimates":
            field = "allow_estimates"
            settings[field] = False
        elif isinstance(value, tuple):
            settings[field] = [part.strip() for text in value for part in text.split(",") if part.strip()]
        else:
            settings[field] = _rate(str(value)) if option == "discount_rate" else value
        places[field] = place
    return settings, places, complaints


def _rate(text: str) -> float | str:
    """8% as 0.08; a text that is no percentage stays as it is, for the request to judge."""
    number = text.strip().removesuffix("%")
    try:
        return float(number) / 100 if number != text.strip() else text
    except ValueError:
        return text


def _assumptions(path: str) -> Settings:
    """The names and values of an assumptions file, with the line of each."""
    import yaml

    try:
        node = yaml.compose(Path(path).read_bytes(), Loader=yaml.SafeLoader)
        values = yaml.safe_load(Path(path).read_bytes()) if node else {}
    except OSError as error:
        return {}, {}, [Complaint("", "--assumptions", "cannot be read", path, error.strerror or "a readable file")]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path} line {mark.line + 1} column {mark.column + 1}" if mark else path
        return {}, {}, [Complaint("assumptions", place, "neither YAML nor JSON", "", "one `name: value` a line")]
    if not isinstance(node, yaml.MappingNode) or not isinstance(values, dict):
        return {}, {}, [Complaint("assumptions", path, "no list of assumptions", "", "one `name: value` a line")]
    lines = {f"assumptions.{key.value}": f"{path} line {key.start_mark.line + 1}" for key, _ in node.value}
    return {str(name): value for name, value in values.items()}, lines, []


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)
