"""Slurm batch scripts: what their #SBATCH lines ask for, as workloads; how long and how often is asked."""

from __future__ import annotations

import re

from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import binary_kind

SUFFIXES = (".sbatch", ".slurm")
IS_SURE = True
ASKS = True
HEAD_BYTES = 64_000
_DIRECTIVE = re.compile(r"(?m)^\s*#SBATCH\s")


def claims(data: bytes) -> bool:
    """Whether a line of the text is a directive of Slurm."""
    return binary_kind(data) is None and bool(_DIRECTIVE.search(data[:HEAD_BYTES].decode("utf-8", "replace")))


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The job of a script as workloads; places are lines."""
    from planner.inputs.document_tree import document_text
    from planner.inputs.workload_files.slurm_headers import read_script
    from planner.inputs.workload_files.workload_log import WorkloadLog

    expected = "a batch script with #SBATCH lines"
    try:
        text = document_text(data)
    except UnreadableFile as fault:
        return reject_file(data, name, "slurm", str(fault), place=fault.place, expected=expected)
    if not claims(data):
        return reject_file(data, name, "slurm", "no directive of Slurm in it", expected=expected)
    log = WorkloadLog(data, name, "slurm", options)
    read_script(log, text)
    return log.finish()
