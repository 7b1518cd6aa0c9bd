"""Completion of the shell: the scripts that click makes, installed once, and what they ask the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "#!/bin/sh\nexec {python} -c 'from planner.cli import main; main()' \"$@\"\n"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "home of Jörg"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def program(tmp_path) -> Path:
    """A folder with `planner`, as an installation has it."""
    place = tmp_path / "bin" / "planner"
    place.parent.mkdir()
    place.write_text(PROGRAM.format(python=sys.executable))
    place.chmod(0o755)
    return place.parent


def completed(program: Path, words: str) -> list[str]:
    variables = {"_PLANNER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [program / "planner"], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_and_options_are_completed(program):
    assert completed(program, "planner est") == ["estimate"]
    assert completed(program, "planner prices ref") == ["refresh"]
    assert "--discount-rate" in completed(program, "planner estimate --dis")


def test_an_installed_completion_completes_in_bash(planner, home, program):
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    (home / ".bashrc").write_text("PS1=mine")
    ran = planner("completion", "bash", "--install")
    assert ran.code == 0, ran.err
    once = (home / ".bashrc").read_text()
    assert once.startswith("PS1=mine\n")
    assert planner("completion", "bash", "--install").code == 0
    assert (home / ".bashrc").read_text() == once
    script = (
        ". ~/.bashrc; complete -p planner >/dev/null || exit 9;"
        " COMP_WORDS=(planner estim) COMP_CWORD=1; _planner_completion planner; echo ${COMPREPLY[@]}"
    )
    variables = {**os.environ, "PATH": f"{program}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "estimate", "")


def test_fish_has_a_folder_for_it(planner, home):
    assert planner("completion", "fish", "--install").code == 0
    assert "planner" in (home / ".config/fish/completions/planner.fish").read_text()
    assert [path.name for path in home.iterdir()] == [".config"]


def test_the_script_is_printed_for_whoever_installs_it_otherwise(planner, home, monkeypatch):
    assert "compdef" in planner("completion", "zsh").out
    monkeypatch.setenv("SHELL", "/bin/bash")
    assert "_planner_completion" in planner("completion").out
    assert list(home.iterdir()) == []


def test_an_unknown_shell_is_told(planner, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    ran = planner("completion")
    assert ran.code == 2
    assert "bash, zsh, fish" in ran.err
    assert "tcsh" in ran.err
