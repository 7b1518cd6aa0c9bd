"""Data frames into a plan and tables out of it, whichever library has them."""

from __future__ import annotations

import datetime as dt
import math
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from tests.library.conftest import ROOT, SHORT

SHEET = {
    "Workload": ["scoring", "ranking"],
    "GPU type": ["L4", "L4"],
    "GPU hours per month": [730, 1460],
    "Type": ["inference", "batch"],
}


class OnlyArrow:
    """A table that has nothing but the Arrow interchange."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    """A table that has nothing but the interchange protocol of data frames."""

    def __init__(self, frame: object) -> None:
        self.frame = frame

    def __dataframe__(self, **options: object) -> object:
        return self.frame.__dataframe__(**options)


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas with a named index": lambda sheet: pd.DataFrame(sheet).set_index("Workload"),
    "pandas in objects": lambda sheet: pd.DataFrame(sheet).astype(object),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "the Arrow interchange": lambda sheet: OnlyArrow(pa.table(sheet)),
    "the interchange protocol": lambda sheet: OnlyInterchange(pa.table(sheet)),
}


@pytest.fixture(scope="module")
def of_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    pd.DataFrame(SHEET).to_csv(path, index=False)
    return planner.plan(path, **SHORT)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_frame_is_planned_like_its_sheet(of_file, make):
    result = planner.plan(make(SHEET), **SHORT)
    assert (result.plan_id, result.content_digest) == (of_file.plan_id, of_file.content_digest)
    assert result.plan.inputs.rows_used == 2


def test_a_frame_without_a_header_is_read_as_the_sheet_it_is():
    """A sheet with three lines above its header, as pandas reads it with header=None."""
    path = ROOT / "examples" / "capacity-review.csv"
    settings = {"as_of": "2026-11-21", "effort": "quick", "strategies": ["cloud"]}
    raw = pd.read_csv(path, header=None)
    assert planner.plan(raw, **settings).plan_id == planner.plan(path, **settings).plan_id


def test_months_may_be_dates_and_missing_values_of_any_kind_are_blank():
    """100, 200 and 300 hours in the three months; a month without a value is a fault, as in a sheet, and never 0."""
    months = [pd.Timestamp("2026-12-01"), pd.Timestamp("2027-01-01"), dt.date(2027, 2, 1)]
    frame = pd.DataFrame([["a", "L4", 100, 200, 300], ["b", "L4", 50, 0, 7]], dtype=object)
    frame.columns = ["Workload", "GPU type", *months]
    frame["Notes"] = pd.array(["one", pd.NA], dtype="string")
    settings = {"as_of": "2026-11-21", "strategies": ["cloud"]}
    with pytest.raises(planner.OpenQuestions) as asked:
        planner.plan(frame, **settings)
    answers = dict.fromkeys(asked.value.proposals, "GPU-hours")
    result = planner.plan(frame, answers=answers, **settings)
    demands = {row["name"]: row["demand"] for row in result.rows("requested_workloads")}
    assert demands == {"a": [100, 200, 300], "b": [50, 0, 7]}
    frame.iloc[1, 3], frame.iloc[1, 4] = math.nan, None
    with pytest.raises(planner.InvalidRequest, match=r"row 1 column '2026-12-01': no value for 2027-01, 2027-02"):
        planner.plan(frame, answers=answers, **settings)


def test_questions_come_with_proposals_and_are_answered_in_python():
    """8,760 hours of «FY27» on an L4 are 730 a month; answered as a month's, twelve times as much."""
    frame = pd.DataFrame({"Workload": ["a"], "GPU": ["L4"], "GPU hours FY27": [8760]})
    with pytest.raises(planner.OpenQuestions) as raised:
        planner.plan(frame, **SHORT)
    asked = raised.value
    (doubt,) = asked.doubts
    assert (doubt.proposed, set(doubt.choices)) == ("year", {"year", "month"})
    assert asked.faults == ()
    proposed = planner.plan(frame, answers=asked.proposals, **SHORT)
    accepted = planner.plan(frame, accept_proposals=True, **SHORT)
    other = planner.plan(frame, answers={doubt.id: "month"}, **SHORT)
    assert proposed.plan_id == accepted.plan_id
    assert [each.rows("requested_workloads")[0]["demand"][0] for each in (proposed, other)] == [730, 8760]
    with pytest.raises(planner.InvalidRequest, match="not a choice"):
        planner.plan(frame, answers={doubt.id: "century"}, **SHORT)


def test_questions_beside_faults_are_one_error_with_both():
    frame = pd.DataFrame({"Workload": ["a", "b"], "GPU": ["L4", "L4"], "GPU hours FY27": [8760, -1]})
    with pytest.raises(planner.InvalidRequest) as raised:
        planner.plan(frame, **SHORT)
    assert not isinstance(raised.value, planner.OpenQuestions)
    assert [each.place for each in raised.value.faults] == ["row 1 column 'GPU hours FY27'"]
    assert list(raised.value.proposals.values()) == ["year"]


