"""Build or call on the command line: `--call-price` as a user types it."""

from __future__ import annotations

import json

import pytest

REQUEST = """
workloads:
  - name: chat
    kind: inference
    unit: requests
    accelerators: [H100]
    demand: {units_per_month: 1_314_000}
    measurements: [{accelerator: H100, units_per_second: 5, per: device, scaling: replicas}]
months: 3
start: 2026-12
providers: [aws]
regions: [us-east-1]
strategies: [cloud]
limits: {purchase_options: [on_demand]}
"""
ARGUMENTS = ("estimate", "--as-of", "2026-11-21", "--format", "json")


@pytest.fixture
def request_file(tmp_path):
    path = tmp_path / "chat.yaml"
    path.write_text(REQUEST, encoding="utf-8")
    return str(path)


def test_the_option_gives_prices_and_tokens_and_the_volume_where_both_cost_the_same(planner, request_file):
    """A request costs 800 x 0.5 + 200 x 1.5 millionths, 0.0007: 1,314,000 of them 919.80 a month, 2,759.40 in three. A
    p5.4xlarge costs 6.88 x 730 = 5,022.40 a month: as much as 5,022.40 / 0.7 = 7,174.9 million tokens."""
    ran = planner(*ARGUMENTS, "--call-price", "chat=0.5,1.5,800,200", request_file)
    assert ran.code == 0, ran.err
    [row] = json.loads(ran.out)["calls"]
    assert row["workload"] == "chat"
    assert row["call_cost"] == pytest.approx(3 * 919.80)
    assert row["own_cost"] == pytest.approx(3 * 5_022.40, rel=1e-4)
    assert row["meet_tokens_per_month"] == pytest.approx(7_174.9e6, rel=1e-3)


def test_the_option_stands_over_a_setup_file(planner, request_file, tmp_path):
    setup = tmp_path / "setup.yaml"
    price = "{workload: chat, input_per_million: 9, output_per_million: 9, input_tokens_per_unit: 800}"
    setup.write_text(f"call_prices: [{price}]\n", encoding="utf-8")
    ran = planner(*ARGUMENTS, "--setup", str(setup), "--call-price", "chat=0.5,1.5,800,200", request_file)
    assert ran.code == 0, ran.err
    [row] = json.loads(ran.out)["calls"]
    assert row["call_cost"] == pytest.approx(3 * 919.80)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("chat", ("--call-price", "not call prices; read chat;", "chat=0.5,1.5,800,200")),
        ("chat=0.5", ("not call prices; read chat=0.5;",)),
        ("chat=much,1.5,800,200", ("--call-price", "much")),
        ("chart=0.5,1.5,800,200", ("--call-price", "chart", "chat")),
    ],
)
def test_a_price_that_cannot_be_is_refused_with_its_place(planner, request_file, text, shown):
    ran = planner(*ARGUMENTS, "--call-price", text, request_file)
    assert ran.code == 2
    for part in shown:
        assert part in ran.err
