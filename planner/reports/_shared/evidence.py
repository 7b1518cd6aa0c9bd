"""The second half of the readable report: what the decision rests on, and what is missing.

Every gap, every assumption and every refused row is named here; prices, rates and readings that the recommendation does
not rest on are counted, and say where they stand in full.
"""

from __future__ import annotations

from collections import Counter

from planner.answer import Assumption, BreakEven, Plan, PriceUsed, RefusedRow, ThroughputUsed
from planner.reports._shared.figures import NONE, number, percent, quantity
from planner.reports._shared.sections import Section, bullets, recommended, table

DEFINITION = "definition"


def age(plan: Plan) -> str:
    """The oldest price and how old it is at the date of the plan."""
    if plan.oldest_price is None:
        return "no price was used"
    return f"{plan.oldest_price}, {(plan.as_of - plan.oldest_price).days:,d} days before {plan.as_of}"


def break_even_months(point: BreakEven) -> str:
    """How long owning takes to pay; "never" where it does not."""
    return "never" if point.month is None else number(point.month)


def break_even_share(point: BreakEven) -> str:
    """The share of hours above which owning is cheaper; "never" where not even full use makes it so."""
    if point.utilisation is None:
        return "never"
    return percent(point.utilisation) if point.utilisation <= 1 else f"never ({percent(point.utilisation)})"


def listed(price: PriceUsed) -> tuple[str, ...]:
    """For a price that is not as listed: what the list says, and which negotiated price was applied."""
    told: tuple[str, ...] = ()
    if price.list_price_per_hour is not None:
        told = (f"list price {number(price.list_price_per_hour, 6)} {price.list_currency} an hour",)
    return (*told, price.adjustment) if price.adjustment else told


def offers_counted(plan: Plan) -> str:
    """How many offers there were and what became of them: an instance type or system in one way of paying each."""
    counts: Counter[str] = Counter()
    for one in plan.considered:
        counts[one.outcome] += max(1, len(one.purchase_options.split()))
    passed_over = counts["not_chosen"] + counts["outdone"]
    told = f"Of {counts.total():,d} offers (an instance type or system in one way of paying) {counts['chosen']:,d} were"
    return f"{told} chosen, {passed_over:,d} considered and {counts['refused']:,d} refused."


def break_even(plan: Plan) -> Section:
    """Every owned system against its equal by the hour."""
    if not plan.break_even:
        return Section("Break-even: owning against renting", ("No owned system has an equal to rent.",))
    rows = [
        (
            point.system,
            point.rented,
            break_even_months(point),
            break_even_share(point),
            f"{point.own_cost_per_accelerator_hour:,.2f}",
            f"{point.rent_cost_per_accelerator_hour:,.2f}",
        )
        for point in plan.break_even
    ]
    titles = ("owned", "rented", "months to break even", "at a use of", "own, per hour", "rent, per hour")
    note = f"Costs are {plan.currency} per accelerator-hour; months count from delivery, at full use, without resale."
    return Section("Break-even: owning against renting", (table(titles, rows, (2, 3, 4, 5)), note))


def throughput(plan: Plan) -> Section:
    """What the recommendation rests on; accelerator-hours by definition and the other strategies' rates are counted."""
    chosen = recommended(plan)
    paid = {(use.workload, use.accelerator) for use in chosen.uses} if chosen else set()
    by_workload: dict[str, list[ThroughputUsed]] = {}
    for used in plan.throughput:
        if used.basis != DEFINITION and (used.workload, used.accelerator) in paid:
            by_workload.setdefault(used.workload, []).append(used)
    rows = [
        row
        for workload, its in by_workload.items()
        for row in [(workload,), *(_rate(used) for used in sorted(its, key=lambda used: used.basis != "measured"))]
    ]
    defined = len({used.workload for used in plan.throughput if used.basis == DEFINITION})
    facts = [f"Stated in accelerator-hours, so without a throughput: {defined} workloads."] if defined else []
    others = len(plan.throughput) - sum(len(its) for its in by_workload.values())
    facts += [f"Rates besides these: {others:,d}; json and xlsx have them with how each was found."] if others else []
    titles = ("accelerator", "gang", "units an hour", "80 % interval", "basis", "how")
    blocks = (table(titles, rows, (1, 2, 3), has_prose=True),) if rows else ()
    return Section(
        "Throughput used, per gang, by workload", (*blocks, bullets(facts or (["None."] if not rows else [])))
    )


def _rate(used: ThroughputUsed) -> tuple[str, ...]:
    interval = f"{quantity(used.low)} to {quantity(used.high)}" if used.low < used.high else NONE
    rate = quantity(used.units_per_hour)
    return used.accelerator, number(used.gang), rate, interval, used.basis.replace("_", " "), used.explanation


