"""The help: names every option, has examples that run, and loads nothing heavy."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator

import click
import pytest

from planner.cli import commands
from planner.cli._command_summaries import SUMMARIES
from planner.reports import formats
from pricing.errors import InvalidPlugin
from pricing.search import FIELDS

HEAVY = {"numpy", "highspy", "pydantic", "fastapi", "openpyxl", "xlsxwriter", "yaml", "python_calamine", "sqlite3"}


def every_command(command: click.Command = commands, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from every_command(command.get_command(context, name), (*path, name))


COMMANDS = list(every_command())


def test_commands_are_found_by_walking_the_folder():
    found = {path[0] for path in COMMANDS if path}
    assert found == {
        "advise", "audit", "check", "ci", "cloud", "completion", "db", "diff", "doctor", "drift", "estimate", "init",
        "key", "measure", "memory", "negotiate", "offers", "prices", "quota", "schema", "serve", "serving", "study",
        "template", "terraform", "throughput", "usage", "version", "worker",
    }  # fmt: skip


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_names_every_option_and_says_what_it_does(planner, path):
    ran = planner(*path, "--help")
    assert ran.code == 0
    assert planner(*path, "-h").out == ran.out
    command = commands
    for name in path:
        command = command.get_command(click.Context(command), name)
    for parameter in command.get_params(click.Context(command, **commands.context_settings)):
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert all(name in ran.out for name in parameter.opts)


@pytest.mark.parametrize("name", ["estimate", "offers", "serve", "serving", "study", "prices"])
def test_the_help_has_examples(planner, name):
    out = planner(name, "--help").out
    assert "Examples:" in out
    assert f"planner {name}" in out.partition("Examples:")[2]


def examples_of_offers() -> list[str]:
    text = commands.get_command(click.Context(commands), "offers").help or ""
    return re.findall(r"planner offers .*", text)


@pytest.mark.parametrize("example", examples_of_offers())
def test_the_examples_of_offers_run(planner, example):
    ran = planner(*shlex.split(example)[1:])
    assert ran.code == 0, ran.err
    assert ran.out


def test_choices_come_from_the_walk(planner):
    assert f"[{'|'.join(formats())}]" in planner("estimate", "--help").out
    out = planner("offers", "--help").out
    assert all(f"--{name.replace('_', '-')}" in out for name in FIELDS)


def test_exit_codes_are_told(planner):
    out = planner("--help").out
    assert re.findall(r"^ +(\d+)  ", out, re.MULTILINE) == ["0", "1", "2", "3", "4", "5", "124", "130", "143"]


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [(("--help",), set()), (("offers", "--accelerator", "H100", "--limit", "1"), {"sqlite3"})],
)
def test_nothing_heavy_is_loaded(arguments, allowed):
    code = f"import sys\nfrom planner.cli._exit_codes import run\ncode = run({arguments!r})\n"
    code += "print(code, *sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    code, *modules = done.stdout.splitlines()[-1].split()
    assert code == "0"
    loaded = {name.partition(".")[0] for name in modules}
    assert loaded & (HEAVY - allowed) == set()
    if not allowed:
        assert [name for name in modules if name.startswith("pricing")] == []
        assert {name for name in modules if name.startswith("planner.cli.")} == {
            "planner.cli._command_summaries", "planner.cli._exit_codes", "planner.cli._terminal"
        }  # fmt: skip


def test_every_command_has_a_summary(planner):
    assert list(SUMMARIES) == commands.list_commands(click.Context(commands))
    assert all(f"{name}  " in planner("--help").out for name in SUMMARIES)


def test_a_command_without_a_summary_is_listed_with_its_own(planner, monkeypatch):
    monkeypatch.delitem(SUMMARIES, "version")
    monkeypatch.setattr(commands.get_command(click.Context(commands), "version"), "short_help", None)
    assert re.search(r"^  version +Print the version of the program", planner("--help").out, re.MULTILINE)


def test_a_command_module_is_checked_when_it_is_loaded(monkeypatch):
    monkeypatch.setitem(sys.modules, "planner.cli.version", types.ModuleType("planner.cli.version"))
    with pytest.raises(InvalidPlugin, match="command is missing"):
        commands.get_command(click.Context(commands), "version")


def test_version(planner):
    assert planner("version").out == planner("--version").out
    assert planner("version").out.startswith("planner, version ")


def test_alone_it_says_what_to_do_next(planner):
    """Three commands, by what somebody has; each is a command of the program."""
    ran = planner()
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) <= 10
    told = re.findall(r"planner ([a-z]+)", ran.out.partition("You have")[2].partition("All commands")[0])
    assert set(told) == {"init", "estimate", "template", "serve", "ci"}
    assert {(name,) for name in told} <= set(COMMANDS)
    assert "planner --help" in ran.out


@pytest.mark.parametrize(
    ("written", "meant"),
    [(("estmate",), "estimate"), (("Offers",), "offers"), (("prices", "refrsh"), "refresh"),
     (("estimate", "--mnths", "3"), "--months"), (("offers", "--acelerator", "H100"), "--accelerator")],
)  # fmt: skip
def test_a_typo_is_answered_with_the_nearest_name(planner, written, meant):
    ran = planner(*written)
    assert ran.code == 2
    assert f"Did you mean '{meant}'" in ran.err


def test_what_is_near_to_nothing_gets_no_guess(planner):
    ran = planner("xyzzy")
    assert ran.code == 2
    assert "No such command 'xyzzy'." in ran.err
    assert "Did you mean" not in ran.err


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("name: a\ndemnd: {accelerator_hours_per_month: 730, accelerator: H100}\n", "expected demand"),
        ("name: a\ndemand: {accelerator_hours_per_mnth: 730, accelerator: H100}\n", "accelerator_hours_per_month"),
        ("name: a\ndemand: {accelerator_hours_per_month: 730, accelerator: H10O}\n", "H100"),
        ("worklods:\n- name: a\n  demand: {accelerator_hours_per_month: 730, accelerator: H100}\n", "workloads"),
    ],
)
def test_a_typo_in_a_request_is_answered_with_the_nearest_name(planner, tmp_path, text, meant):
    (tmp_path / "job.yaml").write_text(text)
    ran = planner("estimate", "job.yaml")
    assert ran.code == 2
    assert meant in ran.err
    assert "wrong level" not in ran.err


def test_a_typo_in_an_accelerator_is_answered_with_the_nearest_name(planner):
    ran = planner("offers", "--accelerator", "H10O")
    assert ran.code == 2
    assert "nearest: H100" in ran.err
