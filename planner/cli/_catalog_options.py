"""Options that several commands share: names of the catalogue, endpoints and reasons, with every problem listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from planner.request.errors import InputProblem, InvalidRequest
from pricing.errors import InvalidSnapshot, UnknownName

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog

ACCELERATORS_MAX = 1_000_000


def raise_problems(faults: Sequence[InputProblem]) -> None:
    if faults:
        raise InvalidRequest(tuple(faults))


def split_names(texts: Iterable[str]) -> list[str]:
    """The members of options that are repeated or comma-separated."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def check_names(place: str, texts: Iterable[str], check: Callable[[str], str], faults: list[InputProblem]) -> list[str]:
    """The names in the spelling of the catalogue; an unknown name is a problem that lists the nearest known names."""
    names = []
    for text in split_names(texts):
        try:
            names.append(check(text))
        except UnknownName as unknown:
            faults.append(InputProblem("", place, f"unknown {unknown.kind}", text, suggest_names(unknown)))
    return list(dict.fromkeys(names))


def suggest_names(unknown: UnknownName) -> str:
    """The nearest known names, else the kind of name that is expected."""
    return f"nearest: {', '.join(unknown.nearest)}" if unknown.nearest else f"a known {unknown.kind}"


def parse_count(text: str, place: str, expected: str, faults: list[InputProblem]) -> float | None:
    """A number of accelerators; None, and a problem, for a text that is none."""
    try:
        count = float(text)
    except ValueError:
        count = 0.0
    if 0 < count <= ACCELERATORS_MAX:
        return count
    faults.append(InputProblem("", place, "no number of accelerators", text, expected))
    return None


def select_providers(catalog: Catalog, texts: Sequence[str], faults: list[InputProblem]) -> list[str]:
    """The named providers, or all of them."""
    return check_names("--provider", texts, catalog.check_provider, faults) or list(catalog.providers)


def match_types(
    catalog: Catalog, written: str, among: Sequence[str], faults: list[InputProblem]
) -> list[tuple[str, str]]:
    """Every (provider, instance type) with that name, including retired types."""
    matches: list[tuple[str, str]] = []
    near: list[str] = []
    for provider in among:
        try:
            matches.append((provider, catalog.check_type(provider, written).instance_type))
        except UnknownName as unknown:
            near += unknown.nearest
    if not matches:
        from pricing.csv_tables import find_nearest_names

        close = find_nearest_names(written, near)
        expected = f"nearest: {', '.join(close)}" if close else "an instance type of the catalogue"
        faults.append(InputProblem("", "TYPE", "unknown instance type", written, expected))
    return matches


def regions_by_provider(
    catalog: Catalog, texts: Sequence[str], among: Sequence[str], faults: list[InputProblem]
) -> dict[str, tuple[str, ...]]:
    """The regions to read of each provider. An unknown name is passed on if only one provider is
    selected: it may be a new region."""
    by_provider: dict[str, list[str]] = {}
    for text in split_names(texts):
        try:
            known = [r for r in catalog.check_region(text) if r.provider in among]
        except UnknownName as unknown:
            if len(among) == 1:
                by_provider.setdefault(among[0], []).append(text)
                continue
            expected = f"{suggest_names(unknown)}; or one --provider for a new one"
            faults.append(InputProblem("", "--regions", "unknown region", text, expected))
            continue
        if not known:
            message = "not a region of the selected providers"
            faults.append(InputProblem("", "--regions", message, text, ", ".join(among)))
        for region in known:
            by_provider.setdefault(region.provider, []).append(region.region)
    return {name: tuple(dict.fromkeys(regions)) for name, regions in by_provider.items()}


def select_adapters(
    provider: Sequence[str],
    regions: Sequence[str],
    endpoint: Sequence[str],
    without_adapter: tuple[str, str],
    before: Sequence[InputProblem] = (),
    after: Sequence[InputProblem] = (),
) -> tuple[list[str], dict[str, tuple[str, ...]], dict[str, dict[str, str]]]:
    """The providers to read, with their regions and endpoints. `without_adapter` is the problem of a named provider
    that cannot be read, and what to do instead; InvalidRequest with every problem, those of other options `before` and
    `after` the others."""
    from pricing.catalog import data_folder
    from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
    from pricing.refresh.price_refresh import load_adapter

    try:
        catalog = Catalog.current()
    except InvalidSnapshot:  # a damaged snapshot must not keep the refresh that replaces it from running
        catalog = Catalog(data_folder.base_layout(EMBEDDED_LAYOUT, data_folder.user_data_folder()))
    faults = [*before]
    among = select_providers(catalog, provider, faults)
    services = {name: adapter.SERVICES for name in among if (adapter := load_adapter(name))}
    if provider:
        message, otherwise = without_adapter
        expected = f"one of {', '.join(filter(load_adapter, catalog.providers))}, or {otherwise}"
        strangers = [name for name in among if name not in services]
        faults += [InputProblem("", "--provider", message, name, expected) for name in strangers]
    by_provider = regions_by_provider(catalog, regions, list(services), faults)
    endpoints = parse_endpoints(endpoint, services, faults)
    faults += after
    selected = [name for name in services if name in by_provider or not regions]
    if regions and provider and not faults:
        listed = ", ".join(split_names(regions))
        faults += [
            InputProblem("", "--regions", f"none of {name}", listed) for name in services if name not in selected
        ]
    raise_problems(faults)
    return selected, by_provider, endpoints


def parse_endpoints(
    texts: Iterable[str], services: Mapping[str, Sequence[str]], faults: list[InputProblem]
) -> dict[str, dict[str, str]]:
    """By provider and service: aws.ec2=http://127.0.0.1:5000. `services` gives those that each provider takes."""
    by_provider: dict[str, dict[str, str]] = {}
    expected = "PROVIDER.SERVICE=URL, such as aws.ec2=http://127.0.0.1:5000"
    for text in texts:
        name, _, url = text.partition("=")
        provider, _, service = name.partition(".")
        if not url.startswith(("http://", "https://")):
            faults.append(InputProblem("", "--endpoint", "no address", text, expected))
        elif provider not in services:
            known = ", ".join(services)
            faults.append(InputProblem("", "--endpoint", "no provider that is refreshed", provider, f"one of {known}"))
        elif service not in services[provider]:
            known = ", ".join(services[provider])
            faults.append(InputProblem("", "--endpoint", f"no service of {provider}", service, f"one of {known}"))
        else:
            by_provider.setdefault(provider, {})[service] = url
    return by_provider


def parse_reasons(texts: Iterable[str], faults: list[InputProblem]) -> dict[str, str]:
    """Reasons to accept large price changes, by pattern of instance types: "p5.*=price cut of June 2025"."""
    by_pattern: dict[str, str] = {}
    for text in texts:
        pattern, _, reason = text.partition("=")
        if not (pattern.strip() and reason.strip()):
            faults.append(InputProblem("", "--accept", "a pattern needs a reason", text, "PATTERN=REASON"))
        else:
            by_pattern[pattern.strip()] = reason.strip()
    return by_pattern
