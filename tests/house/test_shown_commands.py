"""Commands in ```sh blocks: run here, or not with a reason that stands in one place; all of planner's are parsed.

```console blocks are run by test_documents.py.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from planner.cli import commands
from tests.doors.conftest import serving

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SERVICE = "localhost:8000"
NOT_RUN = {
    "make ": "the hosted jobs run it (test_habits.py), the demo test_documents.py",
    "pip install": "needs the package registry",
    "pipx install": "needs the package registry; test_wheel.py installs the wheel",
    "pre-commit install": "writes into the git folder of the reader",
    ".venv/bin/pytest": "is this",
    "export ": "sets a variable of the reader",
    "az ": "needs an account",
    "gcloud ": "needs an account",
    "terraform ": "needs the registry of providers; tests/terraform validates what is written",
    "cd ": "goes with terraform",
    "grep ": "goes with terraform",
    "sed ": "test_add_something.py follows the page in a copy",
    "planner serve": "does not end; tests/doors and tests/page run it",
    "planner prices refresh": "needs a network; tests/pricing/clouds run it against stand-ins of the clouds",
    "planner prices diff": "needs two snapshots of the reader; tests/doors/test_prices.py has them",
    "planner quota": "needs an account; tests/doors/test_quota.py runs it against stand-ins of the clouds",
    "planner ci": "needs a git repository with a change; the console blocks of docs/guides/pipelines.md make one",
    "planner init": "asks on a terminal; tests/doors/test_init.py answers it",
    "planner measure": "starts the reader's own training; tests/doors/test_measure.py has one",
    "planner estimate": "has files of the reader and takes minutes; the guides' console blocks run its options",
}
"""How commands begin that are shown and not run, and why."""
FILES_OF_THE_READER = ("@odd.csv", "@teams.csv")
"""In requests to the service: written by another block of their page, whose command on the command line is run."""


def shown_commands() -> Iterator[tuple[str, str]]:
    """Each command of a block with its page, continued lines joined, comments cut off."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                if text := re.sub(r"\s+#\s.*$", "", line).strip():
                    yield str(page.relative_to(ROOT)), text


SHOWN = list(shown_commands())
REQUESTS = [(page, line) for page, line in SHOWN if line.startswith("curl ")]


def test_each_command_is_run_or_has_a_reason():
    unexplained = [
        (page, line)
        for page, line in SHOWN
        if not line.startswith((*NOT_RUN, "curl ", "planner doctor", "planner prices status"))
    ]
    assert unexplained == []


def test_commands_with_a_prompt_stand_only_where_they_are_run():
    """In console blocks of the pages that test_documents.py and test_add_something.py follow."""
    run = {ROOT / "README.md", *(ROOT / "docs/guides").glob("*.md"), *(ROOT / "docs/tutorials").glob("*.md")}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for kind, body in re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            if re.search(r"^\$ ", body, re.MULTILINE):
                assert kind == "console", page
                assert page in run, page


def test_each_reason_is_needed():
    assert [start for start in NOT_RUN if not any(line.startswith(start) for _, line in SHOWN)] == []
    assert [name for name in FILES_OF_THE_READER if not any(name in line for _, line in REQUESTS)] == []


@pytest.mark.parametrize(
    ("page", "line"), [each for each in SHOWN if each[1].startswith("planner ")], ids=lambda text: text[:60]
)
def test_commands_of_the_planner_are_parsed(page, line):
    """Commands, options and their forms exist; nothing is run."""
    words = shlex.split(line.removesuffix("&"))[1:]
    command: click.Command = commands
    context = click.Context(commands, info_name="planner", **commands.context_settings)
    while isinstance(command, click.Group):
        name, words = words[0], words[1:]
        command = command.get_command(context, name)
        assert command is not None, (page, name)
    command.make_context(line, list(words), parent=context)


@pytest.mark.parametrize("line", ["planner doctor", "planner prices status"])
def test_what_is_quick_is_run(line, shell):
    assert any(shown.startswith(line) for _, shown in SHOWN)
    done = shell(line)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    from planner.service import ServiceLimits

    store = f"sqlite:///{tmp_path_factory.mktemp('store') / 'service.sqlite'}"
    with serving(ServiceLimits(workers=1, seconds=600), store) as client:
        yield str(client.base_url).removeprefix("http://").rstrip("/")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(
    ("page", "line"), [each for each in REQUESTS if not any(name in each[1] for name in FILES_OF_THE_READER)]
)
def test_requests_to_the_service_are_answered(page, line, address, monkeypatch):
    """Without the programs that follow in a pipe; an answer of 4xx or 5xx ends curl with 22."""
    assert SERVICE in line, page
    monkeypatch.chdir(ROOT)
    words = [word.replace(SERVICE, address) for word in shlex.split(line.partition(" | ")[0])]
    done = subprocess.run([*words, "--fail-with-body", "--noproxy", "*"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert len(done.stdout) > 100
