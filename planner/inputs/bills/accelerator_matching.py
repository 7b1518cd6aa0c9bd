"""Matches the texts of a row to an instance type, a part of one, or an accelerator of the catalogue.

Only complete names match, not families or prices. A name that looks like an accelerator and is not in the catalogue
is reported.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache

from pricing.catalog.price_catalog import Catalog
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.providers.gcp import billed_parts as gcp
from pricing.search.retired import describe_ended

ACCELERATOR_WORDS = r"gpu|\btpu|nvidia|trainium|inferentia|gaudi|radeon|instinct"
NON_HOUR_CHARGES = re.compile(r"ebs.?optimi|(?:^|-)reservation:|datatransfer|snapshot", re.IGNORECASE)
"""Charges that name an instance type but are not for its hours."""
NON_MACHINE_CHARGES = re.compile(
    r"network|egress|transfer|storage|licen[cs]|snapshot|ip address|logging", re.IGNORECASE
)
"""Charges with a machine's label that are not for the machine."""
LICENCE_CHARGES = re.compile(r"workstation|vgpu|licen[cs]e", re.IGNORECASE)
HOURS_PER_UNIT = {
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "/hour", "hora", "horas", "stunde", "stunden"), 1.0),
    **dict.fromkeys(("heure", "heures", "uur", "小时", "instance hours", "instance per hour"), 1.0),
    **dict.fromkeys(("gpu hour", "gpu hours", "gpu per hour"), 1.0),
    "minutes": 1 / 60,
    **dict.fromkeys(("s", "second", "seconds"), 1 / 3600),
}
"""Units of time, without the 1 in front, in hours."""

OCI_ACCELERATORS = {
    "E3": "V100-16GB-SXM2", "E4": "A100-40GB-SXM", "A100 - V2": "A100-80GB-SXM", "H100": "H100-80GB-SXM",
    "H200": "H200-141GB-SXM",
}  # fmt: skip
"""The accelerators of Oracle's GPU products whose name alone is ambiguous: Compute - GPU - H100 is that of the shape
BM.GPU.H100.8, E4 of BM.GPU4.8, E3 of GPU3 (Oracle's product list and its page of compute shapes)."""


@dataclass(frozen=True, slots=True)
class AcceleratorMatch:
    """The subject of a row. `accelerators` is the number in one unit-hour (8 for a node of eight, 1 for a GPU rate);
    `per_node` that of the smallest possible node, 1 where a rate does not determine it. `beside` marks a further charge
    for a node, without hours of its own. A `name` without an accelerator could not be matched."""

    name: str
    accelerator: str = ""
    instance_type: str = ""
    accelerators: float = 0.0
    per_node: float = 1.0
    beside: bool = False


_BLOCK = re.compile(r"(\d{1,6})\s*(?=[^\d\s.,])")


def hours_per_unit(unit: str) -> float | None:
    """The hours in a unit, 100 for the block "100 Hours"; None where the unit is not a time."""
    named = HOURS_PER_UNIT.get(_BLOCK.sub("", unit.strip().casefold(), count=1))
    return None if named is None else named * block_size(unit)


def block_size(unit: str) -> float:
    """The number in front of a unit: 100 in "100 Hours"; 1 without a number."""
    match = _BLOCK.match(unit.strip())
    return float(match[1]) if match and float(match[1]) else 1.0


