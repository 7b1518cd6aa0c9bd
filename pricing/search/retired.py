"""What has ended: what it was, until when, what is there instead and what that costs.

The one answer for offers, sheets, bills and requests that name a type, a family or an accelerator of the past.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pricing.catalog.price_catalog import Catalog
from pricing.errors import UnknownName
from pricing.offering import Offering
from pricing.price import Price
from pricing.search.results import RetiredOffering


def find_retired(
    catalog: Catalog,
    *,
    types: Collection[str] = (),
    accelerators: Collection[str] = (),
    providers: Collection[str] = (),
) -> Iterator[RetiredOffering]:
    """The retired types of these names, accelerators and providers (an empty filter passes all), then the families of
    those names of which the catalogue has no types."""
    for offering in catalog.offerings.values():
        if (
            offering.status == "retired"
            and (not accelerators or offering.accelerator in accelerators)
            and (not providers or offering.provider in providers)
            and (not types or offering.instance_type in types)
        ):
            yield _describe_type(offering, catalog)
    for name in types:
        if family := catalog.ended_family(name):
            key = (family.provider, name)
            yield _build(key, family.title, family.ended, family.successor, family.source, catalog)


def find_retired_name(written: str, catalog: Catalog) -> tuple[RetiredOffering, ...]:
    """What has ended under a name that is no accelerator's: a type, a family (P2; its smallest type) or the title of
    one. Empty where the name is unknown, or something of that type or family is still sold."""
    name = written.strip().casefold()
    types = [offering for offering in catalog.offerings.values() if offering.instance_type.casefold() == name]
    families: dict[str, list[Offering]] = {}
    for offering in catalog.offerings.values():
        if offering.family.casefold() == name:
            families.setdefault(offering.provider, []).append(offering)
    found = [
        min(members, key=lambda o: (o.accelerator_count or 0.0, o.instance_type))
        for members in ([types] if types else families.values())
        if all(offering.status == "retired" for offering in members)
    ]
    if found:
        return tuple(_describe_type(offering, catalog) for offering in found)
    return () if types else tuple(find_retired(catalog, types=[name]))


def find_unrented(accelerator: str, catalog: Catalog) -> tuple[RetiredOffering, ...] | None:
    """What ended of an accelerator of which no provider rents a known number any more, the smallest type of each
    provider; empty where none ever did. None where it is sold, or how many a type has is not known."""
    types = [offering for offering in catalog.offerings.values() if offering.accelerator == accelerator]
    past = [offering for offering in types if offering.status == "retired" and offering.accelerator_count]
    if any(o.status != "retired" and o.accelerator_count for o in types) or (types and not past):
        return None
    smallest: dict[str, Offering] = {}
    for offering in sorted(past, key=lambda o: (o.accelerator_count or 0.0, o.instance_type)):
        smallest.setdefault(offering.provider, offering)
    return tuple(_describe_type(offering, catalog) for offering in smallest.values())


def find_successor_price(provider: str, successor: str, catalog: Catalog) -> Price | None:
    """The lowest price of a node-hour of a type on demand; None where none is known."""
    quotes = catalog.quotes(providers=[provider], instance_types=[successor], options=["on_demand"])
    return quotes[0].price if quotes else None


def describe_ended(written: str, catalog: Catalog) -> str:
    """In words what has ended under a name of an accelerator, a type or a family; "" where nothing has."""
    try:
        parts = catalog.names.match(written)
    except UnknownName:
        ended = find_retired_name(written, catalog)
        return f"not sold any more: {_list_words(ended)}" if ended else ""
    answers = [find_unrented(part.name, catalog) for part in parts]
    if any(answer is None for answer in answers):
        return ""
    names = ", ".join(part.name for part in parts)
    ended = tuple(each for answer in answers for each in answer or ())
    return f"no provider of the catalogue rents {names}" + (f": {_list_words(ended)}" if ended else "")


def _list_words(ended: tuple[RetiredOffering, ...]) -> str:
    return "; ".join(each.words for each in ended)


def _describe_type(offering: Offering, catalog: Catalog) -> RetiredOffering:
    terms = (term for term in catalog.sale_terms(*offering.key) if term.ends and not term.region)
    ended, source = next(((str(term.ends), f"{term.source}, {term.checked}") for term in terms), ("", ""))
    from fractions import Fraction

    count = Fraction(offering.accelerator_count or 0).limit_denominator(64)
    what = f"{count} x {offering.accelerator}" if count else offering.accelerator
    return _build(offering.key, what, ended, offering.successor or "", source, catalog)


def _build(
    key: tuple[str, str], description: str, ended: str, successor: str, source: str, catalog: Catalog
) -> RetiredOffering:
    price = find_successor_price(key[0], successor, catalog)
    if price is None:
        return RetiredOffering(*key, description, ended, successor, None, "", source)
    return RetiredOffering(
        *key, description, ended, successor, price.price_per_hour, price.region, source, price.currency
    )
