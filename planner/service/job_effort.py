"""How large a plan is, from its request as it was sent: which of the two lanes of the queue it takes.

The effort is workloads x months x offerings of the providers named; an analysis that plans again counts as ten times
the plan. Measured: about 15 microseconds of a processor for each. A file is judged by its length, as it is not read
here: a line for a workload, or 200 bytes of a packed one. A wrong estimate costs time, never a plan: a short plan that
takes too long is queued as a long one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from planner.service.uploads import Upload
from pricing.catalog.price_catalog import Catalog

DEFAULT_MONTHS = 12
PACKED_WORKLOAD_BYTES = 200
REPLANS = 10
REPLANNING_FIELDS = ("risk", "uncertainty")


def estimate_effort(upload: Upload, query: Mapping[str, Sequence[str]], catalog: Catalog) -> float:
    """Workloads x months x offerings."""
    if upload.is_file:
        packed = upload.data[:2] in (b"PK", b"\x1f\x8b")
        workloads = len(upload.data) / PACKED_WORKLOAD_BYTES if packed else upload.data.count(b"\n") + 1
        document: Mapping[str, Any] = {}
    else:
        document, workloads = _read_request(upload.data)
    months = _read_number(query.get("months", [document.get("months")])[-1])
    providers = query.get("providers", document.get("providers"))
    replans = REPLANS if any(document.get(name) for name in REPLANNING_FIELDS) else 1
    return float(workloads * months * _count_offerings(catalog, providers) * replans)


def _read_request(data: bytes) -> tuple[Mapping[str, Any], int]:
    """The settings of a request and the number of its workloads; none and 1 for one that cannot be read."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return {}, 1
    if isinstance(document, list):
        return {}, max(1, len(document))
    if not isinstance(document, dict):
        return {}, 1
    workloads = document.get("workloads")
    return document, max(1, len(workloads)) if isinstance(workloads, list) else 1


def _read_number(value: object) -> float:
    try:
        return max(1.0, float(value))  # type: ignore[arg-type]  # whatever is no number is caught
    except (TypeError, ValueError):
        return DEFAULT_MONTHS


def _count_offerings(catalog: Catalog, providers: object) -> int:
    """The offerings with prices of the providers named, or of all."""
    texts = [providers] if isinstance(providers, str) else providers if isinstance(providers, list) else []
    names = {part.strip() for text in texts if isinstance(text, str) for part in text.split(",")}
    return sum(offering.provider in names for offering in catalog.priced) or len(catalog.priced)
