"""The catalogue: offers, accelerators, coverage; and whether the service answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import cache
from importlib.metadata import version

from fastapi import HTTPException, Request
from fastapi.responses import Response
from pydantic import BaseModel, TypeAdapter

from planner.reports.terraform.provisioning import find_shipped_folder
from planner.request.errors import InputProblem, InvalidRequest
from planner.request.offer_query import parse_offer_query
from planner.service.routes.formats import query_lists
from pricing import accelerator
from pricing.accelerator import Accelerator
from pricing.catalog.adjusted_prices import check_rate_card
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Coverage
from pricing.clock import today
from pricing.errors import InvalidSnapshot
from pricing.search import find_offers
from pricing.search.results import Offers

CURSOR = "cursor"
CURSOR_DIGITS = 8


class Health(BaseModel):
    """Whether the service answers."""

    status: str
    """State of the service: ok."""
    version: str
    """Version of gpu-planner."""


class CatalogAge(BaseModel):
    """Coverage and age of the catalogue; equal digests give equal plans."""

    digest: str
    """Checksum of the catalogue; equal checksums give equal plans."""
    oldest_price: date
    """Date of the oldest price of a current offering."""
    age_days: int
    """Age of that price in days."""
    coverage: tuple[Coverage, ...]
    """Prices by provider, family and purchase option."""
    unpriced: tuple[tuple[str, str], ...]
    """Provider and instance type of offerings without any price."""


def offers(request: Request) -> Response:
    """Every matching offering at each of its known prices, with source and date; offerings without a price as gaps.

    With ?limit=, the header Link names the next page.
    """
    opened = Catalog.current()
    if wrong := check_rate_card(opened):
        raise InvalidSnapshot(wrong)  # the rate card belongs to the service: not a problem of the request
    texts = query_lists(request)
    start = _read_cursor(texts.pop(CURSOR, [""])[-1], opened.digest)
    query = parse_offer_query(texts, opened, lambda name: f"?{name}")
    result = find_offers(replace(query, limit=None), opened)
    end = None if query.limit is None else start + query.limit
    page = replace(result, rows=result.rows[start:end])
    headers = {}
    if end is not None and end < len(result.rows):
        following = request.url.include_query_params(**{CURSOR: f"{opened.digest[:CURSOR_DIGITS]}-{end}"})
        headers["link"] = f'<{following.path}?{following.query}>; rel="next"'
    return Response(_offers_adapter().dump_json(page), headers=headers, media_type="application/json")


def _read_cursor(text: str, digest: str) -> int:
    """The number of the first row of a page; InvalidRequest for a cursor of other prices."""
    prices, _, row = text.partition("-")
    if not text:
        return 0
    if prices != digest[:CURSOR_DIGITS] or not row.isdecimal():
        fault = InputProblem("", f"?{CURSOR}", "not of these prices", text, "that of the header Link; begin again")
        raise InvalidRequest((fault,))
    return int(row[:9])


def accelerators() -> tuple[Accelerator, ...]:
    """Every accelerator by its canonical name, with its specification; null is unknown."""
    return accelerator.accelerators()


def catalog() -> CatalogAge:
    """Coverage and age of the catalogue."""
    opened = Catalog.current()
    oldest = opened.oldest()
    return CatalogAge(
        digest=opened.digest,
        oldest_price=oldest,
        age_days=(today() - oldest).days,
        coverage=opened.coverage(),
        unpriced=tuple(offering.key for offering in opened.unpriced()),
    )


def example(name: str) -> Response:
    """An example of the OpenAPI document: a request or its answer."""
    files = {path.name: path for path in (find_shipped_folder("openapi") / "examples").glob("*.json")}
    if name not in files:
        raise HTTPException(404, "no such example")
    return Response(files[name].read_bytes(), media_type="application/json")


def healthz() -> Health:
    """Whether the service answers."""
    return Health(status="ok", version=version("gpu-planner"))


@cache
def _offers_adapter() -> TypeAdapter[Offers]:
    return TypeAdapter(Offers)
