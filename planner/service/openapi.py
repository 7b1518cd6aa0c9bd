"""Makes openapi/: the document, and the answers to its examples.

`python -m planner.service.openapi` writes them, `--check` only lists those that are out of date; a folder may follow.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.service.app import create
from planner.service.openapi_schemas import EXAMPLES, QUERY
from planner.service.plan_jobs import CrashedJob, FailedPlugin, RejectedRequest, UnreadablePrices, run_plan_job
from planner.service.queue.job_ends import describe_failure
from planner.service.uploads import Upload


def render_document() -> bytes:
    """The OpenAPI document of the service, as it is committed."""
    return (json.dumps(create().openapi(), indent=2, ensure_ascii=False) + "\n").encode()


def answer_example(request: bytes) -> bytes:
    """The answer of POST /plan to a body, computed without a service; RuntimeError for an internal error."""
    result = run_plan_job(Upload(request), {name: [text] for name, text in QUERY.items()}, "json")
    if isinstance(result, CrashedJob):
        raise RuntimeError(result.details)
    if isinstance(result, UnreadablePrices):
        raise RuntimeError("; ".join(result.faults))
    if isinstance(result, FailedPlugin):
        raise RuntimeError(result.reason)
    if isinstance(result, RejectedRequest):
        return bytes(describe_failure(result).body)
    return gzip.decompress(result.compressed_plan)


def build_files(folder: Path) -> dict[Path, bytes]:
    """Every file that is made, with its content; the requests in `folder` are its input."""
    examples = folder / "examples"
    answers = {
        examples / f"{name}.answer.json": answer_example((examples / f"{name}.request.json").read_bytes())
        for name in EXAMPLES
    }
    return {folder / "openapi.json": render_document(), **answers}


def main(arguments: Sequence[str]) -> int:
    """0, or 1 where `--check` finds a file that is not as it would be written."""
    os.environ["GPU_PLANNER_DATA"] = os.devnull  # committed answers use the prices of the package
    folders = [argument for argument in arguments if argument != "--check"]
    files = build_files(Path(folders[0] if folders else "openapi"))
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
