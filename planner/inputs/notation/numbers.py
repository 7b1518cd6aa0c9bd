"""Numbers in texts: "1,234.5", "1 234", "45%", "$2,000.00", "(300)", "1.5B tokens", "2 TB".

A text that can be two numbers raises AmbiguousNumber unless the caller knows the decimal separator.
"""

from __future__ import annotations

import math
import re

from pricing.frozen_values import dataclass

KRONE = "KR"
"""The code of "kr", which is the krone or krona of several countries."""
KRONES = ("SEK", "NOK", "DKK", "ISK")
SYMBOLS = {
    "US$": "USD",
    "CA$": "CAD",
    "C$": "CAD",
    "A$": "AUD",
    "$": "USD",
    "€": "EUR",
    "Fr.": "CHF",
    "SFr.": "CHF",
    "zł": "PLN",
    "R$": "BRL",
    "kr": KRONE,
    "kr.": KRONE,
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
}
CODES = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF",
    "RON", "BRL", "MXN", "KRW", "SGD", "HKD", "TWD", "ZAR", "ILS", "TRY", "AED", "SAR", "usd", "eur", "gbp", "chf",
)  # fmt: skip
_SYMBOL = "|".join(
    rf"(?<![A-Za-z]){re.escape(symbol)}(?![A-Za-z])" if symbol[0].isalpha() else re.escape(symbol)
    for symbol in sorted(SYMBOLS, key=len, reverse=True)
)
_MONEY = re.compile(rf"{_SYMBOL}|(?:(?<![A-Za-z])|(?<=(?<![A-Za-z])[kKTM]))(?:{'|'.join(CODES)})(?![A-Za-z])")
_SPACES = " \u00a0\u2007\u2009\u202f"
_GROUPED = re.compile(rf"\d{{1,3}}(?:[{_SPACES}'’]\d{{3}})+(?:[.,]\d+)?")
_CORE = re.compile(rf"(?:\d[\d.,{_SPACES}'’]*|[.,]\d+)")
_EXPONENT = re.compile(r"[eE][+-]?\d{1,3}(?![\w])")
_MINUS = "-−–"
_POWER_MAX = 300
_HALF_WIDTH = {sign: sign - 0xFEE0 for sign in range(0xFF01, 0xFF5F)}


class AmbiguousNumber(ValueError):
    """A text that is one number with a decimal comma and another one with a decimal point."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with the text around it: `unit` is the text after it, `currency` an ISO code or empty.

    `value` is as written: 45 for "45%" (with `percent`), 1.5 for "1.5B tokens".
    """

    value: float
    unit: str = ""
    currency: str = ""
    percent: bool = False


def parse_quantity(text: str, decimal: str = "") -> Quantity | None:
    """The number in `text`; None where it is not one number. `decimal` decides where both separators are possible.

    Raises AmbiguousNumber.
    """
    if text.isascii() and text.isdigit():
        return Quantity(value) if math.isfinite(value := float(text)) else None
    rest, currency = _split_currency(_normalize_digits(text))
    negative = False
    if rest.startswith("(") and rest.endswith(")"):
        negative, rest = True, rest[1:-1].strip()
    if rest[:1] and rest[0] in _MINUS + "+":
        negative, rest = negative or rest[0] != "+", rest[1:].strip()
    core_match = _CORE.match(rest)
    if not core_match:
        return None
    core = core_match.group().rstrip(_SPACES + "'’")
    rest = rest[len(core) :]
    exponent = _EXPONENT.match(rest)
    rest = rest[exponent.end() :] if exponent else rest
    unit = rest.strip()
    if any(character.isdigit() for character in unit):
        return None
    if unit[:1] and unit[:1] in _MINUS and len(unit) == 1:
        negative, unit = True, ""
    percent = unit.startswith("%")
    unit = unit[1:].strip() if percent else unit
    if unit[:1] and not (unit[0].isalpha() or unit[0] == "/"):
        return None
    number = _parse_digits(core, decimal or ("." if exponent else ""))
    if number is None:
        return None
    power = int(exponent.group()[1:]) if exponent else 0
    value = number * 10.0**power if abs(power) <= _POWER_MAX else math.inf
    return Quantity(-value if negative else value, unit, currency, percent) if math.isfinite(value) else None


