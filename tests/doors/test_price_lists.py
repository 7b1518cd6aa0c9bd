"""`planner prices import` of any cloud's price list: one command, every row told, no cloud out of a bad file."""

from __future__ import annotations

import json

import pytest

from pricing.catalog.adjusted_prices import select_for_plan
from pricing.catalog.price_catalog import Catalog


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """A data folder of this test alone."""
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


LIST = """\
Instance Type,GPU,GPU Count,vCPUs,RAM GB,Location,Price per hour,Spot price,Currency
h100-8,8x H100 SXM5,,128,1024,fra1,$19.92,9.5,USD
mystery-1,L99,1,8,64,fra1,1.00,,USD
cpu-16,,0,16,64,fra1,0.40,,USD
l40s-1,L40S,1,16,128,fra1,one,,USD
b200-8,B200,8,200,2048,fra1,40,,EUR
"""


def test_the_price_list_of_any_cloud_is_taken_in_by_one_command(planner, tmp_path):
    (tmp_path / "list.csv").write_text(LIST)
    ran = planner("prices", "import", "list.csv", "--provider", "crusoe", "--as-of", "2026-11-20", "--source", "a page")
    assert ran.code == 0, ran.err
    assert "list.csv: 5 rows = 1 imported + 1 left out + 3 rejected" in ran.out
    assert "1 row left out: a type without accelerators (line 4)" in ran.out
    for said in ("unknown accelerator 'L99' (line 3)", "price is 'one', expected a number (line 5)",
                 "its currency is EUR, the prices of crusoe are in USD (line 6)"):  # fmt: skip
        assert said in ran.out
    found = json.loads(planner("offers", "--provider", "crusoe", "--json").out)["rows"]
    assert {(r["instance_type"], r["accelerator"], r["accelerator_count"], r["purchase_option"]) for r in found} == {
        ("h100-8", "H100-80GB-SXM", 8.0, "on_demand"),
        ("h100-8", "H100-80GB-SXM", 8.0, "spot"),
    }
    assert {(row["price_per_hour"], row["as_of"], row["source"]) for row in found} == {
        (19.92, "2026-11-20", "a page"),
        (9.5, "2026-11-20", "a page"),
    }
    assert "crusoe" in select_for_plan(Catalog.current(), ()).providers
    assert "1 imported + 1 left out" in planner("prices", "import", "list.csv", "--provider", "crusoe",
                                                "--as-of", "2026-11-20", "--source", "a page").out  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "code", "said"),
    [
        ("awss", LIST, 2, "--provider awss: no known provider; nearest: aws; for a new cloud of this name"),
        ("../up", LIST, 2, "--provider ../up: no name of a provider"),
        (
            "crusoe",
            LIST.replace("Location", "Where"),
            2,
            "as a file of price-list, it lacks the column region",
        ),
        ("crusoe", LIST.replace("Price per hour", "USD per hour").replace("USD\n", "EUR\n"), 4, "nothing was written"),
    ],
    ids=["misspelt", "no name", "no region", "euros in a column of dollars"],
)
def test_a_price_list_that_cannot_be_used_makes_no_cloud(planner, tmp_path, data, name, text, code, said):
    (tmp_path / "list.csv").write_text(text)
    ran = planner("prices", "import", "list.csv", "--provider", name, "--as-of", "2026-11-20")
    assert (ran.code, "Traceback" in ran.err) == (code, False)
    assert said in ran.err
    assert not (data / "providers").exists() or not list((data / "providers").iterdir())


@pytest.mark.slow
def test_countries_that_are_filled_in_afterwards_are_taken_over_by_the_next_import(planner, tmp_path, data):
    (tmp_path / "list.csv").write_text(LIST)
    ask = ("prices", "import", "list.csv", "--provider", "crusoe", "--as-of", "2026-11-20")
    assert planner(*ask).code == 0
    assert Catalog.current().regions["crusoe", "fra1"].country == "", "residency rules exclude it"
    folder = data / "providers/crusoe"
    for table, line in (
        ("regions.csv", "fra1,Frankfurt,DE,EEA EU,page"),
        ("sources.csv", "page,a page,2026-11-20,regions"),
    ):
        (folder / table).write_text((folder / table).read_text() + f"{line}\n")
    assert planner(*ask).code == 0
    region = Catalog.current().regions["crusoe", "fra1"]
    assert (region.name, region.country, region.blocs) == ("Frankfurt", "DE", ("EEA", "EU"))
