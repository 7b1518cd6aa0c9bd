"""What the `planner prices` commands share: names in their options, each checked, every fault told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from planner.errors import Complaint, InvalidRequest
from pricing.errors import UnknownName

if TYPE_CHECKING:
    from pricing.catalog import Catalog


def raise_all(faults: Sequence[Complaint]) -> None:
    if faults:
        raise InvalidRequest(tuple(faults))


def parts(texts: Iterable[str]) -> list[str]:
    """The members of options that are repeated or comma-separated."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def checked(place: str, texts: Iterable[str], check: Callable[[str], str], faults: list[Complaint]) -> list[str]:
    """Each as the catalogue writes it; what it does not know is a fault with the nearest that it does."""
    found = []
    for text in parts(texts):
        try:
            found.append(check(text))
        except UnknownName as unknown:
            near = f"nearest: {', '.join(unknown.nearest)}" if unknown.nearest else f"a known {unknown.what}"
            faults.append(Complaint("", place, f"unknown {unknown.what}", text, near))
    return list(dict.fromkeys(found))


def providers(catalog: Catalog, texts: Sequence[str], faults: list[Complaint]) -> list[str]:
    """The providers named, all where none is."""
    return checked("--provider", texts, catalog.check_provider, faults) or list(catalog.providers)


def types(catalog: Catalog, written: str, among: Sequence[str], faults: list[Complaint]) -> list[tuple[str, str]]:
    """Every (provider, instance type) of that name, retired ones too."""
    found: list[tuple[str, str]] = []
    near: list[str] = []
    for provider in among:
        try:
            found.append((provider, catalog.check_type(provider, written, include_retired=True).instance_type))
        except UnknownName as unknown:
            near += unknown.nearest
    if not found:
        from pricing.table import nearest

        close = nearest(written, near)
        expected = f"nearest: {', '.join(close)}" if close else "an instance type of the catalogue"
        faults.append(Complaint("", "TYPE", "unknown instance type", written, expected))
    return found


def regions_by_provider(
    catalog: Catalog, texts: Sequence[str], among: Sequence[str], faults: list[Complaint]
) -> dict[str, tuple[str, ...]]:
    """The regions to read of each provider. A name that the catalogue does not know is taken as it is where only one
    provider is asked for: it may be new."""
    found: dict[str, list[str]] = {}
    for text in parts(texts):
        try:
            known = [r for r in catalog.check_region(text) if r.provider in among]
        except UnknownName as unknown:
            if len(among) == 1:
                found.setdefault(among[0], []).append(text)
                continue
            near = f"nearest: {', '.join(unknown.nearest)}" if unknown.nearest else "a known region"
            faults.append(
                Complaint("", "--regions", "unknown region", text, f"{near}; or one --provider for a new one")
            )
            continue
        if not known:
            faults.append(Complaint("", "--regions", "no region of the providers asked for", text, ", ".join(among)))
        for region in known:
            found.setdefault(region.provider, []).append(region.region)
    return {name: tuple(dict.fromkeys(regions)) for name, regions in found.items()}


def endpoints(
    texts: Iterable[str], services: Mapping[str, Sequence[str]], faults: list[Complaint]
) -> dict[str, dict[str, str]]:
    """By provider and service: aws.ec2=http://127.0.0.1:5000. `services` gives those that each provider takes."""
    found: dict[str, dict[str, str]] = {}
    expected = "PROVIDER.SERVICE=URL, such as aws.ec2=http://127.0.0.1:5000"
    for text in texts:
        name, _, url = text.partition("=")
        provider, _, service = name.partition(".")
        if not url.startswith(("http://", "https://")):
            faults.append(Complaint("", "--endpoint", "no address", text, expected))
        elif provider not in services:
            told = ", ".join(services)
            faults.append(Complaint("", "--endpoint", "no provider that is refreshed", provider, f"one of {told}"))
        elif service not in services[provider]:
            told = ", ".join(services[provider])
            faults.append(Complaint("", "--endpoint", f"no service of {provider}", service, f"one of {told}"))
        else:
            found.setdefault(provider, {})[service] = url
    return found


def reasons(texts: Iterable[str], faults: list[Complaint]) -> dict[str, str]:
    """By pattern of instance types, why a price may move past the band: "p5.*=price cut of June 2025"."""
    found: dict[str, str] = {}
    for text in texts:
        pattern, _, reason = text.partition("=")
        if not (pattern.strip() and reason.strip()):
            faults.append(Complaint("", "--accept", "a pattern needs a reason", text, "PATTERN=REASON"))
        else:
            found[pattern.strip()] = reason.strip()
    return found
