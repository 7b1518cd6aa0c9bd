"""Shortlist of hardware for described work: cards, workstations, servers, cloud types and, for light work, machines
with CPUs only.

One figure compares them, the cost of an hour of work of REFERENCE:

    cloud    price of the node per hour / (accelerators x speed)
    owned    (price / hours of the life + power x PUE x electricity price) / (accelerators x speed)

Speed is that of the throughput model at one family of work and precision, relative to REFERENCE. Owned hardware works
around the clock for its life; a card is without the machine that it stands in. Light work leaves hardware idle, so that
its list goes by price instead. What has no price or no speed is left out and counted.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from importlib import resources
from typing import Literal, Protocol

from planner.performance.throughput.accelerator_scores import accelerator_score, peak_tflops
from planner.request.assumptions import load_defaults
from planner.request.models import WorkFamily
from planner.result.message import Message, message
from pricing.accelerator import Accelerator
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote, full_accelerator_memory
from pricing.frozen_values import dataclass

REFERENCE = "A100-80GB-SXM"
HOURS_PER_MONTH = 730.0
CARD_CLASSES = ("consumer", "workstation", "datacenter")
MODULES = ("SXM", "GB200", "GB300", "GH200", "OAM")
"""In names of accelerators that are sold on boards and in servers, never as a card."""
CARD_VENDOR = "NVIDIA"
"""Whose cards have list prices here; those of others are sold in servers."""
LOADERS_MIN = 2
"""Processes that load data for each accelerator: 2 for text, 3 to 4 for images (stas00/ml-engineering, compute/cpu)."""
SYSTEM_CPUS = 4
FEEDING_SOURCE = "stas00/ml-engineering, compute/cpu and compute/cpu-memory (read 2026-11)"
HardwareKind = Literal["card", "workstation", "server", "cloud", "cpu"]
HARDWARE_KINDS: tuple[HardwareKind, ...] = ("card", "workstation", "server", "cloud", "cpu")


@dataclass(frozen=True, slots=True)
class HardwareNeed:
    """What each accelerator and its node must have; 0 asks for nothing. `tflops` is the dense peak at `precision`."""

    memory_gib: float = 0.0
    memory_bandwidth_gbs: float = 0.0
    tflops: float = 0.0
    cpus: float = 0.0
    host_memory_gib: float = 0.0
    precision: str = "bf16"
    family: WorkFamily = "training"


@dataclass(frozen=True, slots=True)
class WorkTier:
    """A class of work with the figures that this planner takes it to need; `words` name it."""

    name: str
    words: tuple[str, ...]
    memory_gib: float
    memory_bandwidth_gbs: float
    tflops: float
    source: str


@dataclass(frozen=True, slots=True)
class HardwareChoice:
    """One line of the shortlist. `price` is in USD once (owned) or an hour (cloud, cpu), on `priced`;
    `cost_per_work_hour` is of an hour of REFERENCE's work (None for CPUs: no speed is known)."""

    kind: HardwareKind
    name: str
    where: str
    accelerator: str
    device_class: str
    accelerators: float
    memory_gib: float | None
    memory_bandwidth_gbs: float | None
    tflops: float | None
    vcpus: float | None
    host_memory_gib: float | None
    ecc: bool | None
    price: float
    priced: str
    speed: float | None
    cost_per_work_hour: float | None
    limits: tuple[Message, ...]
    source: str


