"""The objects of Kubernetes manifests: one a document, or the items of a List."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.cell_grid import Cell
from planner.inputs.workload_files.placed_document import Path, PlacedDocument
from planner.inputs.workload_files.workload_log import WorkloadLog
from pricing.frozen_values import dataclass

DEPTH_MAX = 5


@dataclass(frozen=True, slots=True)
class ManifestObject:
    """One object: `path` leads to it within its document."""

    document: PlacedDocument
    path: Path
    api: str
    kind: str
    name: str
    namespace: str

    @property
    def cell(self) -> Cell:
        return Cell(self.document.place(*self.path), f"{self.kind} {self.name}".strip())

    @property
    def is_volcano(self) -> bool:
        return self.api.partition("/")[0].endswith("volcano.sh")

    @property
    def key(self) -> tuple[str, str, str]:
        return self.namespace, self.kind, self.name


def list_objects(log: WorkloadLog, document: PlacedDocument, path: Path = ()) -> Iterator[ManifestObject]:
    """The objects of a document, of a List in turn; a problem where there is none."""
    api, kind = document.take_text(*path, "apiVersion"), document.take_text(*path, "kind")
    if document.indexes(*path, "items") and len(path) <= DEPTH_MAX:
        for index in document.indexes(*path, "items"):
            yield from list_objects(log, document, (*path, "items", index))
        return
    if not kind or not api:
        log.add_problem(document.cell(*path), "no object of Kubernetes", "apiVersion and kind")
        return
    metadata = (*path, "metadata")
    name = document.take_text(*metadata, "name") or document.take_text(*metadata, "generateName").rstrip("-")
    namespace = document.take_text(*metadata, "namespace") or "default"
    yield ManifestObject(document, path, api, kind, name or kind, namespace)
