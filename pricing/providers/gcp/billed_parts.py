"""The parts that Google Cloud bills a machine by: their SKU descriptions, and the parts of each machine.

Reads `parts.toml`, the only place with such names. Knows no SDK, no rate and no region.
"""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from pricing.frozen_values import dataclass
from pricing.price import PurchaseKind

DATA = Path(__file__).parent / "parts.toml"
OPTIONS: dict[str, tuple[PurchaseKind, frozenset[str]]] = {
    "on_demand": ("on_demand", frozenset({"OnDemand"})),
    "spot": ("spot", frozenset({"Preemptible", "OnDemand"})),
    "committed_use_1y": ("committed_use", frozenset({"Commit1Yr"})),
    "committed_use_3y": ("committed_use", frozenset({"Commit3Yr"})),
}
"""Purchase option -> its kind, and the usage types of its SKUs. Spot rates of TPUs, B200 and local SSD may carry
OnDemand: the description decides (skypilot fetch_gcp.py; vantage-sh scraper gcp)."""


@dataclass(frozen=True, slots=True)
class GcpBilledPart:
    """One rate of a machine. `unit` is the quantity it is multiplied with (vcpu, memory_gib, accelerator,
    local_ssd_gib), `per` the number of those that one rate covers (4 chips in a TPU v2 device)."""

    name: str
    unit: str
    usage_units: tuple[str, ...]
    per: float


@dataclass(frozen=True, slots=True)
class GcpMachineRule:
    """The rule for instance types that match one of the patterns `types`; parts.toml explains the fields."""

    types: tuple[str, ...]
    family: str
    parts: tuple[str, ...] = ()
    sold: tuple[str, ...] = ("on_demand", "spot", "committed_use")
    sold_why: str = ""
    gap: str = ""
    note: str = ""
    slice: bool = False
    ssd_partition_gib: float | None = None
    quota: str = ""


class GcpPartsTable:
    """All of parts.toml, ready to match."""

    def __init__(self, data: dict[str, Any]) -> None:
        forms = data["forms"]
        self.never: dict[str, str] = data["never"]
        self.by_name = {
            name: GcpBilledPart(name, form["unit"], tuple(form["usage_units"]), entry.get("per", 1))
            for name, entry in data["parts"].items()
            for form in [forms[entry["form"]]]
        }
        self.machines = tuple(_build_machine_rule(rule) for rule in data["machines"])
        self._never = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in self.never), re.IGNORECASE)
        written = [
            (pattern, name, option)
            for name, entry in data["parts"].items()
            for option in OPTIONS
            for pattern in _description_patterns(forms[entry["form"]][option], entry)
        ]
        self._meaning = [(name, option) for _, name, option in written]
        self._written = re.compile("|".join(f"({pattern})" for pattern, *_ in written), re.IGNORECASE)

    def another_product(self, description: str) -> str:
        """Why this SKU is another product than the plain machine; empty if it is not."""
        excluded = self._never.search(description)
        return self.never[excluded[0].casefold()] if excluded else ""

    def match(self, description: str) -> tuple[GcpBilledPart, str] | None:
        """The part and the purchase option that a SKU's description means; None for all else.

        A description with "preemptible" anywhere is never on-demand.
        """
        matched = self._written.fullmatch(description)
        if matched is None or matched.lastindex is None or self.another_product(description):
            return None
        name, option = self._meaning[matched.lastindex - 1]
        preemptible = re.search("preemptible|spot", description, re.IGNORECASE)
        return self.by_name[name], "spot" if option == "on_demand" and preemptible else option

    def machine(self, instance_type: str) -> GcpMachineRule | None:
        """The rule for an instance type."""
        return next((m for m in self.machines if any(fnmatchcase(instance_type, t) for t in m.types)), None)


def _build_machine_rule(rule: dict[str, Any]) -> GcpMachineRule:
    frozen: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in rule.items()}
    return GcpMachineRule(**frozen)


def _description_patterns(forms: list[str], entry: dict[str, Any]) -> list[str]:
    """Regular expressions for every way in which a form writes a part."""
    expressions = []
    for form in forms:
        names = entry.get("commitment", entry["names"]) if "{commitment}" in form else entry["names"]
        for name in names:
            text = " ".join(form.replace("{commitment}", name).replace("{}", name).split())
            expressions.append(re.escape(text).replace(r"\*", "[^:()]+"))
    return expressions


@cache
def load_parts_table() -> GcpPartsTable:
    """The shipped table."""
    return GcpPartsTable(tomllib.loads(DATA.read_text(encoding="utf-8")))
