"""The action, the template and the hook: valid for those who read them, and true to the program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from planner.cli.ci import command
from tests.pipelines.conftest import REQUEST, ROOT

SCHEMAS = {
    "vendor.github-actions": ["action.yml"],
    "vendor.github-workflows": [".github/workflows/ci.yml", ".github/workflows/nightly.yml"],
    "vendor.gitlab-ci": [".gitlab/gpu-plan.gitlab-ci.yml"],
}
HOOK_KEYS = {"id", "name", "description", "entry", "language", "files", "types", "require_serial"}
"""What https://pre-commit.com/#new-hooks lists, of what is used here."""


def check(schema: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """As `check-jsonschema` judges with the schema that it brings: nothing is fetched."""
    more = ["--data-transform", "gitlab-ci"] if "gitlab" in schema else []
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *more, *map(str, paths)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_of_pipelines_are_valid(schema, tmp_path):
    done = check(schema, *(ROOT / path for path in SCHEMAS[schema]))
    assert done.returncode == 0, done.stdout
    text = (ROOT / SCHEMAS[schema][0]).read_text(encoding="utf-8")
    spoiled = re.sub(r"^( *)(using|script|runs-on):", r"\1x-\2:", text, flags=re.MULTILINE)
    assert spoiled != text
    (tmp_path / "spoiled.yml").write_text(spoiled)
    assert check(schema, tmp_path / "spoiled.yml").returncode == 1


def test_every_input_is_used_and_none_is_a_part_of_a_script(action):
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    assert used == set(action["inputs"])
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        for name in step.get("env", {}):
            assert name == "GITHUB_TOKEN" or f"${name}" in step["run"], name


def test_variables_of_the_template_are_used(template):
    job = template["gpu-plan"]
    text = "\n".join([*job["before_script"], *job["script"]])
    assert {name for name in job["variables"] if f"${name}" not in text} == {"GIT_DEPTH"}


def test_the_template_installs_this_release(template):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert template["gpu-plan"]["variables"]["PLAN_PACKAGE"].endswith(f"/gpu-planner/gpu-planner@v{version}")


@pytest.mark.parametrize("path", ["docs/guides/pipelines.md", "README.md"])
def test_a_page_shows_a_valid_workflow_of_this_release(tmp_path, path):
    page = (ROOT / path).read_text(encoding="utf-8")
    (workflow,) = re.findall(r"^```yaml\n(# .github/workflows.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "capacity.yml").write_text(workflow)
    assert check("vendor.github-workflows", tmp_path / "capacity.yml").returncode == 0
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert set(re.findall(r"(?:@|rev: |gpu-planner/)v(\d+\.\d+\.\d+)", page)) == {version}


@pytest.mark.parametrize("path", ["action.yml", ".gitlab/gpu-plan.gitlab-ci.yml"])
def test_options_in_the_scripts_exist(path):
    known = {option for parameter in command.params for option in getattr(parameter, "opts", ())}
    told = set(re.findall(r"(?<=[( ])--(?:name|comment|base|file|also|summary)\b", (ROOT / path).read_text()))
    assert told
    assert told <= known


def test_what_is_missing_for_a_comment_is_listed(monkeypatch):
    for name in ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_EVENT_PATH", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(command, ["--file", "x", "--comment", "github", "--also", "'"])
    complaints = result.exception.complaints
    assert [each.place for each in complaints] == [
        "GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_EVENT_PATH", "GITHUB_TOKEN", "--also",
    ]  # fmt: skip


@pytest.mark.usefixtures("repository")
def test_a_token_is_sent_to_no_address_without_encryption(monkeypatch, tmp_path, capfdbinary):
    from planner.cli._exit_codes import run

    event = {"pull_request": {"number": 7, "base": {"sha": "main"}}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_API_URL", "http://api.example.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/capacity")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    assert run(["ci", "--file", "no such file"]) == 4
    assert b"is not https: no token is sent there" in capfdbinary.readouterr().err


def test_a_revision_that_git_does_not_know_is_told(repository, capfdbinary):
    from planner.cli._exit_codes import run

    assert run(["ci", "--file", "x", "--base", "no-such-branch", "--comment", "none"]) == 2
    assert b"fetch-depth: 0" in capfdbinary.readouterr().err
    assert run(["ci", "--file", "x", "--base", "--upload-pack=touch hacked", "--comment", "none"]) == 2
    assert run(["ci", "--file", "x", "--comment", "none"]) == 2
    assert b"--base: is missing" in capfdbinary.readouterr().err
    assert not list(repository.folder.rglob("hacked"))


@pytest.mark.slow
def test_the_hook_checks_the_files_that_are_committed(repository, shell):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook.keys() == HOOK_KEYS
    assert hook["language"] == "python"
    repository.write("capacity/bad.json", {**REQUEST, "months": 0})
    repository.git("add", "--all")
    staged = repository.git("diff", "--cached", "--name-only").splitlines()
    assert all(re.search(hook["files"], name) for name in staged)
    assert not re.search(hook["files"], "README.md")
    good = shell(f"{hook['entry']} capacity/train.json capacity/same.json")
    assert (good.code, good.err) == (0, "")
    bad = shell(f"{hook['entry']} {' '.join(staged)}")
    assert bad.code == 2
    assert "error: capacity/bad.json: 1 problem" in bad.err
