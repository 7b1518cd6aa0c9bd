"""Every current offering of the catalogue with every purchase option that it has: emitted, laid out, accepted.

Many offerings go into one root, so that the real terraform checks them all in a few runs. The default run takes one
offering of each family; `make slow` takes them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files, unprovisioned_lines
from planner.reports.terraform.provisioning.module_catalog import ModuleMatch, load_clouds, match_module
from planner.result import Plan
from pricing.catalog.price_catalog import Catalog
from tests.terraform.test_readback import started_as

Row = tuple[str, str, str, int]
BATCH = 40
"""Pools in one root."""
PROVIDERS = sorted(load_clouds())


def rows(provider: str, *, one_a_family: bool) -> list[Row]:
    """(place, type, option, nodes) of every current offering x purchase option, each in one region that has it."""
    catalog = Catalog.embedded()
    found: dict[tuple[str, str], Row] = {}
    families: set[tuple[str, str]] = set()
    for offering in catalog.priced:
        if offering.provider != provider or offering.part or offering.status != "current":
            continue
        for price in (quote.price for quote in catalog.of_type(offering)):
            key = (offering.family, price.purchase_option)
            if one_a_family and key in families and (offering.instance_type, price.purchase_option) not in found:
                continue
            families.add(key)
            row = (f"{provider}/{price.region}", offering.instance_type, price.purchase_option, 1)
            found.setdefault((offering.instance_type, price.purchase_option), row)
    return list(found.values())


def batches(wanted: Sequence[Row]) -> Iterator[Sequence[Row]]:
    for start in range(0, len(wanted), BATCH):
        yield wanted[start : start + BATCH]


@dataclass(frozen=True)
class Checker:
    """Emits roots of many rows and has the real terraform validate them."""

    build: Callable[..., Plan]
    tfcheck: Callable[..., Any]
    write: Callable[..., Path]
    folder: Path

    def __call__(self, provider: str, wanted: Sequence[Row], nodes: str = "vm") -> int:
        """How many pools modules provision. Each of the others has its reason."""
        provisioned = 0
        for number, batch in enumerate(batches(wanted)):
            plan = self.build(batch)
            lost = unprovisioned_lines(plan, nodes=nodes)
            assert all(": " in line and len(line) > 60 for line in lost)
            written = files(plan, nodes=nodes)
            if f"{provider}/main.tf" in written:
                provisioned += written[f"{provider}/main.tf"].count(f'module "{provider}_'.encode())
                checked = self.tfcheck(self.write(self.folder / str(number), written) / provider)
                assert checked.ok, checked.told
        return provisioned


@pytest.fixture
def check(build: Any, tfcheck: Any, write: Any, tmp_path: Path) -> Checker:
    return Checker(build, tfcheck, write, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "provider", [pytest.param(name, marks=() if name == "gcp" else pytest.mark.slow) for name in PROVIDERS]
)
def test_a_type_of_every_family_is_accepted_under_every_option(provider: str, check: Checker) -> None:
    wanted = rows(provider, one_a_family=True)
    assert len(wanted) > 5
    assert check(provider, wanted) > 5


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_current_offering_is_accepted_under_every_option(provider: str, check: Checker) -> None:
    wanted = rows(provider, one_a_family=False)
    offered = {o.instance_type for o in Catalog.embedded().priced if o.provider == provider and o.status == "current"}
    parts = {o.instance_type for o in Catalog.embedded().priced if o.provider == provider and o.part}
    assert {row[1] for row in wanted} == offered - parts
    assert check(provider, wanted) > 20


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_node_pool_of_kubernetes_is_accepted_under_every_option(provider: str, check: Checker) -> None:
    has_module = any(module.kind == "kubernetes" for module in load_clouds()[provider].modules)
    assert (check(provider, rows(provider, one_a_family=False), "kubernetes") > 20) == has_module


@pytest.mark.one_in(3)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_option_of_every_current_offering_is_emitted_or_refused_with_a_reason(
    provider: str, build: Callable[..., Plan]
) -> None:
    """The same without a binary: what is emitted is what the module takes."""
    cloud = load_clouds()[provider]
    for row in rows(provider, one_a_family=False):
        plan = build([row])
        written, lost = files(plan), unprovisioned_lines(plan)
        found = match_module(cloud, row[1])
        started = started_as(provider, row[1], row[0].partition("/")[2], row[2])
        is_taken = isinstance(found, ModuleMatch) and started in found.module.purchase_options
        assert (f"{provider}/main.tf" in written) == is_taken
        assert len(lost) == (0 if is_taken else 1)
