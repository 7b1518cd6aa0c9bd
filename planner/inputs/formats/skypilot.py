"""SkyPilot task YAML: tasks, services and pipelines as workloads; what it does not say is asked."""

from __future__ import annotations

import re

from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import binary_kind

SUFFIXES = ()
IS_SURE = True
ASKS = True
HEAD_BYTES = 64_000
_TOP_KEY = re.compile(r"(?m)^([A-Za-z_]\w*):(?:\s|$)")
REQUEST_KEYS = frozenset({"workloads", "demand", "measurements", "answers", "apiVersion", "kind"})


def claims(data: bytes) -> bool:
    """Whether keys of a task, and none of a request or a manifest, begin lines of the text."""
    if binary_kind(data) is not None:
        return False
    keys = set(_TOP_KEY.findall(data[:HEAD_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")))
    if "resources" not in keys or keys & REQUEST_KEYS:
        return False
    from planner.inputs.workload_files.skypilot_tasks import KEYS

    return bool(keys & KEYS)


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The tasks of a file as workloads; places are lines and columns."""
    from planner.inputs.workload_files.placed_document import PlacedDocument
    from planner.inputs.workload_files.skypilot_tasks import read_tasks
    from planner.inputs.workload_files.workload_log import WorkloadLog
    from planner.inputs.yaml_documents import parse_documents

    try:
        documents = [PlacedDocument.of(root) for root in parse_documents(data)]
    except UnreadableFile as fault:
        return reject_file(data, name, "skypilot", str(fault), place=fault.place, expected="a SkyPilot task in YAML")
    log = WorkloadLog(data, name, "skypilot", options)
    read_tasks(log, documents)
    return log.finish()
