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
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

import click

from planner.cli._command_summaries import SUMMARIES
from planner.cli._terminal import print_painted, verbosity_options

CONTEXT_WIDTH = 110
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": CONTEXT_WIDTH}

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
  a review meeting       planner serve                 a page for it, and plans over HTTP
  a repository           planner ci --help             what a pull request changes, as its comment

All commands: planner --help. To check the installation: planner doctor
"""


def _help_width() -> int:
    """The width of the help, as click finds it; with shutil, whose import takes as long as the help's own text."""
    stated = os.environ.get("COLUMNS", "")
    columns = int(stated) if stated.isdecimal() else 0
    if not columns:
        with suppress(AttributeError, ValueError, OSError):  # no terminal
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]  # None is no terminal, too
    return max(min(columns or 80, CONTEXT_WIDTH) - 2, 50)


@cache
def _list_names() -> tuple[str, ...]:
    """The names of all commands."""
    # pkgutil lists the folder in the same way, but its import takes a tenth of the start-up time.
    names = {name.removesuffix(".py") for name in os.listdir(__path__[0]) if name.endswith(".py")}  # noqa: PTH208  (pathlib: the same)
    return tuple(sorted(name for name in names if not name.startswith("_")))


class CommandModule(Protocol):
    """The module of a command."""

    command: click.Command


class Commands(click.Group):
    """The command modules of this package, loaded by name; each has a `command`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return super().make_context(info_name, args, parent, **{"terminal_width": _help_width(), **extra})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        return list(_list_names())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's signature)
        if cmd_name not in _list_names():
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name}")
        command = getattr(module, "command", None)
        if not isinstance(command, click.Command):  # the check of plug-ins takes longer than the help
            from pricing.plugins import check_plugin

            check_plugin(module, CommandModule, "command")
        else:
            command.short_help = SUMMARIES.get(cmd_name, command.short_help)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = (name for name in _list_names() if name not in SUMMARIES)
        found = {name: command for name in others if (command := self.get_command(ctx, name)) is not None}
        rows = [(name, SUMMARIES.get(name) or found[name].get_short_help_str()) for name in _list_names()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

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
