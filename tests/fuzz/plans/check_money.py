"""Checks of money: every payment is made again from uses and purchases at the catalogue's own prices, to the cent.

The formulas are those of docs/guides/how-the-plan-is-made.md and the reference of assumptions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import date

from tests.fuzz.plans import facts
from tests.fuzz.plans.answer import Answer, Fault, Row, key_of
from tests.fuzz.plans.facts import Key
from tests.fuzz.plans.owned import existing_payments, operator_payments, owned_payments, power_of_use

Paid = tuple[int, str, str, str, float]
"""Month, start or end, category, what, amount."""
CENT = 0.01
BILL = ("on_demand", "spot", "commitment", "cloud_support")
SUPPORT_PLAN = "cloud support plan"
EXISTING = " (existing)"
DISCOUNTED = ("on_demand", "reserved", "committed_use", "savings_plan")


def all_is_of_the_catalogue(answer: Answer) -> Iterator[Fault]:
    """What is rented has a type and a price there; without them nothing of it can be checked."""
    for each in (*answer.uses, *answer.purchases):
        key = key_of(each)
        listed = each["provider"] and each.get("unit", "node") != "money" and not _is_held(answer, each)
        if listed and (key not in facts.prices() or (key[0], key[2]) not in facts.offerings()):
            yield Fault("not in the catalogue", each["name"], key)


def prices_are_the_catalogues(answer: Answer) -> Iterator[Fault]:
    """Each price in the plan is a dated row of the catalogue, or made from one by a stated rule; none is of later."""
    for key, shown in answer.prices.items():
        row = facts.prices().get(key)
        if row is None:
            yield Fault("price", str(key), "not in the catalogue")
            continue
        wanted = row["as_of"], row["source_id"]
        if (shown["as_of"], shown["source_id"]) != wanted or shown["as_of"] > answer.plan["as_of"]:
            yield Fault("price's date", str(key), shown["as_of"], wanted)
        if not math.isclose(shown["price_per_hour"], price_per_hour(answer, key), rel_tol=1e-9):
            yield Fault("price", str(key), shown["price_per_hour"], price_per_hour(answer, key))
        if shown["list_price_per_hour"] is not None and shown["list_price_per_hour"] != float(row["price_per_hour"]):
            yield Fault("list price", str(key), shown["list_price_per_hour"], row["price_per_hour"])
    for each in (*answer.uses, *answer.purchases):
        listed = each["provider"] and each.get("unit", "node") != "money" and not _is_held(answer, each)
        if listed and key_of(each) not in answer.prices:
            yield Fault("price of a use", each["name"], "not among the plan's prices", key_of(each))


def _is_held(answer: Answer, row: Row) -> bool:
    return row["what"] == "commitment" and key_of(row) in {key for _, key, _ in answer.held_commitments}


def price_per_hour(answer: Answer, key: Key) -> float:
    """In the plan's currency; spot at what it decides at."""
    row = facts.prices()[key]
    price = float(row["price_per_hour"])
    if key[3] == "spot":
        price = facts.spot_counted_at(key, answer.question.as_of, answer.assumed["old_spot_price_days"])
    return price * answer.question.per_dollar


def assumptions_are_given(answer: Answer) -> Iterator[Fault]:
    """Each is the request's, else the dated default; amounts in the plan's currency."""
    given = dict(answer.question.document.get("assumptions", {}))
    if (rate := answer.question.document.get("discount_rate_annual")) is not None:
        given["discount_rate_annual"] = rate
    for name, row in facts.defaults().items():
        default = float(row["value"]) * (answer.question.per_dollar if row["unit"].startswith("USD") else 1.0)
        if not math.isclose(answer.assumed[name], given.get(name, default), rel_tol=1e-12):
            yield Fault("assumption", name, answer.assumed[name], given.get(name, default))


def payments_are_made_again(answer: Answer) -> Iterator[Fault]:
    """Every row of cash from the uses and purchases, and no other."""
    paid = [(r["month"], r["at"], r["category"], r["what"], r["amount"]) for r in answer.strategy["cash"]]
    shown, wanted = _sum_by_key(answer, paid), _sum_by_key(answer, list_payments(answer))
    for key in sorted({*shown, *wanted}):
        if abs(shown[key] - wanted[key]) > CENT / 2 + 1e-6 * abs(wanted[key]):
            yield Fault("payment", str(key), shown[key], wanted[key])


def _sum_by_key(answer: Answer, rows: list[Paid]) -> dict[tuple[int, str, str, str], float]:
    """By all but the amount. A use does not say whether it is on new or on existing capacity: both have one name."""
    same = {f"{' '.join(key)} {line['ends']}{EXISTING}": " ".join(key) for line, key, _ in answer.held_commitments}
    sums: dict[tuple[int, str, str, str], float] = defaultdict(float)
    for month, at, category, what, amount in rows:
        sums[month, at, category, same.get(what, what.removesuffix(EXISTING))] += amount
    return sums


