"""Puts the first sections of what `make demo` prints into README.md, below the line `$ make demo`, and its picture into
docs/pictures.

Run by `make docs`. It plans the example review, which takes seconds; that the README is right is checked by a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MARK = "```console\n$ make demo\n"
PICTURE = ROOT / "docs" / "pictures" / "plan.svg"
SECTIONS_SHOWN = 2


def command() -> list[str]:
    """The arguments of `planner` in the Makefile's demo."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2].partition("\n\n")[0]
    return recipe.partition("/planner ")[2].replace("\\\n", " ").split()


def printed() -> str:
    """The first sections of the report; writes the picture."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        program = [sys.executable, "-c", "from planner.cli import main; main()", *command()]
        # prices and settings of whoever runs this are none of the README's
        shipped = {**os.environ, "GPU_PLANNER_DATA": os.devnull, "PLANNER_CONFIG": os.devnull}
        done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True, env=shipped)  # noqa: S603  our own command
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_bytes((Path(folder) / "out" / "plan-coverage.svg").read_bytes())
    return "\n\n".join(done.stdout.split("\n\n")[:SECTIONS_SHOWN])


if __name__ == "__main__":
    before, mark, rest = README.read_text(encoding="utf-8").partition(MARK)
    README.write_text(f"{before}{mark}{printed()}\n...\n```{rest.partition('```')[2]}", encoding="utf-8")
