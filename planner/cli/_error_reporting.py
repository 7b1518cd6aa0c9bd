"""Errors that end a command, as messages on standard error and exit codes. Imported only when an error occurs."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from planner.cli._exit_codes import (
    BROKEN_PIPE,
    INTERNAL_ERROR,
    INTERRUPTED,
    INVALID_INPUT,
    TERMINATED,
    Terminated,
)
from planner.cli._tables import print_error
from planner.request.errors import InvalidRequest
from pricing.errors import InvalidSnapshot, PricingError
from pricing.plain_text import plain_text


def report_error(error: BaseException, arguments: Sequence[str]) -> int:
    """Print `error` on standard error and return its exit code."""
    return next(report(error, arguments) for kind, report in ERROR_REPORTERS if isinstance(error, kind))


def report_problems(complaints: Sequence[object]) -> int:
    """Print every problem of the input on standard error, one per line."""
    number = len(complaints)
    head = f"{number} problem{'s' if number > 1 else ''} in the input; no files were written"
    print_error(head, [plain_text(str(complaint)) for complaint in complaints])
    return INVALID_INPUT


def _report_invalid_input(error: BaseException, _: Sequence[str]) -> int:
    if isinstance(error, InvalidSnapshot):
        from planner.cli._provider_folders import suggest_removal

        code = report_problems(error.faults)
        for line in suggest_removal(error.faults):
            click.echo(line, err=True)
        return code
    if not isinstance(error, InvalidRequest):
        return report_problems((error,))
    code = report_problems(error.complaints)
    if error.doubts:
        click.echo("--accept-proposals plans with what is proposed, --ask asks on the terminal,", err=True)
        click.echo("--save-answers FILE writes the questions with their proposals for --answers FILE", err=True)
    return code


def _show_usage(error: BaseException, _: Sequence[str]) -> int:
    if isinstance(error, click.ClickException):
        error.show()
    return INVALID_INPUT


def _report_interruption(*_: object) -> int:
    click.echo("planner: interrupted; no partial files were left", err=True)
    return INTERRUPTED


def _report_termination(*_: object) -> int:
    click.echo("planner: terminated; no partial files were left", err=True)
    return TERMINATED


def _close_broken_pipe(*_: object) -> int:
    _drop_standard_output()
    return BROKEN_PIPE


def _report_unwritable_output(error: BaseException, arguments: Sequence[str]) -> int:
    """A full disk or a closed descriptor behind standard output; any other error of the system is an internal error.

    A file that cannot be opened is named in its error, and each command refuses it as invalid input.
    """
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in UNWRITABLE:
        return _report_internal_error(error, arguments)
    _drop_standard_output()
    print_error("standard output cannot be written", [error.strerror or str(error)])
    return INVALID_INPUT


def _drop_standard_output() -> None:
    """Buffered output must not fail a second time when Python closes standard output at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_internal_error(error: BaseException, arguments: Sequence[str]) -> int:
    """Print the id of an internal error; its traceback goes to a temporary file that the message names."""
    handle, name = tempfile.mkstemp(prefix="planner-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as log:
        details = "".join(traceback.format_exception(error))
        log.write(f"planner {' '.join(arguments)}\npython {sys.version}\n\n{details}")
    identity = Path(name).stem.removeprefix("planner-")
    click.echo(f"internal error (id {identity}): this is a bug in planner", err=True)
    click.echo(f"  details for a bug report: {name}", err=True)
    return INTERNAL_ERROR


UNWRITABLE = {errno.EBADF, errno.EFBIG, errno.EINVAL, errno.EIO, errno.ENOSPC, errno.EROFS}
"""Errors of a descriptor that is closed, or of a full disk."""
ERROR_REPORTERS: tuple[tuple[type[BaseException], Callable[[BaseException, Sequence[str]], int]], ...] = (
    (click.ClickException, _show_usage),
    (InvalidRequest, _report_invalid_input),
    (PricingError, _report_invalid_input),
    (click.Abort, _report_interruption),
    (Terminated, _report_termination),
    (KeyboardInterrupt, _report_interruption),
    (BrokenPipeError, _close_broken_pipe),
    (OSError, _report_unwritable_output),
    (Exception, _report_internal_error),
)
"""The first matching kind applies."""
