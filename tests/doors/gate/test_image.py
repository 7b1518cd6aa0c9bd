"""The container image without Docker: the Dockerfile is linted, its rules hold, and its steps run in a folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner
from dockerfile_parse import DockerfileParser

from planner.cli import commands

HADOLINT = Path(sys.executable).with_name("hadolint")
IMAGE_FOLDERS = ("/opt/planner", "/build", "/data")
"""The folders of the image that its steps write to; each is below the test's own folder here."""
OPERATOR = re.compile(r"&&")


@pytest.fixture(scope="module")
def steps(repository):
    """The instructions of the Dockerfile with their values."""
    with (repository / "Dockerfile").open("rb") as file:
        parser = DockerfileParser(fileobj=file)
        structure = parser.structure
    return [(each["instruction"], each["value"]) for each in structure if each["instruction"] != "COMMENT"]


@pytest.fixture(scope="module")
def final(steps):
    """The instructions of the last stage."""
    last = max(number for number, (name, _) in enumerate(steps) if name == "FROM")
    return steps[last:]


@pytest.fixture(scope="module")
def compose(repository):
    return yaml.safe_load((repository / "compose.yaml").read_text(encoding="utf-8"))


def values(steps, instruction):
    return [value for name, value in steps if name == instruction]


def test_the_linter_has_nothing_to_say(repository):
    done = subprocess.run(
        [HADOLINT, "--failure-threshold", "style", repository / "Dockerfile"], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout.decode()) == (0, "")


def test_the_image_runs_without_root_and_says_whether_it_is_well(steps, final):
    assert values(final, "USER") == ["10001:10001"]
    assert final[-1][0] == "CMD"
    [check] = values(final, "HEALTHCHECK")
    assert "/healthz" in check
    assert values(final, "VOLUME") == ['["/data"]']
    assert values(steps, "ADD") == []
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+( AS build)?", value) for value in values(steps, "FROM"))


def test_what_the_image_copies_is_sent_to_the_builder(repository, steps):
    sent = {line[1:] for line in (repository / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        source
        for value in values(steps, "COPY")
        if not value.startswith("--from")
        for source in shlex.split(value)[:-1]
    }
    assert copied == sent
    assert all((repository / name).exists() for name in copied)


def test_the_command_is_one_of_ours(final, compose):
    for arguments in (json.loads(values(final, "CMD")[0]), compose["services"]["planner"]["command"]):
        assert CliRunner().invoke(commands, [*arguments, "--help"]).exit_code == 0


def test_compose_hardens_every_service_of_ours(compose):
    ours = {name: each for name, each in compose["services"].items() if each.get("image") == "gpu-planner"}
    assert ours
    for each in ours.values():
        assert each["read_only"] is True
        assert each["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in each["security_opt"]
        assert "/tmp" in each["tmpfs"]
        assert all(port.startswith("127.0.0.1:") for port in each.get("ports", []))
        assert each["depends_on"] == {"db": {"condition": "service_healthy"}}
    assert "healthcheck" in compose["services"]["db"]


def test_compose_sets_variables_that_exist_and_no_secret(repository, compose):
    known = {option.envvar for option in commands.get_command(click.Context(commands), "serve").params}
    assert set(compose["services"]["planner"]["environment"]) <= known
    text = (repository / "compose.yaml").read_text()
    assert text.count("PASSWORD:?") == 2, "a password has no default"


def in_folder(text: str, folder: Path) -> str:
    """A step with the folders of the image below `folder`, and the Python that runs this test."""
    for name in IMAGE_FOLDERS:
        text = re.sub(rf"(?<![\w/.]){re.escape(name)}\b", str(folder) + name, text)
    return re.sub(r"^python(?= -m venv)", shlex.quote(sys.executable), text)


@pytest.mark.slow
def test_the_steps_make_a_service_that_is_healthy(repository, steps, final, tmp_path):
    """Each RUN and COPY of the build, in a folder of its own: the libraries come from the package index. Accounts are
    not made (that takes root), so that the last stage is: copy, environment, command, health check."""
    for name in IMAGE_FOLDERS:
        (tmp_path / name[1:]).mkdir(parents=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    for instruction, value in steps[: len(steps) - len(final)]:
        if instruction == "COPY":
            *sources, target = shlex.split(value)
            for source in sources:
                copy_into(repository / source, tmp_path / "build" / target)
        elif instruction == "RUN":
            script = OPERATOR.sub("&&", in_folder(value, tmp_path))
            subprocess.run(["sh", "-ec", script], cwd=tmp_path / "build", env=clean, check=True)
    port = free_port()
    environment = clean | {"GPU_PLANNER_DATA": str(tmp_path / "data"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PATH"] = f"{tmp_path}/opt/planner/bin:{clean['PATH']}"
    [[entry]], [command] = map(json.loads, values(final, "ENTRYPOINT")), map(json.loads, values(final, "CMD"))
    program = shutil.which(entry, path=environment["PATH"])
    assert program == f"{tmp_path}/opt/planner/bin/planner"
    arguments = [*command, "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen([program, *arguments], cwd=tmp_path / "data", env=environment, stderr=subprocess.PIPE)
    try:
        [check] = values(final, "HEALTHCHECK")
        probe = json.loads(check.partition("CMD")[2])
        probe = [part.replace(":8000", f":{port}") for part in probe]
        while subprocess.run(probe, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode:
            assert server.poll() is None, server.stderr.read().decode()
            time.sleep(0.2)
    finally:
        server.send_signal(signal.SIGTERM)
        _, log = server.communicate(timeout=60)
    assert server.returncode in (0, -signal.SIGTERM)
    assert b"Traceback" not in log
    assert (tmp_path / "data" / "service.sqlite").exists()


def copy_into(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