def gaps(plan: Plan) -> Section:
    """What was missing or estimated, alike ones together."""
    if not plan.gaps:
        return Section("Gaps", ("None: nothing was missing or estimated.",))
    by_kind: dict[str, dict[str, dict[str, list[str]]]] = {}
    for gap in plan.gaps:
        subjects = by_kind.setdefault(gap.kind, {}).setdefault(gap.effect, {})
        subjects.setdefault(gap.subject, []).extend([gap.workload] if gap.workload else [])
    kinds = [f"{sum(gap.kind == kind for gap in plan.gaps)} {_words(kind)}" for kind in by_kind]
    rows = [
        (_words(kind), f"{len(subjects):,d}", effect, "; ".join(_subject(*entry) for entry in subjects.items()))
        for kind, effects in by_kind.items()
        for effect, subjects in effects.items()
    ]
    titles = ("kind", "how many", "what follows", "for what")
    found = table(titles, rows, (1,), has_prose=True)
    return Section("Gaps", (f"{len(plan.gaps)} in all: {', '.join(kinds)}.", found))


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _subject(subject: str, workloads: list[str]) -> str:
    named = ", ".join(workload for workload in dict.fromkeys(workloads) if workload != subject)
    return f"{subject} (for {named})" if named else subject


def assumptions(plan: Plan) -> Section:
    """Every figure that no price list holds."""
    if not plan.assumptions:
        return Section("Assumptions", ("None.",))
    rows = [_assumption(assumption) for assumption in sorted(plan.assumptions, key=lambda a: not a.overridden)]
    titles = ("name", "value", "unit", "range", "as of", "source")
    changed = sum(assumption.overridden for assumption in plan.assumptions)
    note = (
        f"{changed} of {len(plan.assumptions)} replaced by the request, marked with *."
        if changed
        else "All are defaults."
    )
    return Section("Assumptions", (table(titles, rows, (1,), has_prose=True), note, bullets(plan.conventions)))


def _assumption(a: Assumption) -> tuple[str, ...]:
    known = f"{_end(a.low)} to {_end(a.high)}" if a.low is not None or a.high is not None else NONE
    return f"{a.name} *" if a.overridden else a.name, number(a.value, 6), a.unit, known, str(a.as_of), a.source


def _end(value: float | None) -> str:
    return "?" if value is None else number(value)


def prices(plan: Plan) -> Section:
    """The prices that are paid; those compared are counted."""
    chosen = recommended(plan)
    paid = {(use.provider, use.region, use.name, use.purchase_option) for use in chosen.uses} if chosen else set()
    paid |= {(p.provider, p.region, p.name, p.purchase_option) for p in chosen.purchases} if chosen else set()
    rows = [
        _price(price)
        for price in plan.prices
        if (price.provider, price.region, price.instance_type, price.purchase_option) in paid
    ]
    rates = [f"Converted at {rate.words}." for rate in plan.exchange_rates]
    facts = [
        f"Oldest price used: {age(plan)}.",
        *rates,
        *([f"{offers_counted(plan)} json and xlsx say why."] if plan.considered else []),
        f"Catalogue digest: {plan.catalog_digest}",
        f"Plan: {plan.plan_id}",
    ]
    others = len(plan.prices) - len(rows)
    if others:
        facts.insert(1, f"Prices compared besides these: {others:,d}; json and xlsx have them with their sources.")
    titles = ("where", "node", "option", "per hour", "as of", "source")
    blocks = (table(titles, rows, (3,), has_prose=True), bullets(facts)) if rows else (bullets(facts),)
    return Section(f"Prices that the recommendation pays, {plan.currency}", blocks)


def _price(price: PriceUsed) -> tuple[str, ...]:
    source = ": ".join(part for part in (price.source_id, price.source, price.method) if part)
    source = "; ".join(part for part in (source, *listed(price)) if part)
    place = f"{price.provider} {price.region}"
    cost = number(price.price_per_hour, 6)
    return place, price.instance_type, price.purchase_option, cost, str(price.as_of), source


def inputs(plan: Plan) -> Section:
    """Where the request came from, and every row refused."""
    inputs = plan.inputs
    facts = [f"{inputs.name} ({inputs.format}), sha256 {inputs.sha256}"]
    if inputs.rows_in:
        refused = len(inputs.rows_refused)
        facts.append(f"{inputs.rows_in:,d} rows in = {inputs.rows_used:,d} used + {refused:,d} refused.")
    facts += [_refused(row) for row in inputs.rows_refused]
    facts += inputs.notes
    places = "; ".join(f"{w.name} at {w.place}" for w in plan.workloads if w.place)
    facts += [f"Workloads were read: {places}."] if places else []
    if inputs.readings:
        facts.append(f"Cells read: {len(inputs.readings):,d}; what each became stands in json and xlsx.")
    return Section("Input", (bullets(facts),))


def _refused(row: RefusedRow) -> str:
    read = f" (read: {row.read})" if row.read else ""
    return f"refused {row.place}: {row.reason}{read}"
