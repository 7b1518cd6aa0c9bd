"""Kubernetes manifests, with the objects of Kueue and Volcano: what runs on accelerators becomes workloads."""

from __future__ import annotations

import re

from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import binary_kind

SUFFIXES = ()
IS_SURE = True
ASKS = True
HEAD_BYTES = 64_000
_API = re.compile(r'(?m)^apiVersion:\s|^\s{0,8}"apiVersion"\s*:')
_KIND = re.compile(r'(?m)^kind:\s|^\s{0,8}"kind"\s*:|"kind"\s*:\s*"\w+"')


def claims(data: bytes) -> bool:
    """Whether the text has the two keys that every object of Kubernetes has, as YAML or as JSON."""
    if binary_kind(data) is not None:
        return False
    head = data[:HEAD_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    return bool(_API.search(head) and _KIND.search(head)) or head.lstrip().startswith('{"apiVersion"')


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The objects of a file as workloads; places are lines and columns."""
    from planner.inputs.workload_files.kubernetes_workloads import read_manifests
    from planner.inputs.workload_files.placed_document import PlacedDocument
    from planner.inputs.workload_files.workload_log import WorkloadLog
    from planner.inputs.yaml_documents import parse_documents

    try:
        documents = [PlacedDocument.of(root) for root in parse_documents(data)]
    except UnreadableFile as fault:
        expected = "manifests of Kubernetes in YAML or JSON"
        return reject_file(data, name, "kubernetes", str(fault), place=fault.place, expected=expected)
    log = WorkloadLog(data, name, "kubernetes", options)
    read_manifests(log, documents)
    return log.finish()
