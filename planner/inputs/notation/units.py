"""Units in headers and after numbers: periods, magnitudes, bytes, and the metrics of demand."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache

from planner.inputs.notation.languages import translate_words
from pricing.frozen_values import dataclass

DAYS_PER_MONTH = 365 / 12
PER_MONTH = {"day": DAYS_PER_MONTH, "week": DAYS_PER_MONTH / 7, "month": 1.0, "quarter": 1 / 3, "year": 1 / 12}
"""The periods in a month of 365/12 days (730 hours)."""

_PER = r"(?:per |/|(?<![a-z])(?:an?|each) )"
PERIODS = (
    ("day", rf"{_PER}(?:day|d)\b|\bdaily\b"),
    ("week", rf"{_PER}(?:week|wk|w)\b|\bweekly\b"),
    ("month", rf"{_PER}(?:month|mon|mo|mth|m)\b|\bmonthly\b|\bpcm\b"),
    ("quarter", rf"{_PER}(?:quarter|qtr|q)\b|\bquarterly\b"),
    ("year", rf"{_PER}(?:year|yr|annum|y)\b|\byearly\b|\bannual(?:ly)?\b|\byoy\b|\bcagr\b"),
)
_STATED_PERIODS = tuple((name, pattern.partition(r"\b|")[0] + r"\b") for name, pattern in PERIODS)
"""Without the adjectives (daily, yearly), which also stand in titles."""
_YEAR = re.compile(r"(?<![\w/.-])(?:(?:fy|cy) ?)?20[2-9]\d(?![\w/.-])|\b(?:fy|cy) ?\d\d\b")
_MONTH_NAME = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
SECONDS = (
    (1.0, rf"{_PER}(?:seconds?|secs?|s)\b|\b(?:tps|rps|qps|ips)\b"),
    (60.0, rf"{_PER}(?:minutes?|mins?)\b|\b(?:rpm|tpm)\b"),
    (3600.0, rf"{_PER}(?:hours?|hrs?|h)\b"),
)
MAGNITUDES = (
    (1e3, r"thousands?|k|tsd\.?|'000s?|000s?"),
    (1e6, r"millions?|mio\.?|mn|mm|m"),
    (1e9, r"billions?|bn|b|g"),
    (1e12, r"trillions?|tn|t"),
)
BYTES = {"mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40, "pib": 2.0**50}
MINUTES = (
    (1.0, r"(?:minutes?|mins?|m)"),
    (1 / 60, r"(?:seconds?|secs?|s)"),
    (60.0, r"(?:hours?|hrs?|h)"),
)
ACCELERATOR = r"(?:gpu|accelerator|tpu|chip|device|card)s?"
MACHINE = r"(?:instance|machine|vm|node|server|host)"
WORK = (
    r"(?:tokens?|toks?|samples?|images?|imgs?|steps?|sequences?|seqs?|sentences?|frames?|items?|examples?|records?|documents?"
    r"|pages?|videos?|requests?|reqs?|queries|query|inferences|prompts?|calls?|episodes?|molecules?|structures?)"
)
SPANS = r"hours?|hrs?|h|days?|weeks?|months?|years?"
_BEFORE_UNIT = re.compile(rf"(?<![a-z0-9])(k|tsd)\.? (?={ACCELERATOR} ?(?:{SPANS})\b|{WORK}\b|{ACCELERATOR}$)")
SPAN_HOURS = {"day": 24.0, "week": 168.0, "month": 730.0, "year": 8760.0}
MONEY = ((1e3, r"k|t|tsd|thousands?|(?:in )?'?000s?"), (1e6, r"m|mm|mn|mio|millions?"), (1e9, r"bn|b|billions?"))
_MONEY_SCALE = re.compile(
    r"(?<![a-z0-9])([ktm])(?= ?(?:[€$£¥]|(?:usd|eur|gbp|chf|cad|aud|sek|nok|dkk|pln|brl|inr|jpy)\b))"
    r"|(?<=[€$£¥])([km])\b|(?:usd|eur|gbp|chf|cad|aud) (k|m)\b|\b(thousands?|millions?|mio|tsd|k)\b|('000s?)"
)
REQUEST_UNITS = ("requests", "queries", "calls", "inferences", "prompts")
SINGULAR = {"tok": "token", "img": "image", "seq": "sequence", "req": "request", "querie": "query"}


CACHED_TEXT_MAX = 100
"""Characters of a text that is cached: titles, kinds and units recur, longer texts do not."""


def normalize_text(text: str) -> str:
    """Lower case, brackets and underscores as spaces, GPU-hours as "gpu hours", # as "number of"."""
    return _normalize_short_text(text) if len(text) <= CACHED_TEXT_MAX else _normalize_short_text.__wrapped__(text)