def detect_decimal_separator(text: str) -> str:
    """The decimal separator that `text` proves ("." for 1,234.5 or 0.75), else empty."""
    rest, _ = _split_currency(_normalize_digits(text))
    match = _CORE.match(rest.lstrip("(+" + _MINUS + " "))
    core = match.group().strip(_SPACES + "'’") if match else ""
    if not core or not ({".", ","} & set(core)):
        return ""
    try:
        with_point, with_comma = _parse_digits(core, "."), _parse_digits(core, ",")
    except AmbiguousNumber:
        return ""
    if with_point is None or with_comma is None or with_point != with_comma:
        return ""
    last = "." if core.rfind(".") > core.rfind(",") else ","
    grouping_only = core.count(last) > 1
    return {".": ",", ",": "."}[last] if grouping_only else last


def parse_currency(text: str) -> str:
    """The currency in a header, a unit or a number format ("Budget (EUR)" -> EUR), else empty."""
    match = _MONEY.search(text)
    return _currency_code(match.group()) if match else ""


def parse_format_currency(number_format: str) -> str:
    """The currency of a number format ("[$€-407]#,##0" -> EUR), else empty; [$-409] is only a language."""
    named = re.search(r"\[\$([^\]-]+)(?:-[^\]]*)?\]", number_format)
    return parse_currency(named.group(1) if named else re.sub(r"\[[^\]]*\]", "", number_format))


def _normalize_digits(text: str) -> str:
    """Full-width digits as ASCII, without the leading apostrophe that marks a text in spreadsheets."""
    text = text.strip() if text.isascii() else text.translate(_HALF_WIDTH).strip()
    return text[1:] if text[:1] == "'" and text[1:2].isdigit() else text


def _split_currency(text: str) -> tuple[str, str]:
    match = _MONEY.search(text)
    if not match:
        return text, ""
    return (text[: match.start()] + text[match.end() :]).strip(), _currency_code(match.group())


def _currency_code(written: str) -> str:
    return SYMBOLS.get(written, written).upper()


def _parse_digits(core: str, decimal: str) -> float | None:
    """The value of digits with separators; None where they are not grouped correctly."""
    if any(sign in core for sign in _SPACES + "'’"):
        digits = re.sub(rf"[{_SPACES}'’]", "", core).replace(",", ".")
        return float(digits) if _GROUPED.fullmatch(core) else None
    # Of two different separators the last one is decimal; one that occurs twice groups thousands.
    points, commas = core.count("."), core.count(",")
    if points and commas:
        last, other = (".", ",") if core.rfind(".") > core.rfind(",") else (",", ".")
        whole, _, fraction = core.rpartition(last)
        return float(f"{whole.replace(other, '')}.{fraction or 0}") if _is_grouped(whole, other) else None
    if points + commas > 1:
        separator = "." if points else ","
        return float(core.replace(separator, "")) if _is_grouped(core, separator) else None
    return _parse_single_separator(core, "." if points else ",", decimal) if points or commas else float(core)


def _parse_single_separator(core: str, separator: str, decimal: str) -> float:
    """A single separator is decimal unless exactly three digits follow one to three digits; then `decimal` decides."""
    before, after = core.split(separator)
    could_group = len(after) == 3 and 1 <= len(before) <= 3 and not before.startswith("0")
    if could_group and not decimal:
        raise AmbiguousNumber(core)
    if could_group and decimal != separator:
        return float(before + after)
    return float(f"{before or 0}.{after or 0}")


def _is_grouped(whole: str, separator: str) -> bool:
    return bool(re.fullmatch(rf"\d{{1,3}}(?:{re.escape(separator)}\d{{2,3}})*{re.escape(separator)}\d{{3}}", whole))


def parse_fraction(text: str) -> float | None:
    """0.03 for "0.03" and for "3%"; None if the text is not a number."""
    number = text.strip().removesuffix("%")
    try:
        return float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        return None
