"""Makes docs/reference/ from the program itself: help texts, folder walks, the catalogue, the tables of defaults.

`python docs/generate.py` writes the pages, and what `make demo` prints into the README; `--check` writes nothing, names
the pages that are out of date and exits 1 (a test looks after the README). The same checkout gives the same bytes:
no clock, no terminal width, no order of a file system.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from runpy import run_path

import click

from planner import reports
from planner.cli import commands
from planner.cli._document_schemas import SCHEMAS
from planner.cli._tables import json_text
from planner.inputs import file_reader as intake
from planner.request import assumptions, errors
from planner.request.assumptions import override_names
from planner.result import Gap
from planner.supply.purchase_options import load_purchase_options
from pricing.accelerator import AcceleratorNames
from pricing.catalog.price_catalog import Catalog

HERE = Path(__file__).parent
ROOT = HERE.parent
REFERENCE = HERE / "reference"
SERVICE = ROOT / "planner" / "service"
WIDTH = 110
MARK = "<!-- Made by docs/generate.py from the program. Change that, then run `make docs`. -->"


def cli() -> str:
    """Every command with its whole help."""
    parts = ["# Commands", "", "The help of every command, as `--help` prints it."]
    for path, command, context in _every_command():
        parts += ["", f"## {path}", "", "```text", command.get_help(context).rstrip(), "```"]
    return "\n".join(parts)


def formats() -> str:
    """What can be read and what can be written."""
    inputs = [
        (f"`{each.name}`", _code(each.suffixes), _summary(f"planner.inputs.formats.{each.name}"))
        for each in intake.formats()
    ]
    outputs = []
    for name in reports.formats():
        module = reports.load(name)
        suffix = f"`{module.SUFFIX}`" + (", or a folder/" if reports.folder_format(name) else "")
        outputs.append((f"`{name}`", suffix, f"`{module.MEDIA_TYPE}`", _summary(f"planner.reports.{name}")))
    return "\n".join(
        [
            "# Formats",
            "",
            "Both lists are the folders `planner/inputs/` and `planner/reports/`: a file there is a format.",
            "",
            "## What can be read",
            "",
            *_table(("name", "suffixes", "what"), inputs),
            "",
            "## What can be written",
            "",
            "`--format NAME` prints one; `-o PATH` writes one, chosen by its suffix.",
            "`POST /plan` answers with the one that `?format=NAME` or the `Accept` header names.",
            "",
            *_table(("name", "suffix", "media type", "what"), outputs),
        ]
    )


def purchase_options() -> str:
    """Every way of paying, and what the catalogue prices but no plan uses."""
    priced: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for quote in _catalog().quotes():
        priced[quote.price.kind][quote.price.provider] += 1
    parts = [
        "# Ways of paying",
        "",
        "The list is the folder `planner/supply/purchase_options/`: a file there is a way of paying,",
        "named by the kind of price that it bills.",
    ]
    for name, option in load_purchase_options().items():
        bills = "as a commitment: owed for its term, used or not" if option.COMMITS else "by the hour, as used"
        interrupts = "the provider may take the node back" if option.INTERRUPTS else "not interrupted by the provider"
        parts += ["", f"## {option.TITLE}", "", _document(f"planner.supply.purchase_options.{name}"), ""]
        parts += [f"- kind in the price files: `{name}`", f"- paid {bills}; {interrupts}"]
        parts += [f"- prices of current types: {_counts(priced.pop(name, {}))}"]
    if priced:
        parts += ["", "## Priced, but not planned yet", "", "A plan names these as gaps.", ""]
        parts += [f"- `{name}`: {_counts(found)}" for name, found in sorted(priced.items())]
    return "\n".join(parts)


def providers() -> str:
    """What the catalogue holds, by provider, and what it lacks."""
    catalog = _catalog()
    parts = ["# Providers and prices", "", "What the shipped catalogue covers, as `planner prices status` tells it."]
    for name, facts in catalog.provider_facts.items():
        quotes = catalog.quotes(providers=[name])
        own = [offering for offering in catalog.offerings.values() if offering.provider == name]
        counts = {status: sum(o.status == status for o in own) for status in ("current", "legacy", "retired")}
        parts += [
            "",
            f"## {facts.title} (`{name}`)",
            "",
            f"- home page: <{facts.home_page}>",
            f"- types: {', '.join(f'{count} {status}' for status, count in counts.items())}",
            f"- regions with prices: {len({quote.price.region for quote in quotes})}",
            f"- billed by {facts.billing_increment_seconds} s, at least {facts.billing_minimum_seconds} s",
            "",
            *_table(("purchase option", "types", "prices", "oldest", "newest"), _by_option(catalog, name)),
        ]
    return "\n".join([*parts, *_lacking(catalog), *_systems(catalog), *_sources(catalog)])


def accelerators() -> str:
    """Every accelerator with its figures and the names that others write."""
    names = _catalog().names
    rows = [
        (
            f"`{part.name}`",
            part.vendor,
            part.counted_as,
            _figure(part.memory_gib),
            _figure(part.memory_bandwidth_gbs),
            _figure(part.fp16_tflops),
            ", ".join(sorted({alias.written for alias in names.aliases if alias.name == part.name})) or "-",
        )
        for part in names.by_name.values()
    ]
    return "\n".join(
        [
            "# Accelerators",
            "",
            "One name each. Case, spaces, dashes, underscores and a vendor in front do not matter; beyond that nothing",
            "is guessed: a name that is not listed is unknown, and the nearest are told. A bare model (H100) means",
            "all its variants as a filter. `-` is unknown, never zero. `{n}` in a TPU slice is its size.",
            "",
            *_table(
                ("name", "vendor", "1 is a", "memory, GiB", "bandwidth, GB/s", "fp16, dense TFLOPS", "also written"),
                rows,
            ),
            "",
            *_ambiguous(names),
        ]
    )


def assumed() -> str:
    """Every figure that no price list holds."""
    rows = [
        (f"`{a.name}`", f"{a.meaning}. {a.source}", f"{a.value:g}", a.unit, _range(a.low, a.high), a.as_of.isoformat())
        for a in assumptions.load_defaults().values()
    ]
    systems = [
        (system.name, *(f"`{name}`" for name in override_names(system.name))) for system in Catalog.embedded().systems
    ]
    return "\n".join(
        [
            "# Assumptions",
            "",
            "Figures that no price list holds, with their source, their published range and their date. Each can be",
            "replaced by name: `assumptions` in a request, a sheet called Assumptions, or `--assumptions FILE`. A plan",
            "shows all of them and marks those that you gave.",
            "",
            *_table(("name", "meaning and source", "default", "unit", "range", "as of"), rows),
            "",
            "## Owned systems",
            "",
            "Your own quote, power at the wall (kW) and height take the place of the catalogue's under these names:",
            "",
            *_table(("system", "price, USD", "maximum power, kW", "height, rack units"), systems),
        ]
    )


def failures() -> str:
    """Exit codes, HTTP problems, kinds of gaps."""
    codes = inspect.cleandoc(commands.help or "").partition("Exit codes:")[2].strip("\n")
    problems = sorted(set(_problems()))
    return "\n".join(
        [
            "# Errors and gaps",
            "",
            "A request is judged whole: every fault is told at once, each with its place, what was read and what was",
            "expected. A plan that cannot exist is an answer, not an error.",
            "",
            "## Exit codes",
            "",
            "```text",
            codes.rstrip(),
            "```",
            "",
            "## HTTP problems",
            "",
            "RFC 9457, `application/problem+json`. `errors` lists {path, message, value, expected}; a bug has an `id`",
            "that is in the log of the service.",
            "",
            *_table(("status", "type", "title"), problems),
            "",
            "## The error tree",
            "",
            "```text",
            inspect.cleandoc(errors.__doc__ or ""),
            "```",
            "",
            "## Kinds of gaps",
            "",
            inspect.cleandoc(Gap.__doc__ or ""),
        ]
    )


DEFAULT_SETTINGS = run_path(str(HERE / "settings_reference.py"))["default_settings"]
PAGES: dict[str, Callable[[], str]] = {
    "accelerators.md": accelerators,
    "assumptions.md": assumed,
    "cli.md": cli,
    "errors.md": failures,
    "formats.md": formats,
    "options.md": purchase_options,
    "providers.md": providers,
    "settings.md": lambda: DEFAULT_SETTINGS(_every_command(), _table),
    "request.md": run_path(str(HERE / "request_reference.py"))["request_fields"],
}


def pages() -> dict[Path, str]:
    """Every page and every schema with its content."""
    schemas = {REFERENCE / "schemas" / f"{name}.schema.json": json_text(each.make()) for name, each in SCHEMAS.items()}
    return {REFERENCE / name: f"{MARK}\n\n{page().rstrip()}\n" for name, page in PAGES.items()} | schemas


def _catalog() -> Catalog:
    return Catalog.embedded()


def _every_command(
    command: click.Command = commands, name: str = "planner", parent: click.Context | None = None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    settings = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(command, parent, name, **settings)
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _every_command(found, child, context)


def _document(module: str) -> str:
    return inspect.cleandoc(import_module(module).__doc__ or "")


def _summary(module: str) -> str:
    """The first paragraph of a module's docstring on one line."""
    return " ".join(_document(module).partition("\n\n")[0].split())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(' --- ' for _ in head)}|"]
    return lines + [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(found.items())) or "none"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:,.10g}"


