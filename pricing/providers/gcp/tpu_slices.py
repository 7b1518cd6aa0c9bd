"""TPU slices that the Cloud TPU API lists per zone -> offerings, and the regions that sell each. Knows no price."""

from __future__ import annotations

import math
import re
from typing import Any

from pricing.adapters.api_calls import ApiCall
from pricing.adapters.protocol import FetchRequest, RejectedRow
from pricing.errors import ProviderFailure, UnknownName
from pricing.offering import Offering
from pricing.providers.gcp.clients import GcpClients, import_sdk
from pricing.providers.gcp.machine_prices import PROVIDER
from pricing.providers.gcp.machine_types import GcpZoneTypes, zone_region

SOURCE = "gcp-tpu-api"
PAGE_SIZE = 500
TPU_PREFIX = "tpu-"
"""The catalogue writes tpu-v5litepod-8 for the accelerator type v5litepod-8."""


def read(request: FetchRequest, clients: GcpClients) -> GcpZoneTypes:
    """Every slice in every zone of the requested regions."""
    zone_types, client, project = GcpZoneTypes(), clients.tpu(), clients.project()
    for zone in _list_zones(clients, client, project):
        if request.regions and zone_region(zone) not in request.regions:
            continue
        zone_types.regions.add(zone_region(zone))
        parent = f"projects/{project}/locations/{zone}"
        api_request = import_sdk("cloud.tpu_v2").ListAcceleratorTypesRequest(parent=parent, page_size=PAGE_SIZE)
        call = ApiCall("tpu", "list_accelerator_types", zone)
        for page in clients.pages(call, client.list_accelerator_types, api_request):
            for row in page.accelerator_types:
                if not row.type_:
                    raise ProviderFailure("changed_format", f"{call}: type missing in {row.name!r}")
                _add_slice(request, row, zone, zone_types)
    return zone_types


def _list_zones(clients: GcpClients, client: Any, project: str) -> list[str]:
    call = ApiCall("tpu", "list_locations", f"projects/{project}")
    zones: list[str] = []
    api_request = import_sdk("cloud.location.locations_pb2").ListLocationsRequest(
        name=f"projects/{project}", page_size=PAGE_SIZE
    )
    while True:
        answer = clients.call(call, lambda s: client.list_locations(request=api_request, retry=None, timeout=s))
        zones += [location.location_id for location in answer.locations]
        if not answer.next_page_token or answer.next_page_token == api_request.page_token:
            break
        api_request.page_token = answer.next_page_token
    if not zones or not all(zones):
        raise ProviderFailure("changed_format", f"{call}: locations or their locationId are missing")
    return sorted(zones)


def _add_slice(request: FetchRequest, row: Any, zone: str, zone_types: GcpZoneTypes) -> None:
    name = TPU_PREFIX + row.type_
    zone_types.sold.setdefault(name, set()).add(zone_region(zone))
    if name in zone_types.refused:
        zone_types.left["more zones of types that were refused"] += 1
        return
    known = request.known.get(name) or zone_types.offerings.get(name)
    try:
        chip, chips = request.names.tpu_slice(name)
    except UnknownName as unknown:
        zone_types.refused[name] = RejectedRow(name, str(unknown))
        return
    topology_chips = _count_chips(row)
    expected = known.accelerator_count if known else float(chips)
    if topology_chips is not None and topology_chips != expected:
        zone_types.refused[name] = RejectedRow(
            name, f"topology of {topology_chips:g} chips, its name means {expected or 0:g}"
        )
        zone_types.offerings.pop(name, None)
    elif known:
        zone_types.left["TPU slices known as they are"] += 1
    else:
        zone_types.offerings[name] = Offering(
            PROVIDER, "TPU", name, chip.name, float(chips), chip.memory_gib, None, None, None, None, "ICI", "current",
            None, SOURCE,
        )  # fmt: skip


def _count_chips(row: Any) -> float | None:
    """The product of a topology such as 2x2x4; None if none is stated."""
    topologies = {config.topology for config in row.accelerator_configs if config.topology}
    products = {
        math.prod(int(n) for n in topology.split("x"))
        for topology in topologies
        if re.fullmatch("[0-9]+(x[0-9]+)*", topology)
    }
    return float(products.pop()) if len(products) == 1 else None
