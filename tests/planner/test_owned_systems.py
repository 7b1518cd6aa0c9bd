"""Which systems can be owned, what is told of them, and what an order shows: through whole plans."""

from __future__ import annotations

import math

import pytest

from planner.application import plan
from planner.request.errors import InvalidRequest

ABROAD = {"providers": ["aws"], "regions": ["us-east-1"]}
BOX = {"name": "my box", "accelerator": "H100-80GB-SXM", "accelerators": 8, "price": 200_000, "max_power_kw": 10}
NOW = {"lead_time_months": 0}


def order(found):
    (bought,) = found.strategy("onprem").purchases
    return bought


def effects(found, subject: str) -> str:
    return " ".join(gap.effect.text for gap in found.gaps if gap.subject == subject)


def refused(request, catalog) -> dict[str, tuple[str, str]]:
    with pytest.raises(InvalidRequest) as raised:
        plan(request, catalog)
    return {fault.path: (fault.message, fault.expected) for fault in raised.value.complaints}


def test_a_life_shorter_than_the_plan_is_followed_by_another_order(catalog, ask, hours):
    """Twelve months of life in a plan of 24: ordered in months 1 and 13, each sold after a year for 200,000 x 0.724 x
    0.8."""
    asked = {"months": 24, "strategies": ["onprem"], "systems": [BOX], **ABROAD}
    given = {**NOW, "useful_life_months": 12, "price_of_8x_h100_server": 10_000_000}
    found = plan(ask(hours("H100", 5000, gang=8), **asked, assumptions=given), catalog).strategy("onprem")
    assert [(p.month, p.name, p.usable_from, p.usable_to) for p in found.purchases] == [
        (1, "my box", 1, 12),
        (13, "my box", 13, 24),
    ]
    sold = [(row.month, row.at, row.amount) for row in found.cash if row.category == "resale"]
    assert sold == [(12, "end", pytest.approx(-115_840)), (24, "end", pytest.approx(-115_840))]


def test_an_order_on_a_lease_tells_what_it_owes_each_month(catalog, ask, hours):
    """200,000 / 0.81 x 3.1 % = 7,654.32 a month of lease, and 5,753.22 of power 1,230.99 (0.75 x 10 kW x 1.54 x 730 h x
    0.146), space 1,950, staff 1,155.56 (8 / 75 x 130,000 / 12) and support 1,416.67 (8.5 % of 200,000 / 12).
    Ordered in month 1 and delivered in 3, used from 4 on; of 24 months of lease 23 are left for work."""
    asked = {"months": 36, "strategies": ["onprem"], "systems": [BOX], "finance": {"hardware": "lease"}, **ABROAD}
    given = {"lead_time_months": 2, "lease_months": 24, "migration_months": 1, "price_of_8x_h100_server": 10_000_000}
    demand = [5000.0 if month < 24 else 0.0 for month in range(36)]
    found = plan(ask(hours("H100", demand, gang=8), **asked, assumptions=given), catalog)
    bought = order(found)
    assert (bought.upfront, bought.per_month) == (0, pytest.approx(7_654.32 + 5_753.22, abs=0.01))
    assert (bought.month, bought.usable_from, bought.usable_to, bought.term_months) == (1, 4, 26, 23)
    assert not [row for row in found.strategy("onprem").cash if row.category in ("hardware", "resale")]
    text = "leased from delivery on at 3.10% of their price a month for 24 months, paid in advance"
    assert any(text in each.text and each.text.endswith("go back when the lease ends.") for each in found.conventions)
    assert any("work 1 month later" in each.text for each in found.conventions)


def test_an_order_with_a_deposit_tells_both_payments_together(catalog, ask, hours):
    asked = {"months": 24, "strategies": ["onprem"], "systems": [BOX], **ABROAD}
    given = {"lead_time_months": 2, "deposit_fraction": 0.25, "price_of_8x_h100_server": 10_000_000}
    found = plan(ask(hours("H100", 5000, gang=8), **asked, assumptions=given), catalog)
    assert order(found).upfront == pytest.approx(200_000 / 0.81)
    paid = [(r.month, r.at, r.amount) for r in found.strategy("onprem").cash if r.category == "hardware"]
    assert paid == [(1, "start", pytest.approx(50_000 / 0.81)), (3, "start", pytest.approx(150_000 / 0.81))]
    assert any("paid 25% at order and the rest at delivery" in each.text for each in found.conventions)


def test_a_plan_that_states_nothing_says_what_it_always_said(catalog, ask, hours):
    found = plan(ask(hours("H100", 100), strategies=["cloud"], **ABROAD), catalog)
    told = "Owned nodes are paid at order, draw power around the clock, and are sold when the plan or their life ends."
    texts = [each.text for each in found.conventions]
    assert [text for text in texts if text.startswith(("Owned", "Racks", "A room", "Operators"))] == [told]