def _range(low: float | None, high: float | None) -> str:
    return f"{_figure(low)} to {_figure(high)}"


def _by_option(catalog: Catalog, provider: str) -> list[tuple[str, ...]]:
    merged = defaultdict(list)
    for line in catalog.coverage():
        if line.provider == provider and not line.retired:
            merged[line.option].append(line)
    return [
        (
            f"`{option}`",
            f"{sum(line.offerings for line in lines):,}",
            f"{sum(line.prices for line in lines):,}",
            min(line.oldest for line in lines).isoformat(),
            max(line.newest for line in lines).isoformat(),
        )
        for option, lines in sorted(merged.items())
    ]


def _lacking(catalog: Catalog) -> list[str]:
    """Types without a price, and types that are gone."""
    unpriced = [f"- {o.provider} `{o.instance_type}` ({o.accelerator})" for o in catalog.unpriced()]
    retired = [
        (o.provider, f"`{o.instance_type}`", o.accelerator, f"`{o.successor}`" if o.successor else "none recorded")
        for o in catalog.offerings.values()
        if o.status == "retired"
    ]
    return [
        "",
        "## Types without a price",
        "",
        "They are gaps: never candidates, and named in every plan that could use them.",
        "",
        *unpriced,
        "",
        "## Retired types",
        "",
        "Kept for their names and never planned.",
        "",
        *_table(("provider", "type", "accelerator", "successor"), retired),
    ]


