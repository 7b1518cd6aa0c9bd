"""What the project is made with: pinned and used libraries, import contracts, the commands that everybody runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

IMPORT_NAMES = {
    "pyyaml": "yaml",
    "nvidia-ml-py": "pynvml",
    "aiconfigurator-core": "aiconfigurator_core",
    "python-calamine": "python_calamine",
    "starlette-compress": "starlette_compress",
    "prometheus-client": "prometheus_client",
    "pyjwt": "jwt",
    **dict.fromkeys(("opentelemetry-exporter-otlp-proto-http", "opentelemetry-sdk"), "opentelemetry"),
    **dict.fromkeys(("azure-core", "azure-identity", "azure-mgmt-compute"), "azure"),
    **dict.fromkeys(("google-auth", "google-cloud-billing", "google-cloud-compute", "google-cloud-tpu"), "google"),
}
COMES_WITH = {
    "starlette": "fastapi, which is made of it and hands its types out",
    "botocore": "boto3, which is made of it and raises its exceptions",
    "pydantic_core": "pydantic, which is made of it and takes its errors",
    "anyio": "starlette, which runs its threads with it",
    "h11": "uvicorn, whose connections are made of it",
}
WORKS_FOR = {
    "python-multipart": "starlette, which reads forms with it and does not ask for it",
    "psycopg": "SQLAlchemy, which loads it for URLs of PostgreSQL",
    **dict.fromkeys(
        ("mkdocs", "mkdocs-material", "pymdown-extensions"), "`make docs-site`, which builds the documentation"
    ),
}
"""Asked for, and imported by a library alone."""
PINNED = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[[a-z0-9,-]+\])?==(\S+)((?: ;.*?)?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.MULTILINE,
)


IMPORTED = re.compile(r"^ *(?:from (\w+)[\w.]* import |import (\w+)[\w.]*(?: as \w+)?(?: *#.*)?$)", re.MULTILINE)
"""One name a line, as the formatter has it. Parsing every file of the product would take seconds."""


@pytest.fixture(scope="module")
def lock(root) -> str:
    return (root / "requirements.lock").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pinned(lock) -> dict[str, str]:
    return {canonicalize_name(name): version for name, version, *_ in PINNED.findall(lock)}


def test_every_line_of_the_lock_has_a_hash_and_no_host(lock, pinned):
    assert len(re.findall(r"^\S+==", lock, re.MULTILINE)) == len(PINNED.findall(lock))
    assert len(pinned) > 20
    assert not re.search(r"https?://|--index-url|--find-links|--extra-index|@ ?file:", lock)


def test_the_lock_names_the_extras_that_packages_ask_for(lock):
    """pip 23.2, which Python 3.11.7 brings, takes `coverage[toml]`, which pytest-cov asks for, for another package than
    a locked `coverage`, and refuses the newest release of it, which has no hash here."""
    assert "\ncoverage[toml]==" in lock


def test_the_lock_covers_what_the_project_asks_for(project, pinned):
    asked = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],  # it is built without isolation, from the lock
    ]
    for requirement in map(Requirement, asked):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not in requirements.lock: run make lock"
        assert requirement.specifier.contains(version), f"{requirement}, but {version} is locked"


def test_what_runs_is_locked_apart_from_what_develops(root, project, pinned):
    """`make demo` installs neither an SDK nor a tool of developers, and the versions that the tests know."""
    text = (root / "requirements-run.lock").read_text(encoding="utf-8")
    light = {canonicalize_name(name): version for name, version, *_ in PINNED.findall(text)}
    assert len(re.findall(r"^\S+==", text, re.MULTILINE)) == len(PINNED.findall(text))
    assert not re.search(r"https?://|--index-url|--find-links|--extra-index|@ ?file:", text)
    assert light.items() <= pinned.items()
    builds = {"hatchling", "editables"}
    groups = [project["dependency-groups"]["dev"], *project["project"]["optional-dependencies"].values()]
    others = {canonicalize_name(Requirement(each).name) for group in groups for each in group}
    needed = {canonicalize_name(Requirement(each).name) for each in project["project"]["dependencies"]}
    assert builds | needed <= light.keys()
    assert light.keys() & (others - builds - needed) == set()


def test_the_demo_needs_only_what_runs(root):
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo: \$\(RUNS\)$", makefile, re.MULTILINE)
    rules = dict(re.findall(r"^\$\((\w+)\): (.*)\n(?:\t.*\n)+", makefile, re.MULTILINE))
    assert "requirements-run.lock" in rules["RUNS"]
    assert "requirements.lock" not in rules["RUNS"]
    assert "$(RUNS)" in rules["STAMP"]


def test_dependencies_are_what_the_product_imports(project, files, root):
    """No library is asked for that only tests use, and none is used that is not asked for."""
    product = [path for path in files if path.suffix == ".py" and path.parts[0] in ("planner", "pricing")]
    texts = [(root / path).read_text(encoding="utf-8") for path in product]
    imported = {found[1] or found[2] for text in texts for found in IMPORTED.finditer(text)}
    foreign = imported - set(sys.stdlib_module_names) - {"planner", "pricing"}
    extras = [text for texts in project["project"]["optional-dependencies"].values() for text in texts]
    names = {canonicalize_name(Requirement(text).name) for text in (*project["project"]["dependencies"], *extras)}
    asked = {IMPORT_NAMES.get(name, name) for name in names}
    assert foreign - asked == set(COMES_WITH)
    assert asked - foreign == set(WORKS_FOR), "asked for, but never imported by the product"


def test_dependencies_have_an_upper_bound(project):
    extras = [text for texts in project["project"]["optional-dependencies"].values() for text in texts]
    for text in (*project["project"]["dependencies"], *extras, *project["dependency-groups"]["dev"]):
        operators = {each.operator for each in Requirement(text).specifier}
        assert {">=", "<"} <= operators, text


@pytest.mark.slow
def test_imports_run_one_way(root, tmp_path):
    """The contracts in pyproject.toml hold."""
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--cache-dir", tmp_path], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_import_contract_of_the_house_is_there(project):
    names = {contract["name"] for contract in project["tool"]["importlinter"]["contracts"]}
    assert {
        "The planner is read from top to bottom; rooms on one line do not know each other",
        "Prices know nothing of plans",
        "No provider knows another",
        "Only adapters know the clouds' SDKs",
        "No purchase option knows another",
        "No output format knows another",
        "Two know the solver: the search, and the model that it is given",
        "Two know the workbook writer: the report, and the empty sheet to fill in",
    } <= names


def test_the_continuous_integration_runs_the_tests(root):
    script = root / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!")
    assert re.search(r"^exec make test$", text, re.MULTILINE)
    assert "set -euo pipefail" in text


def test_make_checks_what_is_generated(root):
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    check = makefile.partition("\ncheck:")[2].partition("\n\n")[0]
    for command in ("ruff format --check", "ruff check", "mypy", "lint-imports", "docs/generate.py --check"):
        assert command in check
    assert "planner.service.openapi --check" in check
    assert re.search(r"^test:.*\bcheck\b", makefile, re.MULTILINE)
