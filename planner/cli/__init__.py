"""The command line: parses, asks, prints. Every module of this folder without a leading underscore is one command.

Commands are imported when they are named (all of them for the help, so none imports anything heavy at its top).
"""

from __future__ import annotations

import gc
import importlib
import os
import sys

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}

CYCLE_SEARCH_AFTER = 50_000
"""New objects after which Python searches for cycles; its own default is 700."""


class Commands(click.Group):
    """The commands found by walking this package; each module offers `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        # Listing the folder is what pkgutil would do; importing that costs a tenth of the whole start.
        names = {name.removesuffix(".py") for name in os.listdir(__path__[0]) if name.endswith(".py")}  # noqa: PTH208  (pathlib: the same)
        return sorted(name for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command if isinstance(command, click.Command) else None


@click.group(cls=Commands, context_settings=CONTEXT)
@click.version_option(package_name="gpu-planner", prog_name="planner")
def commands() -> None:
    """Plan GPU capacity over months: what to rent, commit to or buy, where, and what it will cost.

    \b
    Examples:
      planner estimate review.xlsx                        the plan for a spreadsheet of workloads
      planner estimate --months 24 job.yaml -o plan.xlsx  the same over two years, as a workbook too
      planner offers --accelerator H100 --count 8         what can be rented, and for how much
      planner serve                                       the same as a service: POST /plan

    \b
    Exit codes:
      0  a plan (or the answer asked for)
      1  a bug of this program; it says where the details are
      2  asked wrongly: every fault with its place, nothing written
      3  no plan is possible: the reasons, and what would have to give
      4  a provider could not be read in full: which part and why; what was known of it stays in use
      5  a gate failed (planner estimate)
    124  a measured job stalled and was ended; a job that fails keeps its own code (planner measure)
    130  interrupted
    """


def main() -> None:
    """The entry point `planner`."""
    # Modules and rows are made by the ten thousand and stay: searching them for cycles is a tenth of a short run.
    gc.set_threshold(CYCLE_SEARCH_AFTER)
    from planner.cli._exit_codes import run

    code = run(sys.argv[1:])
    gc.freeze()  # nor is there anything to gain from searching them once more at the end
    sys.exit(code)
