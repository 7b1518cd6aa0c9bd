"""The workbook in a real spreadsheet program: every formula computed anew from wrong stored values."""

import pytest

from planner.reports.xlsx import render

pytestmark = pytest.mark.slow


def test_a_spreadsheet_program_computes_the_values_that_we_store(plan, tmp_path, sheets):
    sheets.needs_office()
    data = render(plan)
    wrong, count = sheets.spoiled(data)
    assert count > 5
    assert sheets.cells(wrong) != sheets.cells(data)
    (done,) = sheets.recalculated(tmp_path, wrong)
    ours, theirs = sheets.cells(data), sheets.cells(done)
    assert set(theirs) == set(ours)
    for place, value in ours.items():
        expected = pytest.approx(value, rel=1e-9, abs=1e-6) if isinstance(value, float) else value
        assert theirs[place] == expected, place
