"""A release: its version, change log, tag, licence and metadata agree."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from datetime import date
from itertools import pairwise

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from trove_classifiers import classifiers as known_classifiers

APACHE_2_0 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""The SHA-256 of the licence as the Apache Software Foundation publishes it."""
PYTHON = "Programming Language :: Python :: "
SECTION = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def changes(root) -> str:
    return (root / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def releases(changes) -> list[str]:
    """The versions of the change log, newest first."""
    return [version for version, _ in SECTION.findall(changes)]


def test_the_version_is_the_newest_of_the_change_log(project, releases, changes):
    assert releases[0] == project["project"]["version"]
    assert changes.index("\n## [Unreleased]\n") < changes.index(f"\n## [{releases[0]}]")


def test_releases_stand_newest_first_with_their_dates(changes):
    found = [(Version(version), date.fromisoformat(day)) for version, day in SECTION.findall(changes)]
    assert len(found) > 1
    assert all(newer[0] > older[0] and newer[1] >= older[1] for newer, older in pairwise(found))


def test_every_release_links_to_its_tag(project, releases, changes):
    """The tag of version 1.2.3 is v1.2.3."""
    home = project["project"]["urls"]["Repository"]
    wanted = {"Unreleased": f"{home}/compare/v{releases[0]}...HEAD"}
    wanted |= {newer: f"{home}/compare/v{older}...v{newer}" for newer, older in pairwise(releases)}
    wanted[releases[-1]] = f"{home}/releases/tag/v{releases[-1]}"
    assert dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", changes, re.MULTILINE)) == wanted


def test_a_tagged_commit_has_the_version_of_its_tag(root, project):
    command = ["git", "tag", "--points-at", "HEAD", "--list", "v*"]
    tags = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    assert set(tags) <= {f"v{project['project']['version']}"}


def test_the_described_service_has_the_version(root, project):
    described = json.loads((root / "openapi" / "openapi.json").read_bytes())
    assert described["info"]["version"] == project["project"]["version"], "run make docs"


def test_the_licence_is_apache_2_0_word_for_word(root, project):
    assert hashlib.sha256((root / "LICENSE").read_bytes()).hexdigest() == APACHE_2_0
    assert project["project"]["license"] == "Apache-2.0"
    assert project["project"]["license-files"] == ["LICENSE", "NOTICE"]
    assert re.search(r"^Copyright \d{4} The gpu-planner authors$", (root / "NOTICE").read_text(), re.MULTILINE)


def test_classifiers_exist_and_leave_the_licence_to_its_field(project):
    chosen = project["project"]["classifiers"]
    assert chosen == sorted(chosen)
    assert set(chosen) <= known_classifiers
    assert not [each for each in chosen if each.startswith("License ::")]
    assert "Typing :: Typed" in chosen


def test_every_python_that_is_named_may_install_it(project):
    named = [each.removeprefix(PYTHON) for each in project["project"]["classifiers"] if each.startswith(PYTHON + "3.")]
    assert named[0] == project["project"]["requires-python"].removeprefix(">=")
    assert all(Version(each) in SpecifierSet(project["project"]["requires-python"]) for each in named)


def test_every_address_of_the_project_is_in_its_repository(project):
    urls = project["project"]["urls"]
    assert {"Homepage", "Documentation", "Repository", "Issues", "Changelog"} <= urls.keys()
    assert all(url.startswith(urls["Repository"]) for url in urls.values())
