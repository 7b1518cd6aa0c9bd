"""What Terraform does not buy: commitments with exact commands, and hardware with its sums worked by hand."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import openpyxl
import pytest

from planner.reports._content.bill_of_materials import list_materials
from planner.reports.terraform import files
from planner.reports.terraform.provisioning import cuda_versions
from planner.reports.xlsx import render as workbook
from planner.request.assumptions import load_defaults
from planner.result import Assumption, DatedOrder, Plan, Purchase
from planner.result.message import Message
from planner.supply.onprem import OwnedNode, node_costs
from pricing.accelerator import accelerators
from pricing.catalog.price_catalog import Catalog
from pricing.price import parse_purchase_option


def commitment(provider: str, region: str, name: str, option: str, **rest: object) -> Purchase:
    found = parse_purchase_option(option)
    assert found
    one = Purchase(
        2,
        "commitment",
        name,
        provider,
        region,
        option,
        "H100-80GB-SXM",
        8,
        3,
        2,
        13,
        found.term_months,
        0.0,
        900.0,
        1e4,
    )
    return replace(one, **rest)  # type: ignore[arg-type]  # fields by name, as the tests write them


def listed(plan: Plan, *bought: Purchase) -> tuple[str, list[dict[str, str]]]:
    """purchases.md and the rows of purchases.csv."""
    strategy = replace(plan.strategies[0], purchases=bought)
    written = files(replace(plan, strategies=(strategy,)))
    return written["purchases.md"].decode(), list(csv.DictReader(io.StringIO(written["purchases.csv"].decode())))


def command(plan: Plan, bought: Purchase) -> str:
    return listed(plan, bought)[1][0]["command"]


def test_a_reserved_instance_is_found_and_bought_by_exact_parameters(plans: dict[str, Plan]) -> None:
    one = commitment("aws", "us-east-1", "p5.48xlarge", "reserved_1y_partial_upfront", upfront=5000.0)
    text, (row,) = listed(plans["aws"], one)
    find, buy = row["command"].split(" && ")
    # one year is 31,536,000 seconds, as the EC2 API counts a term
    for part in (
        "--region us-east-1", "--instance-type p5.48xlarge", "--offering-type 'Partial Upfront'",
        "--offering-class standard", "--min-duration 31536000", "--max-duration 31536000",
        "--filters Name=scope,Values=Region",
    ):  # fmt: skip
        assert part in find
    assert "--instance-count 3" in buy
    assert "--purchase-time 2027-01-01T00:00:00Z" in buy
    assert (row["month"], row["count"], row["term_months"], row["upfront"]) == ("2027-01", "3", "12", "5000.0")
    assert find in text
    assert "docs.aws.amazon.com/cli/latest/reference/ec2/purchase-reserved-instances-offering" in text


@pytest.mark.parametrize(
    ("option", "parts"),
    [
        ("reserved_3y_convertible_all_upfront", ["--offering-class convertible", "'All Upfront'", "94608000"]),
        ("savings_plan_1y_compute_no_upfront", ["--plan-types Compute", "'No Upfront'", "--commitment 12.34560"]),
        (
            "savings_plan_3y_instance_partial_upfront",
            ["--plan-types EC2Instance", "values=p5", "--upfront-payment-amount 1001"],
        ),
        ("capacity_block", ["describe-capacity-block-offerings", "2027-02-01T12:00:00Z", "purchase-capacity-block"]),
    ],
)
def test_other_commitments_of_aws(plans: dict[str, Plan], option: str, parts: list[str]) -> None:
    one = commitment("aws", "us-east-1", "p5.48xlarge", option, money_per_hour=12.3456, upfront=1000.4)
    told = command(plans["aws"], one)
    assert [part for part in parts if part not in told] == []


def test_each_block_is_asked_for_and_bought_with_its_own_commands(plans: dict[str, Plan]) -> None:
    """24 days of two nodes: a block of 21 days (504 hours), and one of 3 (72 hours) from the 22nd on."""
    orders = (DatedOrder(2, 1, 21), DatedOrder(2, 22, 3))
    one = commitment("aws", "us-east-1", "p5.48xlarge", "capacity_block", unit="node_day", count=48, orders=orders)
    text, (row,) = listed(plans["aws"], one)
    first, _, second, buy = row["command"].split(" && ")
    assert "--instance-count 2 --capacity-duration-hours 504 --start-date-range 2027-01-01T00:00:00Z" in first
    assert "--instance-count 2 --capacity-duration-hours 72 --start-date-range 2027-01-22T00:00:00Z" in second
    assert buy.startswith("aws ec2 purchase-capacity-block --region us-east-1 --capacity-block-offering-id OFFERING_ID")
    assert row["dated_orders"] == "2 nodes x 21 days, 2 nodes x 3 days"
    assert "Ordered as 2 nodes x 21 days, 2 nodes x 3 days." in text


def test_each_reservation_of_calendar_days_has_a_name_of_its_own(plans: dict[str, Plan]) -> None:
    orders = (DatedOrder(1, 1, 10), DatedOrder(2, 1, 9))
    one = commitment("gcp", "us-central1", "a3-highgpu-8g", "calendar", unit="node_day", count=28, orders=orders)
    steps = command(plans["gcp_gpu"], one).split(" && ")
    assert ["--duration=10d" in steps[1], "--duration=9d" in steps[3]] == [True, True]
    assert ["--total-count=1" in steps[1], "--total-count=2" in steps[3]] == [True, True]
    assert [re.search(r"create (\S+)", steps[n]).group(1)[-2:] for n in (1, 3)] == ["-1", "-2"]


def test_a_reservation_of_azure_is_calculated_and_bought(plans: dict[str, Plan]) -> None:
    one = commitment("azure", "westeurope", "Standard_NC24ads_A100_v4", "reserved_1y")
    told = command(plans["azure"], one)
    assert told.count("--sku Standard_NC24ads_A100_v4 --location westeurope") == 2
    assert told.count("--term P1Y --billing-plan Monthly --quantity 3") == 2
    assert "--billing-plan Upfront" in command(plans["azure"], replace(one, upfront=9.0))
    saving = commitment("azure", "westeurope", "compute", "savings_plan_3y_compute", money_per_hour=4.0)
    told = command(plans["azure"], saving)
    assert "--commitment '{amount:4.00000,currency-code:USD,grain:Hourly}'" in told
    assert "--term P3Y --billing-plan P1M" in told


def test_a_commitment_of_compute_engine_counts_all_nodes_together(plans: dict[str, Plan]) -> None:
    one = commitment("gcp", "us-central1", "a3-highgpu-8g", "committed_use_3y")
    told = command(plans["gcp_gpu"], one)
    # 3 nodes of 208 processors, 1,872 GiB and 8 accelerators: 624, 5,616 and 24
    assert "--plan=36-month --type=accelerator-optimized-a3 --resources=vcpu=624,memory=5616GB" in told
    assert "--resources-accelerator=count=24,type=nvidia-h100-80gb" in told
    assert "--machine-type=a3-highgpu-8g --vm-count=3" in told
    old = commitment(
        "gcp", "us-west1", "n1-standard-16+2xnvidia-tesla-t4", "committed_use_1y", accelerators_per_node=2.0
    )
    told = command(plans["gcp_gpu"], old)  # 3 x 16 processors, 3 x 60 GiB, 3 x 2 accelerators
    assert "--type=general-purpose --resources=vcpu=48,memory=180GB" in told
    assert "--resources-accelerator=count=6,type=nvidia-tesla-t4" in told
    assert "--machine-type=n1-standard-16 --vm-count=3 --accelerator=count=2,type=nvidia-tesla-t4" in told


def test_what_no_command_buys_says_so(plans: dict[str, Plan]) -> None:
    text, (row,) = listed(plans["gcp_gpu"], commitment("gcp", "us-east5", "tpu-v6e-8", "committed_use_1y"))
    assert row["command"] == ""
    assert "no gcloud command is documented for this type" in text
    text, (row,) = listed(plans["gcp_gpu"], commitment("oci", "eu", "BM.GPU.H100.8", "reserved_1y"))
    assert "No instructions are known for this commitment: ask the provider" in text


@pytest.mark.parametrize("name", ["x; rm -rf ~", "$(reboot)", "a'b", "`id`", "a\nb"])
def test_a_hostile_type_is_one_word_of_a_command(plans: dict[str, Plan], name: str) -> None:
    plain = command(plans["aws"], commitment("aws", "us-east-1", "p5.48xlarge", "reserved_1y_no_upfront"))
    told = command(plans["aws"], commitment("aws", name, name, "reserved_1y_no_upfront"))
    words = shlex.split(told)
    assert len(words) == len(shlex.split(plain))
    assert words[words.index("--instance-type") + 1] == " ".join(name.split())


def test_every_commitment_of_the_catalogue_is_known(plans: dict[str, Plan]) -> None:
    catalog = Catalog.embedded()
    seen = set()
    for offering in catalog.priced:
        for price in (quote.price for quote in catalog.of_type(offering)):
            if price.kind in {"on_demand", "spot"} or (price.provider, price.purchase_option) in seen:
                continue
            seen.add((price.provider, price.purchase_option))
            bought = commitment(price.provider, price.region, price.instance_type, price.purchase_option)
            assert listed(plans["aws"], bought)[1][0]["bought_as"], price
    assert len(seen) > 10


def figures(**values: float) -> tuple[Assumption, ...]:
    given = {**{name: each.value for name, each in load_defaults().items()}, **values}
    return tuple(Assumption(name, "", value, "", None, None, "s", date(2026, 1, 1)) for name, value in given.items())


@pytest.fixture
def owning(build: Callable[..., Plan]) -> Plan:
    """Two servers of 10.2 kW and 8 units at 250,000 each, ordered in the first month."""
    bought = Purchase(
        1, "owned", "8x H100 server", "", "", "owned", "H100-80GB-SXM", 8, 2, 9, 68, 60, 617_283.95, 4e3, 4e5
    )
    plan = build([("aws/us-east-1", "p5.48xlarge", "spot", 1)])
    told = figures(
        price_of_8x_h100_server=250_000, power_kw_of_8x_h100_server=10.2, rack_units_of_8x_h100_server=8,
        hardware_tax_fraction=0.1, installation_fraction=0.02,
    )  # fmt: skip
    return replace(plan, strategies=(replace(plan.strategies[0], purchases=(bought,)),), assumptions=told)


def test_the_bill_of_materials_adds_up(owning: Plan) -> None:
    servers, network, tax, installation, total = list_materials(owning, owning.strategies[0])
    assert (servers.ordered, servers.delivered) == ("2026-12", "2027-08")  # a lead time of 8 months
    assert (servers.quantity, servers.accelerators, servers.power_kw, servers.rack_units) == (2, 16, 20.4, 16)
    assert servers.racks == 1  # 2 x max(10.2 / 40, 8 / 42) = 0.51 of a rack
    assert servers.cost == 500_000
    # network: 0.19 / 0.81 of 250,000 = 58,641.98 each; tax 0.1 x 308,641.98 = 30,864.20; installation 0.02 x 250,000
    assert network.cost_each == pytest.approx(58_641.975309)
    assert tax.cost_each == pytest.approx(30_864.197531)
    assert installation.cost_each == pytest.approx(5_000)
    assert total.cost == pytest.approx(2 * 344_506.172840)
    assert (total.quantity, total.accelerators, total.power_kw, total.racks) == (2, 16, 20.4, 1)


def test_the_bill_is_what_the_planner_pays_for_a_node(owning: Plan) -> None:
    told = {each.name: each for each in owning.assumptions}
    node = OwnedNode("8x H100 server", "H100-80GB-SXM", 8, 250_000, date(2026, 1, 1), "s", 10.2, "", 8)
    paid = node_costs(node, told, 730)
    assert list_materials(owning, owning.strategies[0])[-1].cost == pytest.approx(2 * paid.capital)


def test_what_is_not_known_of_a_system_stays_empty_in_the_totals(owning: Plan) -> None:
    unknown = tuple(each for each in owning.assumptions if not each.name.startswith(("power_kw_of", "price_of")))
    lines = list_materials(replace(owning, assumptions=unknown), owning.strategies[0])
    assert [line.item for line in lines] == ["servers", "total"]
    assert (lines[-1].power_kw, lines[-1].racks, lines[-1].cost) == (None, None, None)
    assert lines[-1].accelerators == 16


def test_the_bill_is_a_file_and_a_sheet(owning: Plan) -> None:
    rows = list(csv.DictReader(io.StringIO(files(owning)["bill_of_materials.csv"].decode())))
    assert [row["item"] for row in rows] == [
        "servers",
        "cluster network",
        "tax, freight, duty",
        "installation",
        "total",
    ]
    assert rows[-1]["power_kw_at_most"] == "20.4"
    assert rows[0]["currency"] == "USD"
    sheet = openpyxl.load_workbook(io.BytesIO(workbook(owning)))["Bill of materials"]
    told = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert [row[4] for row in told if row[0] == "hybrid"] == [row["item"] for row in rows]
    assert "bill_of_materials.csv" in files(owning)["README.md"].decode()


def test_every_nvidia_accelerator_has_a_line_of_cuda_or_a_reason() -> None:
    for each in accelerators():
        line = cuda_versions.find_cuda_line(each.name)
        if each.vendor == "NVIDIA" and each.architecture:
            assert isinstance(line, cuda_versions.CudaLine), each.name
        elif each.vendor == "NVIDIA":
            assert f"{each.name} (of unknown architecture)" in str(line)
        else:
            assert isinstance(line, Message)
            assert line.code == "accelerator_without_cuda"
            assert "runs no CUDA" in line.text
    assert "not known" in str(cuda_versions.find_cuda_line("H9000"))


def test_the_table_of_cuda_is_in_order() -> None:
    def version(line: str) -> tuple[int, ...]:
        return tuple(int(part) for part in line.split("."))

    known = cuda_versions.load_cuda_lines()
    for line in known.values():
        assert version(line.least_line) <= version(line.newest_line)
        assert re.fullmatch(r"R\d{3}", line.driver_branch)
        assert line.source.startswith("https://docs.nvidia.com/")
    assert {name: known[name].newest_line for name in ("Kepler", "Volta", "Turing")} == {
        "Kepler": "11.4",
        "Volta": "12.9",
        "Turing": "13.0",
    }
    assert (known["Hopper"].least_line, known["Blackwell"].least_line) == ("11.8", "12.8")
    assert [name for name, line in known.items() if line.is_ended] == [
        "Kepler", "Maxwell", "Maxwell 2.0", "Pascal", "Volta",
    ]  # fmt: skip
