"""Plans of changed files before and now, and the comment that compares them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from planner.cli._changed_files import ChangedFile
from planner.cli._github_annotations import without_annotations
from planner.reports._content.markdown_text import escape_line, escape_markdown, table_lines
from planner.reports._content.number_format import format_signed
from pricing.frozen_values import dataclass
from pricing.money import format_amount

PROGRAM = (sys.executable, "-c", "from planner.cli import main; main()")
RESULTS = {0: "passed", 2: "**invalid**", 3: "**no feasible plan**", 5: "**gate failed**"}
OTHER_RESULT = "**error**"
FOLD = "<details>"
LEFT_OUT = "*The rest is left out, so that the comment fits. Plan the file to see it.*"


@dataclass(frozen=True, slots=True)
class PlanCost:
    """The recommended strategy of a plan; `total` is None where none is feasible."""

    strategy: str
    total: float | None
    currency: str


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file with its costs before and now (None: no plan), its exit code and report."""

    title: str
    before: PlanCost | None
    now: PlanCost | None
    code: int
    report: str = ""
    messages: tuple[str, ...] = ()


def plan_change(changed: ChangedFile, options: Sequence[str], base: Path) -> PlannedFile:
    """The plan of a file now, compared with the plan of the file in the folder `base`, with the same options."""
    with tempfile.TemporaryDirectory(prefix="gpu-planner-plans-") as folder:
        old, new = Path(folder) / "before.json", Path(folder) / "now.json"
        before = None
        if changed.before:
            _run_planner(["estimate", *options, _path_argument(changed.before), "-o", str(old)], base)
            before = _read_cost(old)
        if not changed.now:
            return PlannedFile(changed.before, before, None, 0, "The file is removed.")
        against = ["--compare-to", str(old)] if before and before.total is not None else []
        outputs = ["--format", "github", "-o", "-", "-o", str(new)]
        done = _run_planner(["estimate", *options, _path_argument(changed.now), *against, *outputs], Path())
        lines = [line for line in done.stderr.splitlines() if not line.startswith(f"wrote {new}")]
        print_lines(lines)
        title = changed.now if changed.before in ("", changed.now) else f"{changed.before} -> {changed.now}"
        messages = tuple(without_annotations(lines)) if done.returncode else ()
        return PlannedFile(title, before, _read_cost(new), done.returncode, done.stdout, messages)


def _path_argument(path: str) -> str:
    """A path that is never read as an option."""
    return f"./{path}" if path.startswith("-") else path


def run_command(words: Sequence[str]) -> PlannedFile:
    """Another command of the planner as a part of the comment: its output and its exit code."""
    done = _run_planner(words, Path())
    lines = done.stderr.splitlines()
    print_lines(lines)
    text = done.stdout.replace("```", "'''").rstrip()
    report = f"{FOLD}\n<summary>Output</summary>\n\n```text\n{text}\n```\n\n</details>" if text else ""
    messages = tuple(without_annotations(lines)) if done.returncode else ()
    return PlannedFile(f"planner {' '.join(words)}", None, None, done.returncode, report, messages)


def print_lines(lines: Sequence[str]) -> None:
    """Pass on the standard error of a run: annotations count only there."""
    for line in lines:
        click.echo(line, err=True)


def compose_comment(marker: str, title: str, planned: Sequence[PlannedFile], length_max: int) -> str:
    """One row for each file, then recommendations and changes; folds are left out where it is too long."""
    rows = [_summarize_file(each) for each in planned]
    head = [marker, f"## {escape_markdown(title)}", ""]
    head += (
        table_lines(("file", "before", "now", "change", "result"), rows) if rows else ["No planned file differs.", ""]
    )
    parts = [_describe_file(each) for each in planned]
    while len(text := "\n".join([*head, *parts])) > length_max and any(FOLD in part for part in parts):
        longest = max((part for part in parts if FOLD in part), key=len)
        parts[parts.index(longest)] = f"{longest.partition(FOLD)[0]}{LEFT_OUT}\n"
    return text if len(text) <= length_max else f"{text[: length_max - len(LEFT_OUT) - 2]}\n\n{LEFT_OUT}"


def _summarize_file(planned: PlannedFile) -> tuple[str, ...]:
    before, now = planned.before, planned.now
    change = "-"
    if before and now and before.total is not None and now.total is not None and before.currency == now.currency:
        amount = now.total - before.total
        share = f" ({amount / before.total:+.1%})" if before.total else ""
        change = f"{format_signed(amount)} {now.currency}{share}" if round(amount) else "none"
    return (
        escape_markdown(planned.title),
        _format_cost(before),
        _format_cost(now),
        change,
        RESULTS.get(planned.code, OTHER_RESULT),
    )


def _format_cost(cost: PlanCost | None) -> str:
    if cost is None:
        return "-"
    return "none feasible" if cost.total is None else f"{format_amount(cost.total, 0)} {cost.currency}, {cost.strategy}"


def _describe_file(planned: PlannedFile) -> str:
    lines = [f"### {escape_markdown(planned.title)}", ""]
    if planned.messages:
        lines += [*(f"- {escape_line(line.strip())}" for line in planned.messages), ""]
    return "\n".join([*lines, planned.report])


def _run_planner(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  (this program, without a shell)
        [*PROGRAM, *arguments], cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False
    )


def _read_cost(path: Path) -> PlanCost | None:
    """The cost of the plan that a run has left, if it has."""
    if not path.is_file():
        return None
    plan = json.loads(path.read_bytes())
    name = plan["recommendation"]["strategy"]
    totals = {each["name"]: each["total_cost"] for each in plan["strategies"]}
    return PlanCost(name or "", totals.get(name), plan["currency"])
