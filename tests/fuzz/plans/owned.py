"""Payments for owned nodes, made again from the documented formulas: hardware, site, power, people, resale."""

from __future__ import annotations

import math
from collections import defaultdict

from tests.fuzz.plans.answer import Answer, Row
from tests.fuzz.plans.facts import HOURS

Paid = tuple[int, str, str, str, float]
EXISTING = " (existing)"
OPERATORS = "operators"


def owned_payments(answer: Answer, each: Row) -> list[Paid]:
    """All payments of nodes ordered in a month: hardware, running costs from delivery, resale at the end."""
    name, months, a = each["name"], len(answer.question.months), answer.assumed
    server = _server_price(answer, name)
    network = a["network_fraction_of_capex"]
    hardware = server / (1 - network) * (1 + a["hardware_tax_fraction"]) + server * a["spares_fraction"]
    delivered = each["month"] + round(a["lead_time_months"])
    life, leased = round(a["useful_life_months"]), _finance(answer) == "lease"
    kept = min(life, round(a["lease_months"])) if leased else life
    there = range(delivered, min(delivered + kept, months + 1))
    rows = _hardware(answer, hardware, each["month"], delivered)
    if there:
        rows.append((delivered, "start", "installation", server * a["installation_fraction"]))
        rows += _running(answer, name, there)
        if not leased:
            rows.append((there[-1], "end", "resale", -_resale(answer, name, each["month"], there)))
    return [(month, at, category, name, amount * each["count"]) for month, at, category, amount in rows]


def existing_payments(answer: Answer) -> list[Paid]:
    """Running costs of nodes from before, and where it counts what their value falls by."""
    rows = []
    for line, name, covers, age in answer.held_nodes:
        paid = _running(answer, name, covers)
        if answer.question.document.get("existing_value") == "market":
            paid.append((1, "start", "resale", _value(answer, name, age)))
            paid.append((covers[-1], "end", "resale", -_value(answer, name, age + len(covers))))
        rows += [(month, at, kind, name + EXISTING, amount * line["count"]) for month, at, kind, amount in paid]
    return rows


def operator_payments(answer: Answer) -> list[Paid]:
    """Whole operators, where they are hired one by one: enough for all accelerators on site, at least the least."""
    a, months = answer.assumed, len(answer.question.months)
    if answer.question.document.get("site", {}).get("staff") != "whole":
        return []
    there: dict[int, float] = defaultdict(float)
    for line, name, covers, _ in answer.held_nodes:
        for month in covers:
            there[month] += line["count"] * answer.system(name)["accelerators"]
    for each in answer.purchases:
        if each["what"] == "owned":
            first = each["usable_from"] - round(a["migration_months"])
            for month in range(first, min(each["usable_to"], months) + 1):
                there[month] += each["count"] * each["accelerators_per_node"]
    salary = a["staff_cost_annual"] / 12
    needed = {m: max(math.ceil(a["staff_minimum"]), math.ceil(n / a["accelerators_per_staff"] - 1e-9))
              for m, n in there.items()}  # fmt: skip
    return [(month, "end", "staff", OPERATORS, count * salary) for month, count in needed.items()]


def power_of_use(answer: Answer, use: Row) -> list[Paid]:
    """The power at work on top of the idle draw."""
    if use["what"] != "owned" or answer.question.document.get("site", {}).get("energy_included"):
        return []
    a = answer.assumed
    per_hour = _energy(answer, use["name"], 1.0) * (1 - a["idle_draw_fraction"]) * _tariff(answer, use["month"])
    title = use["name"]
    return [(use["month"], "end", "power", title, per_hour * use["node_hours"])] if per_hour else []


def _finance(answer: Answer) -> str:
    return answer.question.document.get("finance", {}).get("hardware", "cash")


def _server_price(answer: Answer, name: str) -> float:
    return (answer.system(name)["price"] or 0.0) * (1 - answer.assumed["hardware_discount_fraction"])


def _resale(answer: Answer, name: str, ordered: int, there: range) -> float:
    """The deposit loses value from the order, the rest from delivery."""
    deposit = 1.0 if there.start == ordered else answer.assumed["deposit_fraction"]
    return deposit * _value(answer, name, there[-1] + 1 - ordered) + (1 - deposit) * _value(answer, name, len(there))


