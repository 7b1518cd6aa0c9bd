"""The export of AWS's pricing calculator: labels with values in brackets in the column Configuration summary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from planner.inputs.calculators.export_layout import (
    NUMBER,
    WEEKS_PER_MONTH,
    CalculatorLayout,
    EstimatedMachines,
    parse_commitment_months,
    parse_number,
)
from pricing.units import HOURS_PER_MONTH

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TYPE = re.compile(
    r"(?<![\w.-])(?:ml\.)?((?:p|g|gr|trn|inf|dl)\d[\w-]*\.(?:\d*x?large|metal[\w-]*))(?![\w.])", re.IGNORECASE
)
_ANY_MACHINE = re.compile(
    r"(?:[a-z]+\.)?[a-z]+\d[\w-]*\.(?:\d*x?large|metal[\w-]*|medium|small|micro|nano)(?:\.\w+)?", re.IGNORECASE
)
"""The value of a label that names a machine of any kind: m5.xlarge, ml.g5.xlarge, db.r5.large."""
_NESTED_PAIR = re.compile(r"([^\W\d_][\w ()/'’-]*?): *([^:()]+?)(?=, [^\W\d_][\w ()/'’-]*?:|[()]|$)")
_COUNT = re.compile(
    r"(?:number of |n[uú]mero de |nombre d['’]|anzahl (?:der )?|numero di )?(?:ec2 |core |gpu )?"
    r"(?:instances?|inst[aâ]ncias|instancias|instanzen|istanze)(?:\(s\))?|(?:number of .*)?nodes"
    r"|quantity|quantidade|cantidad|quantité|menge|quantità|数量|수량"
)
"""The labels of a number of machines, in the calculator's languages."""
_NUMBER = re.compile(NUMBER)
_USE = re.compile(rf"({NUMBER}) *(%|hours?)[^/()]*/ *(day|week|month)", re.IGNORECASE)
_QUICK_ESTIMATE = re.compile(r"on-demand instances?", re.IGNORECASE)
"""The purchase option in the older quick estimate, which has no hours and prices full months."""
_EGRESS = re.compile(rf"DT Outbound: Internet \(({NUMBER}) *(gb|tb)[ _]?(?:per )?month\)", re.IGNORECASE)
_DISKS = re.compile(rf"(?:storage amount|quantidade de armazenamento)[^,()]*\(({NUMBER}) *(gb|tb)\b", re.IGNORECASE)
_PERIOD_HOURS = {"day": HOURS_PER_MONTH / 24, "week": WEEKS_PER_MONTH, "month": 1.0}
"""The periods in a month of 730 hours."""
LabelPairs = tuple[tuple[str, str], ...]


def column_role(header: str) -> str:
    """The role of a column."""
    names = {"description": "name", "configuration summary": "text"}
    return names.get(header, header if header in ("service", "region", "monthly", "upfront", "currency") else "")


def parse_machines(text: str) -> tuple[EstimatedMachines, ...]:
    """The machines with accelerators in a configuration; each type of a cluster has its own number."""
    types = list(dict.fromkeys(match[1].casefold() for match in _TYPE.finditer(text)))
    if not types:
        return ()
    pairs = tuple(_label_pairs(text))
    values = dict(pairs)
    option, egress_match = _purchase_option(text, values), _EGRESS.search(text)
    egress = _gigabytes(egress_match) if egress_match else 0.0
    term = parse_commitment_months(option)
    if "baseline" in values or _is_ml_service(text, values):
        hours = _peak_hours(text, values) if "baseline" in values else _job_hours(values)
        parsed = [(types[0], *(hours if len(types) == 1 else (None, "")))]
        parsed += [(other, None, "several types in one line") for other in types[1:]]
    else:
        parsed = [(of, *_monthly_hours(before, after, text, term)) for of, before, after in _split_machines(pairs)]
        parsed = [each for each in parsed if each[1] != 0.0] or parsed[:1]  # forms with a number of 0 are unused
        parsed = parsed or [(of, None, "unknown number") for of in types]
    return tuple(
        EstimatedMachines(of, hours, how, option, term, egress if index == 0 else 0.0)
        for index, (of, hours, how) in enumerate(parsed)
    )


def _purchase_option(text: str, values: dict[str, str]) -> str:
    """The purchase option as written, without the utilization."""
    written = next((value for label, value in values.items() if "pricing" in label), "")
    written = re.sub(r",? *(?:on-demand )?utilization:.*", "", written, flags=re.IGNORECASE).strip(" ,")
    return " ".join(written.split()) or ("On-Demand" if "On-Demand" in text else "unknown purchase option")


def disks_gb(text: str) -> float:
    """The storage amounts in a configuration, in GB as written: of one machine or of the line."""
    return math.fsum(_gigabytes(match) for match in _DISKS.finditer(text))


def _gigabytes(match: re.Match[str]) -> float:
    return parse_number(match[1]) * (1000.0 if match[2].casefold() == "tb" else 1.0)


def _is_ml_service(text: str, values: dict[str, str]) -> bool:
    """Whether a configuration is of a service for machine learning, with jobs, people and days."""
    return "ml." in text or any("hour(s) per" in label or "hours per" in label for label in values)


