"""Behind `planner advise`: the need from words and figures, and the shortlists as text, CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from planner.analysis.hardware_advice import (
    HARDWARE_KINDS,
    REFERENCE,
    HardwareAdvice,
    HardwareChoice,
    HardwareNeed,
    advise_hardware,
    find_tier,
    load_tiers,
)
from planner.cli._catalog_options import parse_count
from planner.cli._exit_codes import DONE
from planner.cli._tables import print_report
from planner.messages import joined_text, with_texts
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from pricing.text_tables import align_columns

FIGURES = {
    "memory_gib": "memory_gib", "bandwidth_gbs": "memory_bandwidth_gbs", "tflops": "tflops", "cpus": "cpus",
    "host_memory_gib": "host_memory_gib",
}  # fmt: skip
LIMIT = 5
TITLES = {
    "card": "Cards (without the machine around them)",
    "workstation": "Workstations, as their makers sell them",
    "server": "Servers",
    "cloud": "Cloud, on demand, cheapest region",
    "cpu": "Machines with CPUs only, on demand: what they do of the work is unknown, measure it",
}
HEAD = ("name", "accelerators", "memory GiB", "GB/s", "TFLOPS", "vCPUs", "node GiB", "ECC", "USD", "priced", "speed",
        "USD per A100-hour", "limits")  # fmt: skip
COLUMNS = (
    "kind", "name", "where", "accelerator", "device_class", "accelerators", "memory_gib", "memory_bandwidth_gbs",
    "tflops", "vcpus", "host_memory_gib", "ecc", "price", "priced", "speed", "cost_per_work_hour", "limits", "source",
)  # fmt: skip


def report_advice(
    words: Sequence[str],
    precision: str,
    family: Any,
    limit: str | None,
    figures: Mapping[str, str | None],
    format_name: str,
) -> int:
    """Print the shortlists; InvalidRequest with every problem of the words and figures."""
    faults: list[InputProblem] = []
    tier = find_tier(words)
    if words and tier is None:
        known = ", ".join(each.name for each in load_tiers())
        faults.append(InputProblem("", "WORDS", "name no tier of work", " ".join(words), f"one of {known}"))
    lines_max = parse_count(limit, "--limit", "more than 0", faults) if limit else LIMIT
    given = {
        field: parse_count(text, f"--{name.replace('_', '-')}", "more than 0", faults)
        for name, field in FIGURES.items()
        if (text := figures[name]) is not None
    }
    if not words and not given:
        faults.append(
            InputProblem("", "WORDS", "neither words nor figures", "", "light, complex, demanding, or --memory-gib")
        )
    if faults:
        raise InvalidRequest(tuple(faults))
    asked = (
        {} if tier is None else {name: getattr(tier, name) for name in ("memory_gib", "memory_bandwidth_gbs", "tflops")}
    )
    need = replace(HardwareNeed(precision=precision, family=family), **{**asked, **given})
    light = tier is not None and tier == load_tiers()[0]
    advice = advise_hardware(need, Catalog.current(), today(), light=light)
    lists = (advice.choices[kind][: int(lines_max or LIMIT)] for kind in HARDWARE_KINDS)
    choices_listed = with_texts(tuple(one for choices in lists for one in choices))
    lines = _advice_lines(advice, choices_listed)
    records = ({**asdict(one), "limits": joined_text(one.limits)} for one in choices_listed)
    print_report(format_name, lines, COLUMNS, records, lambda: _document(advice, choices_listed))
    return DONE


def _advice_lines(advice: HardwareAdvice, choices_listed: Sequence[HardwareChoice]) -> Iterator[str]:
    need = advice.need
    asked = [f"{need.cpus:g} vCPUs"] * bool(need.cpus) + [f"{need.host_memory_gib:g} GiB"] * bool(need.host_memory_gib)
    node = f"each node: {', '.join(asked)}" if asked else "any node"
    yield (
        f"Each accelerator: {need.memory_gib:g} GiB, {need.memory_bandwidth_gbs:g} GB/s, {need.tflops:g} TFLOPS at"
        f" {need.precision}; {node}. Speed: {REFERENCE} is 1, {need.family.replace('_', ' ')}."
    )
    for kind in HARDWARE_KINDS:
        rows = [_row_cells(one) for one in choices_listed if one.kind == kind]
        if rows or advice.unpriced[kind]:
            yield ""
            yield TITLES[kind]
            yield from align_columns(HEAD, rows, HEAD[2:7] + HEAD[8:12], indent="  ")
            if left := advice.unpriced[kind]:
                yield f"  {left} more may do; a figure of theirs is unknown (price, sale, power, speed, processors)"
            if hidden := len(advice.choices[kind]) - len(rows):
                yield f"  {hidden} more after these: --limit"
    yield ""
    yield from _class_lines(advice)


def _class_lines(advice: HardwareAdvice) -> Iterator[str]:
    """Consumer against data-centre cards, by the cost of the work."""
    cheapest = {name: advice.cheapest_of_class(name) for name in ("consumer", "datacenter")}
    consumer, datacenter = cheapest["consumer"], cheapest["datacenter"]
    if consumer is None or datacenter is None:
        missing = " and ".join(name for name, card in cheapest.items() if card is None)
        yield f"Consumer against data-centre cards: no {missing} card with a price would do."
        return
    yield (
        f"Consumer against data-centre cards: {consumer.name} {consumer.cost_per_work_hour:.3g} USD per A100-hour of"
        f" work, {datacenter.name} {datacenter.cost_per_work_hour:.3g}."
    )


def _row_cells(one: HardwareChoice) -> tuple[str, ...]:
    name = one.name if not one.where else f"{one.where} {one.name}"
    accelerators = f"{one.accelerators:g} x {one.accelerator}" if one.accelerator else "-"
    ecc = "-" if one.kind == "cpu" else {True: "yes", False: "no", None: "unknown"}[one.ecc]
    numbers = (one.memory_gib, one.memory_bandwidth_gbs, one.tflops, one.vcpus, one.host_memory_gib)
    price = f"{one.price:,.0f}" if one.price >= 100 else f"{one.price:.3g}"
    costs = [f"{value:.3g}" if value is not None else "-" for value in (one.speed, one.cost_per_work_hour)]
    cells = ["-" if value is None else f"{value:,.0f}" for value in numbers]
    return name, accelerators, *cells, ecc, price, one.priced, *costs, joined_text(one.limits)


def _document(advice: HardwareAdvice, choices_listed: Sequence[HardwareChoice]) -> dict[str, object]:
    return {
        "need": asdict(advice.need),
        "reference": REFERENCE,
        "choices": [asdict(one) for one in choices_listed],
        "left_out": dict(advice.unpriced),
    }