def test_a_discount_lowers_what_the_server_is_sold_for_too(catalog, ask, hours):
    """Bought for 0.7 x 200,000 = 140,000, so it sells after a year for 140,000 x 0.724 x 0.8 = 81,088."""
    asked = {"months": 12, "strategies": ["onprem"], "systems": [BOX], **ABROAD}
    given = {**NOW, "hardware_discount_fraction": 0.3, "price_of_8x_h100_server": 10_000_000}
    found = plan(ask(hours("H100", 5000, gang=8), **asked, assumptions=given), catalog).strategy("onprem")
    assert [row.amount for row in found.cash if row.category == "resale"] == [pytest.approx(-81_088)]


def test_racks_cannot_be_counted_for_a_height_that_nobody_knows(catalog, ask, hours):
    """8 U of 42 is 0.190 of a rack, 10.2 of 40 kW 0.255: 382.50 of 1,500 a month. 11 U would be 0.262: 392.86."""
    asked = {"months": 24, "strategies": ["onprem"], "site": {"facility": "colocation_per_rack"}, **ABROAD}
    job = hours("H100", 5000, gang=8)
    without = plan(ask(job, **asked, assumptions=NOW), catalog)
    assert without.strategy("onprem").status == "infeasible"
    assert "state rack_units_of_8x_h100_server" in effects(without, "8x H100 server")

    def space(height: float) -> float:
        given = {**NOW, "rack_units_of_8x_h100_server": height}
        found = plan(ask(job, **asked, assumptions=given), catalog)
        assert "rack_units_of_8x_h100_server" in {a.name for a in found.assumptions if a.overridden}
        return next(row.amount for row in found.strategy("onprem").cash if row.category == "space")

    assert [space(8), space(11)] == [pytest.approx(382.50), pytest.approx(1500 * 11 / 42)]


def test_power_decides_where_it_fills_a_rack(catalog, ask, hours):
    """45 kW take 1.125 racks of 40 kW, which no height below a rack exceeds: 1,687.50 a month."""
    big = {**BOX, "name": "big box", "max_power_kw": 45}
    asked = {"months": 24, "strategies": ["onprem"], "site": {"facility": "colocation_per_rack"}, "systems": [big]}
    found = plan(ask(hours("H100", 5000, gang=8), **asked, assumptions=NOW, **ABROAD), catalog)
    assert order(found).name == "big box"
    assert next(r.amount for r in found.strategy("onprem").cash if r.category == "space") == pytest.approx(1687.5)
    assert "counted by its power alone" in effects(found, "big box")


@pytest.mark.slow
def test_an_own_quote_can_be_replaced_by_name_and_planned_anew(catalog, ask, hours):
    """What a plan shows as price_of_my_box can be given; draws that are planned anew give it too."""
    asked = {"months": 12, "strategies": ["cloud", "hybrid"], "systems": [BOX], **ABROAD}
    given = {**NOW, "price_of_my_box": 150_000}
    anew = {"draws": 100, "reoptimise": 2, "waits": []}
    found = plan(ask(hours("H100", 4000, gang=8), **asked, assumptions=given, risk=anew), catalog)
    (bought,) = [p for p in found.strategy("hybrid").purchases if p.what == "owned"]
    assert bought.upfront == pytest.approx(150_000 / 0.81)
    assert found.risk is not None
    assert found.risk.reoptimised is not None


def test_what_is_written_in_short_is_told(catalog, ask, hours):
    short = {**BOX, "accelerator": "h100"}
    found = plan(ask(hours("H100", 100), systems=[short], strategies=["cloud"], **ABROAD), catalog)
    (told,) = [gap for gap in found.gaps if (gap.kind, gap.subject) == ("renamed", "my box")]
    assert told.effect.text.startswith("its h100 was read as H100-80GB-SXM; other variants: ")


@pytest.mark.parametrize(
    ("part", "ecc", "licence"),
    [
        ("RTX-5090-32GB", False, True),
        ("TITAN-RTX-24GB", False, True),
        ("RX-7900-XTX-24GB", False, False),
        ("RTX-PRO-6000-Blackwell-96GB-WS", True, False),
        ("RTX-6000-Ada-48GB", True, False),
        ("MI300X-192GB", True, False),
        ("V100-32GB-SXM2", True, False),
    ],
)
def test_what_a_card_lacks_comes_from_the_table_of_accelerators(catalog, ask, hours, part, ecc, licence):
    box = {"name": "box", "accelerator": part, "price": 5000, "max_power_kw": 1}
    found = plan(ask(hours(part, 100), systems=[box], strategies=["onprem"], assumptions=NOW), catalog)
    told = effects(found, "box")
    assert ("without error-correcting memory" in told) is not ecc
    assert ("licence of GeForce and Titan drivers" in told) is licence
    assert {p.name for p in found.strategy("onprem").purchases} == {"box"}


