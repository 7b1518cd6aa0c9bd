"""`python -m tools.throughput`: the fit is fresh, and its errors on measurements of your own."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from planner.performance.throughput.intervals import LogInterval
from tools.throughput.__main__ import main
from tools.throughput.errors import Residual, cross_validate, summarise
from tools.throughput.published_results import MEASUREMENTS


@pytest.fixture
def fit(capsys):
    """Runs the command: exit code and what was printed."""

    def run(*arguments):
        code = main(arguments)
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


COLUMNS = (
    "group,benchmark,config,task,accelerator,accelerator_count,nodes,precision,batch,throughput,unit,"
    "time_to_train_minutes,submitter,runs,source,source_path,date,notes"
)


def test_errors_on_a_file_of_measurements(fit, tmp_path):
    """Two new results of one benchmark: two predictions, one either way; a row of no known part is named."""
    path = tmp_path / "new.csv"
    row = "mine:job,job,v1,training,{part},1,1,fp16,8,{rate},samples/s,,,1,me,,2026,"
    parts = [("A100-80GB-SXM", 100.0), ("H100-80GB-SXM", 200.0), ("Nothing-1", 1.0)]
    path.write_text("\n".join([COLUMNS, *(row.format(part=part, rate=rate) for part, rate in parts)]))
    ran = fit("--unseen", str(path))
    assert ran.code == 0, ran.err
    assert "another accelerator, same count" in ran.out
    assert f"{path}:4: left out: no specification of Nothing-1" in ran.err
    assert ran.out.endswith("\n3 rows: 2 used, 1 left out\n")
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n")
    ran = fit("--unseen", str(bad))
    assert ran.code == 2
    assert "no column group" in ran.err


@pytest.mark.slow
def test_every_row_of_a_file_is_accounted_for(fit, tmp_path):
    """By its own line, past an empty one: a short row, a long one, one alone; one that the project has already."""
    shipped = MEASUREMENTS.read_text(encoding="utf-8").splitlines()[1]
    a100, h100 = (
        f"mine:job,job,v1,training,{part},1,1,fp16,8,100,samples/s,,,1,me,,2026," for part in ("A100", "H100")
    )
    a100 = a100.replace("A100", "A100-80GB-SXM")
    h100 = h100.replace("H100", "H100-80GB-SXM")
    alone = a100.replace("mine:job,job", "mine:lone,lone")
    path = tmp_path / "new.csv"
    lines = [COLUMNS, a100, "", h100, "mine:job,job,v1,training,A100-80GB-SXM", f"{h100},more", alone, shipped]
    path.write_text("\n".join(lines), encoding="utf-8-sig")
    ran = fit("--unseen", str(path))
    assert ran.code == 0, ran.err
    assert ran.err.splitlines() == [
        f"{path}:5: left out: no count or no rate",
        f"{path}:6: left out: more cells than columns",
    ]
    *_, rows, lone, seen = ran.out.splitlines()
    assert rows == "6 rows: 4 used, 2 left out"
    assert lone.startswith("2 of those used have no other result")
    assert seen.startswith("1 of those used are among the shipped measurements")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (COLUMNS.encode() + b"\na,b\n", ":2: left out"),
        (
            COLUMNS.encode() + b"\nmine:job,job,v1,training,A100-80GB-SXM,1,1,fp16,8,100,samples/s,,,1,me,,2026,\n",
            "no two results",
        ),
        (b"", "no column group"),
    ],
)
def test_a_file_without_comparable_results_is_a_fault(fit, tmp_path, data, words):
    path = tmp_path / "bad.csv"
    path.write_bytes(data)
    ran = fit("--unseen", str(path))
    assert ran.code == 2
    assert words in ran.err
    assert ran.out == ""


@pytest.mark.parametrize("options", [("--errors", "--check"), ("--networks", "--unseen", "new.csv")])
def test_options_that_exclude_each_other_are_refused(fit, options):
    with pytest.raises(SystemExit) as refused:
        fit(*options)
    assert refused.value.code == 2


def test_folds_share_no_part_of_their_key():
    """Keys (1, a), (1, b), (2, b): the first and the last share no part, the middle one shares one with each."""
    items = [("1", "a"), ("1", "b"), ("2", "b")]

    def predict(is_left_out, rest):
        return [Residual((item, *rest), "group", 0.0) for item in filter(is_left_out, items)]

    residuals = cross_validate(items, lambda item: item, predict)
    assert [residual.subject for residual in residuals] == [(items[0], items[2]), (items[2], items[0])]


def test_a_summary_by_hand():
    """Predicted over actual 1.1, 0.5 and 1.3: errors of 10, 50 and 30 %; two of three within a factor of 1.5."""
    residuals = [Residual(None, group, math.log(ratio)) for group, ratio in (("a", 1.1), ("a", 0.5), ("b", 1.3))]
    summary = summarise("all", residuals, lambda _: LogInterval.symmetric(math.log(1.5)))
    assert (summary.cases, summary.groups) == (3, 2)
    assert (summary.median, summary.p90, summary.covered) == pytest.approx((0.3, 0.5, 2 / 3))


def test_independent_intervals_add_in_squares():
    both = LogInterval.combine([0.3, 0.4])
    assert both == LogInterval(pytest.approx(-0.5), pytest.approx(0.5))
    assert both.around(10.0, maximum=12.0) == pytest.approx((10 * math.exp(-0.5), 12.0))
    assert both.holds(0.49)
    assert not both.holds(-0.51)
