"""`planner.offers` lists what `planner offers` prints."""

from __future__ import annotations

import json

import pytest

import planner


def test_rows_are_those_of_the_command(command):
    _, printed = command(
        "offers", "--accelerator", "H100,H200", "--count", "8", "--option", "spot", "--limit", "7", "--json"
    )
    listed = planner.offers(accelerator=["H100", "H200"], count=8, option="spot", limit=7)
    expected = json.loads(printed)["rows"]
    assert len(listed) == 7
    assert [{**row, "as_of": row["as_of"].isoformat()} for row in listed.rows("rows")] == expected
    frame = listed.frame("rows")
    assert list(frame["price_per_hour"]) == [row["price_per_hour"] for row in expected]
    assert listed._repr_html_().count("<tr") == 8


def test_every_wrong_filter_is_named():
    with pytest.raises(planner.InvalidRequest) as raised:
        planner.offers(acelerator="H100", count="x", sort="cheap", limit=-1, reverse=True)
    assert [each.place for each in raised.value.complaints] == ["acelerator=", "count=", "sort=", "limit="]


def test_a_catalogue_may_be_given():
    catalog = planner.Catalog.embedded()
    assert planner.offers(catalog, accelerator="L4", limit=1).offers.catalog_digest == catalog.digest
