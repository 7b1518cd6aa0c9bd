"""The files of one export: a file, or a folder with parts, months (BILLING_PERIOD=2026-10/) and manifests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SUFFIXES = (".csv", ".csv.gz", ".gz", ".parquet", ".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".tsv", ".txt")
MANIFEST_BYTES_MAX = 5_000_000
PARTS_MAX = 2_000


def list_parts(path: Path) -> tuple[Path, ...]:
    """The files of the export at `path`, in order of their names; of a folder with manifests, those that they list.

    An export that is written anew keeps its older files beside the new ones; its manifest lists the new ones alone.
    Empty for a folder without files that an export may have. Raises OSError.
    """
    if path.is_file():
        if not (listed := _listed_files(path)):
            return (path,)
        return tuple(_match_listed(sorted(path.parent.rglob("*")), listed))
    if not path.is_dir():
        return (path,)  # opening it says why it cannot be read
    files = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith((".", "_")))
    manifests = {each: listed for each in files if each.suffix == ".json" and (listed := _listed_files(each))}
    data = [each for each in files if each not in manifests and each.name.casefold().endswith(SUFFIXES)]
    if manifests:
        data = list(_match_listed(data, {name for listed in manifests.values() for name in listed})) or data
    return tuple(data[:PARTS_MAX])


def _match_listed(files: list[Path], listed: set[str]) -> Iterator[Path]:
    """The files whose path ends in one of the listed ones, as far as both are there."""
    for file in files:
        parts = file.parts
        if any(_common_end(parts, tuple(name.split("/"))) for name in listed):
            yield file


def _common_end(parts: tuple[str, ...], listed: tuple[str, ...]) -> bool:
    """Whether a path is that of a listed object, with the folders above the export cut off: the name and, where both
    have one, the folder above it agree."""
    count = min(len(parts), len(listed), 2)
    return parts[-count:] == listed[-count:]


def _listed_files(path: Path) -> set[str]:
    """The names of objects in a manifest of AWS (reportKeys, dataFiles) or Azure (blobs); none for another file."""
    try:
        if path.suffix != ".json" or path.stat().st_size > MANIFEST_BYTES_MAX:
            return set()
        document: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return set()
    if not isinstance(document, dict):
        return set()
    names = [each.get("blobName") for each in _list_of(document, "blobs") if isinstance(each, dict)]
    names += [*_list_of(document, "reportKeys"), *_list_of(document, "dataFiles")]
    return {name.rstrip("/") for name in names if isinstance(name, str) and name}


def _list_of(document: dict[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def digest_parts(path: Path) -> str:
    """The SHA-256 checksum of a file, or of the checksums of the files of a folder. Raises OSError."""
    digests = []
    for part in list_parts(path):
        with part.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
