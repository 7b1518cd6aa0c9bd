"""Regional GPU quotas of Compute Engine -> quotas over the instance types that use them. Knows no price."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pricing.adapters.api_calls import ApiCall
from pricing.adapters.protocol import FetchRequest, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.providers.gcp.billed_parts import load_parts_table
from pricing.providers.gcp.clients import GcpClients, import_sdk
from pricing.providers.gcp.machine_prices import PROVIDER
from pricing.providers.gcp.machine_types import SOURCE
from pricing.quota import Quota

METRIC = re.compile("(|PREEMPTIBLE_|COMMITTED_)(NVIDIA_[A-Z0-9_]+_GPUS)")
KINDS = {"": "on_demand committed_use", "PREEMPTIBLE_": "spot", "COMMITTED_": "committed_use"}
"""COMMITTED_ limits the size of commitments; a node under a commitment counts against the plain quota as well."""
TITLES = {"": "{} GPUs", "PREEMPTIBLE_": "Preemptible {} GPUs", "COMMITTED_": "Committed {} GPUs"}


def read(request: FetchRequest, clients: GcpClients) -> Iterator[Quota | SkippedRows | RejectedRow]:
    """The GPU quotas of every requested region."""
    client = clients.compute("RegionsClient")
    api_request = import_sdk("cloud.compute_v1").ListRegionsRequest(project=clients.project(), max_results=500)
    call = ApiCall("compute", "regions.list", f"projects/{api_request.project}")
    types = types_by_metric(request)
    left, has_items = 0, False
    for page in clients.pages(call, client.list, api_request):
        for region in page.items:
            has_items = True
            if not region.name or not region.quotas:
                raise ProviderFailure("changed_format", f"{call}: name or quotas missing in region {region.name!r}")
            if request.regions and region.name not in request.regions:
                continue
            for row in region.quotas:
                reading = _parse_quota(request, region.name, row, types)
                left += reading is None
                if reading is not None:
                    yield reading
    if not has_items:
        raise ProviderFailure("changed_format", f"{call}: items is empty")
    if left:
        yield SkippedRows("quotas that count no GPU of the catalogue", left)


def types_by_metric(request: FetchRequest) -> dict[str, list[str]]:
    """The known instance types that count against each plain metric."""
    types: dict[str, list[str]] = {}
    for name in sorted(request.known):
        rule = load_parts_table().machine(name)
        if rule and rule.quota:
            types.setdefault(rule.quota, []).append(name)
    return types


def _parse_quota(
    request: FetchRequest, region: str, row: Any, types: dict[str, list[str]]
) -> Quota | RejectedRow | None:
    metric = str(row.metric)
    match = METRIC.fullmatch(metric)
    if match is None or match[2].endswith("_VWS_GPUS"):  # virtual workstations are not in the catalogue
        return None
    before, stem = match.groups()
    if stem not in types:
        return RejectedRow(f"{region} {metric}", "no instance type is known to count against it")
    title = TITLES[before].format(stem.removesuffix("_GPUS").replace("_", " "))
    return Quota(
        PROVIDER, region, metric, title, "accelerator", row.limit, row.usage, " ".join(types[stem]), KINDS[before],
        request.today, SOURCE,
    )  # fmt: skip
