"""Currencies and private prices through both doors: the files named or in the data folder, faults all at once."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest

HEAD = (
    "provider,family,instance_type,region,purchase_option,percent_off,price_per_hour,currency,valid_from,valid_to,note"
)
RATES = "date,from,to,rate,source\n2026-11-02,EUR,USD,1.25,a bank\n"
CARD = f"{HEAD}\n,,,,,20,,,2026-01-01,,contract 7\n"

ON_DEMAND = {"purchase_options": ["on_demand"]}


@pytest.fixture
def money(tmp_path) -> tuple[str, ...]:
    """The options that name a card and rates."""
    (tmp_path / "rates.csv").write_text(RATES)
    (tmp_path / "ours.csv").write_text(CARD)
    return "--exchange-rates", "rates.csv", "--private-prices", "ours.csv"


@pytest.fixture
def data_folder():
    """Rates and a card in the data folder that all tests share, for as long as a test takes."""
    folder = Path(os.environ["GPU_PLANNER_DATA"])
    folder.mkdir(exist_ok=True)
    files = [folder / "exchange-rates.csv", folder / "private-prices.csv"]
    for path, text in zip(files, (RATES, CARD), strict=True):
        path.write_text(text)
    yield folder
    for path in files:
        path.unlink()


def total(text: str) -> float:
    return json.loads(text)["strategies"][0]["total_cost"]


def test_estimate_in_euros_with_a_discount(planner, job, money):
    """20 % off and 0.80 EUR a dollar: 0.64 of the plan in dollars."""
    dollars = planner("estimate", str(job), "--format", "json")
    euros = planner("estimate", str(job), "--currency", "EUR", *money, "--format", "json")
    assert euros.code == 0, euros.err
    assert total(euros.out) == pytest.approx(0.64 * total(dollars.out))
    plan = json.loads(euros.out)
    assert plan["currency"] == "EUR"
    assert plan["exchange_rates"] == [
        {
            "from_currency": "USD",
            "to_currency": "EUR",
            "value": 0.8,
            "as_of": "2026-11-02",
            "source": "a bank, as 1 EUR = 1.25 USD",
        }
    ]
    assert {price["adjustment"] for price in plan["prices"]} == {"20 % off the list price (ours.csv:2: contract 7)"}


def test_a_discount_and_a_rate_by_hand(planner, tmp_path):
    """4,000 H100-hours a month in gangs of 8 on p5.48xlarge in us-east-1, listed at 55.04 USD an hour (2026-07-20).

    12 % off: 55.04 x 0.88 = 48.4352 USD; at 0.92 EUR a dollar 48.4352 x 0.92 = 44.560384 EUR.
    4,000 / 8 = 500 node-hours a month: 500 x 44.560384 = 22,280.192 EUR; 3 months 66,840.576 EUR.
    Report and table show 66,841 and 44.5604.
    """
    demand = {"accelerator_hours_per_month": 4000, "accelerator": "H100"}
    places = {"providers": ["Amazon Web Services"], "regions": ["us-east-1"]}
    (tmp_path / "job.json").write_text(
        json.dumps({"workloads": [{"name": "train", "gang": 8, "demand": demand, **places}], "limits": ON_DEMAND})
    )
    (tmp_path / "rates.csv").write_text("date,from,to,rate,source\n2026-11-20,USD,EUR,0.92,a bank\n")
    rule = "aws,,p5.48xlarge,us-east-1,on_demand,12,,,2026-01-01,2026-12-31,contract 7"
    (tmp_path / "ours.csv").write_text(f"{HEAD}\n{rule}\n")
    asked = ("estimate", "job.json", "--as-of", "2026-11-21", "--months", "3", "--strategies", "cloud")
    money = ("--currency", "EUR", "--exchange-rates", "rates.csv", "--private-prices", "ours.csv")
    ran = planner(*asked, "--full", *money, "-o", "plan.json")
    assert ran.code == 0, ran.err
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert [row["amount"] for row in plan["strategies"][0]["cash"]] == pytest.approx([22_280.192] * 3)
    assert plan["strategies"][0]["total_cost"] == pytest.approx(66_840.576)
    shown = " ".join(ran.out.split())
    assert "66,841 EUR over 3 months" in shown
    assert "44.5604 2026-07-20" in shown
    assert "list price 55.04 USD an hour; 12 % off the list price (ours.csv:2: contract 7)" in shown
    assert "Converted at 1 USD = 0.92 EUR of 2026-11-20 (a bank)." in shown


@pytest.mark.slow
def test_the_data_folder_serves_where_no_file_is_named(planner, job, data_folder):
    ran = planner("estimate", str(job), "--full", "--currency", "EUR")
    assert ran.code == 0, ran.err
    assert "(private-prices.csv, as in force on 2026-11-21)" in " ".join(ran.out.split())
    shutil.copy(data_folder / "exchange-rates.csv", data_folder / "other.csv")
    (data_folder / "other.csv").write_text(RATES.replace("1.25", "1"))
    other = planner("estimate", str(job), "--currency", "EUR", "--exchange-rates", str(data_folder / "other.csv"))
    assert "1 USD = 1 EUR" in " ".join(other.out.split())
    (data_folder / "other.csv").unlink()


def test_every_fault_of_files_and_request_comes_at_once(planner, tmp_path, written):
    (tmp_path / "rates.csv").write_text("date,from,to,rate,source\n2026-11-02,EUR,USD,0,a bank\n")
    (tmp_path / "ours.csv").write_text(f"{HEAD}\n,,,,,100,,,2026-01-01,,\n,,,,,5,,,soon,,\n")
    (tmp_path / "bad.json").write_text('{"workloads": [{"name": "x"}]}')
    before = written()
    money = ("--currency", "EUR", "--exchange-rates", "rates.csv", "--private-prices", "ours.csv")
    ran = planner("estimate", "bad.json", *money)
    assert ran.code == 2
    assert [word in ran.err for word in ("ours.csv:2", "ours.csv:3", "rates.csv:2", "line 1")] == [True] * 4
    assert "no exchange rate" not in ran.err
    assert "Traceback" not in ran.err
    offers = planner("offers", "--count", "x", *money)
    assert offers.code == 2
    assert [word in offers.err for word in ("ours.csv:2", "ours.csv:3", "rates.csv:2", "--count")] == [True] * 4
    assert written() == before


def test_a_missing_file_and_an_unknown_name_are_told(planner, tmp_path, job):
    ran = planner("estimate", str(job), "--exchange-rates", "nowhere.csv")
    assert (ran.code, "nowhere.csv: the file is missing" in ran.err) == (2, True)
    (tmp_path / "ours.csv").write_text(f"{HEAD}\nawz,,,,,5,,,2026-01-01,,\n")
    for command in (("estimate", str(job)), ("offers",)):
        ran = planner(*command, "--private-prices", "ours.csv")
        assert ran.code == 2
        assert "ours.csv:2: unknown provider 'awz'; nearest: aws" in ran.err


SHEET = "Workload,GPU,GPU-hours per month,Budget ({})\nbatch,L4,1460,100\n"


@pytest.mark.slow
def test_the_currency_of_a_sheet_is_that_of_the_plan(planner, tmp_path, money):
    """A budget under «Budget (EUR)» needs a plan in euros: with a rate there is one, without the cell is told."""
    (tmp_path / "review.csv").write_text(SHEET.format("EUR"))
    common = (
        "estimate",
        "review.csv",
        "--as-of",
        "2026-11-21",
        "--months",
        "1",
        "--format",
        "json",
        "--accept-proposals",
    )
    plan = json.loads(planner(*common, *money).out)
    assert (plan["currency"], plan["workloads"][0]["budget_per_month"]) == ("EUR", 100)
    refused = planner(*common)
    assert refused.code == 2
    assert "line 2 column 4: no exchange rate from USD to EUR on or before 2026-11-21" in refused.err
    other = planner(*common, *money, "--currency", "GBP")
    assert "--currency: the amounts of the request are in EUR; read GBP" in other.err
    (tmp_path / "review.csv").write_text(SHEET.format("amount"))
    unnamed = json.loads(planner(*common, *money, "--currency", "EUR").out)
    assert unnamed["workloads"][0]["budget_per_month"] == 100
    assert any("read as in the currency of the plan" in note for note in unnamed["inputs"]["notes"])


def test_a_setting_in_the_query_does_not_turn_euros_of_the_body_into_dollars(client, hours, data_folder):
    assert data_folder.is_dir()
    hours["workloads"][0]["budget_per_month"] = 100
    told = client.post("/plan", json={**hours, "currency": "EUR"}, params={"currency": "USD"})
    assert [fault["path"] for fault in told.json()["errors"]] == ["?currency"]
    assert client.post("/plan", json=hours, params={"currency": "EUR"}).status_code == 200


def test_offers_in_euros(planner, money):
    filters = ("--type", "p5.48xlarge", "--region", "us-east-1", "--option", "on_demand")
    table = planner("offers", *filters, "--currency", "EUR", *money).out
    assert "EUR/h" in table
    assert "$" not in table
    assert "35.2256" in table  # 55.04 x 0.8 x 0.8
    assert "Converted at 1 USD = 0.8 EUR of 2026-11-02 (a bank, as 1 EUR = 1.25 USD)" in table
    assert "1 of these prices negotiated: 20 % off the list price (ours.csv:2: contract 7)" in table
    assert "Prices: EUR per hour" in table
    (row,) = csv.DictReader(io.StringIO(planner("offers", *filters, "--currency", "EUR", *money, "--csv").out))
    assert (row["list_price_per_hour"], row["list_currency"], row["currency"]) == ("55.04", "USD", "EUR")
    found = json.loads(planner("offers", *filters, "--currency", "EUR", *money, "--json").out)
    assert found["currency"] == "EUR"
    assert found["exchange_rates"][0]["value"] == 0.8


def test_offers_without_a_rate_or_a_code(planner):
    ran = planner("offers", "--currency", "EUR")
    assert ran.code == 2
    assert "--currency: no exchange rate from USD to EUR on or before" in ran.err
    assert "--currency: no currency code" in planner("offers", "--currency", "euro").err


@pytest.mark.slow
def test_the_service_takes_its_own_files_and_a_currency_in_body_or_query(client, hours, data_folder):
    assert data_folder.is_dir()
    by_query = client.post("/plan", json=hours, params={"currency": "EUR"})
    by_body = client.post("/plan", json={**hours, "currency": "EUR"})
    assert by_query.status_code == by_body.status_code == 200
    assert by_query.content != client.post("/plan", json=hours).content
    assert total(by_query.text) == total(by_body.text)
    assert by_query.json()["exchange_rates"][0]["value"] == 0.8
    offers = client.get("/offers", params={"currency": "EUR", "type": "p5.48xlarge", "region": "us-east-1"}).json()
    assert {row["currency"] for row in offers["rows"]} == {"EUR"}


def test_the_service_refuses_a_currency_without_a_rate_and_paths(client, hours):
    asked = {**hours, "months": 14}  # asked by no other test: for a second, the service gives an answer that it has
    told = client.post("/plan", json=asked, params={"currency": "EUR"})
    assert told.status_code == 422
    assert [fault["path"] for fault in told.json()["errors"]] == ["?currency"]
    told = client.post("/plan", json={**hours, "currency": "eur"}).json()["errors"]
    assert [fault["path"] for fault in told] == ["currency"]
    told = client.post("/plan", json={**hours, "exchange_rates": "/etc/passwd"}, params={"private_prices": "/x"})
    assert {fault["path"] for fault in told.json()["errors"]} == {"exchange_rates", "?private_prices"}


@pytest.mark.parametrize("rule", [",,,,,100,,,2026-01-01,,", "awz,,,,,5,,,2026-01-01,,"])
def test_a_faulty_card_of_the_service_is_no_fault_of_who_asks(client, hours, data_folder, rule):
    """Neither a cell that cannot be read nor a name that the catalogue does not have."""
    (data_folder / "private-prices.csv").write_text(f"{HEAD}\n{rule}\n")
    asked = {**hours, "months": 13}  # asked by no other test: for a second, the service gives an answer that it has
    for told in (client.post("/plan", json=asked), client.get("/offers")):
        assert told.status_code == 503
        (fault,) = told.json()["errors"]
        assert fault["path"].endswith("private-prices.csv:2")