def test_old_servers_without_a_price_that_holds_can_be_there(catalog, ask, hours):
    """A DGX-1 bought in 2024-12 is 24 months old; its price of 2017 buys nothing, but gives its support: 149,000 x
    8.5 % / 12 = 1,055.42 a month. Sold after 36 months: 149,000 x 0.724^3 x 0.8 = 45,236.48."""
    there = {"nodes": [{"system": "dgx-1 (v100)", "count": 2, "bought": "2024-12"}]}
    found = plan(
        ask(hours("V100-16GB-SXM2", 9000), existing=there, existing_value="market", strategies=["cloud"], **ABROAD),
        catalog,
    )
    rows = {(row.month, row.category): row.amount for row in found.strategy("cloud").cash}
    assert rows[1, "support"] == pytest.approx(2 * 1_055.42, abs=0.01)
    assert rows[12, "resale"] == pytest.approx(-2 * 149_000 * 0.724**3 * 0.8)
    assert "hardware" not in {category for _, category in rows}
    shown = {a.name: (a.value, a.as_of.year) for a in found.assumptions if a.name.endswith("of_dgx_1_v100")}
    assert shown["price_of_dgx_1_v100"] == (149_000, 2017)
    assert shown["power_kw_of_dgx_1_v100"] == (3.5, 2017)


def test_what_is_there_without_any_price_says_what_it_leaves_out(catalog, ask, hours):
    there = {"nodes": [{"system": "DGX H200", "count": 1}]}
    asked = {"existing": there, "strategies": ["cloud"], "months": 6, **ABROAD}
    anew = {"draws": 100, "reoptimise": 1, "waits": []}
    found = plan(ask(hours("H200", 3000, gang=8), **asked, risk=anew), catalog)
    assert {row.category for row in found.strategy("cloud").cash} == {"power", "space", "staff"}
    assert "counted as 0" in effects(found, "DGX H200 (existing)")
    assert not [a for a in found.assumptions if a.name == "price_of_dgx_h200"]


def test_two_lots_of_one_system_are_used_side_by_side(catalog, ask, hours):
    """One server with 6 months to live, one new: 2 x 730 node-hours for half a year, then 730."""
    lots = [("2022-06", 1), ("2026-12", 1)]
    there = {"nodes": [{"system": "8x H100 server", "count": n, "bought": month} for month, n in lots]}
    a = {**NOW, "accelerator_failures_annual": 0}
    demand = [2 * 730 * 8] * 6 + [730 * 8] * 6
    asked = {"existing": there, "existing_value": "market", "strategies": ["cloud"], "assumptions": a, **ABROAD}
    found = plan(ask(hours("H100", demand, gang=8), **asked), catalog).strategy("cloud")
    assert {use.purchase_option for use in found.uses} == {"owned"}
    used = [math.fsum(u.node_hours for u in found.uses if u.month == month) for month in (1, 6, 7, 12)]
    assert used == pytest.approx([1460, 1460, 730, 730])
    assert [row.month for row in found.cash if row.category == "resale" and row.amount < 0] == [6, 12]


def test_every_fault_is_told_at_its_place(catalog, ask, hours):
    systems = [
        {**BOX, "name": "8X-H100 Server"},
        {**BOX, "accelerator": "H1000"},
        {**BOX, "name": "My Box", "price_as_of": "2027-01-01"},
    ]
    nodes = [
        {"system": "DGX H2000", "count": 1},
        {"system": "my box", "count": 1, "bought": "2027-01"},
        {"system": "8x H100 server", "count": 1},
        {"system": "8x h100 SERVER", "count": 1, "bought": "2026-12"},
    ]
    told = refused(ask(hours("H100", 1), systems=systems, existing={"nodes": nodes}), catalog)
    assert set(told) == {
        "systems[0].name",
        "systems[1].accelerator",
        "systems[2].name",
        "systems[2].price_as_of",
        "existing.nodes[0].system",
        "existing.nodes[1].bought",
        "existing.nodes[3]",
    }
    assert "price_of_8x_h100_server" in told["systems[0].name"][1]
    assert told["systems[2].name"][0] == "the name is taken: systems[1]"
    assert "DGX H200" in told["existing.nodes[0].system"][1]
    assert told["existing.nodes[3]"][1] == "one line, with the count of this and of existing.nodes[2]"


def test_v100_with_32_gb_is_that_of_a_dgx_2_as_well(catalog, ask, hours):
    """A DGX-2 that is there has 16 V100-32GB-SXM3: 9,000 accelerator-hours a month of its 11,680 rent nothing."""
    there = {"nodes": [{"system": "DGX-2", "count": 1, "bought": "2024-12"}]}
    found = plan(ask(hours("V100-32GB", 9000), existing=there, strategies=["cloud"], **ABROAD), catalog)
    assert {(use.what, use.accelerator) for use in found.strategy("cloud").uses} == {("owned", "V100-32GB-SXM3")}
    exact = plan(ask(hours("V100-32GB-SXM2", 9000), existing=there, strategies=["cloud"], **ABROAD), catalog)
    assert "owned" not in {use.what for use in exact.strategy("cloud").uses}