class AcceleratorMatcher:
    """Matches names with one catalogue."""

    def __init__(self, catalog: Catalog) -> None:
        self._names = catalog.names
        self._catalog = catalog
        machines = [offering for offering in catalog.offerings.values() if not offering.part]
        self._aws = {o.instance_type.casefold(): o for o in machines if o.provider == "aws"}
        self._azure = {_azure_key(o.instance_type): o for o in machines if o.provider == "azure"}
        self._gcp = {o.instance_type.casefold(): o for o in machines if o.provider == "gcp"}
        self._letters = _letter_prefixes(self._aws)
        self._azure_letters = _letter_prefixes(self._azure)
        self._parts = gcp.load_parts_table()
        self._rates = _accelerator_rates(catalog)
        self._rate_names = _rate_names(self._rates)
        self.find = lru_cache(maxsize=100_000)(self._match_texts)

    @property
    def pattern(self) -> str:
        """RE2 for the SQL engine: matches every row for which `find` can give a result."""
        aws = "|".join(sorted(self._letters))
        azure = "|".join(sorted(self._azure_letters))
        machines = "|".join(sorted({re.escape(name.partition("-")[0]) for name in self._gcp} - {"n1"}))
        ended = "".join(rf"\b{family.pattern.removesuffix('.*')}\.|" for family in self._catalog.ended_families)
        by_provider = rf"{ended}\b({aws})[0-9][a-z0-9-]*\.|usage:({aws})[0-9]|\b(standard_)?({azure})[0-9]"
        return rf"{by_provider}|{ACCELERATOR_WORDS}|\b({machines})"

    def _match_texts(self, provider: str, texts: tuple[str, ...]) -> AcceleratorMatch | None:
        """The match of the texts, the most reliable text first; None where they name no accelerator."""
        known = {"aws": self._match_aws, "azure": self._match_azure, "gcp": self._match_gcp, "oci": self._match_oci}
        ways = (
            [known[provider]] if provider in known else list(known.values())
        )  # without a known provider, a name identifies it
        found = next((match for way in ways if (match := way(texts))), None)
        return found or self._match_ended(texts) or self._match_words(texts)

    def _match_ended(self, texts: tuple[str, ...]) -> AcceleratorMatch | None:
        """A type of a family that ended and of which the catalogue knows no accelerators: named, never counted."""
        written = (name for text in texts for name in re.findall(r"[a-z]+\d\.[a-z0-9]+", text.casefold()))
        return next((AcceleratorMatch(name) for name in written if self._catalog.ended_family(name)), None)

    def describe_ended(self, matches: Iterable[AcceleratorMatch]) -> tuple[str, ...]:
        """What has ended of that which a bill charges, each once: what it was, until when, what is there instead."""
        names = {match.instance_type or match.accelerator or match.name for match in matches}
        known = {name for _, name in self._catalog.offerings} | set(self._names.by_name)
        asked = sorted(name for name in names if name in known or self._catalog.ended_family(name))
        return tuple(f"{name}: {ended}" for name in asked if (ended := describe_ended(name, self._catalog)))

    def lowest_price(self, provider: str, match: AcceleratorMatch, *, spot: bool) -> float | None:
        """The lowest known price of an hour of the node, spot or on demand, in USD in any region; else None."""
        offering = self._catalog.offerings.get((provider, match.instance_type))
        quotes = self._catalog.of_type(offering) if offering is not None else ()
        kind = "spot" if spot else "on_demand"
        prices = [q.price.price_per_hour for q in quotes if q.price.kind == kind and q.price.currency == "USD"]
        return min(prices, default=None)

    def _match_aws(self, texts: tuple[str, ...]) -> AcceleratorMatch | None:
        is_extra = any(NON_HOUR_CHARGES.search(text) for text in texts)
        letters = "|".join(sorted(self._letters, key=len, reverse=True))
        token = re.compile(rf"(?<![a-z0-9.])(?:ml\.)?((?:{letters})[0-9][a-z0-9-]*\.[a-z0-9-]+)(?![a-z0-9])")
        written = [name for text in texts for name in token.findall(text.casefold())]
        hosts = [x for text in texts for x in re.findall(rf"hostusage:((?:{letters})[0-9][a-z0-9]*)", text.casefold())]
        known = next((self._aws[name] for name in written if name in self._aws), None)
        if known is not None:
            return _match_node(known, beside=is_extra)
        return AcceleratorMatch((written or hosts)[0]) if written or hosts else None

    def _match_azure(self, texts: tuple[str, ...]) -> AcceleratorMatch | None:
        parts = [part for text in texts for part in re.split(r",|/|\s-\s", text)]
        parts = [re.sub(r"(?i)\s+(?:spot|low priority|expired|reserved)\b.*$", "", part.strip()) for part in parts]
        for part in parts:
            if offering := self._azure.get(_azure_key(part)):
                return _match_node(offering, beside=False)
        letters = "|".join(sorted(self._azure_letters, key=len, reverse=True))
        like = re.compile(rf"(?i)(?:standard_)?(?:{letters})\d+[a-z]*(?:[ _][a-z0-9]+){{0,3}}")
        return next((AcceleratorMatch(part) for part in parts if like.fullmatch(part)), None)

    def _match_oci(self, texts: tuple[str, ...]) -> AcceleratorMatch | None:
        """A product of Oracle for an hour of one GPU; the price includes its share of the node."""
        for text in texts:
            product = re.search(r"(?i)\bcompute *- *gpu *- *(\S.*)", text)
            accelerator = OCI_ACCELERATORS.get(" ".join(product[1].upper().split())) if product else None
            if accelerator in self._names.by_name:
                return AcceleratorMatch(text, accelerator or "", "", 1.0)
        return None

    def _match_gcp(self, texts: tuple[str, ...]) -> AcceleratorMatch | None:
        machine = next((self._gcp[text.casefold()] for text in texts if text.casefold() in self._gcp), None)
        for text in texts:
            if rate := self._match_rate(text):
                part, accelerator = rate
                return AcceleratorMatch(
                    part,
                    accelerator,
                    machine.instance_type if machine else "",
                    self._parts.by_name[part].per,
                    (machine and machine.accelerator_count) or 1.0,
                )
        matched = [parts[0].name for text in texts if (parts := self._parts.match(text))]
        if machine is not None:
            return self._match_machine(machine, texts, is_part=bool(matched))
        for name in matched:
            if accelerators := self._accelerators_with_part(name):
                return AcceleratorMatch(name, " or ".join(accelerators), beside=True)
        return None

    def _match_machine(self, machine: Offering, texts: tuple[str, ...], *, is_part: bool) -> AcceleratorMatch | None:
        """A charge that names its machine: for a part of it, for all of it, or of an unknown kind."""
        name = machine.instance_type
        others = [text for text in texts if text.casefold() != name.casefold()]
        if is_part:
            return AcceleratorMatch(name, machine.accelerator, name, beside=True)
        if not others or any(name.casefold() in text.casefold() for text in others):
            return _match_node(machine, beside=False)
        return (
            None
            if any(NON_MACHINE_CHARGES.search(text) for text in others)
            else AcceleratorMatch(f"{name}: {others[0]}")
        )

    def _match_rate(self, text: str) -> tuple[str, str] | None:
        """The accelerator rate of a description: by its full text, or by the name of the rate within it."""
        matched = self._parts.match(text)
        name = matched[0].name if matched and matched[0].name in self._rates else ""
        if not name and not LICENCE_CHARGES.search(text):
            folded = text.casefold()
            name = next((rate for written, rate in self._rate_names if written in folded), "")
        return (name, self._rates[name]) if name in self._rates else None

    def _accelerators_with_part(self, part: str) -> list[str]:
        """The accelerators of the machines with this part; none for a part of machines without accelerators too."""
        if part.startswith(("N1", "local")):
            return []
        machines = [rule for rule in self._parts.machines if part in rule.parts]
        return sorted({self._rates[name] for rule in machines for name in rule.parts if name in self._rates})

    def _match_words(self, texts: tuple[str, ...]) -> AcceleratorMatch | None:
        """The accelerator named in a text about GPUs, where the name is unambiguous; else the text itself."""
        others = (text for text in texts if text.casefold() not in self._gcp)
        named = next((text for text in others if re.search(ACCELERATOR_WORDS, text, re.IGNORECASE)), "")
        if not named:
            return None
        for part in re.split(r"\s-\s|,|\(|\)", named):
            for written in (part, re.sub(r"(?i)\bgpus?\b|\brunning in\b.*", "", part).strip()):
                try:
                    members = self._names.match(written) if len(written) > 1 else ()
                except UnknownName:
                    continue
                if len(members) == 1:
                    return AcceleratorMatch(named, members[0].name, "", 1.0)
        return AcceleratorMatch(named)


