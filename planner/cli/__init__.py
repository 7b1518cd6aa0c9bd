"""The command line: parses options, calls the application, prints. Every module here without a leading underscore is a
command.

Commands are imported when they are named (all of them for the help, so none imports anything heavy at its top).
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from typing import Protocol

import click

from planner.cli._terminal import print_painted, verbosity_options

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}

CYCLE_SEARCH_AFTER = 50_000
"""New objects after which Python searches for cycles; its own default is 700."""


FILE_VARIABLE = "PLANNER_CONFIG"
CHOSEN_FILE = "planner.chosen_settings_file"
"""The key of --config in the `meta` of click's context."""
NEXT_STEPS = """\
gpu-planner says which GPUs to rent, commit to or buy, where, and what that costs each month.

You have
  one job or service     planner init                  six questions, then its plan
  a sheet of workloads   planner estimate review.xlsx  planner template -o review.xlsx writes an empty one
  a team or a pipeline   planner serve                 a page for reviews, and plans over HTTP

All commands: planner --help. To check the installation: planner doctor
"""


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:  # click knows no names before the modules are loaded, so it names none that is near
            from pricing.csv_tables import find_nearest_names

            near = find_nearest_names(args[0], self.list_commands(ctx), 1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx) from None


@click.group(cls=Commands, context_settings=CONTEXT, invoke_without_command=True)
@click.option(
    "--config",
    envvar=FILE_VARIABLE,
    metavar="FILE",
    expose_value=False,
    callback=lambda context, _, path: context.meta.update({CHOSEN_FILE: path}),
    help="YAML of your defaults.  [default: config.yaml in your folder of settings]",
)
@verbosity_options
@click.version_option(package_name="gpu-planner", prog_name="planner")
@click.pass_context
def commands(context: click.Context) -> None:
    """Plan GPU capacity over months: which accelerators to rent, commit to or buy, where, and at which cost.

    \b
    Examples:
      planner init                                        write a request by answering six questions
      planner estimate review.xlsx                        plan the workloads of a spreadsheet
      planner estimate --months 24 job.yaml -o plan.xlsx  plan two years, and write a workbook too
      planner offers --accelerator H100 --count 8         list offerings with their prices
      planner serve                                       plan over HTTP: POST /plan

    \b
    Exit codes:
      0  success
      1  internal error: a bug in planner; the message names a log file
      2  invalid input: every problem is listed with its place, and no files are written; or standard output is full
      3  no feasible plan: the report has the reasons and the limits to relax
      4  a provider could not be read in full: the previous data stays in use
      5  a gate failed: a budget, the age of a price (planner estimate), the drift from a plan (planner drift), or a
         printed figure that is not reproduced (planner study)
    124  a measured job stalled and was stopped; a job that fails passes on its own exit code (planner measure)
    130  interrupted
    143  terminated
    """
    if context.invoked_subcommand is None:
        print_painted(NEXT_STEPS)


def main() -> None:
    """The entry point `planner`."""
    # Tens of thousands of modules and rows live until exit: collecting cycles among them takes a tenth of a short run.
    gc.set_threshold(CYCLE_SEARCH_AFTER)
    from planner.cli._exit_codes import TERMINATED, Terminated, run

    def end(*_: object) -> None:
        raise Terminated

    _open_closed_streams()
    signal.signal(signal.SIGTERM, end)  # `serve`, `worker` and `measure` have their own
    code = run(sys.argv[1:])
    gc.freeze()  # the collection at exit would search them once more in vain
    if code == TERMINATED:  # the parent process sees that the signal ended this one
        sys.stdout.flush()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    sys.exit(code)


def _open_closed_streams() -> None:
    """Standard streams that are closed at the start: the next file opened would take their place.

    A closed output refuses each write, as the system does; a closed standard error takes and drops them.
    """
    for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
