"""The public retail price feed -> rates per hour, and rates -> prices.

Reads the feed in one pass and retains only rows of accelerators. Knows the fields of the feed; knows no SDK and, except
for the prefixes of their names, no instance types.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import date, datetime
from typing import Any

from pricing.adapters.protocol import CoveredScope, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.frozen_values import dataclass
from pricing.price import Price, PurchaseKind, parse_purchase_option
from pricing.providers.azure.resource_skus import FAMILIES, PROVIDER, accelerator_family
from pricing.units import HOURS_PER_YEAR

SOURCE = "azure-retail-prices"
KINDS: tuple[PurchaseKind, ...] = ("on_demand", "spot", "reserved", "savings_plan")
"""The kinds that the feed prices, and so covers."""
EXCLUSION_RULES = (
    ("Windows, which has a licence in its price", ("productName",), r"\bwin(dows)?\b"),
    ("Cloud Services, another product", ("productName",), r"cloud ?services"),
    ("Low Priority, which came before spot", ("skuName", "meterName"), r"low priority"),
    ("promotional sizes", ("armSkuName", "productName", "skuName"), r"promo"),
    ("dedicated or isolated hosts", ("productName",), r"dedicated|isolated"),
)
"""Reason, fields and pattern of rows that are excluded although their instance type is catalogued."""
OTHER_FAMILIES = f"types outside the families {' '.join(FAMILIES)}"
DEV_TEST = "dev/test rates, for subscribers of another product"
VOLUME_RATES = "rates above a number of hours"
FUTURE_RATES, PAST_RATES = "rates not in force yet", "rates no longer in force"
REPLACED_RATES, DUPLICATE_RATES = "rates that a later one replaced", "rates told twice"
NO_SPOT_OFFER = "spot at the on-demand price: no spot offer"
HOURLY_UNIT = "1 Hour"


@dataclass(frozen=True, slots=True)
class AzureRetailRate:
    """One rate per hour in force. `meter` is the Azure meter; `how` shows the calculation of a derived rate."""

    instance_type: str
    option: str
    per_hour: float
    since: date
    meter: str
    how: str = ""


@dataclass(slots=True)
class RetailFeed:
    """The feed of one region, read in pages. `wanted` selects rows by armSkuName; `known` has the lower-case types
    that have prices already.

    `take` yields the rows that are skipped or rejected at once, `settle` all others: every row (and every entry of a
    savingsPlan list) becomes one rate, one SkippedRows or one RejectedRow.
    """

    region: str
    currency: str
    today: date
    known: frozenset[str] = frozenset()
    wanted: Callable[[str], bool] = lambda name: bool(accelerator_family(name))
    rows: int = 0
    rates_by_key: dict[tuple[str, str], list[AzureRetailRate]] = field(default_factory=lambda: defaultdict(list))
    doubtful: set[tuple[str, PurchaseKind]] = field(default_factory=set)

    def take(self, page: Iterable[Mapping[str, Any]]) -> Iterator[SkippedRows | RejectedRow]:
        left: Counter[str] = Counter()
        for row in page:
            self.rows += 1
            if not self.wanted(self._text_field(row, "armSkuName")):
                left[OTHER_FAMILIES] += 1
            elif reason := self._exclusion_reason(row):
                left[reason] += 1
            else:
                for reading in self._parse_rates(row):
                    if isinstance(reading, AzureRetailRate):
                        self.rates_by_key[reading.instance_type.casefold(), reading.option].append(reading)
                    else:
                        yield reading
        yield from (SkippedRows(reason, count) for reason, count in left.items())

    def settle(self) -> Iterator[AzureRetailRate | SkippedRows | RejectedRow]:
        """One rate for each type and option: the latest of a meter; two that differ are both rejected."""
        settled: dict[tuple[str, str], AzureRetailRate] = {}
        for key, rates in self.rates_by_key.items():
            latest: dict[str, AzureRetailRate] = {}
            for rate in sorted(rates, key=lambda r: (r.since, r.per_hour)):
                latest[rate.meter] = rate
            current_rates = [r for r in rates if r.since == latest[r.meter].since]
            replaced = len(rates) - len(current_rates)
            if replaced:
                yield SkippedRows(REPLACED_RATES, replaced)
            if len({r.per_hour for r in current_rates}) > 1:
                yield from self._reject_conflict(current_rates)
                continue
            settled[key] = current_rates[0]
            if len(current_rates) > 1:
                yield SkippedRows(DUPLICATE_RATES, len(current_rates) - 1)
        yield from self._without_idle_spot(settled)

    def covered(self) -> Iterator[CoveredScope]:
        """The scopes read without doubt. A rejected row of a known type excludes its family and kind."""
        for family in FAMILIES:
            yield from (
                CoveredScope(self.region, kind, family) for kind in KINDS if (family, kind) not in self.doubtful
            )

    def _without_idle_spot(
        self, settled: Mapping[tuple[str, str], AzureRetailRate]
    ) -> Iterator[AzureRetailRate | SkippedRows | RejectedRow]:
        """GB200 and H200 rows repeat the on-demand price as spot where no spot is sold."""
        for (name, option), rate in settled.items():
            plain = settled.get((name, "on_demand"))
            if option == "spot" and plain and rate.per_hour >= plain.per_hour:
                if rate.per_hour == plain.per_hour:
                    yield SkippedRows(NO_SPOT_OFFER)
                else:
                    reason = f"spot at {rate.per_hour:g} an hour is dearer than on demand at {plain.per_hour:g}"
                    yield self.refuse(rate.instance_type, option, reason)
            else:
                yield rate

    def _reject_conflict(self, rates: list[AzureRetailRate]) -> Iterator[RejectedRow]:
        stated = " and ".join(f"{r.per_hour:g} ({r.meter}, since {r.since})" for r in rates)
        reason = f"more than one rate in force: {stated}"
        yield from (self.refuse(rate.instance_type, rate.option, reason) for rate in rates)

    def refuse(self, instance_type: str, option: str, reason: str) -> RejectedRow:
        """The rejected row; marks the family and kind of a known type as doubtful."""
        parts = parse_purchase_option(option)
        if instance_type.casefold() in self.known:
            self.doubtful |= {(accelerator_family(instance_type), kind) for kind in ((parts.kind,) if parts else KINDS)}
        key = (PROVIDER, self.region, instance_type, option)
        return RejectedRow(" ".join(key).strip(), reason, key if parts else None)

    def _exclusion_reason(self, row: Mapping[str, Any]) -> str:
        """Why a row is excluded; empty if it is not."""
        for reason, fields, pattern in EXCLUSION_RULES:
            if any(re.search(pattern, self._text_field(row, name), re.IGNORECASE) for name in fields):
                return reason
        if self._text_field(row, "type") == "DevTestConsumption":
            return DEV_TEST
        if self._require_field(row, "tierMinimumUnits"):
            return VOLUME_RATES
        if self._date_field(row, "effectiveStartDate") > self.today:
            return FUTURE_RATES
        return (
            PAST_RATES
            if row.get("effectiveEndDate") and self._date_field(row, "effectiveEndDate") <= self.today
            else ""
        )

    def _parse_rates(self, row: Mapping[str, Any]) -> Iterator[AzureRetailRate | RejectedRow]:
        name, kind = self._text_field(row, "armSkuName"), self._text_field(row, "type")
        if kind == "Consumption":
            spot = re.search(
                r"\bspot\b", f"{self._text_field(row, 'skuName')} {self._text_field(row, 'meterName')}", re.IGNORECASE
            )
            yield self._parse_rate(row, row, "spot" if spot else "on_demand")
            for entry in row.get("savingsPlan") or ():
                option = self._option_with_term("savings_plan", self._text_field(entry, "term"))
                yield self._parse_rate(row, entry, option)
        elif kind == "Reservation":
            option = self._option_with_term("reserved", self._text_field(row, "reservationTerm"))
            parts = parse_purchase_option(option)
            yield self._parse_rate(row, row, option, HOURS_PER_YEAR * parts.term_months // 12 if parts else 1)
        else:
            yield self.refuse(name, "", f"its type is {kind!r}, which is not known")

    def _option_with_term(self, kind: str, term: str) -> str:
        """3 Years -> savings_plan_3y; any other text is passed through and rejected later."""
        term_match = re.fullmatch(r"(\d+) years?", term, re.IGNORECASE)
        return f"{kind}_{term_match[1]}y" if term_match else f"{kind} {term}"

    def _parse_rate(
        self, row: Mapping[str, Any], priced: Mapping[str, Any], option: str, hours: int = 1
    ) -> AzureRetailRate | RejectedRow:
        name, price = self._text_field(row, "armSkuName"), self._require_field(priced, "retailPrice")
        unit, currency = self._text_field(row, "unitOfMeasure"), self._text_field(row, "currencyCode")
        region = self._text_field(row, "armRegionName")
        wrong = ""
        if parse_purchase_option(option) is None:
            wrong = "the term is none that is known"
        elif unit != HOURLY_UNIT:
            wrong = f"the unit is {unit!r}, expected {HOURLY_UNIT!r}"
        elif currency != self.currency:
            wrong = f"the currency is {currency!r}, asked for was {self.currency}"
        elif region != self.region:
            wrong = f"it is of {region!r}"
        elif isinstance(price, bool) or not isinstance(price, int | float) or not math.isfinite(price) or price <= 0:
            wrong = f"the price is {price!r}: a price is above 0"
        if wrong:
            return self.refuse(name, option, wrong)
        meter = f"{self._text_field(row, 'productName')}: {self._text_field(row, 'meterName')}"
        how = f"{price:,.15g} for the whole term of {hours:,} h" if hours > 1 else ""
        return AzureRetailRate(name, option, price / hours, self._date_field(row, "effectiveStartDate"), meter, how)

    def _text_field(self, row: Mapping[str, Any], name: str) -> str:
        value = self._require_field(row, name)
        if not isinstance(value, str):
            raise ProviderFailure(
                "changed_format", f"prices retail prices of {self.region}: {name} is {value!r}, no text"
            )
        return value

    def _date_field(self, row: Mapping[str, Any], name: str) -> date:
        value = self._text_field(row, name)
        try:
            return datetime.fromisoformat(value).date()
        except ValueError:
            text = f"prices retail prices of {self.region}: {name} is {value!r}, no date"
            raise ProviderFailure("changed_format", text) from None

    def _require_field(self, row: Mapping[str, Any], name: str) -> Any:
        if name not in row:
            text = f"prices retail prices of {self.region}: {name} is missing in a row of {row.get('armSkuName')!r}"
            raise ProviderFailure("changed_format", text)
        return row[name]


def build_price(rate: AzureRetailRate, feed: RetailFeed, instance_type: str) -> Price:
    """The catalogue's row for a rate; `instance_type` is spelled as in the catalogue."""
    parts = parse_purchase_option(rate.option)
    if parts is None:  # rejected before
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
