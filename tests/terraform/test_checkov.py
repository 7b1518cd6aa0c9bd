"""checkov over every module and example: whatever fails has its reason in checkov.toml beside this.

Offline checkov knows no severity, so every failed check counts. It pins libraries that the development environment has
in other versions and lives in an environment of its own: .venv-checkov, or wherever `checkov` is on PATH.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder

HERE = Path(__file__).parent
OWN = HERE.parents[1] / ".venv-checkov" / "bin" / "checkov"


@pytest.mark.slow
def test_no_check_fails_without_a_reason() -> None:
    program = str(OWN) if OWN.exists() else shutil.which("checkov")
    if program is None:
        pytest.skip("checkov is neither in .venv-checkov nor on PATH")
    root = find_shipped_folder("terraform")
    command = [program, "-d", str(root), "--framework", "terraform", "--quiet", "--compact", "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    assert told["summary"]["parsing_errors"] == 0
    assert told["summary"]["passed"] > 100
    failed: dict[str, set[str]] = {}
    for check in told["results"]["failed_checks"]:
        failed.setdefault(check["check_id"], set()).add(f"{check['file_path']}: {check['check_name']}")
    reasons = tomllib.loads((HERE / "checkov.toml").read_text(encoding="utf-8"))
    assert {name: places for name, places in failed.items() if name not in reasons} == {}
    assert set(reasons) - set(failed) == set(), "nothing needs these any more"
    assert all(len(reason) > 30 for reason in reasons.values())
