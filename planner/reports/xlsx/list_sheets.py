"""The sheets that are lists as the plan has them, such as Resources, Purchases, Throughput, Gaps and Quotas.

Bills of materials, quotas and cells read have no sheet where they are empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from planner.reports._content.bill_of_materials import list_materials
from planner.reports._content.call_prices import meeting_text
from planner.reports._content.emissions import OWN_SITE
from planner.reports._content.evidence import workload_field
from planner.reports._content.number_format import in_words, month_name
from planner.reports._content.recovery import LEVELS
from planner.reports._content.uncertainty import RULES, trigger_text
from planner.reports.xlsx.workbook import Cell, Column, PlanWorkbook
from planner.result import Plan, describe_orders
from pricing.quota import UNIT_WORDS


def write(book: PlanWorkbook, plan: Plan) -> None:
    """Writes the lists, each to a sheet of its own."""
    for name, make_list in LISTS.items():
        note, columns, rows = make_list(plan)
        if rows or name not in NONE_IF_EMPTY:
            book.sheet(name).list(name, note, columns, rows)


SheetList = tuple[str, Sequence[Column], Sequence[Sequence[Cell]]]
"""The note of a list, its columns and its rows."""
UNITS = {"node": "nodes", "node_day": "days of a node", "money": "money an hour"}
_NODE = (
    ("node", 20, "wrap"), ("provider", 10, "text"), ("region", 14, "wrap"), ("option", 15, "wrap"),
    ("accelerator", 13, "wrap"), ("accelerators per node", 12, "figure"),
)  # fmt: skip


def _resources_list(plan: Plan) -> SheetList:
    columns = (
        ("strategy", 9, "text"), ("month", 7, "count"), ("month name", 9, "text"), ("workload", 26, "wrap"),
        ("what", 12, "text"),
        *_NODE, ("nodes at once", 10, "count"), ("node-hours", 12, "figure"), ("work, units", 18, "count"),
        (f"cost of use, {plan.currency}", 15, "money"),
    )  # fmt: skip
    rows = [
        (
            s.name, u.month, month_name(plan, u.month), u.workload, u.what, u.name, u.provider, u.region,
            u.purchase_option, u.accelerator, u.accelerators_per_node, u.nodes_at_once, u.node_hours, u.units, u.cost,
        )
        for s in plan.strategies for u in s.uses
    ]  # fmt: skip
    note = "The nodes of each workload in each month; owned and committed nodes are paid as purchases."
    return note, columns, rows


def _purchases_list(plan: Plan) -> SheetList:
    money = plan.currency
    columns = (
        ("strategy", 9, "text"), ("order month", 9, "text"), ("what", 12, "text"), *_NODE,
        ("amount", 10, "figure"), ("unit", 12, "wrap"), ("dated orders", 24, "wrap"),
        ("usable from", 9, "text"), ("usable to", 9, "text"), ("term, months", 9, "count"),
        (f"upfront, {money}", 16, "money"),
        (f"fee a month, {money}", 15, "money"), (f"present cost, {money}", 16, "money"),
    )  # fmt: skip
    rows = [
        (
            s.name, month_name(plan, p.month), p.what, p.name, p.provider, p.region, p.purchase_option,
            p.accelerator, p.accelerators_per_node, p.amount, UNITS[p.unit],
            describe_orders(p.orders), month_name(plan, p.usable_from), month_name(plan, p.usable_to), p.term_months,
            p.upfront, p.per_month, p.present_cost,
        )
        for s in plan.strategies for p in s.purchases
    ]  # fmt: skip
    return "Purchases and commitments, by order month; amounts are for all nodes of the row.", columns, rows


def _throughput_list(plan: Plan) -> SheetList:
    columns = (
        ("workload", 28, "wrap"), ("accelerator", 16, "wrap"), ("gang, accelerators", 12, "figure"),
        ("units an hour", 18, "figure"),
        ("low", 18, "figure"), ("high", 18, "figure"), ("basis", 28, "wrap"), ("how", 50, "wrap"),
    )  # fmt: skip
    rows = [
        (t.workload, t.accelerator, t.gang, t.units_per_hour, t.low, t.high, in_words(t.basis), t.explanation_text)
        for t in plan.throughput
    ]
    return "Work per hour of one gang; low and high bound 80 % of cases.", columns, rows


def _gaps_list(plan: Plan) -> SheetList:
    columns = (
        ("kind", 18, "text"), ("what is missing or estimated", 40, "wrap"), ("what follows", 70, "wrap"),
        ("workload", 28, "wrap"),
    )  # fmt: skip
    rows = [(in_words(g.kind), g.subject, str(g.effect), g.workload) for g in plan.gaps]
    note = "Missing and estimated inputs, and their effects. No gap was filled with a zero."
    return note, columns, rows


def _materials_list(plan: Plan) -> SheetList:
    columns = (
        ("strategy", 9, "text"), ("ordered", 9, "text"), ("delivered", 10, "text"), ("system", 22, "wrap"),
        ("item", 18, "wrap"), ("quantity", 9, "count"), ("unit", 8, "text"), ("accelerators", 12, "count"),
        ("power at most, kW", 10, "figure"), ("rack units", 8, "figure"), ("racks", 8, "figure"),
        (f"cost each, {plan.currency}", 15, "money"), (f"cost, {plan.currency}", 15, "money"), ("basis", 44, "wrap"),
    )  # fmt: skip
    note = (
        "Hardware that each strategy buys. An empty cell is unknown and leaves its total empty. Costs are before any "
        "loan or lease; the sheet Cash flow has the dates of payment."
    )
    rows = [(s.name, *astuple(line)) for s in plan.strategies for line in list_materials(plan, s)]
    return note, columns, rows


def _quotas_list(plan: Plan) -> SheetList:
    columns = (
        ("strategy", 9, "text"), ("provider", 10, "text"), ("region", 16, "wrap"), ("quota", 26, "wrap"),
        ("title", 40, "wrap"), ("unit", 12, "text"), ("to request", 12, "figure"), ("more", 12, "figure"),
        ("limit", 12, "figure"), ("in use", 12, "figure"), ("runs at once", 12, "figure"), ("by", 9, "text"),
        ("workloads", 40, "wrap"), ("as of", 11, "date"), ("source", 20, "wrap"),
    )  # fmt: skip
    note = "Limits above those of the account. An empty cell under «in use» is unknown and counts in no sum."
    rows = [
        (
            q.strategy, q.provider, q.region, q.code, q.title, UNIT_WORDS[q.unit], q.ask_for, q.ask_for - q.limit,
            q.limit, q.used, q.needed, month_name(plan, q.first_month), ", ".join(q.workloads), q.as_of, q.source_id,
        )
        for q in plan.quota_requests
    ]  # fmt: skip
    return note, columns, rows


def _readings_list(plan: Plan) -> SheetList:
    """Every cell of the input that was used, in the words of the file and as the request has it."""
    heads = (("workload", 46), ("field", 40), ("read at", 20), ("text read", 44), ("value in the request", 44))
    rows = []
    for reading in plan.inputs.readings:
        owner = workload_field(plan, reading.path) or ("", reading.path)
        rows.append((*owner, reading.place, reading.read, reading.value))
    note = "Every cell that was used, and its value in the request. Refused rows and columns: sheet Sources."
    return note, [(head, width, "wrap") for head, width in heads], rows


def _negotiation_list(plan: Plan) -> SheetList:
    money = plan.currency
    columns = (
        ("kind", 8, "text"), ("provider", 10, "text"), ("region", 14, "wrap"), ("for", 26, "wrap"),
        ("option", 24, "wrap"), ("paid by", 9, "text"), (f"counted, {money}", 14, "figure"),
        (f"choice changes at, {money}", 14, "figure"), ("change", 9, "percent"), ("to", 9, "text"),
        (f"spend, present cost, {money}", 16, "money"), (f"saving at stake, {money}", 16, "money"),
        ("basis", 18, "text"),
    )  # fmt: skip
    rows = [
        (
            t.kind, t.provider, t.region, t.name, t.purchase_option, t.paid_by, t.price, t.flip_price,
            t.change_fraction, t.becomes, t.spend, t.at_stake, in_words(t.basis),
        )
        for t in plan.negotiation
    ]  # fmt: skip
    note = "Rates per node-hour, quotes per system. Beyond each price another strategy is the choice, all others kept."
    return note, columns, rows


def _commitments_list(plan: Plan) -> SheetList:
    """A row for each month at whose end a commitment could be left."""
    money = plan.currency
    columns = (
        ("commitment", 26, "wrap"), ("provider", 10, "text"), ("region", 14, "wrap"), ("option", 26, "wrap"),
        ("amount", 10, "figure"), ("unit", 8, "text"), ("from", 9, "text"), ("to", 9, "text"),
        (f"in all, {money}", 16, "money"), ("used", 9, "percent"), ("leaving after", 10, "text"),
        (f"remaining fees, {money}", 16, "money"), (f"upfront not used up, {money}", 16, "money"),
        (f"cost of leaving, {money}", 16, "money"), ("exit", 10, "text"), ("conditions", 50, "wrap"),
        ("source", 40, "wrap"),
    )  # fmt: skip
    rows = [
        (
            c.name, c.provider, c.region, c.purchase_option, c.amount, UNITS[c.unit], month_name(plan, c.month),
            month_name(plan, c.last_month), c.in_all, c.utilisation, month_name(plan, e.month), e.remaining_fees,
            e.lost_upfront, e.cost, c.exit, c.exit_note, c.exit_source,
        )
        for c in (plan.commitments.commitments if plan.commitments else ())
        for e in c.exits
    ]  # fmt: skip
    return (
        "Commitments for a term by the month after which they are left; an empty cost is unknown.",
        columns,
        rows,
    )


def _savings_list(plan: Plan) -> SheetList:
    """Effective savings rate, coverage and utilisation by provider and in all."""
    money = plan.currency
    columns = (
        ("provider", 10, "text"), (f"on demand, {money}", 18, "money"), (f"effective cost, {money}", 18, "money"),
        ("effective savings rate", 12, "percent"), ("coverage", 10, "percent"), ("utilisation", 10, "percent"),
        ("price on demand unknown", 40, "wrap"),
    )  # fmt: skip
    rows = [
        (
            each.provider or "all", each.on_demand_equivalent, each.effective_cost, each.effective_savings_rate,
            each.coverage, each.utilisation, ", ".join(each.unpriced),
        )
        for each in (plan.commitments.savings if plan.commitments else ())
    ]  # fmt: skip
    return "All use of the recommended strategy but spot, against its cost on demand.", columns, rows


def _ladder_list(plan: Plan) -> SheetList:
    """What to commit to now and later under uncertainty."""
    columns = (
        ("from", 9, "text"), ("to", 9, "text"), ("decided", 9, "text"), ("what", 12, "text"), ("node", 22, "wrap"),
        ("provider", 10, "text"), ("region", 14, "wrap"), ("option", 24, "wrap"), ("unit", 12, "text"),
        ("least", 10, "figure"), ("mean", 10, "figure"), ("most", 10, "figure"), ("in cases", 9, "percent"),
        ("trigger", 40, "wrap"), ("trigger tells rightly", 10, "percent"), ("pays from use of", 10, "percent"),
    )  # fmt: skip
    rows = [
        (
            month_name(plan, s.first_month), month_name(plan, s.last_month), "now" if s.is_now else "later", s.what,
            s.name, s.provider, s.region, s.purchase_option, UNITS[s.unit], s.least, s.mean, s.most, s.probability,
            trigger_text(s), None if s.trigger is None else s.trigger.accuracy, s.break_even_utilisation,
        )
        for s in (plan.uncertainty.ladder if plan.uncertainty else ())
    ]  # fmt: skip
    return "Orders and commitments over all scenarios; what is decided now is the same in each.", columns, rows


def _uncertainty_list(plan: Plan) -> SheetList:
    """What comes of each rule for the first decisions of each strategy."""
    money = plan.currency
    columns = (
        ("strategy", 9, "text"), ("first decisions", 32, "wrap"), (f"mean cost, {money}", 18, "money"),
        (f"mean of the dearest cases, {money}", 18, "money"), ("impossible in", 10, "percent"),
        (f"objective, {money}", 18, "money"), (f"proven bound, {money}", 18, "money"),
        (f"VSS, {money}", 16, "money"), (f"EVPI, {money}", 16, "money"),
        (f"EVPI at most, {money}", 16, "money"), (f"mean regret, {money}", 16, "money"),
        (f"largest regret, {money}", 16, "money"), (f"price of being robust, {money}", 16, "money"),
    )  # fmt: skip
    rows: list[Sequence[Cell]] = []
    for each in plan.uncertainty.strategies if plan.uncertainty else ():
        of_strategy: tuple[Cell, ...] = (
            each.objective, each.bound, each.stochastic_value, each.information_value, each.information_value_max,
            each.mean_regret, each.largest_regret, each.robustness_cost,
        )  # fmt: skip
        for rule in each.rules:
            is_best = rule.rule == (
                "least_objective" if plan.uncertainty and plan.uncertainty.tail_weight else "least_mean"
            )
            amounts = of_strategy if is_best else (None,) * len(of_strategy)
            costs = (rule.mean_cost, rule.tail_cost, rule.impossible_fraction)
            rows.append((each.strategy, RULES[rule.rule], *costs, *amounts))
    return (
        (
            "Each rule is followed by the best later decisions in each scenario; present costs. VSS: value of the "
            "stochastic solution; EVPI: expected value of perfect information; price of being robust: present cost of"
            " the plan above that of the best plan for the planned figures alone."
        ),
        columns,
        rows,
    )


def _emissions_list(plan: Plan) -> SheetList:
    columns = (
        ("strategy", 9, "text"), ("month", 7, "count"), ("month name", 9, "text"), ("provider", 10, "text"),
        ("region", 16, "wrap"), ("node-hours", 12, "figure"), ("energy, kWh", 14, "figure"),
        ("carbon, kg CO2e", 14, "figure"),
    )  # fmt: skip
    rows = [
        (
            s.name, row.month, month_name(plan, row.month), row.provider, row.region or OWN_SITE, row.node_hours,
            row.energy_kwh, row.carbon_kg,
        )
        for s in plan.strategies for row in s.emissions
    ]  # fmt: skip
    note = "At the meter of the site, by the mean emission of its grid. An empty cell is not known; it is not zero."
    return note, columns, rows


def _recovery_list(plan: Plan) -> SheetList:
    money = plan.currency
    columns = (
        ("workload", 26, "wrap"), ("place", 20, "wrap"), ("level", 34, "wrap"), ("in the plan", 8, "text"),
        ("nodes there", 10, "figure"), (f"cost added, {money}", 16, "money"),
        (f"present cost added, {money}", 16, "money"), ("hours to a part", 10, "figure"),
        ("hours to all", 10, "figure"), ("minutes are", 16, "wrap"),
    )  # fmt: skip
    rows = [
        (
            each.workload, each.place, LEVELS[each.level], "yes" if each.is_chosen else "no", each.nodes,
            each.cost_added, each.present_cost_added, each.hours_to_part, each.hours_to_all,
            "stated" if each.is_stated else "planning values",
        )
        for each in plan.recovery
    ]  # fmt: skip
    note = "Levels of disaster recovery, each planned in the recommended strategy with all else equal. Planning values"
    return f"{note} are no measurements: state the minutes of your own drill in assumptions.", columns, rows


def _calls_list(plan: Plan) -> SheetList:
    money = plan.currency
    columns = (
        ("workload", 26, "wrap"), ("called", 26, "wrap"), ("price as of", 11, "date"), ("source", 26, "wrap"),
        ("tokens a month", 18, "count"), (f"own, {money} per million", 14, "figure"),
        (f"called, {money} per million", 14, "figure"), (f"own cost, {money}", 16, "money"),
        (f"calls, {money}", 16, "money"), ("same cost at, tokens a month", 24, "wrap"),
    )  # fmt: skip
    rows = [
        (
            each.workload, each.called, each.as_of, each.source, each.tokens_per_month, each.own_cost_per_million,
            each.call_cost_per_million, each.own_cost, each.call_cost, meeting_text(each),
        )
        for each in plan.calls
    ]  # fmt: skip
    return "Self-run models against stated prices per token; costs over the whole plan.", columns, rows


LISTS = {
    "Savings rates": _savings_list,
    "Commitments": _commitments_list,
    "Ladder": _ladder_list,
    "Uncertainty": _uncertainty_list,
    "Resources": _resources_list,
    "Purchases": _purchases_list,
    "Emissions": _emissions_list,
    "Recovery": _recovery_list,
    "Build or call": _calls_list,
    "Throughput": _throughput_list,
    "Gaps": _gaps_list,
    "Bill of materials": _materials_list,
    "Quotas": _quotas_list,
    "Negotiation": _negotiation_list,
    "As read": _readings_list,
}
NONE_IF_EMPTY = (
    "Savings rates", "Commitments", "Emissions", "Recovery", "Build or call", "Ladder", "Uncertainty",
    "Bill of materials", "Quotas", "Negotiation", "As read",
)  # fmt: skip
