"""Compute usages -> quotas over the instance types that count against them. Knows no price.

Azure limits vCPUs, not accelerators: of a family in a region, of the whole region, and of all spot nodes in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pricing.adapter import Ask, Left, Refused
from pricing.errors import Failed
from pricing.providers.azure.clients import Clients
from pricing.providers.azure.skus import PROVIDER, Shelf, Sku
from pricing.quota import Quota

SOURCE = "azure-usages"
PLAIN = "on_demand reserved savings_plan"
REGIONAL = {"cores": PLAIN, "lowprioritycores": "spot"}
"""Usages that all sizes of a region count against, by lower-case name."""
OTHERS = "quotas that no type with accelerators counts against"


def read(ask: Ask, clients: Clients, shelf: Shelf, region: str) -> Iterator[Quota | Left | Refused]:
    """The quotas of a region; SKUs tell which sizes make a family, and which of them this account may not have."""
    skus = shelf.of(region, ask.patience).skus
    families: dict[str, list[Sku]] = {}
    for sku in skus:
        if not sku.family:
            text = f"compute resource_skus.list of {region}: family is missing in {sku.name}"
            raise Failed("changed_format", text)
        families.setdefault(_plain(sku.family), []).append(sku)
    counted = {code: (skus, kinds) for code, kinds in REGIONAL.items()}
    counted |= {name: (members, PLAIN) for name, members in families.items()}
    seen, left = set(), 0
    for page in clients.usages(region):
        for usage in page:
            code = _plain(_told(usage, region, "name", "value"))
            seen.add(code)
            members, kinds = counted.get(code, ([], ""))
            if members:
                yield _quota(ask, region, usage, members, kinds)
            else:
                left += 1
    if not seen:
        raise Failed("changed_format", f"compute usage.list of {region}: no usage at all under value")
    if left:
        yield Left(OTHERS, left)
    for name in sorted(families.keys() - seen):
        yield Refused(f"{PROVIDER} {region} {families[name][0].family}", "no quota of this name is told")


def _quota(ask: Ask, region: str, usage: Any, members: list[Sku], kinds: str) -> Quota | Refused:
    code, title = _told(usage, region, "name", "value"), _told(usage, region, "name", "localized_value")
    limit, used = _told(usage, region, "limit"), _told(usage, region, "current_value")
    if limit < 0 or used < 0:
        return Refused(f"{PROVIDER} {region} {code}", f"the limit is {limit} and the usage {used}")
    not_offered = [f"{s.name}: {', '.join(s.restrictions)}" for s in members if s.restrictions]
    if not_offered and kinds == PLAIN and _plain(code) not in REGIONAL:
        title = f"{title} ({'; '.join(sorted(not_offered))})"
    types = " ".join(sorted(s.name for s in members))
    return Quota(PROVIDER, region, code, title, "vcpu", float(limit), float(used), types, kinds, ask.today, SOURCE)


def _plain(family: str) -> str:
    """SKUs and usages write the same family with other capitals and spaces: Standard NCASv3_T4 Family."""
    return "".join(family.split()).casefold()


def _told(usage: Any, region: str, *path: str) -> Any:
    """A field of a usage. Raises Failed where it is missing."""
    value = usage
    for name in path:
        value = getattr(value, name, None)
    if value is None:
        raise Failed("changed_format", f"compute usage.list of {region}: {'.'.join(path)} is missing")
    return value
