"""What no file may hold: places outside the repository, hosts of registries, secrets."""

from __future__ import annotations

import re

# A letter in brackets keeps these patterns from finding themselves.
FOREIGN = re.compile(
    r"(?<![\w.])/wor[k]/|\.\./share[d]|\.librar[y]/|pythonhoste[d]\.|(?<![\w])pyp[i]\.org|registry\.npmj[s]"
    r"|proxy\.golan[g]|registry\.terrafor[m]\.io"
)
SECRET = re.compile(r"AKI[A][0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVAT[E] KEY|gh[pousr]_[A-Za-z0-9]{36}")
ALLOWED = {"tests/tfcheck/tfcheck.py": "the name under which terraform knows its providers; nothing is contacted"}
CODE = {".py", ".pyi", ".tf", ".hcl", ".tftpl", ".toml"}
FOLDERS = {"planner", "pricing", "terraform", "tools", "tests", "docs", "examples", "bench"}
"""Where code may be. Other folders hold texts and settings; files at the top level are free."""


def texts(files, root):
    for path in files:
        data = (root / path).read_bytes()
        if b"\0" not in data[:8000]:
            yield path, data.decode("utf-8")


def test_every_text_is_utf_8_with_unix_line_ends(files, root):
    recorded = {"testdata", "recorded"}  # as somebody's program wrote them
    found = [path for path, text in texts(files, root) if "\r\n" in text]
    assert [str(path) for path in found if not recorded & set(path.parts)] == []


def test_no_file_names_a_place_outside(files, root):
    found = {str(path) for path, text in texts(files, root) if FOREIGN.search(text)}
    assert found - ALLOWED.keys() == set()
    assert ALLOWED.keys() - found == set(), "an exception that is no longer needed"


def test_no_file_holds_a_secret(files, root):
    assert [str(path) for path, text in texts(files, root) if SECRET.search(text)] == []


def test_no_unknown_folder_holds_code(files, root):
    found = {path.parts[0] for path in files if len(path.parts) > 1 and path.suffix in CODE}
    assert found - FOLDERS == set()
    told = (root / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    assert FOLDERS - set(re.findall(r"^(\w+)/", told, re.MULTILINE)) == set()


LARGE = {  # tables of public results, as published
    "planner/performance/throughput/data/measurements.csv",
    "planner/performance/serving/data/results.csv",
}


def test_no_large_file_slips_in(files, root):
    """The catalogue is text that can be reviewed; a megabyte in one file is something else."""
    assert {str(path) for path in files if (root / path).stat().st_size > 2**20} - LARGE == set()