def _systems(catalog: Catalog) -> list[str]:
    rows = [
        (
            s.name,
            f"{s.accelerator_count} x {s.accelerator}",
            _figure(s.price),
            s.price_as_of.isoformat() if s.price_as_of else "-",
            _figure(s.max_power_kw),
            s.source,
        )
        for s in catalog.systems
    ]
    head = ("name", "accelerators", "price, USD", "as of", "maximum power, kW", "source")
    return ["", "## Systems that can be owned", "", *_table(head, rows)]


def _sources(catalog: Catalog) -> list[str]:
    rows = [
        (f"`{source.source_id}`", source.reference, source.as_of.isoformat(), source.gave)
        for source in catalog.sources.values()
        if "+" not in source.source_id
    ]
    return ["", "## Sources", "", *_table(("source_id", "where it came from", "as of", "what it gave"), rows)]


def _ambiguous(names: AcceleratorNames) -> list[str]:
    """Models with several variants: a filter means all, a measurement must say which."""
    models = defaultdict(list)
    for part in names.by_name.values():
        models[part.model].append(part.name)
    several = [(f"`{model}`", _code(sorted(found))) for model, found in sorted(models.items()) if len(found) > 1]
    return ["## Models with several variants", "", *_table(("model", "variants"), several)]


def _problems() -> Iterator[tuple[str, str, str]]:
    """The problems that the service makes, read from the calls in its code."""
    for path in sorted(SERVICE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] != "problem":
                continue
            if all(isinstance(argument, ast.Constant) for argument in node.args[:3]):
                status, kind, title = (ast.literal_eval(argument) for argument in node.args[:3])
                yield str(status), f"`urn:gpu-planner:problem:{kind}`", title
            else:
                yield "any other", "`urn:gpu-planner:problem:http`", "as HTTP names the status (404, 405 ...)"


def main(arguments: Sequence[str]) -> int:
    """0, or 1 where `--check` finds a page that is not as it would be written."""
    made = pages()
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    orphans = sorted(path for path in REFERENCE.rglob("*.*") if path not in made)
    if "--check" in arguments:
        for path in [*stale, *orphans]:
            sys.stderr.write(f"{path.relative_to(HERE.parent)} is out of date: run make docs\n")
        return 1 if stale or orphans else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
        print(f"wrote {path.relative_to(HERE.parent)}")
    for path in orphans:
        path.unlink()
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    if "--check" not in sys.argv:
        run_path(str(HERE / "demo.py"), run_name="__main__")
    sys.exit(status)
