"""What a terminal shows and a pipe does not: colours and progress; and how much of it was asked for."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from planner.cli._terminal import ProgressLine, describe_bounds, has_colours, paint_headings

ROOT = Path(__file__).parents[2]
JOB = str(ROOT / "examples" / "finetune.yaml")
ESTIMATE = ("estimate", "--start", "2026-12", "--as-of", "2026-11-21", JOB)
ESCAPE = "\x1b["
BOLD_HEADING = "\x1b[1mRecommendation\x1b[0m\n"


def test_a_terminal_shows_progress_and_colours(terminal):
    code, shown = terminal(*ESTIMATE)
    assert code == 0
    assert BOLD_HEADING in shown
    lines = re.findall(r"\r\x1b\[K([^\r\n]+)", shown)
    assert any(re.match(r"reading .*finetune\.yaml, \d+ s", line) for line in lines), shown[:500]
    assert any(line.startswith("planning 1 workload, ") for line in lines)
    assert shown.rindex("\r\x1b[K") < shown.index(BOLD_HEADING)  # gone before the answer


def test_a_pipe_shows_neither(piped):
    ran = piped(*ESTIMATE)
    assert (ran.code, ran.err) == (0, "")
    assert ESCAPE not in ran.out
    assert ran.out.startswith("Recommendation\n--------------\n")


def test_colours_are_forced_and_forbidden(piped):
    assert piped(*ESTIMATE, FORCE_COLOR="1").out.startswith(BOLD_HEADING)
    assert ESCAPE not in piped(*ESTIMATE, FORCE_COLOR="1", NO_COLOR="1").out


@pytest.mark.slow
def test_variables_decide_on_colours_on_a_terminal_too(terminal):
    assert ESCAPE not in terminal(NO_COLOR="1")[1]
    assert ESCAPE not in terminal(TERM="dumb")[1]
    assert ESCAPE in terminal()[1]


def test_other_formats_are_never_painted(piped):
    assert ESCAPE not in piped(*ESTIMATE, "--format", "markdown", FORCE_COLOR="1").out


def test_errors_are_red_where_colours_are(piped):
    assert piped("estimate", "nowhere.yaml", FORCE_COLOR="1").err.startswith("\x1b[31m\x1b[1merror:\x1b[0m")
    assert piped("estimate", "nowhere.yaml").err.startswith("error:")


@pytest.mark.parametrize(
    ("variables", "is_terminal", "expected"),
    [
        ({}, True, True), ({}, False, False), ({"NO_COLOR": "1"}, True, False), ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)  # fmt: skip
def test_who_decides_on_colours(variables, is_terminal, expected):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    assert has_colours(stream, variables) is expected


def test_only_headings_are_painted():
    text = "Title\n-----\na line\n  2026-12\n  -------\n"
    assert paint_headings(text) == "\x1b[1mTitle\x1b[0m\n\x1b[2m-----\x1b[0m\na line\n  2026-12\n  -------\n"


def test_verbose_tells_each_step_in_a_pipe_and_quiet_nothing(tmp_path, piped):
    out = str(tmp_path / "plan.json")
    told = piped(*ESTIMATE, "-o", out, "--verbose").err
    steps = [line.rpartition(", ")[0] for line in told.splitlines()]
    assert steps[0].startswith("reading ")
    assert steps[1].startswith("planning 1 workload")
    assert steps[2] == "writing"
    assert told.splitlines()[3].startswith("wrote ")
    assert piped("--verbose", *ESTIMATE, "-o", out).err.count("\n") == 4  # before the command, too
    assert piped(*ESTIMATE, "-o", out).err.startswith("wrote ")
    quiet = piped(*ESTIMATE, "-o", out, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out.startswith("Recommendation")
    both = piped(*ESTIMATE, "--quiet", "--verbose")
    assert both.code == 2
    assert "exclude each other" in both.err


@pytest.mark.slow
def test_quiet_is_quiet_on_a_terminal_too(terminal):
    _, shown = terminal(*ESTIMATE, "--quiet")
    assert "planning" not in shown


def test_a_line_of_progress_has_task_state_and_seconds():
    clock = iter([10.0, 10.3, 22.0])
    line = ProgressLine("planning 3 workloads", lambda: next(clock))
    assert str(line) == "planning 3 workloads, 0.3 s"
    line.update(describe_bounds("hybrid", 1_155_236.4, 1_150_000.0))
    assert str(line) == "planning 3 workloads, hybrid: best 1,155,236, bound 1,150,000, gap 0.5 %, 12 s"


@pytest.mark.parametrize(
    ("best", "bound", "text"),
    [
        (None, None, "cloud"),
        (None, 5.0, "cloud: bound 5"),
        (8.0, None, "cloud: best 8"),
        (0.0, 0.0, "cloud: best 0, bound 0"),
    ],
)
def test_what_is_not_known_is_left_out(best, bound, text):
    assert describe_bounds("cloud", best, bound) == text
