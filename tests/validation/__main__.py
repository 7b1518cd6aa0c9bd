"""`python -m tests.validation FILE.json`: published cost studies reproduced from their own inputs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.request.errors import InvalidRequest
from pricing.catalog.price_catalog import Catalog
from tests.validation import PlanningConventions, UnreadExample, reproduce
from tests.validation._examples import read_examples
from tests.validation._report import as_json, as_text

REPRODUCED, INVALID_FILE, NOT_REPRODUCED = 0, 2, 5
EPILOG = """
FILE.json ("-" is standard input) holds {"examples": [...]}, each with id, title, method, inputs, expected,
tolerance {"abs": ..., "rel": ...} and source.

exit codes: 0 every printed figure is reproduced; 2 no such file of examples, or a case that cannot be worked (an
unknown method, faulty inputs): every problem with its place, all other cases are worked; 5 some figure is not
reproduced
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Reproduces the examples of a file and prints each figure against its tolerance, with the full cost; the exit
    code."""
    parser = argparse.ArgumentParser(
        "python -m tests.validation",
        description="Reproduce published worked examples, with the full cost of each under the planner's conventions.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE.json")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="the output, by default text")
    options = parser.parse_args(arguments)
    try:
        data = sys.stdin.buffer.read() if options.file == "-" else Path(options.file).read_bytes()
        examples = read_examples(data, options.file)
    except (OSError, InvalidRequest) as error:
        sys.stderr.write(f"{error}\n")
        return INVALID_FILE
    problems = [problem for each in examples if isinstance(each, UnreadExample) for problem in each.problems]
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    if all(isinstance(each, UnreadExample) for each in examples):
        return INVALID_FILE
    results = reproduce(examples, PlanningConventions(Catalog.current()))
    sys.stdout.write(as_json(results) if options.format == "json" else "\n".join((*as_text(results), "")))
    if problems:
        return INVALID_FILE
    return REPRODUCED if all(result.ok for result in results) else NOT_REPRODUCED


if __name__ == "__main__":
    sys.exit(main())
