"""The recorded values: one compressed file a group of cases, one line a case."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data"
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 27}]

Outputs = dict[str, Any]


def save(group: str, cases: Iterable[tuple[str, Outputs]], folder: Path = FOLDER) -> Path:
    """Write what the cases of a group gave; cases in the order of their names."""
    lines = [json.dumps([name, outputs], separators=(",", ":"), ensure_ascii=False) for name, outputs in sorted(cases)]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{group}.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode(), format=lzma.FORMAT_XZ, filters=FILTERS))
    return path


def save_origin(origin: dict[str, str], folder: Path = FOLDER) -> None:
    """Write what the recorded plans were made with."""
    (folder / "origin.json").write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")


def load_origin(folder: Path = FOLDER) -> dict[str, str]:
    path = folder / "origin.json"
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def load(group: str, folder: Path = FOLDER) -> dict[str, Outputs]:
    """What was recorded of the cases of a group; nothing where there is no file."""
    path = folder / f"{group}.jsonl.xz"
    if not path.exists():
        return {}
    return dict(json.loads(line) for line in lzma.decompress(path.read_bytes()).decode().splitlines())
