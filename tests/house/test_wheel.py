"""What is installed: two packages, their data and the shipped folders, a program that needs no checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path, PurePosixPath

import pytest

import planner as planner_package
from bench.install import find_interpreter, install, supported_versions


@pytest.fixture(scope="session")
def wheel(root, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def names(wheel) -> set[PurePosixPath]:
    with zipfile.ZipFile(wheel) as archive:
        return {PurePosixPath(name) for name in archive.namelist()}


def test_only_two_import_names_are_taken(names, project):
    version = project["project"]["version"]
    assert {path.parts[0] for path in names} == {"planner", "pricing", f"gpu_planner-{version}.dist-info"}


def test_everything_that_the_packages_need_is_in_it(names, files):
    data = {path for path in files if path.parts[0] in ("planner", "pricing") and "testdata" not in path.parts}
    assert {path.suffix for path in data} >= {".py", ".csv", ".toml"}
    assert {PurePosixPath(path) for path in data} - names == set()


@pytest.mark.parametrize("folder", ["terraform", "openapi"])
def test_shipped_folders_are_whole(folder, names, files):
    shipped = {PurePosixPath("planner/_shipped") / path for path in files if path.parts[0] == folder}
    assert len(shipped) > 5
    assert shipped - names == set()


def test_the_schemas_for_editors_are_in_it(names, root):
    published = {path.name for path in (root / "docs/reference/schemas").iterdir()}
    assert "request.schema.json" in published
    assert {path.name for path in names if path.parent == PurePosixPath("planner/_shipped/schemas")} == published


def test_nothing_else_is_in_it(names):
    strays = [path for path in names if path.suffix in (".pyc", ".sqlite", ".log") or "testdata" in path.parts]
    assert strays == []


@pytest.mark.parametrize("package", ["planner", "pricing"])
def test_both_packages_say_that_they_are_typed(package, names):
    assert PurePosixPath(package, "py.typed") in names


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_the_licence_is_in_it_whole(name, wheel, project, root):
    path = f"gpu_planner-{project['project']['version']}.dist-info/licenses/{name}"
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(path) == (root / name).read_bytes()


def test_its_metadata_is_that_of_the_project(wheel, project):
    asked = project["project"]
    with zipfile.ZipFile(wheel) as archive:
        told = message_from_bytes(archive.read(f"gpu_planner-{asked['version']}.dist-info/METADATA"))
    assert (told["Name"], told["Version"], told["Requires-Python"]) == ("gpu-planner", asked["version"], ">=3.11")
    assert told["License-Expression"] == "Apache-2.0"
    assert told["Author"] == asked["authors"][0]["name"]
    assert set(told["Keywords"].split(",")) == set(asked["keywords"])
    assert set(told.get_all("Classifier")) == set(asked["classifiers"])
    assert dict(line.split(", ") for line in told.get_all("Project-URL")) == asked["urls"]


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory) -> Path:
    """The Python of an environment that has the wheel and our libraries, but not the checkout.

    The libraries are those of this environment: a .pth file names their folder, whose own .pth files are then not read.
    """
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    where = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def planner(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from planner.cli import main; sys.argv[0] = 'planner'; main()"
    return subprocess.run(
        [str(python), "-I", "-c", code, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
def test_the_wheel_works_without_the_checkout(installed, root, tmp_path):
    where = "import planner, pricing; print(planner.__file__, pricing.__file__)"
    found = subprocess.run(
        [str(installed), "-I", "-c", where], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert all(str(root) not in path for path in found.stdout.split())

    assert planner(installed, tmp_path, "--version").stdout.startswith("planner, version ")
    offers = planner(installed, tmp_path, "offers", "--accelerator", "H100", "--limit", "1", "--csv")
    assert (offers.returncode, len(offers.stdout.splitlines())) == (0, 2)

    (tmp_path / "job.yaml").write_text("name: job\ndemand: {accelerator_hours_per_month: 730, accelerator: L4}\n")
    plan = ("estimate", "--strategies", "cloud", "--months", "1", "job.yaml", "-o", "terraform/", "-o", "plan.xlsx")
    answered = planner(installed, tmp_path, *plan)
    assert answered.returncode == 0, answered.stderr
    assert list(tmp_path.glob("terraform/*/modules/*/main.tf"))
    assert (tmp_path / "plan.xlsx").read_bytes()[:2] == b"PK"


@pytest.mark.slow
@pytest.mark.parametrize("version", supported_versions())
def test_pip_installs_it_into_an_empty_environment(version, wheel, tmp_path):
    """Without extras, with the libraries that pip chooses today: needs the package registry. Of every Python here."""
    python = find_interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    ((_, _, _, printed),) = install(python, wheel, tmp_path / "venv", extras=("",))
    job = {"name": "scoring", "demand": {"accelerator_hours_per_month": 730, "accelerator": "L4"}}
    settings = {"months": 2, "start": "2026-12", "as_of": "2026-11-21", "strategies": ["cloud"]}
    expected = planner_package.plan(job, **settings).content_digest
    assert printed == f"{expected} pandas", (
        "the same plan, nothing else on standard output, no frames without the extra"
    )
    program = tmp_path / "venv" / "bin" / "planner"
    doctor = subprocess.run([program, "doctor"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (doctor.returncode, doctor.stderr) == (0, "")
    (tmp_path / "job.json").write_text(json.dumps({**settings, "workloads": [job]}))
    command = [program, "estimate", "job.json", "--format", "json"]
    answered = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert json.loads(answered.stdout)["content_digest"] == expected
