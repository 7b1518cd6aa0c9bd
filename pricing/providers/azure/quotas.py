"""Compute usages -> quotas over the instance types that count against them. Knows no price.

Azure limits vCPUs, not accelerators: of a family in a region, of the whole region, and of all spot nodes in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pricing.adapters.protocol import FetchRequest, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.providers.azure.clients import AzureClients
from pricing.providers.azure.resource_skus import PROVIDER, Sku, SkuCache
from pricing.quota import Quota

SOURCE = "azure-usages"
ON_DEMAND_KINDS = "on_demand reserved savings_plan"
REGIONAL_USAGES = {"cores": ON_DEMAND_KINDS, "lowprioritycores": "spot"}
"""Usages that all sizes of a region count against, by lower-case name."""
OTHER_QUOTAS = "quotas that no type with accelerators counts against"


def read(
    request: FetchRequest, clients: AzureClients, sku_cache: SkuCache, region: str
) -> Iterator[Quota | SkippedRows | RejectedRow]:
    """The quotas of a region; the SKUs give the sizes of each family, and those that this account may not use."""
    skus = sku_cache.of(region, request.patience).skus
    families: dict[str, list[Sku]] = {}
    for sku in skus:
        if not sku.family:
            text = f"compute resource_skus.list of {region}: family is missing in {sku.name}"
            raise ProviderFailure("changed_format", text)
        families.setdefault(_normalize_family(sku.family), []).append(sku)
    counted = {code: (skus, kinds) for code, kinds in REGIONAL_USAGES.items()}
    counted |= {name: (members, ON_DEMAND_KINDS) for name, members in families.items()}
    listed, left = set(), 0
    for page in clients.usages(region):
        for usage in page:
            code = _normalize_family(_require_field(usage, region, "name", "value"))
            listed.add(code)
            members, kinds = counted.get(code, ([], ""))
            if members:
                yield _parse_quota(request, region, usage, members, kinds)
            else:
                left += 1
    if not listed:
        raise ProviderFailure("changed_format", f"compute usage.list of {region}: no usage at all under value")
    if left:
        yield SkippedRows(OTHER_QUOTAS, left)
    for name in sorted(families.keys() - listed):
        yield RejectedRow(f"{PROVIDER} {region} {families[name][0].family}", "no quota of this name is told")


def _parse_quota(request: FetchRequest, region: str, usage: Any, members: list[Sku], kinds: str) -> Quota | RejectedRow:
    code, title = (
        _require_field(usage, region, "name", "value"),
        _require_field(usage, region, "name", "localized_value"),
    )
    limit, used = _require_field(usage, region, "limit"), _require_field(usage, region, "current_value")
    if limit < 0 or used < 0:
        return RejectedRow(f"{PROVIDER} {region} {code}", f"the limit is {limit} and the usage {used}")
    not_offered = [f"{s.name}: {', '.join(s.restrictions)}" for s in members if s.restrictions]
    if not_offered and kinds == ON_DEMAND_KINDS and _normalize_family(code) not in REGIONAL_USAGES:
        title = f"{title} ({'; '.join(sorted(not_offered))})"
    types = " ".join(sorted(s.name for s in members))
    return Quota(PROVIDER, region, code, title, "vcpu", float(limit), float(used), types, kinds, request.today, SOURCE)


def _normalize_family(family: str) -> str:
    """SKUs and usages write the same family with other capitals and spaces: Standard NCASv3_T4 Family."""
    return "".join(family.split()).casefold()


def _require_field(usage: Any, region: str, *path: str) -> Any:
    """A field of a usage. Raises ProviderFailure if it is missing."""
    value = usage
    for name in path:
        value = getattr(value, name, None)
    if value is None:
        raise ProviderFailure("changed_format", f"compute usage.list of {region}: {'.'.join(path)} is missing")
    return value
