"""The options of #SBATCH lines: long, short, several on a line; slurm.schedmd.com/sbatch.html, read 2026-11-23.

Directives end at the first line that is neither blank nor a comment.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from planner.inputs.cell_grid import Cell
from planner.inputs.workload_files.workload_log import WorkloadLog

DIRECTIVE = "#SBATCH"
SHORT = {
    "N": "nodes", "n": "ntasks", "c": "cpus-per-task", "G": "gpus", "t": "time", "a": "array", "C": "constraint",
    "p": "partition", "J": "job-name", "A": "account", "o": "output", "e": "error", "D": "chdir", "d": "dependency",
    "q": "qos", "w": "nodelist", "x": "exclude", "M": "clusters", "b": "begin", "L": "licenses", "i": "input",
    "m": "distribution", "B": "extra-node-info", "S": "core-spec", "F": "nodefile", "k": "no-kill", "O": "overcommit",
    "s": "oversubscribe", "H": "hold", "Q": "quiet", "v": "verbose", "W": "wait",
}  # fmt: skip
FLAGS = frozenset(
    """
    requeue no-requeue exclusive hold oversubscribe overcommit wait quiet verbose no-kill spread-job contiguous reboot
    parsable use-min-nodes ignore-pbs test-only propagate get-user-env nice kill-on-invalid-dep
    """.split()  # noqa: SIM905  (read as words)
)
"""Options that may have no value."""
SHORT_FLAGS = frozenset("kOsHQvW")
GPU_OPTIONS = ("gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket", "gres", "tres-per-task", "tres-per-job")
USED = frozenset(
    {*GPU_OPTIONS, "nodes", "ntasks", "ntasks-per-node", "ntasks-per-gpu", "cpus-per-task", "cpus-per-gpu", "mem"}
    | {"mem-per-gpu", "mem-per-cpu", "time", "array", "constraint", "partition", "job-name", "account", "requeue"}
    | {"no-requeue", "exclusive", "sockets-per-node", "hetjob", "packjob"}
)
WITHOUT_EFFECT = frozenset(
    """
    output error mail-type mail-user chdir export dependency qos nice begin signal open-mode wait comment distribution
    hint cpu-bind gpu-bind gpu-freq threads-per-core ntasks-per-core ntasks-per-socket cores-per-socket input parsable
    quiet verbose get-user-env kill-on-invalid-dep export-file no-kill tmp time-min acctg-freq profile bcast
    deadline hold oversubscribe overcommit container mem-bind wckey spread-job
    """.split()  # noqa: SIM905  (read as words)
)
"""Known options without effect on a plan."""


@dataclass(slots=True)
class BatchHeader:
    """The options of one script, or of one component of a heterogeneous job, each with its place."""

    cell: Cell
    options: dict[str, Cell] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return self.options[name].text if name in self.options else ""


def list_headers(log: WorkloadLog, text: str) -> Iterator[BatchHeader]:
    header, is_over = BatchHeader(Cell("line 1", "")), False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped.startswith(DIRECTIVE) or (
            stripped[len(DIRECTIVE) :] and not stripped[len(DIRECTIVE)].isspace()
        ):
            is_over = is_over or bool(stripped and not stripped.startswith("#"))
            continue
        place = f"line {number}"
        if is_over:
            log.note(f"{place}: not used: {stripped}: after the first command, where Slurm reads no directive")
            continue
        try:
            words = shlex.split(stripped[len(DIRECTIVE) :], comments=True)
        except ValueError:
            log.add_problem(Cell(place, stripped), "quotes that do not close", "pairs of quotes")
            continue
        if words in (["hetjob"], ["packjob"]):
            yield header
            header = BatchHeader(Cell(place, ""))
            continue
        for name, value in _list_options(log, words, place):
            header.options[name] = Cell(place, value)
    yield header


def _list_options(log: WorkloadLog, words: Sequence[str], place: str) -> Iterator[tuple[str, str]]:
    """Name and value of each option of a line: --name=value, --name value, -Nvalue, -N value, --flag."""
    index = 0
    while index < len(words):
        word, index = words[index], index + 1
        following = words[index] if index < len(words) and not words[index].startswith("-") else None
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and following is not None and name not in FLAGS:
                value, index = following, index + 1
            yield name, value
        elif re.fullmatch(r"-[A-Za-z].*", word) and word[1] in SHORT:
            value = word[2:].removeprefix("=")
            if not value and following is not None and word[1] not in SHORT_FLAGS:
                value, index = following, index + 1
            yield SHORT[word[1]], value
        else:
            log.add_problem(Cell(place, word), "no option of sbatch", "--name=value or a letter, such as -N 2")
