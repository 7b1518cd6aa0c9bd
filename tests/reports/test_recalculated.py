"""The workbook in a real spreadsheet program: every formula computed anew from wrong stored values."""

import io
import re
import shutil
import subprocess
import zipfile

import pytest
from python_calamine import CalamineWorkbook

from planner.reports.xlsx import render

OFFICE = shutil.which("soffice")
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(OFFICE is None, reason="LibreOffice (soffice) is not installed")]


def spoiled(data):
    """The workbook with 999 as the stored value of every numeric formula; how many there are."""
    spoilt, count = io.BytesIO(), 0
    with zipfile.ZipFile(io.BytesIO(data)) as parts, zipfile.ZipFile(spoilt, "w") as out:
        for name in parts.namelist():
            text = parts.read(name)
            if name.startswith("xl/worksheets/"):
                text, found = re.subn(rb"(</f><v>)[-+.eE\d]+(</v>)", rb"\g<1>999\g<2>", text)
                count += found
            out.writestr(name, text)
    return spoilt.getvalue(), count


def recalculated(data, folder):
    """The workbook as the spreadsheet program saves it after it has computed everything."""
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(SETTINGS)
    (folder / "plan.xlsx").write_bytes(data)
    command = [
        OFFICE,
        f"-env:UserInstallation={profile.as_uri()}",
        "--headless",
        "--convert-to",
        "xlsx:Calc MS Excel 2007 XML",
    ]
    done = folder / "done"
    subprocess.run([*command, "--outdir", done, folder / "plan.xlsx"], check=True, capture_output=True, timeout=300)
    return (done / "plan.xlsx").read_bytes()


def cells(data):
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    return {
        (name, row, column): value
        for name in book.sheet_names
        for row, values in enumerate(book.get_sheet_by_name(name).to_python(skip_empty_area=False))
        for column, value in enumerate(values)
        if value != ""
    }


def test_a_spreadsheet_program_computes_the_values_that_we_store(plan, tmp_path):
    data = render(plan)
    wrong, count = spoiled(data)
    assert count > 5
    assert cells(wrong) != cells(data)
    ours, theirs = cells(data), cells(recalculated(wrong, tmp_path))
    assert set(theirs) == set(ours)
    for place, value in ours.items():
        expected = pytest.approx(value, rel=1e-9, abs=1e-6) if isinstance(value, float) else value
        assert theirs[place] == expected, place
