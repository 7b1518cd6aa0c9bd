"""What owned nodes cost: sums worked by hand, with the arithmetic beside each."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan
from planner.finance.cashflow import Terms, present_cost
from planner.request import assumptions as figures
from planner.request.errors import InvalidRequest
from planner.request.ownership import Finance, Site
from planner.supply import onprem
from planner.supply.onprem import facility

DAY = date(2026, 11, 21)
TERMS = Terms(24, 730.0, 0.08, 0.0, 0.5, charge_beyond_horizon=True)
PLAIN = onprem.OwnedNode("box", "H100-80GB-SXM", 8, 200_000.0, DAY, "a quote", 10.0, "")
CAPITAL = 200_000 / 0.81
"""With the network: 0.19 / 0.81 of the server on top."""


def assumed(**values: float) -> figures.Assumptions:
    return figures.override_assumptions(
        figures.load_defaults(), {"lead_time_months": 2, "useful_life_months": 12, **values}, DAY
    )


def paid(
    node: onprem.OwnedNode = PLAIN, terms: Terms = TERMS, **values: float
) -> dict[str, list[tuple[int, str, float]]]:
    """By category: month, moment and amount of one node ordered in month 1."""
    found: dict[str, list[tuple[int, str, float]]] = {}
    for row in onprem.node_payments(node, 1, 1, assumed(**values), terms):
        found.setdefault(row.category, []).append((row.month, row.at, row.amount))
    return found


def amounts(rows: list[tuple[int, str, float]]) -> list[float]:
    return [amount for _, _, amount in rows]


def test_cash_is_paid_at_the_order_and_a_deposit_splits_it():
    """Delivered in month 3, for twelve months; 30 % now, 70 % at delivery."""
    assert paid()["hardware"] == [(1, "start", pytest.approx(CAPITAL))]
    assert paid(deposit_fraction=0.3)["hardware"] == [
        (1, "start", pytest.approx(0.3 * CAPITAL)),
        (3, "start", pytest.approx(0.7 * CAPITAL)),
    ]
    assert [month for month, _, _ in paid()["space"]] == list(range(3, 15))


def test_discount_tax_spares_and_installation():
    """10 % off 200,000 is 180,000; network 0.19 / 0.81 of it makes 222,222.22; 5 % tax and freight 233,333.33; spares
    2 % of 180,000 = 3,600: 236,933.33. Installation 1 % of 180,000 = 1,800 at delivery."""
    given_figures = {"hardware_discount_fraction": 0.1, "hardware_tax_fraction": 0.05, "spares_fraction": 0.02}
    found = paid(**given_figures, installation_fraction=0.01)
    assert amounts(found["hardware"]) == pytest.approx([236_933.33], abs=0.01)
    assert found["installation"] == [(3, "start", pytest.approx(1800.0))]
    assert amounts(found["support"]) == pytest.approx([180_000 * 0.085 / 12] * 12)


def test_a_loan_pays_what_falls_due_and_is_paid_back_from_then_on():
    """246,913.58 over 12 months at 12 % a year: 1 % a month, 246,913.58 x 0.01 / (1 - 1.01^-12) = 21,937.97. Of a
    deposit of 30 % at the order and the rest in month 3: 6,581.39 in months 1 to 12, 15,356.58 in months 3 to 14.
    Paid in month 1, it is sold 14 months later for 200,000 x 0.724^(14 / 12) x 0.8."""
    found = paid(replace(PLAIN, finance=Finance(hardware="loan")), loan_rate_annual=0.12, loan_months=12)
    assert "hardware" not in found
    assert found["financing"] == [(month, "end", pytest.approx(21_937.97, abs=0.01)) for month in range(1, 13)]
    assert found["resale"] == [(14, "end", pytest.approx(-200_000 * 0.724 ** (14 / 12) * 0.8))]
    parts = paid(
        replace(PLAIN, finance=Finance(hardware="loan")), loan_rate_annual=0.12, loan_months=12, deposit_fraction=0.3
    )
    both = [6_581.39] * 12 + [15_356.58] * 12
    assert amounts(parts["financing"]) == pytest.approx(both, abs=0.01)
    assert [month for month, _, _ in parts["financing"]] == [*range(1, 13), *range(3, 15)]


def test_what_is_left_of_a_loan_is_paid_off_at_the_horizon():
    """Of 36 payments 6 fall into 6 months; the other 30 are worth level x (1 - 1.01^-30) / 0.01 at its end."""
    node = replace(PLAIN, finance=Finance(hardware="loan"))
    found = paid(node, replace(TERMS, months=6), loan_rate_annual=0.12, loan_months=36)
    level = CAPITAL * 0.01 / (1 - 1.01**-36)
    assert [month for month, _, _ in found["financing"]] == [1, 2, 3, 4, 5, 6, 6]
    assert amounts(found["financing"])[-1] == pytest.approx(level * (1 - 1.01**-30) / 0.01)


@given(st.integers(0, 8), st.integers(1, 60), st.integers(1, 12), st.floats(0.1, 1))
def test_a_loan_at_the_discount_rate_is_worth_the_cash_price(lead, months, ordered, deposit):
    """12 x (1.08^(1/12) - 1) a year is 8 % a year as a loan states it: whatever the lead time, the deposit and the end
    of the plan, borrowing at it neither costs nor saves."""
    rate = TERMS.discount_rate_monthly
    a = assumed(lead_time_months=lead, loan_rate_annual=12 * rate, loan_months=months, deposit_fraction=deposit)
    loan = onprem.node_payments(replace(PLAIN, finance=Finance(hardware="loan")), ordered, 1, a, TERMS)
    assert present_cost(loan, rate) == pytest.approx(
        present_cost(onprem.node_payments(PLAIN, ordered, 1, a, TERMS), rate)
    )


def test_a_lease_goes_back_at_its_end():
    """3 % of 246,913.58 = 7,407.41 at the start of each of 6 months; nothing to sell, and no work after it."""
    node = replace(PLAIN, finance=Finance(hardware="lease"))
    found = paid(node, lease_fraction_per_month=0.03, lease_months=6)
    assert found["financing"] == [(month, "start", pytest.approx(7_407.41, abs=0.01)) for month in range(3, 9)]
    assert "resale" not in found
    lease = assumed(lease_fraction_per_month=0.03, lease_months=6)
    assert onprem.usable_months(1, lease, TERMS, node.finance) == range(3, 9)


@pytest.mark.parametrize(("in_full", "rest"), [(True, [4 * 7_407.41]), (False, [])])
def test_a_lease_that_outlives_the_plan(in_full, rest):
    node = replace(PLAIN, finance=Finance(hardware="lease"))
    terms = replace(TERMS, months=4, charge_beyond_horizon=in_full)
    found = paid(node, terms, lease_fraction_per_month=0.03, lease_months=6)
    assert amounts(found["financing"])[2:] == pytest.approx(rest, abs=0.05)


def test_the_place_by_kw_by_rack_and_of_ones_own():
    """10 kW x 195 = 1,950. By rack: 8 of 42 U is 0.190 of a rack, 10 of 40 kW 0.25: a quarter of 1,500 = 375.
    A room: 10 kW x 10,000 paid off over 180 months at 8 % a year, r = 0.0064340301."""
    per_kw = facility.rent_per_month(Site(), 8, 10.0, assumed(), 0.0)
    per_rack = facility.rent_per_month(Site(facility="colocation_per_rack"), 8, 10.0, assumed(), 0.0)
    assert (per_kw, per_rack) == (pytest.approx(1950), pytest.approx(375))
    assert facility.rack_fraction(21, 10.0, assumed()) == pytest.approx(0.5)
    rate = TERMS.discount_rate_monthly
    room = facility.rent_per_month(Site(facility="own_room"), 8, 10.0, assumed(), rate)
    assert room == pytest.approx(100_000 * rate / (1 - (1 + rate) ** -180))


def test_power_at_idle_and_at_work():
    """At work 10 kW x 0.75 x 1.54 x 730 h x 0.146 = 1,230.99 a month; idle at 0.4 of it 492.40, and each of 730 hours
    of work 738.59 / 730 = 1.0118 more. A demand charge of 5 on 15.4 kW is 77 a month."""
    a = assumed(idle_draw_fraction=0.4, electricity_price_growth_annual=0)
    power = amounts(paid(idle_draw_fraction=0.4, electricity_price_growth_annual=0)["power"])
    assert power == pytest.approx([492.40] * 12, abs=0.01)
    (row,) = onprem.node_use_payments(PLAIN, 5, 365.0, a)
    assert (row.category, row.month, row.at, row.amount) == ("power", 5, "end", pytest.approx(369.30, abs=0.01))
    assert onprem.node_use_payments(PLAIN, 5, 365.0, assumed()) == ()
    charged = amounts(paid(electricity_demand_charge_per_kw_month=5, electricity_price_growth_annual=0)["power"])
    assert charged == pytest.approx([1_230.99 + 77] * 12, abs=0.01)
    assert "power" not in paid(replace(PLAIN, site=Site(energy_included=True)))


def test_idling_saves_power_in_a_plan(catalog, ask, hours):
    """A server that works half of its hours: the bill is that of idling and of half the hours at work."""
    asked = {"months": 3, "strategies": ["onprem"], "providers": ["aws"], "regions": ["us-east-1"]}
    job = hours("H100", 2920, gang=8)

    def power(idle: float) -> float:
        given_figures = {"lead_time_months": 0, "idle_draw_fraction": idle, "electricity_price_growth_annual": 0}
        found = plan(ask(job, **asked, assumptions=given_figures), catalog).strategy("onprem")
        return sum(row.amount for row in found.cash if row.category == "power")

    assert power(0.5) == pytest.approx(0.75 * power(1))


def test_double_running_while_work_moves():
    """Delivered in month 3, two months of migration: works from month 5 on, costs from month 3 on."""
    a = assumed(migration_months=2)
    assert onprem.usable_months(1, a, TERMS) == range(5, 15)
    assert next(month for month, _, _ in paid(migration_months=2)["staff"]) == 3


def test_operators_are_hired_one_by_one(catalog, ask, hours):
    """Eight accelerators need 8 / 75 of an operator: 1,155.56 a month by share; one whole operator is 10,833.33, a
    rota of at least three 32,500."""
    assert [facility.operator_count(n, assumed(staff_minimum=1)) for n in (0, 8, 75, 76)] == [0, 1, 1, 2]
    asked = {"months": 3, "strategies": ["onprem"], "providers": ["aws"], "regions": ["us-east-1"]}

    def staff(least: int, **site: str) -> float:
        given_figures = {"lead_time_months": 0, "staff_minimum": least}
        request = ask(hours("H100", 2920, gang=8), **asked, site=site, assumptions=given_figures)
        found = plan(request, catalog).strategy("onprem")
        assert sum(row.cost for row in found.workloads) == pytest.approx(found.total_cost)
        return sum(row.amount for row in found.cash if row.category == "staff")

    assert staff(1) == pytest.approx(3 * 1_155.56, abs=0.1)
    assert staff(1, staff="whole") == pytest.approx(3 * 130_000 / 12)
    assert staff(3, staff="whole") == pytest.approx(3 * 3 * 130_000 / 12)


def test_repairs_take_hours_from_measured_work_only(catalog, ask, measured):
    """8 x 0.5 failures a year x 219 h = 876 h of 8,760: a tenth of the hours, so 1 / 0.9 node-hours for the work."""
    assert facility.available_fraction(8, assumed(accelerator_failures_annual=0.5, repair_hours=219)) == pytest.approx(
        0.9
    )
    job = measured("H100", 8, 1.0, 3600.0 * 300)
    asked = {"months": 1, "strategies": ["onprem"], "providers": ["aws"], "regions": ["us-east-1"]}
    base = {"lead_time_months": 0, "failure_interval_accelerator_hours": 1e12}

    def node_hours(**more: float) -> float:
        found = plan(ask({**job, "accelerators": ["H100"]}, **asked, assumptions={**base, **more}), catalog)
        return sum(use.node_hours for use in found.strategy("onprem").uses)

    assert node_hours(repair_hours=0) == pytest.approx(300, rel=1e-5)
    assert node_hours(accelerator_failures_annual=0.5, repair_hours=219) == pytest.approx(300 / 0.9, rel=1e-5)


BOX = {"name": "my box", "accelerator": "RTX 4090", "accelerators": 2, "price": 6000, "max_power_kw": 1.2}


def test_a_workstation_of_ones_own_quote_is_planned_and_says_what_it_lacks(catalog, ask, hours):
    request = ask(hours("RTX 4090", 1400), systems=[BOX], assumptions={"lead_time_months": 0}, strategies=["onprem"])
    found = plan(request, catalog)
    assert {(b.name, b.count) for b in found.strategy("onprem").purchases} == {("my box", 1)}
    told = " ".join(gap.effect.text for gap in found.gaps if gap.subject == "my box")
    assert "without error-correcting memory" in told
    assert "licence of GeForce and Titan drivers" in told
    price = next(a for a in found.assumptions if a.name == "price_of_my_box")
    assert (price.value, price.source) == (6000, "given in the request")


def test_what_is_owned_already_is_used_and_costs_only_its_running(catalog, ask, hours):
    """One 8x H100 server bought 2025-12, a year old at the start: 12 months of running; no hardware is paid, and its
    value counts at neither end."""
    owned_already = {"nodes": [{"system": "8x H100 server", "count": 1, "bought": "2025-12"}]}
    request = ask(hours("H100", 5000, gang=8), existing=owned_already, providers=["aws"], regions=["us-east-1"])
    for name in ("cloud", "hybrid"):
        found = plan(request, catalog).strategy(name)
        categories = {row.category for row in found.cash}
        assert categories == {"power", "space", "staff", "support"}
        assert found.purchases == ()


def test_nodes_past_their_life_are_a_gap(catalog, ask, hours):
    owned_already = {"nodes": [{"system": "8x H100 server", "count": 1, "bought": "2020-01"}]}
    found = plan(ask(hours("H100", 100), existing=owned_already, strategies=["cloud"]), catalog)
    (gap,) = [gap for gap in found.gaps if gap.subject == "8x H100 server (existing)"]
    assert gap.effect.parameters == {"age_months": 83, "useful_life_months": 60}
    assert gap.effect.text.startswith("83 months old, past the useful life of 60")


def test_power_and_racks_limit_what_is_owned(catalog, ask, hours):
    """Two servers of 10.2 kW are wanted; 15 kW or 0.3 of a rack (10.2 of 40 kW is 0.255) hold one."""
    job = hours("H100", 11_000, gang=8)
    asked = {"strategies": ["hybrid"], "providers": ["aws"], "regions": ["us-east-1"]}
    asked["assumptions"] = {"lead_time_months": 0, "useful_life_months": 36, "rack_units_of_8x_h100_server": 8}
    asked["months"] = 36

    def bought(**limits: float) -> int:
        request = ask(job, **asked, limits={"purchase_options": ["on_demand"], **limits})
        return sum(purchase.count for purchase in plan(request, catalog).strategy("hybrid").purchases)

    assert [bought(), bought(owned_power_kw=15), bought(owned_racks=0.3), bought(capex_per_year=0)] == [2, 1, 1, 0]


def test_faults_of_systems_are_all_told(catalog, ask, hours):
    systems = [{**BOX, "accelerator": "RTX 4091"}, {**BOX, "name": "8x H100 server"}]
    request = ask(hours("H100", 1), systems=systems, existing={"nodes": [{"system": "8x H10 server", "count": 1}]})
    with pytest.raises(InvalidRequest) as refused:
        plan(request, catalog)
    told = {complaint.path: complaint.expected for complaint in refused.value.complaints}
    assert set(told) == {"systems[0].accelerator", "systems[1].name", "existing.nodes[0].system"}
    assert "8x H100 server" in told["existing.nodes[0].system"]


ways = st.sampled_from(["cash", "loan", "lease"])
places = st.sampled_from(["colocation_per_kw", "colocation_per_rack", "own_room"])


@given(ways, places, st.integers(1, 20), st.integers(1, 24))
def test_payments_are_in_proportion_to_quantity(way, place, quantity, month):
    node = replace(PLAIN, finance=Finance(hardware=way), site=Site(facility=place))
    one = onprem.node_payments(node, month, 1, assumed(), TERMS)
    many = onprem.node_payments(node, month, quantity, assumed(), TERMS)
    assert [row.amount * quantity for row in one] == pytest.approx([row.amount for row in many])


@given(ways, st.floats(0, 0.5), st.floats(0, 0.49))
def test_a_discount_never_costs_more(way, discount, more):
    node = replace(PLAIN, finance=Finance(hardware=way))
    less, least = (
        present_cost(onprem.node_payments(node, 1, 1, assumed(hardware_discount_fraction=d), TERMS), 0.005)
        for d in (discount, discount + more)
    )
    assert least <= less + 1e-6


def before(
    node: onprem.OwnedNode, month: int, a: figures.Assumptions, terms: Terms
) -> list[tuple[int, str, str, float]]:
    """What one node cost when all was cash, in colocation by kW, at the draw of work around the clock: the rule by
    which plans were made before there were other ways."""
    v = {name: each.value for name, each in a.items()}
    first = month + round(v["lead_time_months"])
    months = range(first, min(first + round(v["useful_life_months"]), terms.months + 1))
    network = v["network_fraction_of_capex"]
    energy = node.max_power_kw * v["server_power_fraction"] * v["pue"] * 730 * v["electricity_price_per_kwh"]
    support = node.price * (v["hardware_support_fraction_annual"] + v["insurance_fraction_annual"])
    rows = [(month, "start", "hardware", node.price + node.price * network / (1 - network))]
    for at in months:
        rows += [
            (at, "end", "power", energy * (1 + v["electricity_price_growth_annual"]) ** ((at - 1) / 12)),
            (at, "end", "space", node.max_power_kw * v["colocation_per_kw_month"]),
            (at, "end", "staff", node.accelerators / v["accelerators_per_staff"] * v["staff_cost_annual"] / 12),
            (at, "end", "support", support / 12),
        ]
    if months:
        age = months[-1] - month + 1  # all is paid at the order
        kept = (1 - v["value_loss_annual"]) ** (age / 12) * (1 - v["liquidation_discount_fraction"])
        sold = node.price * min(kept, 1 - v["resale_loss_minimum_fraction"])
        rows.append((months[-1], "end", "resale", -sold))
    return rows


@given(
    st.floats(1_000, 1e7), st.floats(0.1, 150), st.integers(1, 72), st.integers(1, 24), st.integers(0, 12),
    st.integers(1, 60), st.floats(0, 0.2),
)  # fmt: skip
def test_where_nothing_is_stated_payments_are_as_they_always_were(price, power, count, month, lead, life, growth):
    node = replace(PLAIN, price=price, max_power_kw=power, accelerators=count)
    a = assumed(lead_time_months=lead, useful_life_months=life, electricity_price_growth_annual=growth)
    found = [(row.month, row.at, row.category, row.amount) for row in onprem.node_payments(node, month, 1, a, TERMS)]
    assert found == [(*key, pytest.approx(amount)) for *key, amount in before(node, month, a, TERMS)]
    assert onprem.node_use_payments(node, month, 730.0, a) == ()


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 24))
def test_idling_and_work_add_up_to_the_draw_at_work(idle, used, month):
    """A node at work all hours costs the same whatever idling would save; one that idles part of them no more."""
    terms = replace(TERMS, months=48)
    full, mixed = ((assumed(idle_draw_fraction=each), hours) for each, hours in ((1.0, 730.0), (idle, 730.0 * used)))

    def power(a: figures.Assumptions, hours: float) -> float:
        rows = [*onprem.node_payments(PLAIN, month, 1, a, terms), *onprem.node_use_payments(PLAIN, month + 2, hours, a)]
        return sum(row.amount for row in rows if row.category == "power" and row.month == month + 2)

    whole = power(*full)
    assert power(assumed(idle_draw_fraction=idle), 730.0) == pytest.approx(whole)
    assert power(*mixed) == pytest.approx(whole * (idle + (1 - idle) * used))


@given(ways, st.integers(0, 6), st.integers(1, 30), st.integers(1, 24))
def test_nodes_cost_where_they_stand_and_work_only_there(way, migration, lease, month):
    node = replace(PLAIN, finance=Finance(hardware=way))
    a = assumed(migration_months=migration, lease_months=lease)
    there = onprem.delivered_months(month, a, TERMS, node.finance)
    working = onprem.usable_months(month, a, TERMS, node.finance)
    assert set(working) <= set(there)
    assert len(working) <= onprem.months_of_use(node, a)
    running = {row.month for row in onprem.node_payments(node, month, 1, a, TERMS) if row.category == "space"}
    assert running == set(there)
