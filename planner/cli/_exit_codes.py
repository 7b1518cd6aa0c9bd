"""Runs a command and returns its exit code; errors are printed without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from planner.cli import commands

DONE, INTERNAL_ERROR, INVALID_INPUT, INFEASIBLE, NOT_REFRESHED = 0, 1, 2, 3, 4
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143


class Terminated(BaseException):
    """SIGTERM: half-written files are removed on the way out, as after Ctrl-C. No
    KeyboardInterrupt, of which click makes an error of its own."""


def run(arguments: Sequence[str]) -> int:
    """The exit code of `planner` with `arguments`."""
    try:
        result = commands.main(args=list(arguments), prog_name="planner", standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt, Terminated) as error:  # noqa: BLE001  (last resort: an internal error is reported by its id)
        from planner.cli._error_reporting import report_error

        return report_error(error, arguments)
    return result if isinstance(result, int) else DONE