class NodeSize(Protocol):
    """Processors and main memory of the machine around accelerators; None where they are not told."""

    @property
    def vcpus(self) -> float | None: ...

    @property
    def memory_gib(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Workstation:
    """A workstation that is sold with its accelerators: `price` in USD in the year `priced`. `vcpus` are cores, since
    makers tell no threads; `power_kw` is that of its supplies, None where the maker does not tell it."""

    name: str
    accelerator: str
    accelerators: int
    vcpus: float
    memory_gib: float
    power_kw: float | None
    price: float
    priced: str
    source: str


@dataclass(frozen=True, slots=True)
class HardwareAdvice:
    """The shortlist of each kind, the cheapest first, and how many fit but have no price or no known speed."""

    need: HardwareNeed
    choices: Mapping[HardwareKind, tuple[HardwareChoice, ...]]
    unpriced: Mapping[HardwareKind, int]

    def cheapest_of_class(self, device_class: str) -> HardwareChoice | None:
        """The card of a class with the least cost of the work."""
        cards = [card for card in self.choices["card"] if card.device_class == device_class]
        return min(cards, key=lambda card: card.cost_per_work_hour or math.inf, default=None)


def load_tiers() -> tuple[WorkTier, ...]:
    """The tiers of work, the lightest first."""
    return tuple(
        WorkTier(row["tier"], tuple(row["words"].split()), float(row["memory_gib"]),
                 float(row["memory_bandwidth_gbs"]), float(row["tflops"]), row["source"])
        for row in _read_rows("work_tiers.csv")
    )  # fmt: skip


def find_tier(words: Iterable[str]) -> WorkTier | None:
    """The most demanding tier that one of the words names; None where none does."""
    written = {word.casefold() for word in words}
    return next((tier for tier in reversed(load_tiers()) if written & set(tier.words)), None)


def find_hardware_limits(part: Accelerator) -> tuple[Message, ...]:
    """Licence and driver limits of an accelerator, with source and date; and that its software is another."""
    limits = [
        _describe_limit(row)
        for row in _read_rows("hardware_limits.csv")
        if all(not row[name] or row[name] == getattr(part, name) for name in ("vendor", "device_class", "architecture"))
    ]
    if part.vendor != CARD_VENDOR:
        limits.append(message("other_software", vendor=part.vendor))
    return tuple(limits)


def cpus_to_feed(accelerators: float, loaders: int = LOADERS_MIN) -> float:
    """Processors that keep accelerators fed: one for each accelerator and each of its loaders, and SYSTEM_CPUS."""
    return accelerators * (loaders + 1) + SYSTEM_CPUS


def find_feeding_limits(node: NodeSize, accelerators: float, memory_gib: float | None) -> Iterator[Message]:
    """Where a node has fewer processors than keep its accelerators fed, or less main memory than they have memory."""
    needed = cpus_to_feed(accelerators)
    if node.vcpus is not None and node.vcpus < needed:
        yield message("few_cpus", vcpus=node.vcpus, needed=needed, source=FEEDING_SOURCE)
    if node.memory_gib is not None and memory_gib is not None and node.memory_gib < accelerators * memory_gib:
        yield message("little_host_memory", memory_gib=node.memory_gib, source=FEEDING_SOURCE)


def _describe_limit(row: Mapping[str, str]) -> Message:
    if row["code"] == "last_driver_branch":
        return message("last_driver_branch", value=row["value"], source=row["source"], as_of=row["as_of"])
    return message("geforce_datacenter", source=row["source"], as_of=row["as_of"])


def advise_hardware(need: HardwareNeed, catalog: Catalog, day: date, *, light: bool) -> HardwareAdvice:
    """Everything that meets the need, by kind and cost of the work; for light work by price, with CPUs."""

    def rank(choice: HardwareChoice) -> tuple[float, float, str, str]:
        cost = choice.price if light else choice.cost_per_work_hour or math.inf
        # What costs the same but for the rounding of floats is equal, so that one board goes before 72 of them.
        return (float(f"{cost:.9g}"), choice.accelerators, choice.name, choice.where)

    builders: dict[HardwareKind, Callable[[], Iterator[HardwareChoice | None]]] = {
        "card": lambda: _list_cards(need, catalog),
        "workstation": lambda: _list_workstations(need, catalog),
        "server": lambda: _list_servers(need, catalog),
        "cloud": lambda: _list_cloud_types(need, catalog, day),
        "cpu": lambda: _list_cpu_machines(need, catalog) if light else iter(()),
    }
    listed = {kind: list(builders[kind]()) for kind in HARDWARE_KINDS}
    choices = {
        kind: tuple(_first_of_each(sorted((one for one in listing if one is not None), key=rank)))
        for kind, listing in listed.items()
    }
    return HardwareAdvice(
        need, choices, {kind: sum(one is None for one in listing) for kind, listing in listed.items()}
    )


def _first_of_each(ranked: Iterable[HardwareChoice]) -> Iterator[HardwareChoice]:
    """The first cloud type of each provider and accelerator; all of the other kinds."""
    listed: set[tuple[str, str]] = set()
    for one in ranked:
        key = one.where.split()[0] if one.kind == "cloud" else one.name + one.where, one.accelerator
        if key not in listed:
            listed.add(key)
            yield one


def relative_speed(part: Accelerator, need: HardwareNeed, catalog: Catalog) -> float | None:
    """Work per hour against REFERENCE; None where a specification is missing."""
    reference = accelerator_score(catalog.names.by_name[REFERENCE], need.family, need.precision)
    speed = math.exp(accelerator_score(part, need.family, need.precision) - reference)
    return None if math.isnan(speed) else speed


def owned_cost_per_hour(price: float, power_kw: float) -> float:
    """USD an hour of hardware that works around the clock: its price over its life, and its power at the site."""
    known = {name: each.value for name, each in load_defaults().items()}
    power = power_kw * known["pue"] * known["electricity_price_per_kwh"]
    return price / (known["useful_life_months"] * HOURS_PER_MONTH) + power


def _meets(part: Accelerator, memory_gib: float | None, need: HardwareNeed) -> bool:
    has = (memory_gib, part.memory_bandwidth_gbs, peak_tflops(part, need.precision))
    asked = (need.memory_gib, need.memory_bandwidth_gbs, need.tflops)
    return all(wanted == 0 or (value or 0.0) >= wanted for value, wanted in zip(has, asked, strict=True))


def _list_cards(need: HardwareNeed, catalog: Catalog) -> Iterator[HardwareChoice | None]:
    for part in catalog.names.by_name.values():
        is_card = part.device_class in CARD_CLASSES and part.vendor == CARD_VENDOR and part.counted_as == "device"
        if not is_card or any(word in part.name for word in MODULES) or not _meets(part, part.memory_gib, need):
            continue
        speed = relative_speed(part, need, catalog)
        if part.list_price is None or part.tdp_w is None or speed is None:
            yield None
            continue
        hourly = owned_cost_per_hour(part.list_price, part.tdp_w / 1000)
        yield _build_choice("card", part.model, "", part, need, part.list_price, str(part.list_price_year), 1.0,
                            speed, hourly, part.source)  # fmt: skip


def load_workstations() -> tuple[Workstation, ...]:
    """The workstations whose makers print a price, in the order of the table."""
    return tuple(
        Workstation(row["name"], row["accelerator"], int(row["accelerators"]), float(row["cpus"]),
                    float(row["memory_gib"]), float(row["power_kw"]) if row["power_kw"] else None, float(row["price"]),
                    row["priced"], f"{row['source']}; {row['notes']}")
        for row in _read_rows("workstations.csv")
    )  # fmt: skip


def _list_workstations(need: HardwareNeed, catalog: Catalog) -> Iterator[HardwareChoice | None]:
    for one in load_workstations():
        part = catalog.names.by_name[one.accelerator]
        is_large = one.vcpus >= need.cpus and one.memory_gib >= need.host_memory_gib
        if not is_large or not _meets(part, part.memory_gib, need):
            continue
        speed = relative_speed(part, need, catalog)
        power = one.power_kw if one.power_kw is not None else _accelerator_power(part, one.accelerators)
        if speed is None or power is None:
            yield None
            continue
        yield _build_choice(
            "workstation", one.name, "", part, need, one.price, one.priced, one.accelerators, speed,
            owned_cost_per_hour(one.price, power), one.source, (one.vcpus, one.memory_gib),
            tuple(find_feeding_limits(one, one.accelerators, part.memory_gib)),
        )  # fmt: skip


def _accelerator_power(part: Accelerator, count: int) -> float | None:
    """kW of the accelerators alone, which is less than the machine draws."""
    return None if part.tdp_w is None else part.tdp_w * count / 1000


def _list_servers(need: HardwareNeed, catalog: Catalog) -> Iterator[HardwareChoice | None]:
    """Systems that are sold; processors and main memory of systems are unknown."""
    for system in catalog.systems:
        part = catalog.names.by_name[system.accelerator]
        if _meets(part, part.memory_gib, need) and system.sold is not False:
            speed = relative_speed(part, need, catalog)
            power = system.max_power_kw
            if power is None:
                power = _accelerator_power(part, system.accelerator_count)
            is_known = system.sold is not None and not need.cpus and not need.host_memory_gib
            if not is_known or system.price is None or system.currency != "USD" or speed is None or power is None:
                yield None
                continue
            hourly = owned_cost_per_hour(system.price, power)
            yield _build_choice("server", system.name, "", part, need, system.price, str(system.price_as_of),
                                system.accelerator_count, speed, hourly, system.source)  # fmt: skip


def _list_cloud_types(need: HardwareNeed, catalog: Catalog, day: date) -> Iterator[HardwareChoice | None]:
    """Each type at its cheapest region on demand; of clouds that plans use without being named."""
    usual = {each.name for each in catalog.provider_facts.values() if not each.on_request}
    cheapest: dict[tuple[str, str], Quote] = {}
    for quote in catalog.quotes(providers=usual, options=["on_demand"]):
        if quote.sale_state(day) in ("confirmed", "not_confirmed") and quote.price.currency == "USD":
            cheapest.setdefault(quote.offering.key, quote)
    for quote in cheapest.values():
        offering, part = quote.offering, quote.accelerator
        count = offering.accelerator_count
        is_large = (offering.vcpus or 0) >= need.cpus and (offering.memory_gib or 0) >= need.host_memory_gib
        if count is None or count < 1 or part.device_class == "cpu" or not is_large:
            continue
        memory = full_accelerator_memory(offering, part)
        if _meets(part, memory, need):
            speed, price = relative_speed(part, need, catalog), quote.price
            yield None if speed is None else _build_choice(
                "cloud", offering.instance_type, f"{price.provider} {price.region}", part, need, price.price_per_hour,
                str(price.as_of), count, speed, price.price_per_hour, catalog.sources[price.source_id].reference,
                (offering.vcpus, offering.memory_gib), tuple(find_feeding_limits(offering, count, memory)),
            )  # fmt: skip


def _list_cpu_machines(need: HardwareNeed, catalog: Catalog) -> Iterator[HardwareChoice]:
    """Machines with CPUs only, each type at its cheapest region; what they do of the work is unknown."""
    fitting = [
        one
        for one in sorted(catalog.machines, key=lambda one: (one.price_per_hour, one.key))
        if one.kind == "cpu" and one.purchase_option == "on_demand" and one.currency == "USD"
        and (one.vcpus or 0) >= need.cpus and (one.memory_gib or 0) >= max(need.memory_gib, need.host_memory_gib)
    ]  # fmt: skip
    listed: set[tuple[str, str]] = set()
    for one in fitting:
        if (one.provider, one.instance_type) not in listed:
            listed.add((one.provider, one.instance_type))
            yield HardwareChoice(
                "cpu", one.instance_type, f"{one.provider} {one.region}", "", "cpu", 0.0, None, None, None, one.vcpus,
                one.memory_gib, None, one.price_per_hour, str(one.as_of), None, None, (),
                catalog.sources[one.source_id].reference,
            )  # fmt: skip


def _build_choice(
    kind: HardwareKind, name: str, where: str, part: Accelerator, need: HardwareNeed, price: float, priced: str,
    count: float, speed: float, hourly: float, source: str, node: tuple[float | None, float | None] = (None, None),
    feeding: tuple[Message, ...] = (),
) -> HardwareChoice:  # fmt: skip
    """`hourly` is the cost of all `count` accelerators an hour."""
    return HardwareChoice(
        kind, name, where, part.name, part.device_class, count, part.memory_gib, part.memory_bandwidth_gbs,
        peak_tflops(part, need.precision), *node, part.ecc, price, priced, speed, hourly / (count * speed),
        (*find_hardware_limits(part), *feeding), source,
    )  # fmt: skip


def _read_rows(name: str) -> list[dict[str, str]]:
    text = resources.files("planner.analysis").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
