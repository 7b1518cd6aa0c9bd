"""Tables of errors as text: the four tasks, then by family, by vendors and by kind of step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pricing.text_tables import align_columns
from tools.throughput.cross_validation import ErrorSummary, PredictionCase, summarise_by

HEAD = ("", "cases", "groups", "median / p90", "baseline", "in the 80 % interval")
TASKS = {
    "accelerator": "another accelerator, same count",
    "weak": "more of the same, batch per device held",
    "strong": "more of the same, job held: throughput",
    "time_to_train": "more of the same, job held: time to train",
    "replicas": "more independent replicas",
    "stream": "more accelerators for one stream",
    "both": "accelerator and count",
}


def format_errors(cases: Mapping[str, Sequence[PredictionCase]]) -> str:
    """Errors in per cent by what was left out."""
    return "\n".join(line for title, mine in cases.items() for line in _format_fold(title, mine)) + "\n"


def _format_fold(title: str, cases: Sequence[PredictionCase]) -> Iterator[str]:
    if title in ("accelerator", "architecture"):
        cases = [case for case in cases if case.step.endswith("not_fitted")]
    yield from (f"left out: each {title}", "")
    for by, mine in (
        ("task", cases),
        ("family", [case for case in cases if case.task == "accelerator"]),
        ("vendors", [case for case in cases if case.task == "accelerator"]),
        ("step", [case for case in cases if "+" not in case.step]),
    ):
        rows = [_format_row(line) for line in summarise_by(mine, by=by)] if mine else []
        if rows:
            yield from align_columns((by.replace("_", " "), *HEAD[1:]), rows, right=HEAD[1:], indent="  ")
            yield ""


def _format_row(line: ErrorSummary) -> tuple[str, ...]:
    return (
        TASKS.get(line.title, line.title.replace("_", " ")), f"{line.cases:,d}", str(line.groups),
        f"{line.median:.1f} / {line.p90:.0f}", f"{line.baseline_median:.1f} / {line.baseline_p90:.0f}",
        f"{line.covered:.0%}",
    )  # fmt: skip
