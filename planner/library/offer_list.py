"""`planner.offers`: the offerings of the catalogue with their prices."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_type_hints

from planner.library.catalog_files import open_catalog
from planner.library.input_reading import setting_place
from planner.library.result_tables import ResultTable, TabularResult, list_fields, plain_cell
from planner.request.errors import InvalidRequest
from planner.request.offer_query import parse_offer_query
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass
from pricing.search import find_offers

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog
    from pricing.search.results import Offers

LISTED_MAX = 20
"""Rows that a notebook shows; `frame` has all."""
LISTED_COLUMNS = (
    "provider", "region", "instance_type", "accelerator", "accelerator_count", "purchase_option", "price_per_hour",
    "price_per_accelerator_hour", "currency", "as_of", "sale",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class OfferList(TabularResult):
    """Offers in their order; `offers` is the plain value beneath. The tables are `rows`, and those without a
    price or no longer sold: `gaps`, `retired`, `not_rented`."""

    offers: Offers

    @property
    def tables(self) -> tuple[str, ...]:
        """rows, gaps, retired, not_rented and exchange_rates."""
        return tuple(_table_types(self.offers))

    def _build_table(self, name: str) -> ResultTable:
        kind = _table_types(self.offers)[name]
        hints = get_type_hints(kind)
        columns = {each.name: hints[each.name] for each in dataclasses.fields(kind)}
        listed = getattr(self.offers, name)
        return ResultTable(columns, [{each: plain_cell(getattr(row, each)) for each in columns} for row in listed])

    def __len__(self) -> int:
        return len(self.offers.rows)

    def __repr__(self) -> str:
        return f"<OfferList of {format_count(len(self), 'price')}, by {self.offers.sort}>"

    def _repr_html_(self) -> str:
        """The first rows, for a notebook."""
        from planner.reports.html import render_table_fragment

        rows = [[_format_cell(name, row[name]) for name in LISTED_COLUMNS] for row in self.rows("rows")[:LISTED_MAX]]
        title = f"{format_count(self.offers.total, 'price')}, by {self.offers.sort}"
        more = f", the first {LISTED_MAX} of them" if self.offers.total > LISTED_MAX else ""
        return render_table_fragment(title + more, [name.replace("_", " ") for name in LISTED_COLUMNS], rows)


def offers(catalog: Catalog | None = None, **filters: Any) -> OfferList:
    """Every matching offering at each of its known prices, as `planner offers` lists them.

    `filters` are its options: accelerator, provider, region, type, option (a name or several), count, min_count,
    min_memory_gib, min_memory_gib_per_node, kind, min_vcpus, min_host_memory_gib, currency, precision, sort, reverse,
    limit. InvalidRequest with every wrong one and the nearest names.

    >>> import planner
    >>> matching = planner.offers(accelerator="H100", count=8, provider=["aws", "gcp"], option="on_demand", limit=3)
    >>> len(matching), {row["accelerator"] for row in matching.rows("rows")}
    (3, {'H100-80GB-SXM'})
    """
    faults: tuple[Any, ...] = ()
    if catalog is None:
        catalog, faults = open_catalog(None, None)
    if faults:
        raise InvalidRequest(faults)
    texts = {name: _filter_texts(value) for name, value in filters.items() if value is not None}
    return OfferList(find_offers(parse_offer_query(texts, catalog, setting_place), catalog))


def _filter_texts(value: Any) -> Sequence[str]:
    """A filter in texts, as the command line has it."""
    if isinstance(value, str | bool):
        return (str(value).lower() if isinstance(value, bool) else value,)
    if isinstance(value, int | float):
        return (f"{value:.15g}",)
    return tuple(text for each in value for text in _filter_texts(each))


def _table_types(matching: Offers) -> dict[str, type]:
    return dict(list_fields(type(matching)))


def _format_cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4f}" if name.startswith("price") else f"{value:,.6g}"
    return "" if value is None else str(value)
