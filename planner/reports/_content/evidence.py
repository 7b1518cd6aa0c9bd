"""The second half of the readable report: the evidence for the decision, and its gaps.

Every gap and every refused row is listed; assumptions, prices, rates and readings that the plan does not use are
counted, with the formats that list them.
"""

from __future__ import annotations

import re
from collections import Counter

from planner.reports._content.number_format import NO_VALUE, format_number, format_percent, format_quantity, in_words
from planner.reports._content.repricing import LedgerRepricing
from planner.reports._content.sections import Section, make_bullets, make_table, recommended_strategy
from planner.result import Assumption, BreakEven, Plan, PriceUsed, RefusedRow, ThroughputUsed
from pricing.counted_nouns import format_count

DEFINITION = "definition"
WORKLOAD_PATH = re.compile(r"workloads\[(\d+)\]\.(.+)")


def price_age_text(plan: Plan) -> str:
    """The oldest price and how old it is at the date of the plan."""
    if plan.oldest_price is None:
        return "no price was used"
    return f"{plan.oldest_price}, {format_count((plan.as_of - plan.oldest_price).days, 'day')} before {plan.as_of}"


def workload_field(plan: Plan, path: str) -> tuple[str, str] | None:
    """The workload's name and its field that a path of the request leads to; None for any other path."""
    match = WORKLOAD_PATH.fullmatch(path)
    if match is None or int(match[1]) >= len(plan.workloads):
        return None
    return plan.workloads[int(match[1])].name, match[2]


def break_even_months(point: BreakEven) -> str:
    """How long owning takes to pay; "never" where it does not."""
    return "never" if point.month is None else format_number(point.month)


def break_even_share(point: BreakEven) -> str:
    """The share of hours above which owning is cheaper; "never" if renting is cheaper even at full use."""
    if point.utilisation is None:
        return "never"
    share = format_percent(point.utilisation)
    return share if point.utilisation <= 1 else f"never ({share})"


def list_price_notes(price: PriceUsed) -> tuple[str, ...]:
    """For a price that differs from the list: the list price, and the negotiated price that was applied."""
    notes: tuple[str, ...] = ()
    if price.list_price_per_hour is not None:
        notes = (f"list price {format_number(price.list_price_per_hour, 6)} {price.list_currency} an hour",)
    return (*notes, price.adjustment) if price.adjustment else notes


def offer_counts_text(plan: Plan) -> str:
    """The number of offers by outcome: an offer is an instance type or system with one purchase option."""
    counts: Counter[str] = Counter()
    for one in plan.considered:
        counts[one.outcome] += max(1, len(one.purchase_options.split()))
    passed_over = counts["not_chosen"] + counts["outdone"]
    offers = f"Of {counts.total():,d} offers (an instance type or system with one purchase option)"
    return f"{offers} {counts['chosen']:,d} were chosen, {passed_over:,d} compared and {counts['refused']:,d} refused."


def break_even_section(plan: Plan) -> Section:
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
    return Section("Break-even: owning against renting", (make_table(titles, rows, (2, 3, 4, 5)), note))


def throughput_section(plan: Plan) -> Section:
    """The rates that the recommendation uses; definitions and other strategies' rates are counted."""
    chosen = recommended_strategy(plan)
    paid = {(use.workload, use.accelerator) for use in chosen.uses} if chosen else set()
    by_workload: dict[str, list[ThroughputUsed]] = {}
    for used in plan.throughput:
        if used.basis != DEFINITION and (used.workload, used.accelerator) in paid:
            by_workload.setdefault(used.workload, []).append(used)
    rows: list[tuple[str, ...]] = []
    for workload, its in by_workload.items():
        rows.append((workload,))
        rows += [_throughput_row(used) for used in sorted(its, key=lambda used: used.basis != "measured")]
    defined = len({used.workload for used in plan.throughput if used.basis == DEFINITION})
    facts = (
        [f"Stated in accelerator-hours, so without a throughput: {format_count(defined, 'workload')}."]
        if defined
        else []
    )
    others = len(plan.throughput) - sum(len(its) for its in by_workload.values())
    facts += [f"Other rates: {others:,d}; json and xlsx have them with their derivation."] if others else []
    titles = ("accelerator", "gang", "units an hour", "80 % interval", "basis", "how")
    blocks = (make_table(titles, rows, (1, 2, 3), has_prose=True),) if rows else ()
    facts = facts if rows or facts else ["None."]
    return Section("Throughput used, per gang, by workload", (*blocks, make_bullets(facts)))


def _throughput_row(used: ThroughputUsed) -> tuple[str, ...]:
    interval = f"{format_quantity(used.low)} to {format_quantity(used.high)}" if used.low < used.high else NO_VALUE
    rate = format_quantity(used.units_per_hour)
    return used.accelerator, format_number(used.gang), rate, interval, in_words(used.basis), used.explanation_text


