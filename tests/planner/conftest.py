"""Small catalogues in the real layout, and requests that leave only what a test is about."""

from __future__ import annotations

import csv
import io
import shutil
from datetime import date
from functools import cache, lru_cache
from itertools import count
from pathlib import Path

import pytest

import planner.pipeline
import pricing
from planner.analysis.risk import BaselinePlan
from planner.application import plan
from planner.request.models import Request, parse_request
from pricing.catalog.price_catalog import Catalog
from pricing.sale import SALE_COLUMNS

ROOT = Path(pricing.__file__).parent
Key = tuple[str, str, str, str]
AS_OF = "2026-11-21"


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.embedded()


@pytest.fixture(scope="session")
def priced(tmp_path_factory):
    """A catalogue with the real offerings and only these prices: (provider, region, type, option) -> price per hour.

    `days` has the dates of some of them (spot is of the day of the requests otherwise), `terms` lines of AWS's own
    table of sale.
    """
    root = tmp_path_factory.mktemp("catalogues")
    others = shutil.ignore_patterns("__pycache__", "*.py", "testdata", "history.csv")
    numbers = count(1)

    @lru_cache(maxsize=32)
    def made(
        prices: tuple[tuple[Key, float], ...], days: tuple[tuple[Key, str], ...], terms: tuple[str, ...]
    ) -> Catalog:
        folder = root / str(next(numbers))
        shutil.copytree(ROOT / "data", folder / "data")
        shutil.copytree(ROOT / "providers", folder / "providers", ignore=others)
        for path in sorted((folder / "providers").iterdir()):
            if path.name in _list_providers_on_request() - {key[0] for key, _ in prices}:
                shutil.rmtree(path)  # a plan that does not name them leaves them out: by compiling all others again
                continue
            _only(path / "prices.csv", path.name, dict(prices), dict(days))
        if terms:
            lines = [",".join(SALE_COLUMNS), *terms]
            (folder / "providers/aws/sale.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return Catalog.read(folder, cache=root / "cache")

    return lambda prices, days=None, terms=(): made(tuple(prices.items()), tuple((days or {}).items()), terms)


@cache
def _list_providers_on_request() -> frozenset[str]:
    return frozenset(each.name for each in Catalog.embedded().provider_facts.values() if each.on_request)


@cache
def _rows(provider: str) -> list[dict[str, str]]:
    text = (ROOT / "providers" / provider / "prices.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def _only(path: Path, provider: str, prices: dict[Key, float], days: dict[Key, str]) -> None:
    rows = _rows(provider)
    wanted = {key[1:]: price for key, price in prices.items() if key[0] == provider}
    kept = []
    for key, price in wanted.items():
        template = next((r for r in rows if (r["region"], r["instance_type"], r["purchase_option"]) == key), None)
        template = template or next(r for r in rows if r["region"] == key[0])
        changed = dict(zip(("region", "instance_type", "purchase_option"), key, strict=True))
        day = days.get((provider, *key), AS_OF if key[2] == "spot" else template["as_of"])
        kept.append({**template, **changed, "price_per_hour": repr(price), "as_of": day})
    order = {(r["region"], r["instance_type"], r["purchase_option"]): n for n, r in enumerate(rows)}
    kept.sort(key=lambda r: order.get((r["region"], r["instance_type"], r["purchase_option"]), 0))
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept)
    path.write_text(out.getvalue(), encoding="utf-8")


@pytest.fixture
def ask():
    """A request from workloads and settings; as of one day, 12 months."""

    def make(*workloads: dict, **settings) -> Request:
        return parse_request({"as_of": AS_OF, "months": 12, "workloads": list(workloads), **settings})

    return make


@pytest.fixture
def hours():
    """A workload of accelerator-hours a month on one accelerator."""

    def make(accelerator: str, per_month: float, name: str = "job", **more) -> dict:
        demand = {"accelerator_hours_per_month": per_month, "accelerator": accelerator}
        return {"name": name, "kind": "training", "demand": demand, **more}

    return make


@pytest.fixture
def measured():
    """A workload of units a month, measured on one accelerator."""

    def make(accelerator: str, count: float, per_second: float, units: float, name: str = "job", **more) -> dict:
        measurement = {"accelerator": accelerator, "count": count, "units_per_second": per_second, "per": "job"}
        return {
            "name": name,
            "kind": "training",
            "unit": "tokens",
            "demand": {"units_per_month": units},
            "measurements": [measurement],
            **more,
        }

    return make


@pytest.fixture
def as_of() -> date:
    return date.fromisoformat(AS_OF)


@pytest.fixture
def case_of(monkeypatch):
    """The solved plan of a request, as `plan` hands it to its analyses."""
    seen: list[BaselinePlan] = []
    first = planner.pipeline.find_switching_values
    monkeypatch.setattr(
        planner.pipeline, "find_switching_values", lambda case, *more: seen.append(case) or first(case, *more)
    )

    def make(request, catalog) -> BaselinePlan:
        plan(request, catalog)
        return seen[-1]

    return make
