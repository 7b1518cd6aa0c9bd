"""Plans buy what is sold so, on nodes that one fabric joins. Sums are by hand on the shipped prices of 2026."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import pricing
from planner.analysis.infeasibility import _name_holding_slice
from planner.application import plan
from planner.request.assumptions import load_defaults
from planner.request.models import Request
from planner.result.message import Message, message
from planner.supply.price_rules import decide_prices, plan_start
from planner.workloads.demand import compute_demands
from planner.workloads.placement import PlacementSearch, find_placements
from pricing.catalog.adjusted_prices import count_newer
from pricing.catalog.price_catalog import Catalog


def request(months: int, job: dict, **settings) -> Request:
    document = {"as_of": "2026-11-21", "start": "2026-12", "months": months, "strategies": ["cloud"], **settings}
    return Request.model_validate({**document, "workloads": [{"name": "job", "kind": "training", **job}]})


def hours(per_month: float, accelerator: str) -> dict:
    return {"demand": {"accelerator_hours_per_month": per_month, "accelerator": accelerator}}


@pytest.fixture(scope="module")
def planned(catalog):
    def solve(months: int, job: dict, **settings):
        made = plan(request(months, job, **settings), catalog)
        return made, made.strategies[0]

    return solve


def places(strategy) -> set[tuple[str, str]]:
    return {(use.name, use.purchase_option) for use in strategy.uses}


def test_one_h100_for_three_years_is_not_planned_on_a_size_that_is_sold_as_spot_only(planned):
    # the cheapest that is sold: p5.4xlarge on demand at 6.88 an hour x 730 x 36 = 180,806.40
    # (a3-highgpu-1g with a three-year commitment, 127,670, is sold by nobody)
    limits = {"purchase_options": ["on_demand", "committed_use"]}
    _, cloud = planned(36, {"kind": "inference", **hours(730, "H100")}, limits=limits)
    assert cloud.total_cost == pytest.approx(180_806.40, abs=0.01)
    assert places(cloud) == {("p5.4xlarge", "on_demand")}
    assert not [quote for quote, refusal in decided("gcp", "a3-highgpu-1g") if "spot" not in quote and refusal is None]


def decided(provider: str, instance_type: str) -> list[tuple[str, Message | None]]:
    """The way of paying of each price of a type, and why a plan of December 2026 does not use it."""
    catalog = Catalog.embedded()
    quotes = catalog.of_type(catalog.offerings[provider, instance_type])
    asked = request(36, hours(1, "H100"))
    return [
        (quote.price.purchase_option, refusal)
        for quote, refusal in decide_prices(quotes, asked, load_defaults(), plan_start(asked))
    ]


def test_the_three_year_savings_plan_of_p5_is_known(planned):
    # 11,680 h / 730 = 16 accelerators = 2 nodes; 2 x 23.77728 x 26,280 h = 1,249,733.84
    _, cloud = planned(36, {"kind": "inference", **hours(11_680, "H100")}, providers=["aws"])
    assert cloud.total_cost == pytest.approx(1_249_733.84, abs=0.01)
    assert places(cloud) == {("p5.48xlarge", "savings_plan_3y_instance_no_upfront")}


def test_what_is_not_sold_on_demand_is_not_planned_so(planned):
    _, cloud = planned(3, {"gang": 8, **hours(5_840, "H200")}, providers=["gcp"])
    assert not {place for place in places(cloud) if place == ("a3-ultragpu-8g", "on_demand")}


FABRICS = [  # provider, accelerator, gang, its type, USD an hour of one node, nodes
    ("azure", "A100-80GB", 16, "Standard_ND96amsr_A100_v4", 32.77, 2),
    ("azure", "H100", 128, "Standard_ND96isr_H100_v5", 98.32, 16),
    ("gcp", "TPU-v5e", 64, "tpu-v5litepod-64", 64 * 1.2, 1),
    ("gcp", "TPU-v6e", 16, "tpu-v6e-16", 16 * 2.7, 1),
    ("gcp", "TPU-v6e", 64, "tpu-v6e-64", 64 * 2.7, 1),
    ("gcp", "TPU-v4", 16, "tpu-v4-32", 16 * 3.22, 1),
]


SOURCES = [  # types of these plans, what joins their nodes, how many, and the page that says so
    ("azure", "Standard_ND96amsr_A100_v4", "InfiniBand", 100, "MicrosoftDocs/azure-compute-docs"),
    ("azure", "Standard_ND96isr_H100_v5", "InfiniBand", 100, "MicrosoftDocs/azure-compute-docs"),
    ("gcp", "tpu-v5litepod-64", "ICI", 1, "AI-Hypercomputer/xpk"),
    ("gcp", "tpu-v6e-16", "ICI", 1, "AI-Hypercomputer/xpk"),
]


@pytest.mark.parametrize(("provider", "instance_type", "rdma", "joined", "page"), SOURCES)
def test_the_types_of_these_plans_are_joined_as_a_page_says(catalog, provider, instance_type, rdma, joined, page):
    fabric = catalog.fabric(catalog.offerings[provider, instance_type])
    assert (fabric.rdma, fabric.nodes_joined) == (rdma, joined)
    assert page in fabric.source
    slices = {"tpu-v5litepod-64": ("8x8", 16), "tpu-v6e-16": ("4x4", 4)}  # chips by rows, and hosts of four chips
    assert instance_type not in slices or (fabric.topology, fabric.hosts) == slices[instance_type]


@pytest.mark.parametrize(("provider", "accelerator", "gang", "instance_type", "rate", "nodes"), FABRICS)
def test_a_gang_runs_on_nodes_that_are_joined(planned, provider, accelerator, gang, instance_type, rate, nodes):
    _, cloud = planned(3, {"gang": gang, **hours(730 * gang, accelerator)}, providers=[provider])
    assert places(cloud) == {(instance_type, "on_demand")}
    assert cloud.total_cost == pytest.approx(rate * nodes * 730 * 3, rel=1e-6)


GENERATIONS = ("TPU-v2", "TPU-v3", "TPU-v4", "TPU-v5e", "TPU-v5p", "TPU-v6e", "TPU-v7-Ironwood")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("accelerator", GENERATIONS)
def test_every_gang_of_tpus_gets_one_slice_that_holds_it_or_the_name_of_the_next(catalog, accelerator):
    part = catalog.names.by_name[accelerator]
    offerings = [offering for offering in catalog.offerings.values() if offering.accelerator == accelerator]
    for gang in range(1, 257):
        asked = request(1, {"gang": gang, **hours(730, accelerator)}, providers=["gcp"])
        need = compute_demands(asked, 730, {}).needs[0]
        search = PlacementSearch(need, asked, catalog.names, {})
        for offering in offerings:
            count = offering.accelerator_count
            found = find_placements(search, part, count, part.memory_gib, catalog.fabric(offering))
            if isinstance(found, Message):
                assert count is None or count < gang, f"{offering.instance_type} holds {gang}: {found}"
            else:
                assert [placement.nodes_per_gang for placement in found] == [1]
                assert count >= gang
        unjoined = message("slices_not_joined", accelerator=accelerator, slices=2, gang=gang)
        chips = min(o.accelerator_count for o in offerings if o.accelerator_count >= gang)
        sold = {o.accelerator_count for o in offerings if o in catalog.priced}
        named = [
            each.parameters["chips"] for each in _name_holding_slice(asked, asked.workloads[0], [unjoined], catalog)
        ]
        # one that is sold is kept from it by another limit, and where none has a price none can be had
        assert named == ([] if gang in sold or not sold else [chips])


def test_a_gang_of_tpus_that_no_slice_on_sale_holds_is_refused_with_the_next_that_does(planned):
    # TPU v4: slices of 8 to 128 chips have prices; 256 chips are tpu-v4-512, which has none
    made, _ = planned(1, {"gang": 256, **hours(730 * 256, "TPU-v4")}, providers=["gcp"])
    assert made.status == "infeasible"
    assert "which holds its gang" in " ".join(reason.text for reason in made.reasons)


def test_no_slice_is_named_where_none_may_be_rented(planned):
    """The chips of TPU v4 are sold in the United States: a slice that holds the gang would not help in Brazil."""
    made, _ = planned(1, {"gang": 200, "residency": ["BR"], **hours(730 * 200, "TPU-v4")}, providers=["gcp"])
    assert made.status == "infeasible"
    assert "slice_holds_gang" not in {reason.code for reason in made.reasons}


def test_ethernet_will_do_where_the_request_says_so(planned):
    job = {"gang": 32, "accelerators": ["A100-40GB"], **hours(23_360, "A100-40GB")}
    made, _ = planned(3, job, providers=["gcp"])
    assert made.status == "infeasible"
    assert "no fabric joins" in " ".join(reason.text for reason in made.reasons)
    made, cloud = planned(3, {**job, "fabric": "any"}, providers=["gcp"])
    assert made.status == "optimal"
    assert {option for _, option in places(cloud)} == {"on_demand"}


def table_of_sale() -> dict[tuple[str, str], list[dict[str, str]]]:
    """The rows of the shipped table by provider and type, read without the program."""
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    with (Path(pricing.__file__).parent / "data/sale.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault((row["provider"], row["instance_type"]), []).append(row)
    return rows


@pytest.mark.parametrize("start", ["2026-12", "2027-02", "2027-07", "2029-01"])
def test_no_price_is_planned_against_the_table_of_sale_nor_after_an_end(catalog, start):
    """Each row as it stands: `no` for this way of paying, or an end that has come, and no other row for the place."""
    rows, day, seen = table_of_sale(), f"{start}-01", 0
    asked = request(12, hours(1, "H100"), start=start)
    for offering in catalog.priced:
        quotes = catalog.of_type(offering)
        for quote, refusal in decide_prices(quotes, asked, load_defaults(), plan_start(asked)):
            price = quote.price
            of_type = [row for row in rows.get(offering.key, []) if row["region"] in ("", price.region)]
            about = [r for r in of_type if f"{price.purchase_option}_".startswith(f"{r['purchase_option']}_")]
            here = [row for row in about if row["region"]] or about
            closest = max(here, key=lambda row: len(row["purchase_option"]), default=None)
            ends = [row["ends"] for row in of_type if row["ends"] and not row["purchase_option"]]
            is_sold = (closest is None or closest["sold"] != "no") and not (ends and max(ends) <= day)
            assert (refusal is None) == is_sold, (price.key, closest, refusal)
            seen += not is_sold
    assert seen >= 147, "prices of the first release that contradict the table"


def test_a_type_that_has_ended_everywhere_is_retired_and_its_successor_is_not(catalog):
    for key, rows in table_of_sale().items():
        if any(row["ends"] and row["ends"] <= "2026-11-21" and not row["region"] for row in rows):
            assert catalog.offerings[key].status == "retired", key
    for offering in catalog.offerings.values():
        if offering.status == "retired" and offering.successor:
            assert catalog.offerings[offering.provider, offering.successor].status != "retired", offering.key


def test_a_price_says_whether_its_sale_is_confirmed(planned):
    made, _ = planned(1, hours(730, "L4"), providers=["gcp"])
    assert {price.sale for price in made.prices} == {"confirmed"}
    made, _ = planned(1, hours(730, "T4"), providers=["azure"])
    assert {price.sale for price in made.prices} == {"not_confirmed"}


def test_a_node_has_the_processors_and_the_memory_that_its_accelerators_need(planned):
    # for each L4 of Google g2-standard-4 has 4 vCPUs and 16 GiB, -8 8 and 32, -12 and -24 12 and 48, -16 16 and 64
    job = hours(730, "L4")
    for need, least in (
        ({}, {"g2-standard-4"}),
        ({"cpus_per_accelerator": 5}, {"g2-standard-8"}),
        ({"host_memory_gib_per_accelerator": 33}, {"g2-standard-12", "g2-standard-24"}),
        ({"cpus_per_accelerator": 13, "host_memory_gib_per_accelerator": 20}, {"g2-standard-16"}),
    ):
        ways = {"purchase_options": ["on_demand"]}
        _, cloud = planned(1, {**job, **need}, providers=["gcp"], limits=ways)
        assert {name for name, _ in places(cloud)} <= least
    made, _ = planned(1, {**job, "cpus_per_accelerator": 500}, providers=["gcp"])
    assert "fewer than 500 vCPUs per accelerator" in " ".join(reason.text for reason in made.reasons)


def test_blocks_are_bought_only_where_they_can_be_ordered_on_the_date_of_the_plan(planned):
    # ordered at most 56 days ahead: from 2026-11-21 to 2027-01-16, so for December and January, not for February
    job = {"gang": 8, **hours(4_000, "H100")}
    ways = {
        "providers": ["aws"],
        "regions": ["us-east-1"],
        "limits": {"purchase_options": ["on_demand", "capacity_block"]},
    }
    made, cloud = planned(4, job, **ways)
    assert {purchase.month for purchase in cloud.purchases} == {1, 2}
    assert any("not planned for later months" in gap.effect.text for gap in made.gaps)
    # 21 days of 24 h at 41.528 in two months; 500 node-hours at 55.04 in two
    assert cloud.total_cost == pytest.approx(2 * 21 * 24 * 41.528 + 2 * 500 * 55.04)
    _, cloud = planned(4, job, **ways, assumptions={"capacity_blocks_beyond_window": 1})
    assert {purchase.month for purchase in cloud.purchases} == {1, 2, 3, 4}
    _, cloud = planned(2, job, **{**ways, "start": "2027-03"})
    assert not cloud.purchases


def test_a_cloud_beside_the_three_is_planned_where_the_request_names_it(planned):
    # Lambda's gpu_1x_h100_pcie at 3.29 an hour x 730 = 2,401.70; the three and whoever is not asked for stay apart
    job = hours(730, "H100-80GB-PCIe")
    made, cloud = planned(1, job, providers=["lambda"])
    assert cloud.total_cost == pytest.approx(2_401.70, abs=0.01)
    assert places(cloud) == {("gpu_1x_h100_pcie", "on_demand")}
    assert {price.provider for price in made.prices} == {"lambda"}
    assert {row.provider for row in made.considered} >= {"lambda"}
    assert not {row.provider for row in made.considered} & {"nebius", "verda", "hyperstack"}
    _, alone = planned(1, {**job, "providers": ["Lambda"]})
    assert alone.total_cost == cloud.total_cost, "a workload's own list asks as well"


def test_no_cloud_beside_the_three_is_in_a_plan_that_names_none(planned):
    made, _ = planned(1, hours(730, "H100"))
    assert {row.provider for row in made.considered if row.provider} == {"aws", "azure", "gcp"}
    assert not any("lambda" in gap.subject for gap in made.gaps)


@pytest.mark.slow
def test_residency_refuses_a_region_whose_country_no_source_tells(planned):
    made, _ = planned(1, hours(730, "H100"), providers=["nebius"], residency=["EU"])
    assert made.status == "infeasible", "eu-north1 and eu-west1 by their names alone"
    _, cloud = planned(1, hours(730, "H100"), providers=["verda"], residency=["EU"])
    assert cloud.total_cost == pytest.approx(2.29 * 730, abs=0.01), "FIN-02 names its country"


def test_boot_disks_are_named_with_what_they_would_cost(planned):
    # eight p5.4xlarge with one H100 each for a whole month: 8 x 200 GB x 0.08 USD a GB and month of gp3 = 128 USD
    made, cloud = planned(1, hours(5_840, "H100"), providers=["aws"], regions=["us-east-1"])
    assert sum(use.node_hours for use in cloud.uses) == pytest.approx(8 * 730)
    (disks,) = [gap.effect for gap in made.gaps if gap.effect.code == "boot_disks_not_counted"]
    assert disks.parameters["cost"] == pytest.approx(128, abs=0.01)
    assert "0.08 USD a GB and month of gp3 (aws us-east-1, 2024-07-01, infracost)" in disks.text
    # a region without a price of its own has that of the reference region, which is named; without estimates, none
    elsewhere, _ = planned(1, hours(5_840, "H100"), providers=["aws"], regions=["us-west-2"])
    assert any("(aws us-east-1," in gap.effect.text for gap in elsewhere.gaps if gap.subject.startswith("boot disks"))
    refused, _ = planned(1, hours(5_840, "H100"), providers=["aws"], regions=["us-west-2"], allow_estimates=False)
    assert any(gap.effect.text.endswith("no price is known for aws") for gap in refused.gaps)


def test_a_disk_that_cannot_hold_a_system_is_no_price_of_one(planned):
    # the only price of a disk of Azure is that of Ultra, which holds data only
    made, _ = planned(1, hours(730, "A100-80GB"), providers=["azure"], regions=["eastus"])
    (disks,) = [gap.effect for gap in made.gaps if gap.effect.code == "boot_disks_not_counted"]
    assert (disks.parameters["cost"], disks.parameters["unpriced"]) == (0, ("azure",))


# dates of a plan and of its prices


def test_no_price_newer_than_the_plan_decides(catalog, ask, hours):
    """The shipped P5 price of us-east-1 is of 2026-07-20: a plan of 2026-07-19 does not know it, one of the next day
    does; and no price of either is newer than the plan."""
    job, here = hours("H100", 5840), {"providers": ["aws"], "regions": ["us-east-1"], "strategies": ["cloud"]}
    before, after = (plan(ask(job, **here, as_of=day, months=1), catalog) for day in ("2026-07-19", "2026-07-20"))
    assert not [p for p in before.prices if (p.instance_type, p.purchase_option) == ("p5.48xlarge", "on_demand")]
    assert after.status == "optimal"
    for found in (before, after):
        assert all(price.as_of <= found.as_of for price in found.prices)
    (told,) = [r for r in after.recommendation.reasons if r.code == "prices_newer_than_plan"]
    assert told.parameters["prices"] == count_newer(catalog, after.as_of) > 0


@pytest.mark.parametrize(
    ("start", "codes"),
    [
        ("2026-12", set()),
        ("2026-10", {"start_in_past"}),
        ("2027-07", set()),  # twelve months after the newest of its prices, of 2026-07
        ("2031-01", {"prices_far_from_start"}),
    ],
)
def test_a_start_in_the_past_or_far_from_the_prices_is_said(catalog, ask, hours, start, codes):
    only = {"providers": ["aws"], "regions": ["us-east-1"], "strategies": ["cloud"]}
    found = plan(ask(hours("H100", 5840), **only, months=3, start=start), catalog)
    told = {reason.code for reason in found.recommendation.reasons}
    assert told & {"start_in_past", "prices_far_from_start", "prices_newer_than_plan"} == codes