def gaps_section(plan: Plan) -> Section:
    """Missing and estimated inputs, equal ones together."""
    if not plan.gaps:
        return Section("Gaps", ("None: no input was missing or estimated.",))
    by_kind: dict[str, dict[str, dict[str, list[str]]]] = {}
    for gap in plan.gaps:
        subjects = by_kind.setdefault(gap.kind, {}).setdefault(str(gap.effect), {})
        subjects.setdefault(gap.subject, []).extend([gap.workload] if gap.workload else [])
    kinds = [f"{sum(gap.kind == kind for gap in plan.gaps)} {in_words(kind)}" for kind in by_kind]
    rows = [
        (in_words(kind), f"{len(subjects):,d}", effect, "; ".join(_subject_text(*each) for each in subjects.items()))
        for kind, effects in by_kind.items()
        for effect, subjects in effects.items()
    ]
    titles = ("kind", "how many", "its effect", "affected subjects")
    gap_table = make_table(titles, rows, (1,), has_prose=True)
    return Section("Gaps", (f"{len(plan.gaps)} in all: {', '.join(kinds)}.", gap_table))


def _subject_text(subject: str, workloads: list[str]) -> str:
    named = ", ".join(workload for workload in dict.fromkeys(workloads) if workload != subject)
    return f"{subject} (for {named})" if named else subject


def assumptions_section(plan: Plan) -> Section:
    """The figures that payments of the plan are made of, and those of the request; the others are counted."""
    if not plan.assumptions:
        return Section("Assumptions", ("None.",))
    read = LedgerRepricing(plan).read_assumptions if plan.ledger.lines else {each.name for each in plan.assumptions}
    listed = [each for each in plan.assumptions if each.overridden or each.name in read]
    rows = [_assumption_row(assumption) for assumption in sorted(listed, key=lambda a: not a.overridden)]
    titles = ("name", "value", "unit", "range", "as of", "source")
    changed = sum(assumption.overridden for assumption in plan.assumptions)
    replaced = f"{changed} of {len(plan.assumptions)} replaced by the request, marked with *."
    table, conventions = make_table(titles, rows, (1,), has_prose=True), make_bullets(map(str, plan.conventions))
    facts = [replaced if changed else "All are defaults."]
    if left := len(plan.assumptions) - len(listed):
        facts.append(f"{left} more are part of no payment: limits, ages, what is not bought; json and xlsx have them.")
    return Section("Assumptions", (table, " ".join(facts), conventions))


def _assumption_row(a: Assumption) -> tuple[str, ...]:
    ends = ["?" if end is None else format_number(end) for end in (a.low, a.high)]
    known = NO_VALUE if a.low is None and a.high is None else " to ".join(ends)
    return f"{a.name} *" if a.overridden else a.name, format_number(a.value, 6), a.unit, known, str(a.as_of), a.source


def plan_names(plan: Plan) -> str:
    """The two names of a plan: of the question, and of the answer."""
    return f"Plan: {plan.plan_id}; digest of its content: {plan.content_digest or NO_VALUE}"


def prices_section(plan: Plan) -> Section:
    """The prices that are paid; those compared are counted."""
    chosen = recommended_strategy(plan)
    paid = {(use.provider, use.region, use.name, use.purchase_option) for use in chosen.uses} if chosen else set()
    paid |= {(p.provider, p.region, p.name, p.purchase_option) for p in chosen.purchases} if chosen else set()
    rows = [
        _price_row(price)
        for price in plan.prices
        if (price.provider, price.region, price.instance_type, price.purchase_option) in paid
    ]
    rates = [f"Converted at {rate.words}." for rate in plan.exchange_rates]
    facts = [
        f"Oldest price used: {price_age_text(plan)}.",
        *rates,
        *([f"{offer_counts_text(plan)} json and xlsx have the reasons."] if plan.considered else []),
        f"Catalogue digest: {plan.catalog_digest}",
        plan_names(plan),
    ]
    others = len(plan.prices) - len(rows)
    if others:
        facts.insert(1, f"Other prices compared: {others:,d}; json and xlsx have them with their sources.")
    titles = ("where", "node", "option", "per hour", "as of", "source")
    blocks = (make_table(titles, rows, (3,), has_prose=True), make_bullets(facts)) if rows else (make_bullets(facts),)
    return Section(f"Prices that the recommendation pays, {plan.currency}", blocks)


def _price_row(price: PriceUsed) -> tuple[str, ...]:
    source = ": ".join(part for part in (price.source_id, price.source, price.method) if part)
    source = "; ".join(part for part in (source, *list_price_notes(price)) if part)
    place = f"{price.provider} {price.region}"
    cost = format_number(price.price_per_hour, 6)
    return place, price.instance_type, price.purchase_option, cost, str(price.as_of), source


def input_section(plan: Plan) -> Section:
    """Where the request came from, and every row refused."""
    inputs = plan.inputs
    facts = [f"{inputs.name} ({inputs.format}), sha256 {inputs.sha256}"]
    if inputs.rows_in:
        refused = len(inputs.rows_refused)
        facts.append(f"{format_count(inputs.rows_in, 'row')} in = {inputs.rows_used:,d} used + {refused:,d} refused.")
    facts += [_rejection_text(row) for row in inputs.rows_refused]
    facts += inputs.notes
    places = "; ".join(f"{w.name} at {w.place}" for w in plan.workloads if w.place)
    facts += [f"Workloads were read: {places}."] if places else []
    if inputs.readings:
        facts.append(f"Cells read: {len(inputs.readings):,d}; json and xlsx have the value of each.")
    return Section("Input", (make_bullets(facts),))


def _rejection_text(row: RefusedRow) -> str:
    read = f" (read: {row.read})" if row.read else ""
    return f"refused {row.place}: {row.reason}{read}"