@pytest.mark.parametrize(
    ("frame", "place", "message"),
    [
        (pd.DataFrame({**SHEET, "GPU hours per month": ["many", 1]}), "row 0 column 'GPU hours per month'", "number"),
        (pd.DataFrame({**SHEET, "GPU hours per month": [math.inf, 1]}), "row 0 column 'GPU hours per month'", "number"),
        (pd.DataFrame(SHEET).pipe(lambda f: f.set_axis(["a", "a", "b", "c"], axis=1)), "column 'a'", "two columns"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "columns", "several levels"),
        (pd.Series([1, 2]), "data frame", "not a table"),
        (pl.Series([1, 2]), "data frame", "not a table"),
        (pd.DataFrame(), "data frame", "no table of workloads"),
        (pd.DataFrame({"Workload": ["a"], "GPU": ["L4"]}), "columns", "no table of workloads"),
    ],
)
def test_a_frame_that_cannot_be_read_is_a_fault_with_its_place(frame, place, message):
    with pytest.raises(planner.InvalidRequest) as raised:
        planner.plan(frame, **SHORT)
    assert any(place in each.place and message in str(each) for each in raised.value.complaints), raised.value


@given(st.lists(st.tuples(st.floats(1, 10_000), st.sampled_from(["L4", "T4", "H100"])), min_size=1, max_size=4))
def test_demands_of_a_frame_arrive_as_they_are(rows):
    frame = pd.DataFrame(
        [(f"w{index}", hours, part) for index, (hours, part) in enumerate(rows)],
        columns=["Workload", "GPU hours per month", "GPU type"],
    )
    from planner.inputs.data_frames import read_frame

    parsed = read_frame(frame, "frame")
    assert parsed.complaints == ()
    read = [each["demand"]["accelerator_hours_per_month"] for each in parsed.document["workloads"]]
    assert read == [hours for hours, _ in rows]
    assert parsed.document == read_frame(pl.from_pandas(frame), "frame").document


def test_every_table_is_a_frame_of_the_same_values(of_file):
    for name in of_file.tables:
        rows, table, frame = of_file.rows(name), of_file.arrow(name), of_file.frame(name)
        assert len(rows) == table.num_rows == len(frame)
        assert list(frame.columns) == table.column_names
        assert all(set(row) == set(frame.columns) for row in rows), name
    assert {"cash", "uses", "purchases", "workloads", "prices", "strategies", "gaps", "assumptions"} <= {
        *of_file.tables
    }


def test_columns_have_the_types_of_the_plan_where_a_table_is_empty_too(of_file):
    frame = of_file.frame("negotiation")
    assert frame.empty
    cash = of_file.frame("cash")
    assert (cash["amount"].dtype.kind, cash["month"].dtype.kind) == ("f", "i")
    assert of_file.frame("prices")["as_of"].dtype.kind == "M"
    assert cash.groupby("strategy")["amount"].sum()["cloud"] == pytest.approx(of_file.plan.strategy("cloud").total_cost)
    assert list(cash["month_name"].unique()) == ["2026-12", "2027-01"]


def test_polars_takes_the_tables(of_file):
    by_arrow = pl.from_arrow(of_file.arrow("cash"))
    by_stream = pl.DataFrame(of_file.arrow("cash"))
    assert by_arrow.equals(by_stream)
    assert by_arrow["amount"].sum() == pytest.approx(of_file.plan.strategy("cloud").total_cost)


def test_an_unknown_table_is_answered_with_the_nearest(of_file):
    with pytest.raises(planner.UnknownName, match="cash"):
        of_file.frame("cahs")


HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])
sys.meta_path.insert(0, Hidden())
import planner
job = {{"name": "scoring", "demand": {{"accelerator_hours_per_month": 730, "accelerator": "L4"}}}}
result = planner.plan(job, months=1, start="2026-12", as_of="2026-11-21", strategies=["cloud"])
assert result.rows("cash")
try:
    {action}
except planner.MissingLibrary as error:
    print(error)
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("hidden", "action"),
    [
        ("pandas", "result.frame('cash')"),
        ("pyarrow", "result.arrow('cash')"),
        ("narwhals", "import pandas; planner.plan(pandas.DataFrame({'a': [1]}))"),
    ],
)
def test_without_a_library_the_extra_is_named_and_the_rest_works(hidden, action):
    code = HIDE.format(hidden={hidden}, action=action)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == f"{hidden} is not installed: pip install 'gpu-planner[frames]'\n", done.stderr
