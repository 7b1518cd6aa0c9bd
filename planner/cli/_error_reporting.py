"""What ends a command early, as words and an exit code. Loaded only when something does."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from planner.cli._exit_codes import BROKEN_PIPE, INTERNAL_ERROR, INTERRUPTED, INVALID_INPUT
from planner.request.errors import InvalidRequest
from pricing.errors import InvalidSnapshot, PricingError
from pricing.plain_text import log_safe_text, plain_text


def report_error(error: BaseException, arguments: Sequence[str]) -> int:
    """The exit code for `error`, once it is told on standard error."""
    return next(tell(error, arguments) for kind, tell in ERROR_REPORTERS if isinstance(error, kind))


def report_problems(complaints: Sequence[object]) -> int:
    """Tell every fault on standard error, one a line."""
    number = len(complaints)
    click.echo(f"planner: asked wrongly, {number} fault{'s' if number > 1 else ''}; nothing was written", err=True)
    for complaint in complaints:
        click.echo(f"  {log_safe_text(plain_text(str(complaint)))}", err=True)
    return INVALID_INPUT


def _report_invalid_input(error: BaseException, _: Sequence[str]) -> int:
    if isinstance(error, InvalidSnapshot):
        from planner.cli._provider_folders import suggest_removal

        code = report_problems(error.faults)
        for line in suggest_removal(error.faults):
            click.echo(line, err=True)
        return code
    return report_problems(error.complaints if isinstance(error, InvalidRequest) else (error,))


def _show_usage(error: BaseException, _: Sequence[str]) -> int:
    if isinstance(error, click.ClickException):
        error.show()
    return INVALID_INPUT


def _report_interruption(*_: object) -> int:
    click.echo("planner: interrupted; nothing half-written is left", err=True)
    return INTERRUPTED


def _close_broken_pipe(*_: object) -> int:
    # What is still buffered must not fail again when Python closes standard output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def _report_internal_error(error: BaseException, arguments: Sequence[str]) -> int:
    """Tell a bug by an id; its details go to a file of the user's own that the message names."""
    handle, name = tempfile.mkstemp(prefix="planner-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as log:
        details = "".join(traceback.format_exception(error))
        log.write(f"planner {' '.join(arguments)}\npython {sys.version}\n\n{details}")
    identity = Path(name).stem.removeprefix("planner-")
    click.echo(f"planner: a bug of ours, not a fault of yours (id {identity})", err=True)
    click.echo(f"  details for a bug report: {name}", err=True)
    return INTERNAL_ERROR


ERROR_REPORTERS: tuple[tuple[type[BaseException], Callable[[BaseException, Sequence[str]], int]], ...] = (
    (click.ClickException, _show_usage),
    (InvalidRequest, _report_invalid_input),
    (PricingError, _report_invalid_input),
    (click.Abort, _report_interruption),
    (KeyboardInterrupt, _report_interruption),
    (BrokenPipeError, _close_broken_pipe),
    (Exception, _report_internal_error),
)
"""The first kind that fits decides."""
