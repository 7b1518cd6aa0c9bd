"""The public retail price feed -> rates per hour, and rates -> prices.

One streamed pass that keeps the rows of accelerators only. Knows the feed's fields and what sets its rows apart; knows
no SDK and, but for how their names begin, no instance types.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from pricing.adapter import Covered, Left, Refused
from pricing.errors import Failed
from pricing.price import Kind, Price, option_of
from pricing.providers.azure.skus import FAMILIES, PROVIDER, family_of
from pricing.units import HOURS_PER_YEAR

SOURCE = "azure-retail-prices"
KINDS: tuple[Kind, ...] = ("on_demand", "spot", "reserved", "savings_plan")
"""What the feed prices, and so covers."""
OUT = (
    ("Windows, which has a licence in its price", ("productName",), r"\bwin(dows)?\b"),
    ("Cloud Services, another product", ("productName",), r"cloud ?services"),
    ("Low Priority, which came before spot", ("skuName", "meterName"), r"low priority"),
    ("promotional sizes", ("armSkuName", "productName", "skuName"), r"promo"),
    ("dedicated or isolated hosts", ("productName",), r"dedicated|isolated"),
)
"""Why a row is none of ours: the fields that tell it apart from one that is, all else being equal, and how."""
OTHERS = f"types outside the families {' '.join(FAMILIES)}"
DEV_TEST = "dev/test rates, for subscribers of another product"
VOLUME = "rates above a number of hours"
FUTURE, PAST = "rates not in force yet", "rates no longer in force"
OLDER, TWICE = "rates that a later one replaced", "rates told twice"
NO_SPOT = "spot at the on-demand price: no spot offer"
HOURLY = "1 Hour"


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate per hour in force. `meter` is what Azure bills it by; `how` shows the sum where one was made."""

    instance_type: str
    option: str
    per_hour: float
    since: date
    meter: str
    how: str = ""


