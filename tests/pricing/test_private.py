"""Private prices as a table: which rule decides, which days it holds, which rows are refused."""

from __future__ import annotations

from datetime import date

import pytest

from pricing.errors import InvalidSnapshot
from pricing.private_prices import RateCard, cell_matcher, cell_specificity

HEAD = (
    "provider,family,instance_type,region,purchase_option,percent_off,price_per_hour,currency,valid_from,valid_to,note"
)
DAY = date(2026, 11, 21)


@pytest.fixture
def card(tmp_path):
    def read(*lines):
        path = tmp_path / "ours.csv"
        path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
        return RateCard.read(path)

    return read


def test_a_rule_says_what_it_is_for_what_it_does_and_when(card):
    (rule,) = card("aws,,p5*,us-east-1,on_demand,12.5,,,2026-01-01,2026-12-31,contract 7").rules
    assert (rule.percent_off, rule.price_per_hour, rule.place) == (12.5, None, "ours.csv:2")
    assert rule.words == "12.5 % off the list price (ours.csv:2: contract 7)"
    assert rule.period == "2026-01-01 to 2026-12-31"
    (agreed,) = card("aws,,p5.48xlarge,us-east-1,on_demand,,31.5,EUR,2026-01-01,,").rules
    assert (agreed.price_per_hour, agreed.currency, agreed.valid_to) == (31.5, "EUR", None)
    assert agreed.words == "agreed at 31.5 EUR an hour (ours.csv:2)"
    assert agreed.period == "2026-01-01 on"


def test_both_ends_of_the_period_are_in_it(card):
    (rule,) = card(",,,,,5,,,2026-03-01,2026-03-31,").rules
    days = [date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 31), date(2026, 4, 1)]
    assert [rule.holds(day) for day in days] == [False, True, True, False]
    (open_end,) = card(",,,,,5,,,2026-03-01,,").rules
    assert open_end.holds(date(2099, 1, 1))


def test_cells_are_any_pattern_kind_or_exact():
    cells = ["", "p5*", "p?.48xlarge", "reserved", "reserved_1y_no_upfront", "on_demand"]
    assert [cell_specificity("purchase_option", cell) for cell in cells] == [0, 1, 1, 2, 3, 3]
    assert cell_specificity("region", "reserved") == 3
    assert cell_matcher("")("anything")
    assert cell_matcher("p5*")("p5e.48xlarge")
    assert not cell_matcher("p5*")("xp5")
    assert cell_matcher("p?.*")("p5.48xlarge")
    assert not cell_matcher("p5.48xlarge")("p5x48xlarge")
    assert not cell_matcher("p5.*")("p5e.48xlarge")  # a point is a point


def test_a_purchase_option_is_matched_by_kind_or_full_name(card):
    kind, full = card(",,,,reserved,5,,,2026-01-01,,", ",,,,reserved_1y*,6,,,2026-01-01,,").rules
    for rule, names in ((kind, ["reserved_1y", "reserved_3y_no_upfront"]), (full, ["reserved_1y_all_upfront"])):
        assert all(rule.matches("purchase_option", name) for name in names)
        assert not rule.matches("purchase_option", "on_demand")


def test_the_most_specific_comes_first(card):
    """By type, then family, region, option, provider; in each an exact name before a pattern before nothing."""
    lines = [
        "aws,P5,p5.48xlarge,us-east-1,on_demand,1,,,2026-01-01,,",
        ",,p5.48xlarge,,,2,,,2026-01-01,,",
        "aws,P5,p5*,us-east-1,on_demand,3,,,2026-01-01,,",
        ",P5,,,,4,,,2026-01-01,,",
        ",,,us-east-1,,5,,,2026-01-01,,",
        ",,,us-*,on_demand,6,,,2026-01-01,,",
        ",,,,reserved_1y,7,,,2026-01-01,,",
        ",,,,reserved,8,,,2026-01-01,,",
        "aws,,,,,9,,,2026-01-01,,",
        ",,,,,10,,,2026-01-01,,",
        ",,p5.48xlarge,us-east-1,,99,,,2026-12-01,,not yet",
    ]
    for order in (lines, list(reversed(lines))):
        assert [rule.percent_off for rule in card(*order).in_force(DAY)] == list(range(1, 11))
    assert [rule.note for rule in card(*lines).out_of_force(DAY)] == ["not yet"]


def test_every_fault_is_told_with_its_line(card):
    with pytest.raises(InvalidSnapshot) as bad:
        card(
            ",,,,,100,,,2026-01-01,,free",
            ",,,,,-1,,,2026-01-01,,",
            ",,,,,a lot,,,2026-01-01,,",
            ",,,,,,,,2026-01-01,,neither",
            ",,,,,5,5,USD,2026-01-01,,both",
            ",,,,,,0,USD,2026-01-01,,",
            ",,,,,,5,,2026-01-01,,no currency",
            ",,,,,,5,dollars,2026-01-01,,",
            ",,,,,5,,USD,2026-01-01,,",
            ",,,,,5,,,,,",
            ",,,,,5,,,2026-01-01,2025-12-31,",
            ",,,,,5,,,2026-01-01,soon,",
            ",,,,,5,,,2026-01-01",
        )
    lines = {int(fault.partition("ours.csv:")[2].partition(":")[0]) for fault in bad.value.faults}
    assert lines == set(range(2, 15))
    told = "\n".join(bad.value.faults)
    assert "percent_off is '100', expected 0 to below 100" in told
    assert "exactly one of percent_off and price_per_hour" in told
    assert "valid_to 2025-12-31 is before valid_from 2026-01-01" in told


def test_the_digest_is_of_the_content(card):
    one, other = card(",,,,,5,,,2026-01-01,,"), card(",,,,,6,,,2026-01-01,,")
    assert one.digest == card(",,,,,5,,,2026-01-01,,").digest != other.digest
