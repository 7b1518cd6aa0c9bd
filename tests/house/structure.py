"""Measures the structure of the code: `python tests/house/structure.py` prints a table, the tests hold it to limits.

A room is a direct child of `planner` or `pricing`: a package, or a module beside them. An arrow runs from one room to
another where any of its modules imports any of the other's.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("planner", "pricing")

PRIVATE_LANGUAGE = frozenset(
    """
    told tell tells untold said say says ask asks asked asker held stand stands stood beside apart anew kept keeps
    keep bought found what seen shown taken wanted wants worth nothing nobody somebody whoever whatever alike ours
    mine onward borne bears bear seat shelf trouble troubles dearest dearer outdone judged mended gathered looked
    owed
    """.split()  # noqa: SIM905  (read as words, not as a list)
)
"""Words that this code once used for many different things, instead of the terms of the trade: docs/words.md.

Together they stood 188 times in 1,000 lines of the first release; httpx, starlette, fastapi and click have 5 to 9.
"""


def sources() -> dict[str, ast.Module]:
    """The syntax tree of every module of the product, by its dotted name."""
    return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in paths().items()}


@cache
def paths() -> dict[str, Path]:
    """The file of every module of the product, by its dotted name."""
    modules = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imports(tree: ast.Module, modules: Iterable[str]) -> set[str]:
    """The modules of the product that a module imports, wherever in it."""
    known, imported = set(modules), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= (names & known) or {node.module}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names} & known
    return imported


def room_of(module: str) -> str:
    """`planner.risk.draws` is in the room `planner.risk`."""
    return ".".join(module.split(".")[:2])


def room_arrows(trees: Mapping[str, ast.Module]) -> set[tuple[str, str]]:
    """Which room imports which."""
    edges = ((room_of(module), room_of(other)) for module, tree in trees.items() for other in imports(tree, trees))
    return {(room, other) for room, other in edges if room != other and other not in PACKAGES}


def longest_chain(arrows: Iterable[tuple[str, str]]) -> list[str]:
    """The longest way down through rooms that enters none twice."""
    below: dict[str, set[str]] = {}
    for room, other in arrows:
        below.setdefault(room, set()).add(other)
    known: dict[str, list[str]] = {}

    def chain(room: str, above: frozenset[str]) -> list[str]:
        if room not in known:
            ways = (chain(other, above | {room}) for other in sorted(below.get(room, ())) if other not in above)
            known[room] = [room, *max(ways, key=len, default=[])]
        return known[room]

    return max((chain(room, frozenset()) for room in sorted(below)), key=len, default=[])


def class_names(trees: Mapping[str, ast.Module]) -> Counter[str]:
    """How many classes have each name, leading underscores aside."""
    nodes = (node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return Counter(node.name.lstrip("_") for node in nodes)


def functions(trees: Mapping[str, ast.Module]) -> Iterator[str]:
    """The names of all functions and methods, dunders left out."""
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                yield node.name


def private_words() -> Counter[str]:
    """How often each word of the private language stands in the code, identifiers split at underscores and capitals."""
    counts: Counter[str] = Counter()
    for path in paths().values():
        text = re.sub(r"([a-z])([A-Z])", r"\1 \2", path.read_text(encoding="utf-8"))
        counts.update(word for word in re.findall(r"[a-z]+", text.lower()) if word in PRIVATE_LANGUAGE)
    return counts


def line_count() -> int:
    return sum(len(path.read_bytes().splitlines()) for path in paths().values())


def described_fields() -> tuple[int, int]:
    """Of the fields that the OpenAPI description has: with a description, and all."""
    schemas = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))["components"]["schemas"]
    fields = [field for schema in schemas.values() for field in schema.get("properties", {}).values()]
    return sum("description" in field for field in fields), len(fields)


TOUCHED = """
import io, json, sys
from contextlib import redirect_stdout
import planner.cli
touched, inside = set(), [False]
def profile(frame, event, argument):
    code, module = frame.f_code, frame.f_globals.get("__name__", "")
    if code.co_name == "plan" and module == "planner.pipeline" and event in ("call", "return"):
        inside[0] = event == "call"
    if inside[0] and event == "call" and code.co_name != "<module>" and code.co_filename != "<string>":
        touched.add(module)
sys.setprofile(profile)
import threading
threading.setprofile(profile)
with redirect_stdout(io.StringIO()):
    try:
        sys.argv = ["planner", "estimate", "--as-of", "2026-11-21", "--start", "2026-12", sys.argv[1]]
        planner.cli.main()
    except SystemExit:
        pass
sys.setprofile(None)
touched.discard("pricing.frozen_values")
print(json.dumps(sorted(name for name in touched if name.split(".")[0] in ("planner", "pricing"))))
"""
SMALLEST = "name: nightly-scoring\ndemand: {accelerator_hours_per_month: 730, accelerator: L4}\n"


def touched_modules(folder: Path) -> list[str]:
    """The modules of which a function runs while the smallest request is planned, in `planner.pipeline.plan`; what
    `dataclass` makes for a record is none."""
    request = folder / "job.yaml"
    request.write_text(SMALLEST, encoding="utf-8")
    command = [sys.executable, "-c", TOUCHED, str(request)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [str(name) for name in json.loads(printed)]


def main() -> None:
    import tempfile

    trees = sources()
    arrows, names, every = room_arrows(trees), class_names(trees), list(functions(trees))
    inside = {arrow for arrow in arrows if all(room.startswith("planner.") for room in arrow)}
    chain, shared = longest_chain(inside), sum(count for count in names.values() if count > 1)
    single = sum(bool(re.fullmatch(r"_[a-z0-9]+", name)) for name in every)
    words, lines = private_words(), line_count()
    with_text, fields = described_fields()
    with tempfile.TemporaryDirectory() as folder:
        touched = touched_modules(Path(folder))
    for name, value in (
        ("rooms of planner", str(len({room_of(module) for module in trees if module.startswith("planner.")}))),
        ("rooms of pricing", str(len({room_of(module) for module in trees if module.startswith("pricing.")}))),
        ("arrows between rooms of planner", str(len(inside))),
        ("arrows, those to pricing included", str(len(arrows))),
        ("longest chain of rooms", f"{len(chain)}: {' > '.join(room.partition('.')[2] for room in chain)}"),
        ("modules touched by the smallest request", str(len(touched))),
        ("classes that share their name", f"{shared} of {names.total()}"),
        ("private functions of one word", f"{single} of {len(every)} functions"),
        ("words of the private language in 1,000 lines", f"{1000 * words.total() / lines:.0f}"),
        ("the commonest of them", ", ".join(f"{word} {count}" for word, count in words.most_common(8))),
        ("lines", f"{lines:,}"),
        ("fields of the API with a description", f"{with_text} of {fields}"),
    ):
        sys.stdout.write(f"{name:46} {value}\n")


if __name__ == "__main__":
    main()