@lru_cache(maxsize=4096)
def _normalize_short_text(text: str) -> str:
    text = text if text.isascii() else unicodedata.normalize("NFKC", text.replace("№", "#"))
    # GPU(s) as gpus, GPU's as gpus, Count (#) as count.
    text = re.sub(r"\(#\)|(?<=\w)\((s)\)|(?<=[a-z])['’](?=s?(?!\w))", lambda found: found[1] or "", text.casefold())
    text = re.sub(r"#(?: ?of\b)?", " number of ", text)
    text = re.sub(r"\bp\. ?a\b\.?", "per annum", text)
    text = re.sub(r"(?<![a-z])([km])(?=gpu|accelerator|tpu)", r"\1 ", text)
    text = re.sub(r"[\[\](){}_:;,\n\r\t\u00a0*]|(?<=\w)[-‐–](?=\w)", " ", text)
    return translate_words(re.sub(r"\s*/\s*", "/", re.sub(r"\s+", " ", text)).strip())


def parse_period(text: str) -> str:
    """The period that `text` names (day, week, month, quarter, year), also by a fiscal year or quarter; else empty."""
    return parse_named_period(text) or (
        "quarter" if re.search(r"\bq[1-4]\b", text) else "year" if is_yearly(text) else ""
    )


def parse_named_period(text: str) -> str:
    """The period that the words of `text` name, adjectives included (yearly, per day), else empty."""
    return next((name for name, pattern in PERIODS if re.search(pattern, text)), "")


def parse_stated_period(text: str) -> str:
    """The period that a unit is per ("GPU-hours/day", "tokens per week"): no adjective, fiscal year or quarter."""
    return next((name for name, pattern in _STATED_PERIODS if re.search(pattern, text)), "")


def is_yearly(text: str) -> bool:
    """Whether it names a year as a whole ("budget 2027", "FY27") and no month of it."""
    return bool(_YEAR.search(text)) and not _MONTH_NAME.search(text)


def parse_rate_seconds(text: str) -> float | None:
    """The seconds that a rate is per ("tokens/s" -> 1, "samples per hour" -> 3600), None where it is no rate."""
    return next((seconds for seconds, pattern in SECONDS if re.search(pattern, text)), None)


def parse_work_unit(text: str) -> str:
    """The unit of work, in the plural ("Tokens/s per GPU" -> tokens), else empty."""
    match = re.search(rf"(?<![a-z]){WORK}(?![a-z])", text)
    if not match:
        return ""
    one = match.group().removesuffix("s")
    one = SINGULAR.get(one, one)
    return one.removesuffix("y") + "ies" if one.endswith("y") else one + "s"


def parse_magnitude(text: str, *, alone: bool = False) -> float | None:
    """The magnitude at the start of a text: "B tokens" -> 1e9, "millions" -> 1e6; with `alone`, of the entire text.

    None where there is none.
    """
    for factor, pattern in MAGNITUDES:
        if re.fullmatch(pattern, text) if alone else re.match(rf"(?:{pattern})(?![a-z0-9])", text):
            return factor
    return None


def parse_header_magnitude(text: str, header: str) -> float:
    """The magnitude in a header: "Tokens (B)", "B tokens/month", "work in millions"; else 1.

    A single letter counts only in brackets, at the start or as "k" before a unit: "model b" is not a billion.
    """
    inside = [normalize_text(part).removeprefix("in ") for part in re.findall(r"[(\[]([^)\]]*)[)\]]", header)]
    for part in [*inside, text]:
        factor = parse_magnitude(part)
        if factor is not None:
            return factor
    words = re.search(r"\b(thousand|million|billion|trillion)s?\b", text) or _BEFORE_UNIT.search(text)
    return (parse_magnitude(words[1]) or 1.0) if words else 1.0


def parse_byte_unit(text: str) -> float | None:
    """The bytes in the unit that `text` names ("Storage (TB)" -> 1e12), None where it names none."""
    match = re.search(r"(?<![a-z])(mb|gb|tb|pb|mib|gib|tib|pib)(?![a-z])", text)
    return BYTES[match.group()] if match else None