def _split_machines(pairs: LabelPairs) -> list[tuple[str, LabelPairs, LabelPairs]]:
    """Each machine with accelerators: its type, and the labels before and after it, up to the adjacent machines."""
    at = [index for index, (_, value) in enumerate(pairs) if _ANY_MACHINE.fullmatch(value.strip())]
    ends = [-1, *at, len(pairs)]
    return [
        (match[1].casefold(), pairs[ends[k] + 1 : index], pairs[index + 1 : ends[k + 2]])
        for k, index in enumerate(at)
        if (match := _TYPE.search(pairs[index][1]))
    ]


def _monthly_hours(before: LabelPairs, after: LabelPairs, text: str, term: int | None) -> tuple[float | None, str]:
    """The hours of all machines of a type together in a month, and the arithmetic."""
    counts = [number for pair in (*reversed(before), *after) if (number := _parse_count(*pair)) is not None]
    if not counts:
        return None, "unknown number"
    if not (count := counts[0]):
        return 0.0, "none"
    use = next((match for _, value in (*after, *reversed(before)) if (match := _USE.search(value))), None)
    if term or (use is None and re.search("reserved|savings plan", text, re.IGNORECASE)):
        return count * HOURS_PER_MONTH, f"{count:g} committed, all {HOURS_PER_MONTH:g} hours of a month"
    if use is None and any(_QUICK_ESTIMATE.fullmatch(value.strip()) for _, value in (*before, *after)):
        return count * HOURS_PER_MONTH, f"{count:g} x {HOURS_PER_MONTH:g} hours a month, as in the quick estimate"
    if use is None:
        return None, f"{count:g}, unknown hours"
    share = parse_number(use[1])
    each = HOURS_PER_MONTH * share / 100 if use[2] == "%" else share * _PERIOD_HOURS[use[3].casefold()]
    return count * each, f"{count:g} x {each:,.6g} hours a month"


def _parse_count(label: str, value: str) -> float | None:
    """The number of machines where the label is one of a count, else None."""
    return _leading_number(value) if _COUNT.fullmatch(label) else None


def _peak_hours(text: str, values: dict[str, str]) -> tuple[float | None, str]:
    """A baseline around the clock, and additional machines for the duration of each peak."""
    low, high = _leading_number(values["baseline"]), _leading_number(values.get("peak", ""))
    duration = _parse_duration(values.get("duration of peak", ""))
    if low is None or high is None or duration is None:
        return None, "a workload with peaks of an unknown form"
    pattern = re.search(r"workload \((daily|weekly|monthly)", text, re.IGNORECASE)
    named = pattern[1].casefold() if pattern else "daily"
    days = sum(day in text.casefold() for day in DAYS) or 7
    peaks = {"daily": days * WEEKS_PER_MONTH, "weekly": WEEKS_PER_MONTH, "monthly": 1.0}[named]
    more = max(high - low, 0.0) * duration * peaks
    how = f"{low:g} x {HOURS_PER_MONTH:g} hours + {max(high - low, 0):g} x {duration:g} hours x {peaks:.6g} a month"
    return low * HOURS_PER_MONTH + more, how


def _parse_duration(text: str) -> float | None:
    """The hours of "8 Hr 30 Min" or "3 Days"."""
    parts = re.findall(r"(\d{1,9}(?:\.\d{1,9})?) *(days?|hrs?|hours?|min\w*)", text, re.IGNORECASE)
    factor = {"d": 24.0, "h": 1.0, "m": 1 / 60}
    return math.fsum(float(number) * factor[unit[0].casefold()] for number, unit in parts) if parts else None


def _job_hours(values: dict[str, str]) -> tuple[float | None, str]:
    """Machines times jobs times hours, the inputs of the services for machine learning."""
    parts: list[tuple[float, str]] = []
    for label, value in values.items():
        number = _leading_number(value)
        if number is None:
            continue
        if re.match(r"number of models per", label):
            parts.append((1 / number if number else 0.0, f"/ {number:g}"))
        elif label.startswith("number of") or re.search(r"(?:hour|day)s?(?:\(s\))? per|(?:hour|day)\(s\)", label):
            parts.append((number, f"x {number:g}"))
    timed = any("hour" in label and _leading_number(value) is not None for label, value in values.items())
    if not timed or not parts:
        return None, "unknown hours"
    factors = sorted((factor for _, factor in parts), key=lambda factor: factor.startswith("/"))
    return math.prod(number for number, _ in parts), " ".join(factors).removeprefix("x ") + " hours"


def _leading_number(value: str) -> float | None:
    match = _NUMBER.match(value.strip())
    return parse_number(match[0]) if match else None


def _label_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Label (in lower case) and value of "Label (value), Label (value)", and of "Baseline: 1" inside a value."""
    depth = start = opened = 0
    for index, sign in enumerate(text):
        if sign == "(":
            opened = index if depth == 0 else opened
            depth += 1
        elif sign == ")" and depth:
            depth -= 1
            following = text[index + 1 : index + 2]
            if depth == 0 and following in ("", ","):
                label, value = text[start:opened].strip(" ,").casefold(), text[opened + 1 : index]
                yield label, value
                yield from ((match[1].strip().casefold(), match[2].strip()) for match in _NESTED_PAIR.finditer(value))
                start = index + 1


LAYOUT = CalculatorLayout(
    calculator="an AWS price-calculator export",
    provider="aws",
    roles=column_role,
    machines=parse_machines,
    spelled=str.casefold,
    disks_gb=disks_gb,
    left_aside="disks, snapshots and licences in the same lines are part of that cost and are not planned",
)