def _match_node(offering: Offering, *, beside: bool) -> AcceleratorMatch:
    count = offering.accelerator_count
    if count is None:
        return AcceleratorMatch(f"{offering.instance_type} (how many accelerators it has is not known)")
    return AcceleratorMatch(offering.instance_type, offering.accelerator, offering.instance_type, count, count, beside)


def _letter_prefixes(names: Iterable[str]) -> frozenset[str]:
    """The letters of names before the first digit: p of p5.48xlarge, nc of nc6sv3."""
    return frozenset(match[0] for name in names if (match := re.match(r"[a-z]+(?=[0-9])", name)))


def _azure_key(written: str) -> str:
    return re.sub(r"[\s_-]", "", written.casefold().removeprefix("standard_").removeprefix("standard "))


def _accelerator_rates(catalog: Catalog) -> dict[str, str]:
    """The rates of Google Cloud for accelerators, with the accelerator of the machines that use them."""
    parts, rates = gcp.load_parts_table(), dict[str, str]()
    for offering in catalog.offerings.values():
        rule = parts.machine(offering.instance_type) if offering.provider == "gcp" else None
        for name in rule.parts if rule else ():
            if parts.by_name[name].unit == "accelerator":
                rates.setdefault(name, offering.accelerator)
    return rates


def _rate_names(rates: dict[str, str]) -> list[tuple[str, str]]:
    """The spellings of those rates, the longest first."""
    written = tomllib.loads(gcp.DATA.read_text(encoding="utf-8"))["parts"]
    names = [(name.casefold(), rate) for rate in rates for name in written[rate]["names"]]
    return sorted(names, key=lambda pair: (-len(pair[0]), pair))
