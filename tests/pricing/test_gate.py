"""The gate: each rule by a row that breaks it and one that just does not. Figures are of the shipped AWS snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

import pytest

from pricing.adapters.protocol import CoveredScope, RejectedRow
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.catalog.snapshot_tables import Snapshot, read_accelerator_names, read_snapshot
from pricing.errors import ProviderFailure
from pricing.offering import Offering
from pricing.price import Price, parse_purchase_option
from pricing.providers import CatalogLayout
from pricing.snapshots.quality_gate import LIST_PRICE_BAND, PRICE_BANDS, FetchedRows, GateResult, apply_quality_gate

DAY = date(2026, 11, 21)
OWN = CatalogLayout(EMBEDDED_LAYOUT.data, (("aws", dict(EMBEDDED_LAYOUT.folders)["aws"]),))
P5 = ("aws", "us-east-1", "p5.48xlarge", "on_demand")  # 55.04 USD/h in the snapshot: prices.csv


@pytest.fixture(scope="module")
def before() -> Snapshot:
    return read_snapshot(OWN)


@pytest.fixture(scope="module")
def known(before) -> dict[tuple[str, ...], Price]:
    return {p.key: p for p in before.prices}


def priced(key: tuple[str, str, str, str], per_hour: float, **changed: object) -> Price:
    option = parse_purchase_option(key[3])
    assert option is not None
    price = Price(*key, *option, per_hour, "USD", DAY, "test", "listed", "")
    return replace(price, **changed)


def gate(
    before, prices: Iterable[Price] = (), offerings: Iterable[Offering] = (), covered=(), accept=None, **more
) -> GateResult:
    fetched = FetchedRows(
        {o.instance_type: o for o in offerings}, {p.key: p for p in prices}, frozenset(covered), **more
    )
    return apply_quality_gate(before, fetched, read_accelerator_names(OWN), accept or {}, refreshed_before=False)


def reasons(judged: GateResult) -> str:
    return " | ".join(f"{held.subject}: {held.reason}" for held in judged.held)


def many(known, factor: float = 1.0) -> list[Price]:
    """So many sound rows that a few faulty ones are no changed feed."""
    rows = [p for p in known.values() if p.kind == "on_demand"][:50]
    return [replace(p, price_per_hour=p.price_per_hour * factor, as_of=DAY) for p in rows if p.key != P5]


def test_a_price_that_moved_within_the_band_replaces_the_old_one(before):
    judged = gate(before, [priced(P5, 55.04 * 0.7)])
    assert judged.held == ()
    assert judged.prices[P5].price_per_hour == pytest.approx(38.528)  # 55.04 x 0.7


@pytest.mark.parametrize("factor", [LIST_PRICE_BAND[0] - 0.01, LIST_PRICE_BAND[1] + 0.01])
def test_a_price_past_the_band_is_held_and_the_old_one_stays(before, known, factor):
    judged = gate(before, [*many(known), priced(P5, 55.04 * factor)])
    assert judged.prices[P5] == known[P5]
    (held,) = judged.held
    assert held.subject == "aws us-east-1 p5.48xlarge on_demand"
    assert "moved from 55.04 of 2026-07-20" in held.reason
    assert (held.before, held.after.price_per_hour) == (known[P5], 55.04 * factor)


def test_the_cut_of_june_2025_passes_with_a_reason_only(before, known):
    """98.32 to 55.04 is -44 %: past the band of -35 %."""
    earlier = replace(
        before, prices=tuple(replace(p, price_per_hour=98.32) if p.key == P5 else p for p in before.prices)
    )
    assert "-44%" in reasons(gate(earlier, [*many(known), priced(P5, 55.04)]))
    judged = gate(earlier, [*many(known), priced(P5, 55.04)], accept={"p5.*": "price cut of June 2025"})
    assert judged.held == ()
    assert judged.prices[P5].price_per_hour == 55.04


def test_spot_may_move_further(before, known):
    spot = ("aws", "us-east-1", "p5.48xlarge", "spot")
    old = known[spot].price_per_hour
    assert gate(before, [priced(spot, old * 0.2)]).held == ()
    assert "moved" in reasons(gate(before, [*many(known), priced(spot, old * PRICE_BANDS["spot"][0] * 0.9)]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"price_per_hour": 0.0}, "a price is above 0"),
        ({"price_per_hour": -1.0}, "a price is above 0"),
        ({"price_per_hour": float("nan")}, "a price is above 0"),
        ({"currency": "EUR"}, "the currency is 'EUR', expected USD"),
        ({"instance_type": "p99.huge"}, "the instance type is unknown"),
        ({"purchase_option": "by_the_moon"}, "none that can be read"),
    ],
)
def test_a_row_that_breaks_a_rule_is_held(before, known, changed, said):
    judged = gate(before, [*many(known), replace(priced(P5, 55.04), **changed)])
    assert said in reasons(judged)
    assert judged.prices[P5] == known[P5]


def test_a_term_price_taken_for_an_hourly_one_is_held(before, known):
    """A year of p5 at a third off, 55.04 x 8,760 x 0.67 = 323,041, read as if it were an hour's."""
    year = ("aws", "us-east-1", "p5.48xlarge", "reserved_1y_all_upfront")
    assert "on demand costs 55.04" in reasons(gate(before, [*many(known), priced(year, 55.04 * 8760 * 0.67)]))
    assert gate(before, [priced(year, 55.04 * 0.67)]).held == ()


