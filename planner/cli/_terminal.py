"""Colours and progress of a terminal, and how much of them a command prints."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import click

VISIBLE_AFTER_SECONDS = 1.0
"""Quicker steps show no progress."""
REPAINT_SECONDS = 0.2
QUIET, NORMAL, VERBOSE = -1, 0, 1
VERBOSITY = "planner.verbosity"
"""The key of the level in the `meta` of click's context, which a command shares with its group."""
HEADING = r"(?m)^(?P<title>\S.*)\n(?P<line>-{3,})$|^(?P<lead>You have)$"
"""Compiled on first use: most commands paint nothing."""
ERASE_LINE = "\r\x1b[K"


def _note_verbosity(context: click.Context, parameter: click.Parameter, is_set: bool) -> None:
    level = QUIET if parameter.name == "quiet" else VERBOSE
    if is_set and context.meta.setdefault(VERBOSITY, level) != level:
        raise click.UsageError("--quiet and --verbose exclude each other")


def _verbosity_option(short: str, name: str, description: str) -> Callable[[Any], Any]:
    return click.option(short, name, is_flag=True, expose_value=False, callback=_note_verbosity, help=description)


def verbosity_options(command: Any) -> Any:
    """Gives --quiet and --verbose to the program, and to commands that work for long."""
    command = _verbosity_option("-v", "--verbose", "Print each step with its seconds, in a pipe too.")(command)
    return _verbosity_option("-q", "--quiet", "Print only the answer and errors.")(command)


def chosen_verbosity() -> int:
    """QUIET, NORMAL or VERBOSE, of the running command."""
    context = click.get_current_context(silent=True)
    level: int = NORMAL if context is None else context.meta.get(VERBOSITY, NORMAL)
    return level


def has_colours(stream: IO[Any], environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream takes colours: NO_COLOR and FORCE_COLOR decide, in this order, else whether it is a terminal."""
    if environment.get("NO_COLOR"):
        return False
    return bool(environment.get("FORCE_COLOR")) or (stream.isatty() and environment.get("TERM") != "dumb")


def paint_headings(text: str) -> str:
    """The text with its headings in bold."""

    def paint(match: re.Match[str]) -> str:
        title = click.style(match["title"] or match["lead"], bold=True)
        return title if match["lead"] else f"{title}\n{click.style(match['line'], dim=True)}"

    return re.sub(HEADING, paint, text)


def print_painted(text: str) -> None:
    """Print a text on standard output, with headings in bold where there are colours."""
    click.echo(paint_headings(text) if has_colours(sys.stdout) else text, nl=False, color=True)


def paint_error(text: str) -> str:
    """The text in the colour of errors, where standard error has colours."""
    return click.style(text, fg="red", bold=True) if has_colours(sys.stderr) else text


def print_remark(text: str) -> None:
    """Print a remark on standard error, unless --quiet."""
    if chosen_verbosity() > QUIET:
        click.echo(text, err=True)


class ProgressLine:
    """One line on standard error with the step at work, its state and its seconds."""

    def __init__(self, task: str, seconds: Callable[[], float] = time.monotonic, *, is_printed: bool = True) -> None:
        self.is_printed = is_printed
        self._task, self._seconds, self._start = task, seconds, seconds()
        self._state = ""

    def update(self, state: str) -> None:
        """Set the state; from any thread."""
        self._state = state

    def update_fraction(self, fraction: float) -> None:
        """Set the state to a fraction."""
        self.update(f"{fraction:.0%}".replace("%", " %"))

    def __str__(self) -> str:
        elapsed = self._seconds() - self._start
        digits = 0 if elapsed >= VISIBLE_AFTER_SECONDS else 1
        return ", ".join(filter(None, (self._task, self._state, f"{elapsed:,.{digits}f} s")))


@contextmanager
def show_progress(task: str) -> Iterator[ProgressLine]:
    """Within it a terminal shows a line of progress after VISIBLE_AFTER_SECONDS, which is gone at the end.

    With --verbose the line stays when it is done, in a pipe too. With --quiet there is none.
    """
    verbosity = chosen_verbosity()
    repaints = sys.stderr.isatty() and verbosity > QUIET
    line = ProgressLine(task, is_printed=repaints or verbosity == VERBOSE)
    done = threading.Event()
    painter = threading.Thread(target=_repaint_line, args=(line, done), daemon=True)
    if repaints:
        painter.start()
    try:
        yield line
    finally:
        done.set()
        if repaints:
            painter.join()
    if verbosity == VERBOSE:
        click.echo(str(line), err=True)


def _repaint_line(line: ProgressLine, done: threading.Event) -> None:
    """Repaints the line in place until it is done."""
    if done.wait(VISIBLE_AFTER_SECONDS):
        return
    width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    while True:
        sys.stderr.write(f"{ERASE_LINE}{str(line)[: width - 1]}")
        sys.stderr.flush()
        if done.wait(REPAINT_SECONDS):
            break
    sys.stderr.write(ERASE_LINE)
    sys.stderr.flush()


def describe_bounds(phase: str, best: float | None, bound: float | None) -> str:
    """cloud: best 1,155,236, bound 1,150,000, gap 0.5 %; present costs, as far as they are known."""
    parts = [f"best {best:,.0f}" if best is not None else "", f"bound {bound:,.0f}" if bound is not None else ""]
    if best and bound is not None:
        parts.append(f"gap {(best - bound) / best:.1%}".replace("%", " %"))
    known = ", ".join(filter(None, parts))
    return f"{phase}: {known}" if known else phase