@dataclass(slots=True)
class Feed:
    """One region's feed as it is read, in pages. `wanted` says of an armSkuName whether it is ours; `known` holds the
    lower-case types that have prices to lose.

    `take` accounts for what goes at once, `settle` for the rest: every row (and every entry of a savingsPlan list)
    becomes one rate or one row of Left or Refused.
    """

    region: str
    currency: str
    today: date
    known: frozenset[str] = frozenset()
    wanted: Callable[[str], bool] = lambda name: bool(family_of(name))
    rows: int = 0
    kept: dict[tuple[str, str], list[Rate]] = field(default_factory=lambda: defaultdict(list))
    doubtful: set[tuple[str, Kind]] = field(default_factory=set)

    def take(self, page: Iterable[Mapping[str, Any]]) -> Iterator[Left | Refused]:
        left: Counter[str] = Counter()
        for row in page:
            self.rows += 1
            if not self.wanted(self._text(row, "armSkuName")):
                left[OTHERS] += 1
            elif reason := self._out(row):
                left[reason] += 1
            else:
                for told in self._rates(row):
                    if isinstance(told, Rate):
                        self.kept[told.instance_type.casefold(), told.option].append(told)
                    else:
                        yield told
        yield from (Left(reason, count) for reason, count in left.items())

    def settle(self) -> Iterator[Rate | Left | Refused]:
        """One rate for each type and option: the latest of a meter; two that differ are both refused."""
        settled: dict[tuple[str, str], Rate] = {}
        for key, rates in self.kept.items():
            latest: dict[str, Rate] = {}
            for rate in sorted(rates, key=lambda r: (r.since, r.per_hour)):
                latest[rate.meter] = rate
            held = [r for r in rates if r.since == latest[r.meter].since]
            replaced = len(rates) - len(held)
            if replaced:
                yield Left(OLDER, replaced)
            if len({r.per_hour for r in held}) > 1:
                yield from self._conflict(held)
                continue
            settled[key] = held[0]
            if len(held) > 1:
                yield Left(TWICE, len(held) - 1)
        yield from self._without_idle_spot(settled)

    def covered(self) -> Iterator[Covered]:
        """All that was read without a doubt: where a row of a known type was refused, what is known of its family and
        kind stays."""
        for family in FAMILIES:
            yield from (Covered(self.region, kind, family) for kind in KINDS if (family, kind) not in self.doubtful)

    def _without_idle_spot(self, settled: Mapping[tuple[str, str], Rate]) -> Iterator[Rate | Left | Refused]:
        """GB200 and H200 rows repeat the on-demand price as spot where no spot is sold."""
        for (name, option), rate in settled.items():
            plain = settled.get((name, "on_demand"))
            if option == "spot" and plain and rate.per_hour >= plain.per_hour:
                if rate.per_hour == plain.per_hour:
                    yield Left(NO_SPOT)
                else:
                    reason = f"spot at {rate.per_hour:g} an hour is dearer than on demand at {plain.per_hour:g}"
                    yield self.refuse(rate.instance_type, option, reason)
            else:
                yield rate

    def _conflict(self, rates: list[Rate]) -> Iterator[Refused]:
        stated = " and ".join(f"{r.per_hour:g} ({r.meter}, since {r.since})" for r in rates)
        reason = f"more than one rate in force: {stated}"
        yield from (self.refuse(rate.instance_type, rate.option, reason) for rate in rates)

    def refuse(self, instance_type: str, option: str, reason: str) -> Refused:
        """The refusal, and the doubt that it throws on a known type's family and kind."""
        parts = option_of(option)
        if instance_type.casefold() in self.known:
            self.doubtful |= {(family_of(instance_type), kind) for kind in ((parts.kind,) if parts else KINDS)}
        return Refused(f"{PROVIDER} {self.region} {instance_type} {option}".strip(), reason)

    def _out(self, row: Mapping[str, Any]) -> str:
        """Why a row of ours is left out; empty where it is not."""
        for reason, fields, pattern in OUT:
            if any(re.search(pattern, self._text(row, name), re.IGNORECASE) for name in fields):
                return reason
        if self._text(row, "type") == "DevTestConsumption":
            return DEV_TEST
        if self._field(row, "tierMinimumUnits"):
            return VOLUME
        if self._day(row, "effectiveStartDate") > self.today:
            return FUTURE
        return PAST if row.get("effectiveEndDate") and self._day(row, "effectiveEndDate") <= self.today else ""

    def _rates(self, row: Mapping[str, Any]) -> Iterator[Rate | Refused]:
        name, kind = self._text(row, "armSkuName"), self._text(row, "type")
        if kind == "Consumption":
            spot = re.search(r"\bspot\b", f"{self._text(row, 'skuName')} {self._text(row, 'meterName')}", re.IGNORECASE)
            yield self._rate(row, row, "spot" if spot else "on_demand")
            for entry in row.get("savingsPlan") or ():
                option = self._with_term("savings_plan", self._text(entry, "term"))
                yield self._rate(row, entry, option)
        elif kind == "Reservation":
            option = self._with_term("reserved", self._text(row, "reservationTerm"))
            parts = option_of(option)
            yield self._rate(row, row, option, HOURS_PER_YEAR * parts.term_months // 12 if parts else 1)
        else:
            yield self.refuse(name, "", f"its type is {kind!r}, which is not known")

    def _with_term(self, kind: str, term: str) -> str:
        """3 Years -> savings_plan_3y; what is no term is left as it is and refused later."""
        found = re.fullmatch(r"(\d+) years?", term, re.IGNORECASE)
        return f"{kind}_{found[1]}y" if found else f"{kind} {term}"

    def _rate(self, row: Mapping[str, Any], priced: Mapping[str, Any], option: str, hours: int = 1) -> Rate | Refused:
        name, price = self._text(row, "armSkuName"), self._field(priced, "retailPrice")
        unit, currency = self._text(row, "unitOfMeasure"), self._text(row, "currencyCode")
        region = self._text(row, "armRegionName")
        wrong = ""
        if option_of(option) is None:
            wrong = "the term is none that is known"
        elif unit != HOURLY:
            wrong = f"the unit is {unit!r}, expected {HOURLY!r}"
        elif currency != self.currency:
            wrong = f"the currency is {currency!r}, asked for was {self.currency}"
        elif region != self.region:
            wrong = f"it is of {region!r}"
        elif isinstance(price, bool) or not isinstance(price, int | float) or not math.isfinite(price) or price <= 0:
            wrong = f"the price is {price!r}: a price is above 0"
        if wrong:
            return self.refuse(name, option, wrong)
        meter = f"{self._text(row, 'productName')}: {self._text(row, 'meterName')}"
        how = f"{price:,.15g} for the whole term of {hours:,} h" if hours > 1 else ""
        return Rate(name, option, price / hours, self._day(row, "effectiveStartDate"), meter, how)

    def _text(self, row: Mapping[str, Any], name: str) -> str:
        value = self._field(row, name)
        if not isinstance(value, str):
            raise Failed("changed_format", f"prices retail prices of {self.region}: {name} is {value!r}, no text")
        return value

    def _day(self, row: Mapping[str, Any], name: str) -> date:
        value = self._text(row, name)
        try:
            return datetime.fromisoformat(value).date()
        except ValueError:
            text = f"prices retail prices of {self.region}: {name} is {value!r}, no date"
            raise Failed("changed_format", text) from None

    def _field(self, row: Mapping[str, Any], name: str) -> Any:
        if name not in row:
            text = f"prices retail prices of {self.region}: {name} is missing in a row of {row.get('armSkuName')!r}"
            raise Failed("changed_format", text)
        return row[name]


def price_of(rate: Rate, feed: Feed, instance_type: str) -> Price:
    """The catalogue's row for a rate; `instance_type` is spelled as there."""
    parts = option_of(rate.option)
    if parts is None:  # refused before
        raise ValueError(rate.option)
    return Price(
        provider=PROVIDER,
        region=feed.region,
        instance_type=instance_type,
        purchase_option=rate.option,
        **parts._asdict(),
        price_per_hour=rate.per_hour,
        currency=feed.currency,
        as_of=feed.today,
        source_id=SOURCE,
        method="listed",
        note="; ".join(filter(None, (rate.how, f"in force since {rate.since}"))),
    )