def test_a_machine_without_its_accelerators_is_held(before, known):
    """The lowest H100 hour known is 6.88 (55.04 / 8, us-east-1): 2.5 an hour for one lacks a part."""
    offering = next(o for o in before.offerings if o.instance_type == "p5.48xlarge")
    new = replace(offering, instance_type="p5.12xlarge", accelerator_count=2.0)
    cheap, fair = (priced(("aws", "us-east-1", "p5.12xlarge", "on_demand"), per_hour) for per_hour in (5.0, 13.76))
    assert "a part of the machine seems to be missing" in reasons(gate(before, [*many(known), cheap], [new]))
    assert gate(before, [fair], [new]).held == ()
    stand_in = priced(("aws", "us-east-1", "p5.12xlarge", "on_demand"), 700.0)
    assert "may stand for a price that is unknown" in reasons(gate(before, [*many(known), stand_in], [new]))


def test_an_offering_that_changes_what_it_is_is_held(before):
    offering = next(o for o in before.offerings if o.instance_type == "p5.48xlarge")
    judged = gate(before, offerings=[replace(offering, accelerator_count=4.0)])
    assert reasons(judged) == "aws p5.48xlarge: it had 8 accelerators and would have 4"
    assert judged.offerings["p5.48xlarge"] == offering
    assert "is unknown" in reasons(gate(before, offerings=[replace(offering, instance_type="x", accelerator="H900")]))
    renamed = gate(before, offerings=[replace(offering, accelerator="A100-40GB-SXM")])
    assert "was H100-80GB-SXM and would be A100-40GB-SXM" in reasons(renamed)


def test_what_is_no_longer_sold_in_a_covered_region_is_gone(before, known):
    """One type of the G4 family less in one region; the others stay, and other regions are not touched."""
    here = [p for p in known.values() if p.region == "us-east-1" and p.kind == "on_demand"]
    dropped = next(p for p in here if p.instance_type == "g4dn.metal" or p.instance_type == "g4dn.16xlarge")
    read_again = [replace(p, as_of=DAY) for p in here if p is not dropped]
    judged = gate(before, read_again, covered=[CoveredScope("us-east-1", "on_demand")])
    assert judged.gone == (dropped,)
    assert dropped.key not in judged.prices
    assert len(judged.prices) == len(known) - 1


def test_without_cover_nothing_is_gone(before, known):
    assert gate(before, [priced(P5, 55.0)]).gone == ()
    assert len(gate(before, [priced(P5, 55.0)]).prices) == len(known)


def test_a_refused_row_is_not_gone(before, known):
    here = [p for p in known.values() if p.region == "us-east-1" and p.kind == "on_demand"]
    dropped, *rest = here
    refused = RejectedRow("it", "price of 0", dropped.key)
    judged = gate(before, rest, covered=[CoveredScope("us-east-1", "on_demand")], refused=(refused,))
    assert judged.gone == ()
    assert judged.prices[dropped.key] == dropped


def test_a_family_does_not_vanish(before, known):
    here = [p for p in known.values() if p.region == "us-east-1" and p.kind == "on_demand"]
    family = {o.instance_type: o.family for o in before.offerings}
    without = [p for p in here if family[p.instance_type] != "P4"]
    judged = gate(before, without, covered=[CoveredScope("us-east-1", "on_demand")])
    assert judged.gone == ()
    assert "the whole family vanished" in reasons(judged)
    assert len(judged.prices) == len(known)


def test_too_few_rows_leave_everything_as_it_was(before, known):
    here = [p for p in known.values() if p.region == "us-east-1" and p.kind == "on_demand"]
    judged = gate(before, here[: len(here) // 2], covered=[CoveredScope("us-east-1", "on_demand")])
    assert judged.gone == ()
    assert "the old ones stay" in reasons(judged)
    assert len(judged.prices) == len(known)


def test_three_times_the_rows_after_a_refresh_are_a_changed_feed(before, known):
    here = [p for p in known.values() if p.kind == "capacity_block"][:4]
    small = replace(before, prices=tuple(here))
    prices = {p.key: p for p in (priced((*p.key[:3], "capacity_block"), p.price_per_hour) for p in known.values())}
    fetched = FetchedRows({}, prices, frozenset(CoveredScope(p.region, "capacity_block") for p in here))
    apply_quality_gate(small, fetched, read_accelerator_names(OWN), {}, refreshed_before=False)
    with pytest.raises(ProviderFailure, match="past the band of 3 times"):
        apply_quality_gate(small, fetched, read_accelerator_names(OWN), {}, refreshed_before=True)


def test_a_feed_of_mostly_faulty_rows_is_refused_whole(before, known):
    with pytest.raises(ProviderFailure, match="changed format: 50 of 50 rows fail") as caught:
        gate(before, [replace(p, currency="ZZZ") for p in many(known)])
    assert caught.value.kind == "changed_format"


def test_an_older_price_does_not_replace_a_newer_one(before, known):
    judged = gate(before, [priced(P5, 54.0, as_of=date(2025, 1, 1))])
    assert judged.prices[P5] == known[P5]
    assert judged.held == ()


def test_types_do_not_carry_a_feed_whose_every_price_was_refused(before):
    """As where a feed states 0 for all: the types that came with it must not make it a refresh."""
    offering = next(o for o in before.offerings if o.instance_type == "p5.48xlarge")
    zero = RejectedRow("aws us-east-1 p5.48xlarge on_demand", "the price is 0", P5)
    with pytest.raises(ProviderFailure, match=r"1 of 1 rows fail, the first: .*: the price is 0"):
        gate(before, offerings=[offering], refused=(zero,))
    unknown = RejectedRow("aws p9.48xlarge", "the accelerator is unknown")
    assert gate(before, offerings=[offering], refused=(unknown,)).held, "a type that is refused is held, and no more"
