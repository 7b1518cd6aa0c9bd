"""The command line: parses options, calls the application, prints. Every module here without a leading underscore is a
command.

Commands are imported when they are named (all of them for the help, so none imports anything heavy at its top).
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import Protocol

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}

CYCLE_SEARCH_AFTER = 50_000
"""New objects after which Python searches for cycles; its own default is 700."""


class CommandModule(Protocol):
    """The module of a command."""

    command: click.Command


class Commands(click.Group):
    """The command modules of this package, loaded by name; each has a `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        # pkgutil lists the folder in the same way, but its import takes a tenth of the start-up time.
        names = {name.removesuffix(".py") for name in os.listdir(__path__[0]) if name.endswith(".py")}  # noqa: PTH208  (pathlib: the same)
        return sorted(name for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        from pricing.plugins import check_plugin

        module: CommandModule = check_plugin(
            importlib.import_module(f"{__name__}.{cmd_name}"), CommandModule, "command"
        )
        return module.command


@click.group(cls=Commands, context_settings=CONTEXT)
@click.version_option(package_name="gpu-planner", prog_name="planner")
def commands() -> None:
    """Plan GPU capacity over months: which accelerators to rent, commit to or buy, where, and at which cost.

    \b
    Examples:
      planner estimate review.xlsx                        plan the workloads of a spreadsheet
      planner estimate --months 24 job.yaml -o plan.xlsx  plan two years, and write a workbook too
      planner offers --accelerator H100 --count 8         list offerings with their prices
      planner serve                                       plan over HTTP: POST /plan

    \b
    Exit codes:
      0  success
      1  internal error: a bug in planner; the message names a log file
      2  invalid input: every problem is listed with its place, and no files are written
      3  no feasible plan: the report has the reasons and the limits to relax
      4  a provider could not be read in full: the previous data stays in use
      5  a budget or price-age gate failed (planner estimate); a printed figure is not reproduced (planner study)
    124  a measured job stalled and was stopped; a job that fails passes on its own exit code (planner measure)
    130  interrupted
    """


def main() -> None:
    """The entry point `planner`."""
    # Tens of thousands of modules and rows live until exit: collecting cycles among them takes a tenth of a short run.
    gc.set_threshold(CYCLE_SEARCH_AFTER)
    from planner.cli._exit_codes import run

    code = run(sys.argv[1:])
    gc.freeze()  # the collection at exit would search them once more in vain
    sys.exit(code)
