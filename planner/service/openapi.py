"""Writes openapi/: the document, and the answers to its examples. `python -m planner.service.openapi [FOLDER]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from planner.service.app import create
from planner.service.documents import EXAMPLES
from planner.service.problems import refused
from planner.service.solve import Failed, Refused, solve


def document() -> bytes:
    """The OpenAPI document of the service, as it is committed."""
    return (json.dumps(create().openapi(), indent=2, ensure_ascii=False) + "\n").encode()


def answer(request: bytes) -> bytes:
    """What POST /plan answers to a body, without a service around it; RuntimeError for a bug."""
    result = solve(request, {}, "json")
    if isinstance(result, Failed):
        raise RuntimeError(result.details)
    if isinstance(result, Refused):
        return bytes(refused(result.complaints, readable=result.readable).body)
    return result.data


def write(folder: Path) -> None:
    """Write openapi.json and the answer beside each examples/NAME.request.json in `folder`."""
    (folder / "openapi.json").write_bytes(document())
    for name in EXAMPLES:
        request = (folder / "examples" / f"{name}.request.json").read_bytes()
        (folder / "examples" / f"{name}.answer.json").write_bytes(answer(request))


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "openapi"))
