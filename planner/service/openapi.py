"""Makes openapi/: the document, and the answers to its examples.

`python -m planner.service.openapi` writes them, `--check` only tells which are out of date; a folder may follow.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.service.app import create
from planner.service.documents import EXAMPLES, QUERY
from planner.service.problems import refused
from planner.service.sent import Sent
from planner.service.solve import Failed, NoPrices, Refused, solve


def document() -> bytes:
    """The OpenAPI document of the service, as it is committed."""
    return (json.dumps(create().openapi(), indent=2, ensure_ascii=False) + "\n").encode()


def answer(request: bytes) -> bytes:
    """What POST /plan answers to a body, without a service around it; RuntimeError for a bug."""
    result = solve(Sent(request), {name: [text] for name, text in QUERY.items()}, "json")
    if isinstance(result, Failed):
        raise RuntimeError(result.details)
    if isinstance(result, NoPrices):
        raise RuntimeError("; ".join(result.faults))
    if isinstance(result, Refused):
        return bytes(refused(result.complaints, readable=result.readable).body)
    return result.data


def made(folder: Path) -> dict[Path, bytes]:
    """Every file that is made, with its content; the requests in `folder` are its input."""
    examples = folder / "examples"
    answers = {
        examples / f"{name}.answer.json": answer((examples / f"{name}.request.json").read_bytes()) for name in EXAMPLES
    }
    return {folder / "openapi.json": document(), **answers}


def main(arguments: Sequence[str]) -> int:
    """0, or 1 where `--check` finds a file that is not as it would be written."""
    os.environ["GPU_PLANNER_DATA"] = os.devnull  # what is committed is planned with what is shipped
    folders = [argument for argument in arguments if argument != "--check"]
    files = made(Path(folders[0] if folders else "openapi"))
    stale = [path for path, content in files.items() if not path.is_file() or path.read_bytes() != content]
    if "--check" not in arguments:
        for path in stale:
            path.write_bytes(files[path])
        return 0
    for path in stale:
        sys.stderr.write(f"{path} is out of date: run python -m planner.service.openapi\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
