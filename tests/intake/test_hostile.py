"""Every hostile kind of file that is known: told in words or read as what it holds, in bounded memory. None aborts.

`pytest -s tests/intake/test_hostile.py` prints what each cost; `hostile.py` makes and reads them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHILD = Path(__file__).with_name("hostile.py")
PEAK_MIB = 600
NO_TABLE = "no table of workloads was found"
TOLD = {
    "a cell at XFD1048576": "not opened: a cell in column 16,384, row 1,048,576",
    "a zip bomb of 300 MB": "not opened: it unpacks to 300,",
    "a zip bomb that lies of its size": "not opened: a damaged workbook",
    "entity expansion": "not opened: a part declares a document type",
    "an external entity": "not opened: a part declares a document type",
    "='[book.xlsx]S'!A1, no value stored": "Plan!C2: the cell has an error",
    '=WEBSERVICE("http://example.org"), no value stored': "Plan!C2: the cell has an error",
    '=HYPERLINK("http://example.org"), no value stored': "Plan!C2: the cell has an error",
    "not a ZIP": "not a workbook, but text (if it is CSV, its name must end in .csv)",
    "an OLE header": "an old Excel workbook (.xls) or one with a password",
    "a ZIP cut in two": "not opened: a damaged workbook",
    "an ODS of repeated rows": "not opened: a cell in column 1, row 999,999,999",
    "an ODS of repeated columns": "not opened: a cell in column 16,384",
    "an ODS of 2,000,000 repeated cells": NO_TABLE,
    "10,000 columns": "10,003 columns in line 1; at most 2,000",
    "a field of 10 MB": "has more than 1,000,000 characters",
    "19 MB of separators": "has more than 1,000,000 characters",
    "19 lines just short enough": "a field of more than 131,072 characters",
    "19 MB of quotes": "has more than 1,000,000 characters",
    "21 MB": "the file has 21,600,023 bytes; expected at most 20,000,000 bytes",
    "aliases without end": "nested too deep, or aliases that grow without end",
    "brackets without end": "nested too deep",
    "brackets without end in YAML": "nested too deep",
    "dashes without end in YAML": "nested too deep",
    "a number of 1,000,000 digits": "a number of too many digits",
    "a gzip bomb that is no bill": "the file is a gzip archive, not a sheet or a request",
    "a gzip bomb that is a bill": "no usage of a known accelerator",
}
"""What is said of those that are refused, in the first complaint."""
TEXTS = [
    "=1+1", "+2+1", "-3+1", "@SUM(4,1)", "=5+1", "=6+1", "{=7+1}", "＝8+1", "=cmd|'/C calc'!A0",
    '=HYPERLINK("http://example.org","x")', "http://example.org",
]  # fmt: skip
READ = {
    "a dimension tag to XFD1048576": ["A", "B"],
    "macros under .xlsx": ["A", "B"],
    "links to another book": ["A", "B"],
    "merged cells over all": ["A", "B"],
    "='[book.xlsx]S'!A1, a value stored": ["A", "B"],
    '=WEBSERVICE("http://example.org"), a value stored': ["A", "B"],
    '=HYPERLINK("http://example.org"), a value stored': ["A", "B"],
    "a sheet of 2,000,000 claimed cells": ["A", "B"],
    "texts that would be formulas": TEXTS,
    "texts that would be formulas, CSV": TEXTS,
}
"""The names in those that are read: texts stay texts. Outputs make them harmless (tests/reports)."""
LINKS = "the workbook links to other workbooks; its stored values were read"
NOTES = {
    "macros under .xlsx": "the workbook has macros; they were not run",
    "links to another book": LINKS,
    "='[book.xlsx]S'!A1, a value stored": LINKS,
}


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    done = subprocess.run([sys.executable, str(CHILD)], capture_output=True, text=True, timeout=900, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_every_hostile_kind_is_answered(found: dict[str, dict[str, Any]]) -> None:
    for kind, each in found.items():
        told = each["told"][0] if each["told"] else ", ".join(each["names"])
        sys.stdout.write(f"{kind:52} {each['mib']:5,} MiB {each.get('seconds', 0):6.2f} s  {told[:150]}\n")
    assert found.keys() == TOLD.keys() | READ.keys()
    assert {
        kind: each["told"] for kind, each in found.items() if TOLD.get(kind, "") not in " ".join(each["told"])
    } == {}
    assert {kind: each["names"] for kind, each in found.items() if not each["told"]} == READ
    assert [kind for kind, note in NOTES.items() if note not in found[kind]["notes"]] == []
    assert {kind: each["mib"] for kind, each in found.items() if each["mib"] >= PEAK_MIB} == {}