def parse_minute_unit(text: str) -> float | None:
    """The minutes in the unit that `text` is or ends in ("checkpoint min" -> 1), None where it names none."""
    for minutes, pattern in MINUTES:
        if re.search(rf"(?<![a-z]){pattern}$", text):
            return minutes
    return None


def parse_rate_basis(text: str) -> str:
    """Whether a rate is for each accelerator ("device") or for all together ("job"); else empty."""
    if re.search(rf"(?:per|/|each|a) ?{ACCELERATOR}\b|^(?:{ACCELERATOR}|each|single)$", text):
        return "device"
    if re.search(
        r"\b(?:whole|entire|total|aggregate|combined|overall|all)\b|(?:per|/) ?(?:job|cluster|run|gang)\b|^job$",
        text,
    ):
        return "job"
    return ""


def parse_money_factor(text: str) -> float | None:
    """The factor of an amount of money: 1,000 for "k" and "TEUR", a million for "mio"; 1 for an empty text.

    `text` is normalized. None for any other word.
    """
    if not text:
        return 1.0
    return next((factor for factor, pattern in MONEY if re.fullmatch(pattern, text)), None)


def parse_header_money_factor(words: str) -> float:
    """The factor of amounts of money in a header: "Budget (k€)", "TEUR", "USD thousands"; else 1."""
    match = _MONEY_SCALE.search(words)
    return (parse_money_factor(next(part for part in match.groups() if part)) or 1.0) if match else 1.0


def _hours_in(span: str) -> float:
    """The hours of "days" or "months" of an accelerator that runs through them."""
    return next((hours for start, hours in SPAN_HOURS.items() if span.startswith(start)), 1.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """The metric of an amount of demand.

    `kind`: accelerator_hours, units, requests_per_second, accelerators or hours. An amount times `scale` (a magnitude;
    for requests also 1 / seconds) is per `period`, which is empty where it is not stated.
    """

    kind: str
    unit: str = ""
    scale: float = 1.0
    period: str = ""

    @property
    def factor(self) -> float:
        """The factor from an amount as written to one per month (requests: per second). No period means per month."""
        return self.scale * PER_MONTH.get(self.period, 1.0)


def parse_metric(written: str) -> Metric | None:
    """The metric in a header, in a unit column or after a number; None where there is none."""
    text = normalize_text(written)
    period, scale, seconds, unit = (
        parse_period(text),
        parse_header_magnitude(text, written),
        parse_rate_seconds(text),
        parse_work_unit(text),
    )
    if match := re.search(rf"\b(?:({ACCELERATOR})|{MACHINE}s?) ?({SPANS})\b", text):
        return Metric("accelerator_hours" if match[1] else "hours", "", scale * _hours_in(match[2]), period)
    if seconds is not None and (unit in REQUEST_UNITS or re.search(r"\b[rq]p[sm]\b", text)):
        return Metric("requests_per_second", unit or "requests", scale / seconds, "second")
    if unit and seconds is None:
        return Metric("units", unit, scale, period)
    if re.fullmatch(rf"(?:number of |no\.? of |nr of )?{ACCELERATOR}(?: count| needed| required)?", text):
        return Metric("accelerators")
    if re.search(r"\b(?:hours?|hrs?)\b|(?<![\w/] )(?<![\w/])h\b|\bh(?=/| per |$)", text):
        return Metric("hours", "", scale, period)
    return None


def parse_month_metric(written: str) -> Metric | None:
    """The metric of amounts in columns of months: adjectives, years and quarters in a title are no period."""
    metric = parse_metric(written)
    if metric is None or metric.kind == "requests_per_second":
        return metric
    return replace(metric, period=parse_stated_period(normalize_text(written)))


def adjust_metric(base: Metric, suffix: str) -> Metric | None:
    """`base` with the text after a number ("1.5B", "20 GPU-hours/day") applied; None where that does not fit."""
    text = normalize_text(suffix)
    if not text:
        return base
    if (alone := parse_magnitude(text, alone=True)) is not None:
        return replace(base, scale=alone)
    own = parse_metric(suffix)
    if own is not None and own.kind == "hours" and base.kind == "accelerator_hours":
        own = replace(own, kind="accelerator_hours")
    if own is None or own.kind != base.kind:
        return None
    if own.kind == "requests_per_second":
        return own
    return Metric(
        base.kind, own.unit or base.unit, own.scale if own.scale != 1 else base.scale, own.period or base.period
    )
