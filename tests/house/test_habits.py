"""What contributors meet: hosted checks, hooks before a commit, editor settings, forms and the guide for them."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKFLOWS = (".github/workflows/ci.yml", ".github/workflows/nightly.yml")
QUICK = ("ruff format", "ruff check", "mypy", "lint-imports")
"""The checks that run before each commit; the others import the whole program."""
PYTHON = "Programming Language :: Python :: 3."
TOLD = re.compile(r"`((?:planner|pricing|terraform|tests|docs|bench|examples)/[^`\s]*)`")


def load(path: Path) -> Any:
    """A YAML file with every word as it is written: `on` is a key and 3.10 is no number."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def make_lines(makefile: str, target: str) -> list[str]:
    """The commands of a target, as they run in the root folder."""
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe, target
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()]


@pytest.fixture(scope="module")
def makefile(root) -> str:
    return (root / "Makefile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pythons(project) -> list[str]:
    """The versions that the classifiers name, oldest first."""
    chosen = project["project"]["classifiers"]
    return [each.removeprefix(PYTHON[:-2]) for each in chosen if each.startswith(PYTHON)]


@pytest.fixture(scope="module")
def jobs(root) -> dict[str, dict[str, Any]]:
    found = {name: job for path in WORKFLOWS for name, job in load(root / path)["jobs"].items()}
    assert found.keys() == {"lint", "test", "slow"}
    return found


def uses(job: dict[str, Any], action: str) -> dict[str, str]:
    """What a job gives to an action that it uses once."""
    (step,) = (step for step in job["steps"] if step.get("uses", "").startswith(f"{action}@"))
    return step["with"]


def runs(job: dict[str, Any]) -> Iterator[str]:
    yield from (step["run"] for step in job["steps"] if "run" in step)


def test_every_workflow_is_looked_at(files):
    assert {str(path) for path in files if path.parts[:2] == (".github", "workflows")} == set(WORKFLOWS)


def test_hosted_jobs_run_what_a_contributor_runs(jobs, makefile):
    assert {name: list(runs(job)) for name, job in jobs.items()} == {
        "lint": ["make check"],
        "test": ["make test"],
        "slow": ["make slow"],
    }
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert {line.removeprefix("make ") for job in jobs.values() for line in runs(job)} <= targets


def test_tests_run_on_every_python_that_is_named(jobs, pythons):
    assert len(pythons) >= 3
    assert jobs["test"]["strategy"]["matrix"]["python-version"] == pythons
    assert uses(jobs["test"], "actions/setup-python")["python-version"] == "${{ matrix.python-version }}"
    for name in ("lint", "slow"):
        assert uses(jobs[name], "actions/setup-python")["python-version"] == pythons[0]


def test_tests_have_the_terraform_that_they_were_made_with(jobs, root):
    text = (root / "tests/tfcheck/README.md").read_text(encoding="utf-8")
    (version,) = re.findall(r"made and tried with ([\d.]+)\)", text)
    for name in ("test", "slow"):
        given = uses(jobs[name], "hashicorp/setup-terraform")
        assert given == {"terraform_version": version, "terraform_wrapper": "false"}


def test_changes_are_tested_and_slow_tests_run_at_night(root):
    often, nightly = (load(root / path)["on"] for path in WORKFLOWS)
    assert often.keys() == {"pull_request", "push"}
    assert often["push"]["tags"] == ["v*"]
    assert nightly.keys() == {"schedule", "workflow_dispatch"}


@pytest.mark.parametrize("path", WORKFLOWS)
def test_hosted_jobs_may_read_and_nothing_more(path, root):
    found = load(root / path)
    assert found["permissions"] == {"contents": "read"}
    for job in found["jobs"].values():
        assert "permissions" not in job
        assert int(job["timeout-minutes"]) > 0
        assert uses(job, "actions/checkout") == {"persist-credentials": "false"}


def test_hooks_run_the_quick_checks_of_make_check(root, makefile):
    commands = [line for line in make_lines(makefile, "check") if line.removeprefix(".venv/bin/").startswith(QUICK)]
    assert len(commands) == len(QUICK)
    (local,) = load(root / ".pre-commit-config.yaml")["repos"]
    assert [hook["entry"] for hook in local["hooks"]] == commands


def test_hooks_use_the_locked_tools_and_fetch_none(root):
    """Otherwise a commit would be judged by another version than `make check`."""
    found = load(root / ".pre-commit-config.yaml")
    assert [repository["repo"] for repository in found["repos"]] == ["local"]
    for hook in found["repos"][0]["hooks"]:
        assert hook.keys() == {"id", "name", "entry", "language", "pass_filenames"}
        assert (hook["language"], hook["pass_filenames"]) == ("unsupported", "false")


def test_hooks_run_where_a_check_could_change_its_mind(root):
    pattern = load(root / ".pre-commit-config.yaml")["files"]
    assert all(re.search(pattern, path) for path in ("pyproject.toml", "planner/__init__.py", "tests/conftest.py"))
    assert not any(re.search(pattern, path) for path in ("README.md", "terraform/aws/cloud.toml", "x.pyc"))


def test_editors_wrap_where_the_formatter_does(root, project):
    parser = configparser.ConfigParser()
    parser.read_string("[root]\n" + (root / ".editorconfig").read_text(encoding="utf-8"))
    assert parser["*.py"]["max_line_length"] == str(project["tool"]["ruff"]["line-length"])
    assert parser["*.py"]["indent_size"] == "4"
    assert parser["Makefile"]["indent_style"] == "tab"
    assert parser["*"]["end_of_line"] == "lf"


@pytest.mark.parametrize("name", ["bug", "price", "proposal"])
def test_an_issue_form_asks_for_what_is_needed(name, root):
    form = load(root / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml")
    assert form["name"]
    assert form["description"]
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked)
    assert any(part.get("validations", {}).get("required") == "true" for part in asked)


def test_weaknesses_are_reported_in_private(root, project):
    address = f"{project['project']['urls']['Repository']}/security/advisories/new"
    (link,) = load(root / ".github/ISSUE_TEMPLATE/config.yml")["contact_links"]
    assert link["url"] == address
    for page in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        assert address in (root / page).read_text(encoding="utf-8")


def test_the_readme_leads_to_the_pages_for_contributors(root):
    readme = (root / "README.md").read_text(encoding="utf-8")
    for page in ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "LICENSE"):
        assert f"]({page})" in readme, page


@pytest.mark.skipif(not Path(__file__).parents[2].joinpath("planner/pipeline.py").is_file(), reason="old layout")
def test_every_path_that_contributors_are_told_exists(root):
    """A path ends before its first placeholder: planner/reports/<name>.py is looked for as planner/reports/."""
    told = TOLD.findall((root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    places = {path.partition("<")[0] for path in told}
    assert len(places) > 10
    assert [place for place in sorted(places) if not (root / place).exists()] == []
