"""The documents are true: commands run and print what is shown, links lead somewhere, lists are whole.

In README.md, docs/guides/ and docs/tutorials/ a ```console block holds `$ command` lines, run in order in an empty
folder that has the examples in it, each followed by lines that must appear in its output in that order (`...` stands
for any). A comment `# exit code 2` after a command is checked too. A block such as ```yaml job.yaml is
written to that file first. ```sh blocks: test_shown_commands.py.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

import click
import pytest

from planner.cli import commands
from planner.inputs.notation.units import normalize_text
from planner.inputs.spreadsheet.column_meanings import match_meaning
from planner.request import assumptions

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RUN = sorted(
    [ROOT / "README.md", *(ROOT / "docs" / "guides").glob("*.md"), *(ROOT / "docs" / "tutorials").glob("*.md")]
)
RUN.remove(ROOT / "docs" / "guides" / "add-something.md")  # test_add_something.py follows it, in a copy
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
DEMO = "make demo"
DEAR = {
    "one-sheet.md",
    "one-service.md",
    "pipelines.md",
    "measure.md",
    "prices.md",
    "outputs.md",
    "own-cloud.md",
    "python.md",
    "reviews.md",
    "bills.md",
    "serving.md",
    "from-nothing-to-a-provisioned-plan.md",
    "settings.md",
    "the-spreadsheet.md",
    "limits.md",
    "drift.md",
    "money.md",
    "uncertainty.md",
}
"""Guides whose commands keep a processor busy for half a second or longer."""
SAME = 2e-3
"""How far a number may be from the one shown: plans are proven to 1e-6, their parts may move between equals."""


@dataclass
class Step:
    """A command with what its output must show, or a file to write."""

    line: str
    shown: list[str] = field(default_factory=list)
    file: str = ""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def steps(path: Path) -> Iterator[Step]:
    for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
        if block["file"]:
            yield Step(block["body"], file=block["file"])
        elif block["kind"] == "console":
            yield from _commands(block["body"])


def _commands(body: str) -> Iterator[Step]:
    step = None
    for line in body.splitlines():
        if line.startswith("$ "):
            if step:
                yield step
            step = Step(line.removeprefix("$ "))
        elif step and step.line.endswith("\\"):
            step.line = step.line.removesuffix("\\") + line.strip()
        elif step and line.strip() not in ("", "..."):
            step.shown.append(line)
    if step:
        yield step


def made(line: str) -> str:
    """`make demo` as the Makefile runs it, with the program of this environment."""
    if line != DEMO:
        return line
    rest = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2].splitlines()[1:]
    recipe = "\n".join(takewhile(lambda text: text.startswith(("\t", " ")), rest)).replace("\\\n", " ")
    return recipe.replace("$(BIN)/", "").replace("\t@", "").replace("\t", "")


def agrees(shown: str, printed: str) -> bool:
    """Whether a shown line is part of a printed one: words alike, numbers close, spaces of any width."""
    shown, printed = (" ".join(text.split()) for text in (shown, printed))
    wanted, found = NUMBER.sub("#", shown), NUMBER.sub("#", printed)
    if wanted not in found:
        return False
    first = found[: found.index(wanted)].count("#")
    numbers = NUMBER.findall(shown)
    values = NUMBER.findall(printed)[first : first + len(numbers)]
    return all(_close(one, other) for one, other in zip(numbers, values, strict=True))


def _close(one: str, other: str) -> bool:
    if "-" in one[1:] or one.startswith("0") or len(one) < 4:
        return one == other
    a, b = (float(text.replace(",", "")) for text in (one, other))
    return a == b or abs(a - b) <= SAME * abs(a)


def follow(found: Iterable[Step], shell, folder: Path) -> None:
    """Do what the steps say, in their order; their output must show what they show."""
    for step in found:
        if step.file:
            (folder / step.file).write_text(step.line, encoding="utf-8")
            continue
        *before, done = [shell(line) for line in made(step.line).splitlines()]
        assert not any(each.returncode for each in before), before
        code = re.search(r"# exit code (\d+)", step.line)
        told = f"$ {step.line}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == (int(code[1]) if code else 0), told
        lines = iter((done.stdout + done.stderr).splitlines())
        for shown in step.shown:
            assert any(agrees(shown, printed) for printed in lines), (
                f"not printed in its turn: {shown!r}\n{told[:4000]}"
            )


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=pytest.mark.slow if path.name in DEAR else ()) for path in RUN], ids=name
)
def test_commands_print_what_the_document_shows(path, shell, tmp_path):
    follow((step for step in steps(path) if step.line != DEMO), shell, tmp_path)


def test_the_demo_asks_what_is_understood(shell):
    """Without the plan, which takes most of a minute."""
    *_, asked = made(DEMO).splitlines()
    done = shell(f"{asked} --explain-input")
    assert done.returncode == 0, done.stderr
    assert "capacity-review.xlsx" in done.stdout


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(shell, tmp_path):
    """The main job from end to end; `make docs` writes what it prints into the README."""
    (step,) = (step for step in steps(ROOT / "README.md") if step.line == DEMO)
    assert len(step.shown) > 10
    follow([step], shell, tmp_path)
    made_files = {path.name for path in (tmp_path / "out").iterdir()}
    charts = {f"plan-{name}.svg" for name in ("cash", "coverage", "break-even")}
    assert made_files == {"plan.xlsx", "plan.md", "plan.json", "terraform"} | charts
    assert (tmp_path / "out" / "plan-coverage.svg").read_bytes() == (ROOT / "docs/pictures/plan.svg").read_bytes()


def test_the_guides_have_commands_to_run():
    assert sum(not step.file for path in RUN for step in steps(path)) >= 10


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path):
    prose = BLOCK.sub("", path.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose)
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("path", [path for path in RUN if path.suffix == ".md"], ids=name)
def test_options_that_are_told_exist(path):
    known = {option for _, command in every_command() for option in options_of(command)}
    told = set()
    for line in re.findall(r"`([^`\n]+)`|^\$ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        text = "".join(line)
        if text.startswith(("planner ", "--")):
            told |= set(re.findall(r"(?<!\S)--[a-z][a-z-]+", text))
    assert told - known == set()


def every_command(command: click.Command = commands, path: str = "planner") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            yield from every_command(command.get_command(context, child), f"{path} {child}")


def options_of(command: click.Command) -> set[str]:
    # With the settings of ours: click keeps the help option of the first context that it meets, for every later test.
    context = click.Context(command, **commands.context_settings)
    return {
        option
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}


def test_every_command_and_option_is_documented():
    text = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    for path, command in every_command():
        section = text.partition(f"\n## {path}\n")[2].partition("\n## ")[0]
        assert section, path
        assert [option for option in options_of(command) if option not in section] == []


def test_every_assumption_is_documented_with_its_source():
    text = (ROOT / "docs/reference/assumptions.md").read_text(encoding="utf-8")
    for assumption in assumptions.load_defaults().values():
        (row,) = re.findall(rf"^\| `{assumption.name}` .*$", text, re.MULTILINE)
        assert assumption.source in row
        assert f"{assumption.value:g}" in row
        assert assumption.as_of.isoformat() in row


def test_headers_that_the_guide_tells_are_understood():
    columns = (ROOT / "docs/guides/the-spreadsheet.md").read_text(encoding="utf-8").partition("\n## Columns\n")[2]
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \|", columns.partition("\n## ")[0], re.MULTILINE)[2:]
    parts = (part.strip() for row in rows for part in re.split(r"[,;]| or ", row))
    headers = [part for part in parts if part not in ("", "see below")]
    assert len(headers) > 40
    assert [header for header in headers if not match_meaning(normalize_text(header))] == []


@pytest.mark.slow
def test_generated_pages_are_up_to_date():
    """As `make check` asks.

    In a process of its own: click remembers the help option of the first context that a command was seen in.
    """
    command = [sys.executable, "docs/generate.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_stale_page_is_told_by_name(tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    monkeypatch.setattr(generate, "REFERENCE", tmp_path / "docs")
    monkeypatch.setattr(generate, "HERE", tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "docs/errors.md").write_text("old")
    (tmp_path / "docs/gone.md").write_text("nobody makes this")
    capsys.readouterr()
    assert generate.main(["--check"]) == 1
    told = capsys.readouterr().err
    assert [name for name in ("errors.md", "gone.md", "cli.md") if name in told] == ["errors.md", "gone.md"]


def test_decisions_are_numbered_and_have_three_parts():
    pages = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {page.name[:4]} ")
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Choice", "Price paid"], page.name


def test_make_targets_that_are_told_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for path in PAGES:
        told = set(re.findall(r"(?:`|^\$ )make ([a-z]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert told - targets == set(), name(path)


def test_numbers_may_differ_a_little_and_words_not():
    assert agrees("total cost, USD 1,122,549", "total  cost,  USD   1,122,700   7")
    assert not agrees("total cost, USD 1,122,549", "total cost, USD 1,222,549")
    assert not agrees("total cost 5", "present cost 5")
    assert not agrees("dated 2026-11-21", "dated 2026-11-22")
    assert shlex.split(made(DEMO).splitlines()[-1])[0] == "planner"
