"""`planner study`, as a user runs it."""

from __future__ import annotations

import json

import pytest


def test_all_are_reproduced(study, file):
    code, out, err = study(file)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "27 of 27 examples reproduced; 129 of 129 figures within their tolerance"
    assert "breakeven_hours.on_demand       2,720  2,720.41  0.1%       ok" in out
    assert out.count("It leaves out ") == 27


def test_as_json(study, file):
    code, out, _ = study("--format", "json", file)
    found = json.loads(out)
    assert code == 0
    assert found["reproduced"] is True
    first = found["examples"][0]
    assert first["id"] == "lenovo2026_case1_breakeven"
    assert first["figures"][0]["printed"] == 2720
    assert first["figures"][0]["computed"] == pytest.approx(2720.41, abs=0.01)
    assert set(first["full_cost"]) == {"own_usd_per_hour", "breakeven_months", "breakeven_utilisation"}


def test_equal_input_gives_equal_bytes(study, file):
    assert study("--format", "json", file) == study("--format", "json", file)
    assert study(file) == study(file)


def test_one_that_is_not_reproduced(study, document, tmp_path):
    document["examples"][0]["expected"]["breakeven_hours"]["on_demand"] = 9999
    document["examples"][1]["expected"]["colour"] = 1
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document), encoding="utf-8")
    code, out, _ = study(changed)
    assert code == 5
    assert out.splitlines()[-1] == "25 of 27 examples reproduced; 128 of 130 figures within their tolerance"
    assert out.count("NOT REPRODUCED") == 2
    assert "NOT REPRODUCED: not a figure of this method" in out
    code, out, _ = study("--format", "json", changed)
    assert code == 5
    assert json.loads(out)["reproduced"] is False


def test_a_bad_file(study, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"examples": [{"method": "?"}, 3]}', encoding="utf-8")
    code, out, err = study(bad)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1 + 3
    assert "examples[0].method: unknown method" in err
    assert "examples[1]: no example" in err


def test_no_file(study, tmp_path):
    code, out, err = study(tmp_path / "none.json")
    assert (code, out) == (2, "")
    assert "No such file" in err
    assert "Traceback" not in err


def test_no_text_of_the_file_steers_the_terminal(study, document, tmp_path):
    document["examples"][0]["title"] = "8x H100\x1b[2J\nforged: 1 of 1"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document), encoding="utf-8")
    _, out, _ = study(changed)
    assert "\x1b" not in out
    assert not any(line.startswith("forged") for line in out.splitlines())
