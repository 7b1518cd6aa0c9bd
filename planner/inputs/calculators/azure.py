"""The export of Azure's pricing calculator: one or more machines in the column Description.

Headers are English in every language of the calculator; texts and units of time are translated.
"""

from __future__ import annotations

import re

from planner.inputs.calculators.export_layout import (
    NUMBER,
    CalculatorLayout,
    EstimatedMachines,
    parse_commitment_months,
    parse_number,
)
from pricing.units import HOURS_PER_MONTH

HOURS = {
    1.0: "hours? heures? horas? ore ora uur uren stunden? std timmar timme timer godzin(?:y|a)? h",
    24.0: "days? jours? d[ií]as? dagen dag tage? dagar giorn[io] dni",
    168.0: "weeks? semaines? semanas? weken wochen? veckor settiman[ae]",
    HOURS_PER_MONTH: "months? mois mes(?:es)? m[eê]s maand(?:en)? monate? månad(?:er)? mes[ei]",
}
"""The hours of a unit, by its words in the calculator's languages."""
_MACHINE = re.compile(
    rf"(?<![\w.,])(?P<count>{NUMBER}) +(?:x +)?"
    r"(?P<type>(?:Standard[ _])?N[CDGV]C?\d\w*(?:[ _]\w+){0,3}?)(?= *[(;,]| +x |$)",
    re.IGNORECASE,
)
_DURATION = re.compile(rf"\bx +(?P<number>{NUMBER}) +(?P<unit>[^\W\d]+)", re.IGNORECASE)
_PURCHASE_OPTION = re.compile("reserv|spot|savings", re.IGNORECASE)
_OPTION = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")


def column_role(header: str) -> str:
    """The role of a column."""
    if re.search(r"\bcosts?\b|\bprice\b|\btotal\b", header):
        if "upfront" in header:
            return "upfront"
        return "" if re.search(r"annual|year", header) else "monthly"
    names = {"service type": "service", "region": "region", "custom name": "name", "description": "text"}
    return names.get(header, "")


def parse_machines(text: str) -> tuple[EstimatedMachines, ...]:
    """The machines with accelerators in a description, in its order."""
    matches = list(_MACHINE.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return tuple(
        _read_machine(match, text[match.end() : end].partition(";")[0])
        for match, end in zip(matches, ends, strict=False)
    )


def _read_machine(match: re.Match[str], tail: str) -> EstimatedMachines:
    count = parse_number(match["count"])
    duration = next((d for d in _DURATION.finditer(tail) if _hours_per_unit(d["unit"])), None)
    words = _OPTION.findall(tail[duration.end() :] if duration else tail)
    stated = next((word for word in words if parse_commitment_months(word) or _PURCHASE_OPTION.search(word)), "")
    option = stated or (words[0] if duration and words else "")
    term = parse_commitment_months(option)
    if duration is None:
        hours = count * HOURS_PER_MONTH if term else None
        how = f"{count:g} reserved, all {HOURS_PER_MONTH:g} hours of a month" if term else f"{count:g}, unknown hours"
    else:
        each = parse_number(duration["number"]) * (_hours_per_unit(duration["unit"]) or 0.0)
        hours, how = count * each, f"{count:g} x {each:g} hours a month"
        if term and each < HOURS_PER_MONTH:
            how += " (as estimated; the commitment is paid for all hours)"
    return EstimatedMachines(match["type"], hours, how, option or "unknown purchase option", term)


def _hours_per_unit(unit: str) -> float | None:
    word = unit.casefold()
    return next((hours for hours, words in HOURS.items() if any(re.fullmatch(w, word) for w in words.split())), None)


def canonical_type(written: str) -> str:
    """The API's name of a size: Standard_NC24ads_A100_v4."""
    name = "_".join(re.split(r"[ _]+", written.strip()))
    return name if name.casefold().startswith("standard_") else f"Standard_{name}"


LAYOUT = CalculatorLayout(
    calculator="an Azure price-calculator export",
    provider="azure",
    roles=column_role,
    machines=parse_machines,
    spelled=canonical_type,
    left_aside="disks, transfer and licences in the same lines are part of that cost and are not planned",
)
