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
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import httpx
import pytest
import yaml
from click.testing import CliRunner
from dockerfile_parse import DockerfileParser

from planner.cli import commands

HADOLINT = Path(sys.executable).with_name("hadolint")
IMAGE_FOLDERS = ("/opt/planner", "/build", "/data")
"""The folders of the image that its steps write to; each is below the test's own folder here."""
PLANNED = {
    "as_of": "2026-11-21",
    "months": 2,
    "strategies": ["cloud"],
    "workloads": [{"name": "batch", "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}}],
}
USABLE = "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"
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


def in_folder(text: str, folder: Path, python: str) -> str:
    """A step with the folders of the image below `folder`, and a Python of this machine."""
    for name in IMAGE_FOLDERS:
        text = re.sub(rf"(?<![\w/.]){re.escape(name)}\b", str(folder) + name, text)
    return re.sub(r"^python(?= -m venv)", shlex.quote(python), text)


@pytest.fixture
def image_root() -> Iterator[Path]:
    """A folder that the account of the image may enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="planner-image-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def account_of_image(final) -> tuple[str, dict[str, object]]:
    """A Python for the image, and the account of USER where this test may take it on; else both of this test."""
    user, group = map(int, values(final, "USER")[0].split(":"))
    account = {"user": user, "group": group, "extra_groups": []}
    usable = [sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"] if os.geteuid() == 0 else []
    for python in filter(os.path.exists, usable):  # one below the home of root is closed to others
        try:
            done = subprocess.run([python, "-c", USABLE], cwd="/", capture_output=True, check=False, **account)
        except PermissionError:
            continue
        if done.returncode == 0:
            return python, account
    return sys.executable, {}


@pytest.mark.slow
def test_the_steps_make_a_service_that_is_healthy(repository, steps, final, image_root):
    """Each RUN and COPY of the build, in a folder of its own: the libraries come from the package index. Then the last
    stage: its command as its account (ours where that takes root) on a tree that it may not write to, and the health
    check."""
    python, account = account_of_image(final)
    for name in IMAGE_FOLDERS:
        (image_root / name[1:]).mkdir(parents=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    for instruction, value in steps[: len(steps) - len(final)]:
        if instruction == "COPY":
            *sources, target = shlex.split(value)
            for source in sources:
                copy_into(repository / source, image_root / "build" / target)
        elif instruction == "RUN":
            script = OPERATOR.sub("&&", in_folder(value, image_root, python))
            subprocess.run(["sh", "-ec", script], cwd=image_root / "build", env=clean, check=True)
    data, tree = image_root / "data", image_root / "opt"
    if account:
        shutil.chown(data, account["user"], account["group"])
    subprocess.run(["chmod", "-R", "a-w", tree], check=True)
    before = list_tree(tree)
    port = free_port()
    environment = clean | {"GPU_PLANNER_DATA": str(data), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(data)}
    environment["PATH"] = f"{image_root}/opt/planner/bin:{clean['PATH']}"
    [[entry]], [command] = map(json.loads, values(final, "ENTRYPOINT")), map(json.loads, values(final, "CMD"))
    program = shutil.which(entry, path=environment["PATH"])
    assert program == f"{image_root}/opt/planner/bin/planner"
    arguments = [*command, "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen([program, *arguments], cwd=data, env=environment, stderr=subprocess.PIPE, **account)
    try:
        [check] = values(final, "HEALTHCHECK")
        probe = json.loads(check.partition("CMD")[2])
        probe = [part.replace(":8000", f":{port}") for part in probe]
        while subprocess.run(probe, cwd=data, env=environment, capture_output=True, check=False, **account).returncode:
            assert server.poll() is None, server.stderr.read().decode()
            time.sleep(0.2)
        assert Path(f"/proc/{server.pid}").stat().st_uid == account.get("user", os.geteuid())
        assert httpx.post(f"http://127.0.0.1:{port}/plan", json=PLANNED, timeout=600).json()["status"] == "optimal"
    finally:
        server.send_signal(signal.SIGTERM)
        _, log = server.communicate(timeout=60)
        subprocess.run(["chmod", "-R", "u+w", tree], check=True)
    assert server.returncode in (0, -signal.SIGTERM)
    assert b"Traceback" not in log
    assert (data / "service.sqlite").exists()
    assert list_tree(tree) == before


def list_tree(folder: Path) -> dict[str, int]:
    """Every file with the time of its last change."""
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def copy_into(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
