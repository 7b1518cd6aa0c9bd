"""What ends a command early, as words and an exit code. Loaded only when something does."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from planner.cli._run import ASKED_WRONGLY, BUG, INTERRUPTED, READER_GONE
from planner.errors import InvalidRequest
from planner.reports._shared.clean import for_log, plain
from pricing.errors import BadSnapshot, PricingError


def end(error: BaseException, arguments: Sequence[str]) -> int:
    """The exit code for `error`, once it is told on standard error."""
    return next(tell(error, arguments) for kind, tell in ENDS if isinstance(error, kind))


def refuse(complaints: Sequence[object]) -> int:
    """Tell every fault on standard error, one a line."""
    number = len(complaints)
    click.echo(f"planner: asked wrongly, {number} fault{'s' if number > 1 else ''}; nothing was written", err=True)
    for complaint in complaints:
        click.echo(f"  {for_log(plain(str(complaint)))}", err=True)
    return ASKED_WRONGLY


def _refuse(error: BaseException, _: Sequence[str]) -> int:
    if isinstance(error, BadSnapshot):
        from planner.cli._cloud import aside

        code = refuse(error.faults)
        for line in aside(error.faults):
            click.echo(line, err=True)
        return code
    return refuse(error.complaints if isinstance(error, InvalidRequest) else (error,))


def _show_usage(error: BaseException, _: Sequence[str]) -> int:
    if isinstance(error, click.ClickException):
        error.show()
    return ASKED_WRONGLY


def _interrupted(*_: object) -> int:
    click.echo("planner: interrupted; nothing half-written is left", err=True)
    return INTERRUPTED


def _reader_gone(*_: object) -> int:
    # What is still buffered must not fail again when Python closes standard output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_GONE


def _confess(error: BaseException, arguments: Sequence[str]) -> int:
    """Tell a bug by an id; its details go to a file of the user's own that the message names."""
    handle, name = tempfile.mkstemp(prefix="planner-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as log:
        details = "".join(traceback.format_exception(error))
        log.write(f"planner {' '.join(arguments)}\npython {sys.version}\n\n{details}")
    identity = Path(name).stem.removeprefix("planner-")
    click.echo(f"planner: a bug of ours, not a fault of yours (id {identity})", err=True)
    click.echo(f"  details for a bug report: {name}", err=True)
    return BUG


ENDS: tuple[tuple[type[BaseException], Callable[[BaseException, Sequence[str]], int]], ...] = (
    (click.ClickException, _show_usage),
    (InvalidRequest, _refuse),
    (PricingError, _refuse),
    (click.Abort, _interrupted),
    (KeyboardInterrupt, _interrupted),
    (BrokenPipeError, _reader_gone),
    (Exception, _confess),
)
"""The first kind that fits decides."""
