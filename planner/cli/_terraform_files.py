"""Behind `planner terraform`: writes the Terraform of a plan."""

from __future__ import annotations

import json
from pathlib import Path

import click

from planner.cli._default_settings import stated_price_files
from planner.cli._estimate_settings import InputFileOptions, plan_file
from planner.cli._exit_codes import DONE, INFEASIBLE
from planner.cli._input_explanation import DEFAULT_READING, FileReadingOptions
from planner.cli._plan_comparison import read_plan
from planner.library.plan_outputs import Output, write_outputs
from planner.reports.terraform import SUFFIX, files, find_option_problems, unprovisioned_lines, zip_files
from planner.request.errors import InputProblem, InvalidRequest
from planner.result import Plan
from pricing.plain_text import plain_text

FORMAT = "terraform"


def write_terraform(
    file: str, path: str, strategy: str | None, nodes: str, reading: FileReadingOptions = DEFAULT_READING
) -> int:
    """Write the Terraform of the plan in `file` and return the exit code; InvalidRequest with every problem."""
    faults: list[InputProblem] = []
    plan = _load_plan(file, faults, reading)
    faults += find_option_problems(plan, strategy, nodes)
    if faults or plan is None:
        raise InvalidRequest(tuple(faults))
    if path.lower().endswith(SUFFIX):
        rendered = (Output(path, FORMAT), {"": zip_files(files(plan, strategy, nodes))})
    else:
        rendered = (Output(path, FORMAT, folder=True), files(plan, strategy, nodes))
    for line in (*write_outputs([rendered]), *unprovisioned_lines(plan, strategy, nodes)):
        click.echo(plain_text(line), err=True)
    return INFEASIBLE if plan.status == "infeasible" else DONE


def _load_plan(file: str, faults: list[InputProblem], reading: FileReadingOptions) -> Plan | None:
    """The plan in `file`, or a new plan of the workloads in it, read with the options of sheets."""
    if not _is_plan(file):
        prices = {name: str(stated.value) for name, stated in stated_price_files(click.get_current_context())}
        inputs = InputFileOptions(
            reading, private_prices=prices.get("private_prices"), exchange_rates=prices.get("exchange_rates")
        )
        return plan_file(file, {}, {}, (), inputs)
    message = f"{file} is a plan, not a sheet"
    faults += [InputProblem("", flag, message, "", "a sheet") for flag in reading.flags_given()]
    return read_plan(file, faults)


def _is_plan(file: str) -> bool:
    """Whether the file is a plan as JSON; the planner reports a file that cannot be read."""
    try:
        document = json.loads(Path(file).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "schema_version" in document
