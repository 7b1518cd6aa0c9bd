"""The export of Azure's pricing calculator: one machine or more in the text of a Description.

Headers are English in every language of the calculator, texts and the words for hours are not.
"""

from __future__ import annotations

import re

from planner.intake._estimate import HOURS_PER_MONTH, NUMBER, Layout, Machines, number_of, term_of

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
_STATED = re.compile("reserv|spot|savings", re.IGNORECASE)
_OPTION = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")


def roles(header: str) -> str:
    """The role of a column."""
    if re.search(r"\bcosts?\b|\bprice\b|\btotal\b", header):
        if "upfront" in header:
            return "upfront"
        return "" if re.search(r"annual|year", header) else "monthly"
    names = {"service type": "service", "region": "region", "custom name": "name", "description": "text"}
    return names.get(header, "")


def machines(text: str, _service: str) -> tuple[Machines, ...]:
    """The machines with accelerators that a description tells, in its order."""
    found = list(_MACHINE.finditer(text))
    result = []
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        tail = text[match.end() : end].partition(";")[0]
        result.append(_machines(match, tail))
    return tuple(result)


def _machines(match: re.Match[str], tail: str) -> Machines:
    count = number_of(match["count"])
    duration = next((d for d in _DURATION.finditer(tail) if _hours_of(d["unit"])), None)
    words = _OPTION.findall(tail[duration.end() :] if duration else tail)
    stated = next((word for word in words if term_of(word) or _STATED.search(word)), "")
    option = stated or (words[0] if duration and words else "")
    term = term_of(option)
    if duration is None:
        hours = count * HOURS_PER_MONTH if term else None
        how = f"{count:g} reserved, all {HOURS_PER_MONTH:g} hours of a month" if term else f"{count:g}, hours not told"
    else:
        each = number_of(duration["number"]) * (_hours_of(duration["unit"]) or 0.0)
        hours, how = count * each, f"{count:g} x {each:g} hours a month"
        if term and each < HOURS_PER_MONTH:
            how += " (as estimated; the commitment is paid around the clock)"
    return Machines(match["type"], hours, how, option or "not told", term)


def _hours_of(unit: str) -> float | None:
    word = unit.casefold()
    return next((hours for hours, words in HOURS.items() if any(re.fullmatch(w, word) for w in words.split())), None)


def spelled(written: str) -> str:
    """The name that Azure's interfaces have for a size: Standard_NC24ads_A100_v4."""
    name = "_".join(re.split(r"[ _]+", written.strip()))
    return name if name.casefold().startswith("standard_") else f"Standard_{name}"


LAYOUT = Layout(
    calculator="an Azure price-calculator export",
    provider="azure",
    roles=roles,
    needed=frozenset({"service", "text", "monthly"}),
    machines=machines,
    spelled=spelled,
    disks_gb=lambda _text: 0.0,
    left_aside="disks, transfer and licences in the same lines are part of what they cost there, and are not planned",
)
