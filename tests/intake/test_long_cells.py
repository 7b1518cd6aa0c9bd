"""Cells of a hundred thousand characters are read; patterns that try each place of a text would never end there."""

from __future__ import annotations

import pytest

from planner.inputs.file_reader import read

LENGTH = 100_000


@pytest.mark.one_in(6)
@pytest.mark.parametrize("sign", ["-", " ", "x", "(", "1", "a b "])
def test_a_long_text_in_any_cell_is_answered(sign: str) -> None:
    long = (sign * LENGTH)[:LENGTH]
    text = f"Workload,GPU,GPU-hours / month,Notes\nA{long},H100,100,\nB,{long}H,100,\nC,L4,100,{long}\n{long},,,\n"
    found = read(text.encode(), "x.csv")
    assert found.inputs.rows_in == found.inputs.rows_used + len(found.inputs.rows_refused)
