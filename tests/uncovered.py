"""Prints which modules and functions of the product no test has entered, by what `make slow` has measured.

What only runs in a process that a test starts (a reader apart, a worker of the service) is not seen from here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).parents[1]


def never_entered(tree: ast.AST, never_run: set[int], run: set[int], inside: str = "") -> Iterator[tuple[int, str]]:
    """Line and name of each function of which statements could run and none has; not those within such a function."""
    for node in ast.iter_child_nodes(tree):
        name = inside
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{inside}.{node.name}".lstrip(".")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = set(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
            if body & never_run and not body & run:
                yield node.lineno, name
                continue
        yield from never_entered(node, never_run, run, name)


def main() -> None:
    measured = Coverage()
    measured.load()
    lines, missing_lines, silent, found = 0, 0, [], []
    own = (file for file in measured.get_data().measured_files() if Path(file).is_relative_to(ROOT))
    for file in sorted(own):  # a test may write a module of its own elsewhere
        _, statements, _, missing, _ = measured.analysis2(file)
        lines, missing_lines = lines + len(statements), missing_lines + len(missing)
        path = Path(file).relative_to(ROOT)
        if statements and len(missing) == len(statements):
            silent.append(str(path))
            continue
        tree = ast.parse(Path(file).read_bytes())
        entered = never_entered(tree, set(missing), set(statements) - set(missing))
        found += [f"{path}:{line} {name}" for line, name in entered]
    told = [f"{1 - missing_lines / max(lines, 1):.1%} of {lines:,} statements are run by tests"]
    told += [f"{len(silent)} modules without any", *silent, f"{len(found)} functions that no test enters", *found]
    sys.stdout.write("\n".join(told) + "\n")


if __name__ == "__main__":
    main()