def list_payments(answer: Answer) -> list[Paid]:
    """All payments of a strategy."""
    rows = [row for use in answer.uses for row in use_payments(answer, use)]
    for each in answer.purchases:
        if each["what"] == "owned":
            rows += owned_payments(answer, each)
        else:
            rows += on_bill(answer, commitment_payments(answer, each))
    for line, key, covers in answer.held_commitments:
        title = f"{' '.join(key)} {line['ends']}{EXISTING}"
        rows += [(month, "end", "commitment", title, float(line["fee_per_month"])) for month in covers]
    rows += existing_payments(answer)
    rows += operator_payments(answer)
    rows += _least_support(answer, rows)
    return rows


def use_payments(answer: Answer, use: Row) -> list[Paid]:
    """What a use itself costs: its hours by the hour, power at work, and its part of storage, egress and transfer."""
    month, key, kind = use["month"], key_of(use), facts.kind_of(use["purchase_option"])
    rows: list[Paid] = []
    title = " ".join(key) if use["provider"] else use["name"]
    if use["what"] == "hourly" and kind in ("on_demand", "spot", "flex_start"):
        change = "spot_price_change_annual" if kind == "spot" else "cloud_price_change_annual"
        rate = price_per_hour(answer, key) * _grown(answer, change, month) * _net(answer, kind)
        amount = use["node_hours"] * rate
        rows.append((month, "end", "spot" if kind == "spot" else "on_demand", title, amount))
    return on_bill(answer, rows) + power_of_use(answer, use) + _data_payments(answer, use)


def _grown(answer: Answer, change: str, month: int) -> float:
    return (1 + answer.assumed[change]) ** ((month - 1) / 12)


def _net(answer: Answer, kind: str) -> float:
    return 1 - (answer.assumed["enterprise_discount_fraction"] if kind in DISCOUNTED else 0.0)


def on_bill(answer: Answer, rows: list[Paid]) -> list[Paid]:
    """With the support plan on each, and the tax on both."""
    found = []
    for month, at, category, what, amount in rows:
        support = amount * answer.assumed["cloud_support_fraction"]
        tax = (amount + support) * answer.assumed["cloud_tax_fraction"]
        found += [(month, at, category, what, amount), (month, at, "cloud_support", what, support)]
        found.append((month, at, "tax", what, tax))
    return found


def commitment_payments(answer: Answer, each: Row) -> list[Paid]:
    """Days whole at their start (a calendar's at the end), terms by their upfront part and monthly fees; what is owed
    beyond the plan at its end, or left out."""
    month, key, kind = each["month"], key_of(each), facts.kind_of(each["purchase_option"])
    title, months = " ".join(key), len(answer.question.months)
    money = each["unit"] == "money"
    amount = each["money_per_hour"] if money else each["count"] * price_per_hour(answer, key)
    amount *= _grown(answer, "commitment_price_change_annual", month) * _net(answer, kind)
    if each["unit"] == "node_day":
        return [(month, "start" if kind == "capacity_block" else "end", "commitment", title, 24 * amount)]
    term = facts.term_months(key[3])
    whole = amount * 8760 * term / 12
    upfront = whole * facts.upfront_part(key[3], answer.assumed["partial_upfront_fraction"])
    fee, covered = (whole - upfront) / term, range(month, min(month + term, months + 1))
    beyond = term - len(covered)
    if answer.question.document.get("commitments_beyond_horizon") == "pro_rata":
        upfront, beyond = upfront * len(covered) / term, 0
    rows = [(month, "start", "commitment", title, upfront)]
    rows += [(at, "end", "commitment", title, fee) for at in covered]
    return [*rows, (months, "end", "commitment", title, fee * beyond)]


def _data_payments(answer: Answer, use: Row) -> list[Paid]:
    """The month's data at its place, by its part of the month's work; for a deadline that of all months, over all
    of the work."""
    work, place = answer.work(use), (use["provider"], use["region"])
    due = work.monthly[use["month"] - 1]
    part = use["units"] * (work.deadline / work.demand["total_units"] if work.deadline else 1 / due if due else 0.0)
    stored, sent = work.row.get("storage_gb", 0), work.row.get("egress_gb_per_month", 0)
    amounts = {"transfer": _transfer(answer, work.row, place)}
    if use["provider"]:
        amounts["storage"] = facts.volume_cost(*place, "object_storage", stored) * answer.question.per_dollar
        amounts["egress"] = facts.volume_cost(*place, "egress_internet", sent) * answer.question.per_dollar
    else:
        copies = 1 + answer.assumed["disaster_recovery_fraction"]
        amounts["storage"] = stored * copies * answer.assumed["own_storage_per_gb_month"]
        amounts["egress"] = sent * answer.assumed["own_egress_per_gb"]
    title = " ".join(key_of(use)) if use["provider"] else use["name"]
    rows = [(use["month"], "end", name, title, amount * part) for name, amount in amounts.items() if amount]
    return on_bill(answer, rows) if use["provider"] else rows


