"""TPU slices that the Cloud TPU API lists per zone -> offerings, and the regions that sell each. Knows no price."""

from __future__ import annotations

import math
import re
from typing import Any

from pricing.adapter import Ask, Refused
from pricing.calls import Call
from pricing.errors import Failed, UnknownName
from pricing.offering import Offering
from pricing.providers.gcp.clients import Clients, sdk
from pricing.providers.gcp.machines import Found, region_of
from pricing.providers.gcp.sums import PROVIDER

SOURCE = "gcp-tpu-api"
PAGE_SIZE = 500
PREFIX = "tpu-"
"""The catalogue writes tpu-v5litepod-8 for the accelerator type v5litepod-8."""


def read(ask: Ask, clients: Clients) -> Found:
    """Every slice of every zone of the regions asked for."""
    found, client, project = Found(), clients.tpu(), clients.project()
    for zone in _zones(clients, client, project):
        if ask.regions and region_of(zone) not in ask.regions:
            continue
        found.regions.add(region_of(zone))
        parent = f"projects/{project}/locations/{zone}"
        request = sdk("cloud.tpu_v2").ListAcceleratorTypesRequest(parent=parent, page_size=PAGE_SIZE)
        call = Call("tpu", "list_accelerator_types", zone)
        for page in clients.pages(call, client.list_accelerator_types, request):
            for row in page.accelerator_types:
                if not row.type_:
                    raise Failed("changed_format", f"{call}: type missing in {row.name!r}")
                _take(ask, row, zone, found)
    return found


def _zones(clients: Clients, client: Any, project: str) -> list[str]:
    call = Call("tpu", "list_locations", f"projects/{project}")
    zones: list[str] = []
    request = sdk("cloud.location.locations_pb2").ListLocationsRequest(name=f"projects/{project}", page_size=PAGE_SIZE)
    while True:
        answer = clients.call(call, lambda s: client.list_locations(request=request, retry=None, timeout=s))
        zones += [location.location_id for location in answer.locations]
        if not answer.next_page_token or answer.next_page_token == request.page_token:
            break
        request.page_token = answer.next_page_token
    if not zones or not all(zones):
        raise Failed("changed_format", f"{call}: locations or their locationId are missing")
    return sorted(zones)


def _take(ask: Ask, row: Any, zone: str, found: Found) -> None:
    name = PREFIX + row.type_
    found.sold.setdefault(name, set()).add(region_of(zone))
    if name in found.refused:
        found.left["more zones of types that were refused"] += 1
        return
    known = ask.known.get(name) or found.offerings.get(name)
    try:
        chip, chips = ask.names.tpu_slice(name)
    except UnknownName as unknown:
        found.refused[name] = Refused(name, str(unknown))
        return
    told = _chips(row)
    expected = known.accelerator_count if known else float(chips)
    if told is not None and told != expected:
        found.refused[name] = Refused(name, f"topology of {told:g} chips, its name means {expected or 0:g}")
        found.offerings.pop(name, None)
    elif known:
        found.left["TPU slices known as they are"] += 1
    else:
        found.offerings[name] = Offering(
            PROVIDER, "TPU", name, chip.name, float(chips), chip.memory_gib, None, None, None, None, "ICI", "current",
            None, SOURCE,
        )  # fmt: skip


def _chips(row: Any) -> float | None:
    """The product of a topology such as 2x2x4; None where none is told."""
    topologies = {config.topology for config in row.accelerator_configs if config.topology}
    products = {
        math.prod(int(n) for n in topology.split("x"))
        for topology in topologies
        if re.fullmatch("[0-9]+(x[0-9]+)*", topology)
    }
    return float(products.pop()) if len(products) == 1 else None