def _value(answer: Answer, name: str, months: int) -> float:
    a = answer.assumed
    kept = (1 - a["value_loss_annual"]) ** (months / 12) * (1 - a["liquidation_discount_fraction"])
    return _server_price(answer, name) * min(kept, 1 - a["resale_loss_minimum_fraction"])


def _hardware(answer: Answer, amount: float, month: int, delivered: int) -> list[tuple[int, str, str, float]]:
    """Cash with a deposit, a loan on each of these payments, or a lease from delivery on."""
    a, months = answer.assumed, len(answer.question.months)
    if _finance(answer) == "lease":
        term, level = round(a["lease_months"]), a["lease_fraction_per_month"] * amount
        rows = [(at, "start", "financing", level) for at in range(delivered, min(delivered + term - 1, months) + 1)]
        in_full = answer.question.document.get("commitments_beyond_horizon", "full") == "full"
        left = (term - len(rows)) if rows and in_full else 0
        return [*rows, (months, "end", "financing", level * left)]
    deposit = a["deposit_fraction"]
    due = [(month, amount * deposit), (delivered, amount * (1 - deposit))]
    if delivered > months or delivered == month:
        due = [(month, amount)]
    if _finance(answer) == "cash":
        return [(at, "start", "hardware", each) for at, each in due]
    return [row for at, each in due for row in _loan(answer, at, each)]


def _loan(answer: Answer, month: int, amount: float) -> list[tuple[int, str, str, float]]:
    """Level payments at the end of each month; the balance is paid off with the last month of the plan."""
    term, rate = round(answer.assumed["loan_months"]), answer.assumed["loan_rate_annual"] / 12
    level, months = amount / _annuity(rate, term), len(answer.question.months)
    paid = range(month, min(month + term - 1, months) + 1)
    rows = [(at, "end", "financing", level) for at in paid]
    return [*rows, (months, "end", "financing", level * _annuity(rate, term - len(paid)))]


def _annuity(rate: float, periods: int) -> float:
    return float(periods) if rate == 0 else (1 - (1 + rate) ** -periods) / rate


def _tariff(answer: Answer, month: int) -> float:
    return (1 + answer.assumed["electricity_price_growth_annual"]) ** ((month - 1) / 12)


def _energy(answer: Answer, name: str, hours: float) -> float:
    """Cost of the draw at work in so many hours, metered at the site."""
    a = answer.assumed
    draw = answer.power_kw(name) * a["server_power_fraction"] * a["pue"]
    return draw * hours * a["electricity_price_per_kwh"]


def _running(answer: Answer, name: str, months: range) -> list[tuple[int, str, str, float]]:
    """Idle power, space, shared staff, support and licences of one node."""
    a, site = answer.assumed, answer.question.document.get("site", {})
    power, accelerators = answer.power_kw(name), answer.system(name)["accelerators"]
    rent = power * a["colocation_per_kw_month"]
    if site.get("facility") == "colocation_per_rack":
        rent = answer.racks(name) * a["colocation_per_rack_month"]
    if site.get("facility") == "own_room":
        monthly = (1 + a["discount_rate_annual"]) ** (1 / 12) - 1
        rent = power * a["own_room_per_kw"] / _annuity(monthly, round(a["own_room_life_months"]))
    idle = _energy(answer, name, HOURS) * a["idle_draw_fraction"]
    charge = power * a["pue"] * a["electricity_demand_charge_per_kw_month"]
    idle = 0.0 if site.get("energy_included") else idle + charge
    shared = accelerators / a["accelerators_per_staff"] * a["staff_cost_annual"] / 12
    yearly = _server_price(answer, name) * (a["hardware_support_fraction_annual"] + a["insurance_fraction_annual"])
    yearly += accelerators * a["software_licence_per_accelerator_annual"]
    staff = 0.0 if site.get("staff") == "whole" else shared
    rows = []
    for month in months:
        rows += [(month, "end", "power", idle * _tariff(answer, month)), (month, "end", "space", rent)]
        rows += [(month, "end", "staff", staff), (month, "end", "support", yearly / 12)]
    return rows