def _transfer(answer: Answer, row: Row, place: tuple[str, str]) -> float:
    """Moving a month's data from its region: free inside it, between regions of a provider, else egress."""
    if not row.get("data_region") or not row.get("transfer_gb_per_month"):
        return 0.0
    home, _, region = row["data_region"].partition(" ")
    if (home, region) == place:
        return 0.0
    item = "transfer_inter_region" if home == place[0] else "egress_internet"
    return facts.volume_cost(home, region, item, row["transfer_gb_per_month"]) * answer.question.per_dollar


def _least_support(answer: Answer, rows: list[Paid]) -> list[Paid]:
    """What raises the support plan to its least fee, and the tax on it, in each month with a bill, data alone too, and
    in each that a commitment of the plan covers."""
    least = answer.assumed["cloud_support_minimum_per_month"]
    billed: dict[int, float] = defaultdict(float)
    support: dict[int, float] = defaultdict(float)
    for month, _, category, _, amount in rows:
        if category in BILL:
            billed[month] += amount
            support[month] += amount if category == "cloud_support" else 0.0
    for use in answer.uses if least else ():
        if use["provider"]:
            billed[use["month"]] += math.fsum(row[-1] for row in _data_payments(answer, use))
    months = {month for month, amount in billed.items() if amount > CENT}
    for each in answer.purchases if least else ():
        if each["what"] != "owned" and each["unit"] != "node_day":
            end = each["month"] + facts.term_months(key_of(each)[3])
            months.update(range(each["month"], min(end, len(answer.question.months) + 1)))
    found: list[Paid] = []
    for month in sorted(months):
        if (more := least - support[month]) > 0:
            tax = more * answer.assumed["cloud_tax_fraction"]
            found += [(month, "end", "cloud_support", SUPPORT_PLAN, more), (month, "end", "tax", SUPPORT_PLAN, tax)]
    return found


def sums_agree(answer: Answer) -> Iterator[Fault]:
    """Payments add up to the total and, discounted, to the present cost; parts of uses and workloads to the whole."""
    cash, strategy = answer.strategy["cash"], answer.strategy
    rate = (1 + answer.assumed["discount_rate_annual"]) ** (1 / 12) - 1
    total = math.fsum(row["amount"] for row in cash)
    present = math.fsum(row["amount"] * (1 + rate) ** -(row["month"] - (row["at"] == "start")) for row in cash)
    by_workload = math.fsum(row["cost"] for row in strategy["workloads"])
    for rule, found, wanted in (
        ("total cost", strategy["total_cost"], total),
        ("present cost", strategy["present_cost"], present),
        ("costs of workloads", by_workload, total),
    ):
        if abs(found - wanted) > CENT + 1e-9 * abs(wanted):
            yield Fault(rule, answer.name, found, wanted)
    yield from _bound_is_below_the_cost(answer, present)
    for use in answer.uses:
        paid = math.fsum(row[-1] for row in use_payments(answer, use))
        if abs(use["cost"] - paid) > CENT + 1e-6 * paid:
            yield Fault("cost of a use", f"{use['workload']} month {use['month']}", use["cost"], paid)


def _bound_is_below_the_cost(answer: Answer, present: float) -> Iterator[Fault]:
    bound, gap = answer.strategy["bound"], answer.strategy["gap_fraction"]
    if bound is None or gap is None:
        if (bound, gap, answer.strategy["status"]) != (None, None, "within_gap"):
            yield Fault("bound", answer.name, bound, "none, nor a gap")
        return
    left = gap * abs(answer.strategy["present_cost"])
    if bound > answer.strategy["present_cost"] + CENT or abs(left - (present - bound)) > CENT:
        yield Fault("bound", answer.name, bound, answer.strategy["present_cost"])


def purchases_are_described(answer: Answer) -> Iterator[Fault]:
    """What a purchase shows of its payments and months is what it pays and covers."""
    for each in answer.purchases:
        if each["what"] == "owned":
            continue
        rows = on_bill(answer, commitment_payments(answer, each))
        upfront = math.fsum(row[-1] for row in rows if row[1] == "start")
        if abs(each["upfront"] - upfront) > CENT + 1e-6 * upfront:
            yield Fault("upfront", each["name"], each["upfront"], upfront)
        term = facts.term_months(each["purchase_option"]) or 1
        if (each["usable_from"], each["usable_to"]) != (each["month"], each["month"] + term - 1):
            yield Fault("months of use", each["name"], each["usable_to"], each["month"] + term - 1)


def oldest_price_is_told(answer: Answer) -> Iterator[Fault]:
    dates = [date.fromisoformat(row["as_of"]) for row in answer.plan["prices"]]
    if dates and answer.plan["oldest_price"] != str(min(dates)):
        yield Fault("oldest price", answer.name, answer.plan["oldest_price"], str(min(dates)))


CHECKS = (
    prices_are_the_catalogues, assumptions_are_given, payments_are_made_again, sums_agree, purchases_are_described,
    oldest_price_is_told,
)  # fmt: skip
