"""Rows that cannot be read are refused with their reason; what is wrong with a file is told, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.inputs import bills
from planner.inputs.bills import NotABill, commitments
from planner.inputs.bills.export_detection import first_error_line
from planner.inputs.bills.line_classification import full_months
from pricing.catalog.price_catalog import Catalog

HEAD = (
    "BilledCost,EffectiveCost,ChargeCategory,BillingCurrency,ChargePeriodStart,ProviderName,ChargeDescription,"
    "ConsumedQuantity,ConsumedUnit"
)
G5 = "1.006,1.006,Usage,USD,2026-09-01T00:00:00Z,AWS,g5.xlarge,1,Hours"


@pytest.fixture
def written(tmp_path):
    def make(*lines, end="\n", encoding="utf-8"):
        path = tmp_path / "bill.csv"
        path.write_bytes((end.join([HEAD, *lines]) + end).encode(encoding))
        return path

    return make


def refused(bill):
    return {each.reason: (each.rows, each.examples) for each in bill.refused}


def test_rows_that_are_no_rows_are_named_by_their_lines(read, written):
    bill = read(written(G5, "1,2", G5, f"{G5},more,and more", G5))
    assert (bill.rows_in, bill.rows_used, bill.rows_refused) == (5, 3, 2)
    assert {examples for _, examples in refused(bill).values()} == {("line 3",), ("line 5",)}


def test_amounts_and_dates_that_are_none(read, written):
    bill = read(written(
        G5, G5.replace("1.006,1.006", "1O.6,1"), G5.replace("1.006,1.006", ",1"), G5.replace("1.006,1.006", "nan,1"),
        G5.replace("2026-09-01T00:00:00Z", ""), G5.replace("2026-09-01T00:00:00Z", "last Monday"),
        G5.replace("2026-09-01T00:00:00Z", "31/31/2026"),
    ))  # fmt: skip
    assert (bill.rows_in, bill.rows_used) == (7, 1)
    assert refused(bill) == {
        "no cost": (1, ()), "its cost is not a number": (2, ("1O.6",)), "no date": (1, ()),
        "an invalid date": (2, ("31/31/2026", "last")),
    }  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end(read, written, end):
    assert read(written(G5, G5, end=end)).rows_used == 2


def test_line_ends_that_differ_lose_no_row(read, tmp_path):
    path = tmp_path / "joined.csv"
    path.write_bytes(f"{HEAD}\n{G5}\r\n{G5}\n{G5}\r\n".encode())
    bill = read(path)
    assert (bill.rows_in, bill.rows_used) == (3, 3)


def test_a_line_end_in_quotes_is_no_end_of_a_row(read, written):
    assert read(written(G5.replace("g5.xlarge", '"g5.xlarge\nsecond line"'), G5, end="\r\n")).rows_used == 2


def test_other_encodings(read, written):
    row = G5.replace("g5.xlarge", "g5.xlarge über")
    assert read(written(row, encoding="latin-1")).rows_used == 1
    assert read(written(row, encoding="utf-16")).rows_used == 1


def test_an_amount_with_thousands_set_apart(read, written):
    bill = read(written(G5.replace("1.006,1.006", '"1,234.50","1,234.50"')))
    assert bill.totals[0].billed == 1234.5


def test_names_that_would_be_sql_are_names(read, tmp_path):
    path = tmp_path / "bill'); DROP TABLE x; --.csv"
    path.write_text(f'{HEAD},"a""\'); --",a,A,\n{G5},1,2,3,4\n')
    assert read(path).rows_used == 1


@pytest.mark.slow
def test_the_same_in_a_process_of_its_own(written, catalog, read):
    path = written(G5, "1,2")
    told = []
    assert bills.read(path, catalog, progress=told.append) == read(path)


def test_what_that_process_says_is_raised_here(tmp_path, catalog):
    (tmp_path / "no.csv").write_text("a,b,c,d\n1,2,3,4\n")
    with pytest.raises(NotABill, match="no row is the header"):
        bills.read(tmp_path / "no.csv", catalog)
    with pytest.raises(FileNotFoundError):
        bills.read(tmp_path / "missing.csv", catalog)


def test_a_time_limit_is_kept(written, catalog):
    with pytest.raises(NotABill, match="not read in 0 seconds"):
        bills.read(written(G5), catalog, seconds=0.001)


def test_numbers_of_too_many_digits_are_no_numbers(read, tmp_path):
    """Python refuses to make a number of more than 4,300 digits, which is no fault of JSON."""
    path = tmp_path / "bill.jsonl"
    path.write_text('{"cost": ' + "9" * 5000 + '}\n{"a": 1}\n')
    with pytest.raises(NotABill, match="not those of a known billing export"):
        read(path)
    path.write_text(f"{HEAD},Tags\n{G5},{'9' * 5000}\n")
    assert read(path).rows_used == 1


def test_a_line_with_a_very_long_field_is_no_header(read, tmp_path):
    path = tmp_path / "bill.csv"
    path.write_text("x" * 200_000 + ",,,,\n" + f"{HEAD}\n{G5}\n")
    assert read(path).rows_used == 1


def test_the_last_day_of_the_calendar_is_a_day(read, written):
    ends = [f"9999-12-{day:02d}" for day in range(1, 32)]
    bill = read(written(*(G5.replace("2026-09-01T00:00:00Z", day) for day in [*ends, "0001-01-01", "0999-06-01"])))
    assert full_months(bill.days) == ("9999-12",)
    assert {line.month for line in bill.lines} == {"9999-12", "0001-01", "0999-06"}


def test_a_commitment_that_never_ends_has_a_last_month():
    told = [({"until": day}, month) for day, month in (
        ("9999-12-31", "9999-12"), ("9999-12-30", "9999-11"), ("2027-01-15", "2026-12"), ("2028-02-29", "2028-02"),
    )]  # fmt: skip
    assert [commitments._last_month([each]) for each, _ in told] == [month for _, month in told]


def test_text_that_is_no_utf_8_inside_json(tmp_path, read):
    """The engine hands it over as it is, and only reading its answer tells."""
    record = b'{"BilledCost": "1", "EffectiveCost": "1", "ChargeCategory": "Usage", "BillingCurrency": "USD", '
    record += b'"ChargePeriodStart": "2026-09-01T00:00:00Z", "ProviderName": "\xff", "ChargeDescription": "g5.xlarge"}'
    path = tmp_path / "bill.json"
    path.write_bytes(b"[" + record + b"]")
    with pytest.raises(NotABill, match="cannot be read"):
        read(path)


CELL = st.text(st.sampled_from("01.,-\"'\n\r;=pg5x\ud7ffé\x00"), max_size=6)
ROW = st.lists(st.one_of(CELL, st.sampled_from(G5.split(","))), min_size=0, max_size=11)


@given(rows=st.lists(ROW, max_size=6))
def test_whatever_the_rows_hold_it_adds_up_or_is_refused(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "bill.csv"
    path.write_bytes("\n".join([HEAD, G5, *(",".join(row) for row in rows)]).encode("utf-8", "replace"))
    try:
        bill = bills._read_bill(path, Catalog.embedded(), "bill", progress=None)
    except NotABill:
        return
    assert bill.differences() == ()
    assert bill.rows_in == bill.rows_used + bill.rows_apart + bill.rows_refused


TYPES = ["g5.xlarge", "m5.large"]
AMOUNT = st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)


@settings(max_examples=settings.default.max_examples // 4)
@given(amounts=st.lists(st.tuples(AMOUNT, AMOUNT, st.sampled_from(["USD", "EUR"]), st.sampled_from(TYPES))))
def test_sums_are_those_of_the_rows(amounts, tmp_path_factory):
    path = tmp_path_factory.mktemp("sums") / "bill.csv"
    lines = [f"{b},{e},Usage,{c},2026-09-01,AWS,{t},1,Hours" for b, e, c, t in amounts]
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    bill = bills._read_bill(path, Catalog.embedded(), "bill", progress=None)
    assert bill.differences() == ()
    for total in bill.totals:
        own = [(b, e) for b, e, c, _ in amounts if c == total.currency]
        assert total.billed == pytest.approx(sum(b for b, _ in own), abs=1e-5)
        assert total.effective == pytest.approx(sum(e for _, e in own), abs=1e-5)
    assert bill.rows_used == sum(t == "g5.xlarge" for *_, t in amounts)


def test_an_error_without_words_is_one_answer_too():
    assert first_error_line(EOFError()) == "it is damaged"
    assert first_error_line(ValueError("not so\nat line 3")) == "not so"
