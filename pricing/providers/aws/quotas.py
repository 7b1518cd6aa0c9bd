"""Service Quotas of EC2 -> our quotas: vCPUs of running instances, by class of family, on demand and spot.

The quota name contains the class, so no quota codes are needed here: "Running On-Demand P instances", "All G and VT
Spot Instance Requests".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pricing.adapters.protocol import FetchRequest, RejectedRow, SkippedRows
from pricing.providers.aws.clients import AwsClients
from pricing.quota import Quota

SOURCE = "aws-service-quotas"
QUOTA_NAME_PATTERNS = (
    (re.compile(r"Running On-Demand (?P<classes>.+?) instances"), "on_demand reserved savings_plan"),
    (re.compile(r"All (?P<classes>.+?) Spot Instance Requests"), "spot"),
)
"""Quota names as in the console; instances under a reservation or a plan count as on-demand."""
CLASS_PREFIXES = {"P": "p", "G": "g gr", "VT": "vt", "Inf": "inf", "Trn": "trn", "DL": "dl"}
"""Prefixes of the instance types of a class (docs.aws.amazon.com/ec2/latest/instancetypes); other classes hold no
accelerators. A class with a number (P5) is that generation alone."""


def read(request: FetchRequest, clients: AwsClients, region: str) -> Iterator[Quota | SkippedRows | RejectedRow]:
    """The quotas of a region that accelerated types count against."""
    for page in clients.pages("service-quotas", "list_service_quotas", region, "Quotas", ServiceCode="ec2"):
        for entry in page:
            yield parse_quota(request, entry, region)


def parse_quota(request: FetchRequest, entry: Mapping[str, Any], region: str) -> Quota | SkippedRows | RejectedRow:
    """The quota for one entry of the list; skipped if no accelerated type counts against it."""
    for pattern, kinds in QUOTA_NAME_PATTERNS:
        name_match = pattern.fullmatch(entry["QuotaName"])
        classes = re.split(r",\s*(?:and\s+)?|\s+and\s+", name_match["classes"]) if name_match else []
        types = " ".join(pattern for name in classes for pattern in _type_patterns(name))
        if not types:
            continue
        if entry.get("ErrorReason"):
            return RejectedRow(f"aws {region} {entry['QuotaCode']}", str(entry["ErrorReason"].get("ErrorMessage", "")))
        return Quota(
            "aws", region, entry["QuotaCode"], entry["QuotaName"], "vcpu", float(entry["Value"]), None, types, kinds,
            request.today, SOURCE,
        )  # fmt: skip
    return SkippedRows("quotas of other things")


def _type_patterns(name: str) -> list[str]:
    """Patterns of the types of a class: p[0-9]* for P, p5[!0-9]* for P5; none for a class without accelerators."""
    parts = re.fullmatch(r"([A-Za-z]+)(\d*)", name)
    starts = CLASS_PREFIXES.get(parts[1], "").split() if parts else []
    return [f"{start}{parts[2]}[!0-9]*" if parts and parts[2] else f"{start}[0-9]*" for start in starts]
