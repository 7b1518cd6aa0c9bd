"""What a request leaves to decide, as plain figures: the part of the product that the proofs take as given.

Taken over: what runs where and how fast (the market), demand by month and block, and the dated payments of one
commitment or one owned node. Made here again, from the words of the request alone: discounts, support and tax on a
bill, what money is worth today, who may run at once, what counts against which limit. Nothing of
`planner.optimization` is used.
"""

from __future__ import annotations

import math
from calendar import monthrange
from dataclasses import dataclass, replace

from planner.finance.cashflow import Terms
from planner.request import assumptions as figures
from planner.supply import existing as holdings
from planner.supply import onprem, purchase_options
from planner.supply import payments as paying
from planner.supply.candidates import build_market
from planner.supply.validation import resolve_names
from planner.workloads.demand import compute_demands
from planner.workloads.eligibility import accelerator_hours_rate
from pricing.catalog.adjusted_prices import adjust_catalog

HOURS = 730.0

Paid = tuple[int, str, str, float]
"""Month, start or end, category, amount."""


@dataclass(frozen=True)
class Work:
    """One workload: `due[t][b]` units in every month and block (in block 0 where it may run at any hour).

    `standing` is work that is tied to hours of the week, `shares` whether it says that it shares nodes.
    """

    name: str
    standing: bool
    due: tuple[tuple[float, ...], ...]
    monthly: tuple[float, ...]
    deadline: int | None
    at_once: int | None
    spare: int
    spot_share: float
    spread: bool
    shares: bool


@dataclass(frozen=True)
class Way:
    """A workload on a source: `speed` in units a node-hour, `span` nodes a gang, `granule` nodes that one gang takes.

    `data` is what the whole of a month's storage, egress and transfer costs there.
    """

    work: int
    source: int
    speed: float
    span: int
    granule: float
    accelerator: str
    gang: float
    spot: bool
    data: float

    @property
    def gang_rate(self) -> float:
        """Units that one gang does in an hour."""
        return self.speed * self.granule


@dataclass(frozen=True)
class Source:
    """Where node-hours come from. `kind`: hourly (also those that committed money covers), nodes, days or money.

    `hour[t]` is what a node-hour costs in month t + 1, `starts` the payments of one unit started in a month with the
    months it then covers, `there` the months in which what was started stands
    on the site, `weight` the money that an hour takes of pool `pool`, `counts` the quotas that a node takes, `last` the
    last month in which it works. `place` is provider, region and type, or the owned system alone.
    """

    key: tuple[str, ...]
    kind: str
    place: tuple[str, ...]
    hour: tuple[float, ...] = ()
    starts: tuple[tuple[int, range, tuple[Paid, ...]], ...] = ()
    fixed: int | None = None
    owned: bool = False
    power_kw: float = 0.0
    racks: float = 0.0
    accelerators: float = 0.0
    there: tuple[range, ...] = ()
    pool: tuple[str, ...] = ()
    weight: float = 1.0
    counts: tuple[tuple[tuple[str, ...], float], ...] = ()
    last: int | None = None


@dataclass(frozen=True)
class Given:
    """One question under one strategy; months count from 0 here.

    `operators`, where they are hired one by one: what one costs a month, accelerators that one looks after, the fewest.
    """

    months: int
    days: tuple[int, ...]
    block_hours: tuple[float, ...]
    rate: float
    works: tuple[Work, ...]
    sources: tuple[Source, ...]
    ways: tuple[Way, ...]
    hourly_until: tuple[int, ...]
    capex: tuple[float, ...] | None
    opex: tuple[float, ...] | None
    power_kw: float | None
    racks: float | None
    operators: tuple[float, float, float] | None
    free: dict[tuple[str, ...], float]

    def worth(self, paid: tuple[Paid, ...]) -> float:
        """Present cost, by (1 + r)^-(months from now)."""
        return math.fsum(a * (1 + self.rate) ** -(month - (at == "start")) for month, at, _, a in paid)


def read(request, catalog, strategy: str = "hybrid") -> Given | None:
    """None where the strategy has nothing to own."""
    request = resolve_names(request, catalog)
    catalog = adjust_catalog(catalog, request.currency, request.as_of)
    given = dict(request.assumptions)
    if request.discount_rate_annual is not None:
        given["discount_rate_annual"] = request.discount_rate_annual
    assumed = figures.override_assumptions(figures.load_defaults(), given, request.as_of)
    a = {name: row.value for name, row in assumed.items()}
    terms = Terms(
        request.months, HOURS, a["discount_rate_annual"], a["cloud_price_change_annual"], a["partial_upfront_fraction"],
        request.commitments_beyond_horizon == "full", a["spot_price_change_annual"],
        a["commitment_price_change_annual"], a["enterprise_discount_fraction"], a["cloud_support_fraction"],
        a["cloud_tax_fraction"],
    )  # fmt: skip
    needed = compute_demands(
        request, HOURS, {w.name: accelerator_hours_rate(w, catalog.names) for w in request.workloads}
    )
    nodes, _ = onprem.buyable_nodes(catalog, assumed, request)
    held, _ = holdings.list_existing_resources(request, catalog, assumed, terms, needed.month_names)
    found = build_market(request, needed, catalog, nodes, assumed, held)
    bill = _bill(a)
    lead = round(a["lead_time_months"])
    terms = replace(terms, order_ahead_months=min(lead, _months_ahead(request, needed.month_names[0])))
    sources = [_source(r, request, terms, assumed, a, bill) for r in found.resources]
    pools = {s.pool: n for n, s in enumerate(sources) if s.pool}
    works = tuple(_work(need, needed.block_hours, request) for need in needed.needs)
    ways = tuple(
        Way(
            c.need, c.resource, c.units_per_node_hour, c.nodes_per_gang,
            float(c.nodes_per_gang) if c.nodes_per_gang > 1 else 1 / c.gangs_per_node,
            found.resources[c.resource].accelerator, c.gang, _kind(found.resources[c.resource]) == "spot",
            c.around.total * (1.0 if sources[c.resource].owned else bill),
        )
        for c in found.candidates
    )  # fmt: skip
    for pool, member in pools.items():
        sources.append(_money(pool, found.resources[member], terms, a, bill))
    until = tuple(request.months for _ in works)
    allowed = set(range(len(ways)))
    if strategy == "cloud":
        allowed = {n for n, w in enumerate(ways) if not _bought(sources[w.source])}
    if strategy == "onprem":
        owned = (sources[w.source] for w in ways if sources[w.source].owned)
        if not any(source.starts or source.fixed is not None for source in owned):
            return None
        can = {w.work for w in ways if _bought(sources[w.source]) and sources[w.source].starts}
        wait = min(round(lead - terms.order_ahead_months + a["migration_months"]), request.months)
        until = tuple(wait if k in can else request.months for k in range(len(works)))
        allowed = {n for n, w in enumerate(ways) if w.work not in can or _stays(sources[w.source])}
    yearly = math.ceil(request.months / 12)
    limits = request.limits
    return Given(
        request.months, tuple(_days(name) for name in needed.month_names), needed.block_hours,
        (1 + a["discount_rate_annual"]) ** (1 / 12) - 1, works, tuple(sources),
        tuple(w for n, w in enumerate(ways) if n in allowed), until, _each_year(limits.capex_per_year, yearly),
        _each_year(limits.opex_per_year, yearly), limits.owned_power_kw,
        limits.owned_racks,
        (a["staff_cost_annual"] / 12, a["accelerators_per_staff"], a["staff_minimum"])
        if request.site.staff == "whole"
        else None,
        {(q.provider, q.region, q.code): max(q.limit - (q.used or 0.0), 0.0) for q in request.quotas}
        if limits.quotas == "hold"
        else {},
    )  # fmt: skip


def _bill(a: dict[str, float]) -> float:
    """What one unit on a cloud bill costs with support, and tax on both."""
    return (1 + a["cloud_support_fraction"]) * (1 + a["cloud_tax_fraction"])


def _months_ahead(request, first: str) -> int:
    """How many months before the plan's first an order can go out: on the first day of a month, not before `as_of`."""
    year, month = (int(part) for part in first.split("-"))
    date = request.as_of
    return (year - date.year) * 12 + month - date.month - (date.day > 1)


def _days(month: str) -> int:
    return monthrange(*(int(part) for part in month.split("-")))[1]


def _bought(source: Source) -> bool:
    return source.owned and source.fixed is None


def _stays(source: Source) -> bool:
    """What a workload that can be owned may use under onprem: owned nodes, what is held, and hours until they come."""
    return source.owned or source.fixed is not None or (source.kind == "hourly" and not source.pool)


def _each_year(yearly, years: int) -> tuple[float, ...] | None:
    if yearly is None:
        return None
    amounts = yearly if isinstance(yearly, list) else [yearly]
    return tuple((amounts + [amounts[-1]] * years)[:years])


def _kind(resource) -> str:
    return resource.quote.price.kind if resource.quote is not None else "owned"


def _work(need, block_hours: tuple[float, ...], request) -> Work:
    stated = need.workload
    standing = need.levels is not None
    total_hours = math.fsum(block_hours)
    due = tuple(
        tuple(units * level * hours / total_hours for level, hours in zip(need.levels, block_hours, strict=True))
        if standing
        else (units, *(0.0 for _ in block_hours[1:]))
        for units in need.monthly
    )
    one = stated.kind == "training" and stated.demand.deadline_month is not None
    at_once = stated.parallel_jobs if stated.parallel_jobs is not None else 1 if one else None
    share = stated.spot_fraction_max
    if share is None:
        share = 1.0 if request.limits.spot_fraction_max is None else request.limits.spot_fraction_max
    return Work(
        stated.name, standing, due, need.monthly, need.deadline, at_once, stated.spare_replicas if standing else 0,
        share, stated.spread, stated.shares_nodes,
    )  # fmt: skip


def _still_owed(resource, assumed, terms: Terms):
    """What one of the nodes that are there already still costs."""
    count = resource.held.count
    rows = paying.resource_payments(resource, 1, count, assumed, terms)
    return tuple((p.month, p.at, p.category, p.amount / count) for p in rows)


def _owned(resource, terms: Terms, assumed) -> Source:
    node = resource.node
    if resource.held is not None:
        fees = _still_owed(resource, assumed, terms)
        starts, there = ((1, resource.held.covers, fees),), (resource.held.covers,)
    else:
        orders = [
            (month, covers)
            for month in range(1 - terms.order_ahead_months, terms.months + 1)
            if (covers := onprem.usable_months(month, assumed, terms, node.finance))
        ]
        starts = tuple(
            (month, covers, _rows(onprem.node_payments(node, month, 1, assumed, terms))) for month, covers in orders
        )
        there = tuple(onprem.delivered_months(month, assumed, terms, node.finance) for month, _ in orders)
    use = tuple(
        math.fsum(p.amount for p in onprem.node_use_payments(node, month, 1.0, assumed))
        for month in range(1, terms.months + 1)
    )
    return Source(
        resource.key, "nodes", (node.name,), use, starts,
        resource.held.count if resource.held is not None else None,
        owned=True, power_kw=node.max_power_kw,
        racks=onprem.node_rack_fraction(node, assumed), accelerators=float(node.accelerators), there=there,
    )  # fmt: skip


def _source(resource, request, terms: Terms, assumed, a: dict[str, float], bill: float) -> Source:
    if resource.node is not None:
        return _owned(resource, terms, assumed)
    price = resource.quote.price
    place = price.key[:3]
    counts = _counts(resource.quote, request)
    if resource.held is not None:
        fees = _still_owed(resource, assumed, terms)
        start = (1, resource.held.covers, fees)
        return Source(
            resource.key, "nodes", place, starts=(start,), fixed=resource.held.count, last=resource.last_month
        )
    option = purchase_options.load_purchase_options()[price.kind]
    kept = 1 - (a["enterprise_discount_fraction"] if price.kind in ("on_demand", "reserved", "committed_use") else 0.0)
    if price.kind in ("on_demand", "spot"):
        change = a["spot_price_change_annual" if price.kind == "spot" else "cloud_price_change_annual"]
        hour = tuple(price.price_per_hour * (1 + change) ** (t / 12) * kept * bill for t in range(terms.months))
        return Source(resource.key, "hourly", place, hour, counts=counts, last=resource.last_month)
    if price.kind == "savings_plan":
        scope = (price.region, price.instance_type.split(".")[0]) if price.offering_class == "instance" else ("", "")
        pool = (price.provider, *scope, price.purchase_option)
        free = (0.0,) * terms.months
        return Source(
            resource.key, "hourly", place, free, pool=pool, weight=price.price_per_hour, counts=counts,
            last=resource.last_month,
        )  # fmt: skip
    kind = "days" if price.kind == "capacity_block" else "nodes"
    starts = _starts(option, price, terms, kept * bill)
    if resource.last_start is not None:
        starts = tuple(start for start in starts if start[0] <= resource.last_start)
    return Source(resource.key, kind, place, starts=starts, counts=counts, last=resource.last_month)


def _starts(option, price, terms: Terms, factor: float) -> tuple[tuple[int, range, tuple[Paid, ...]], ...]:
    return tuple(
        (month, option.usable(price, month, terms), _rows(option.payments(price, month, 1, terms), factor))
        for month in range(1, terms.months + 1)
    )


def _money(pool: tuple[str, ...], member, terms: Terms, a: dict[str, float], bill: float) -> Source:
    """One unit of money an hour committed: what any commitment at a price of 1 an hour costs."""
    one = replace(member.quote.price, price_per_hour=1.0)
    kept = 1 - a["enterprise_discount_fraction"]
    starts = _starts(purchase_options.load_purchase_options()["savings_plan"], one, terms, kept * bill)
    return Source(("money", *pool), "money", (), starts=starts, pool=pool)


def _rows(payments, factor: float = 1.0) -> tuple[Paid, ...]:
    return tuple((p.month, p.at, p.category, p.amount * factor) for p in payments)


def _counts(quote, request) -> tuple[tuple[tuple[str, ...], float], ...]:
    """The quotas that one node takes, and how much of each."""
    found = []
    if request.limits.quotas == "hold":
        for line in request.quotas:
            price = quote.price
            if (line.provider, line.region) == (price.provider, price.region) and line.quota.counts(
                price.instance_type, price.kind
            ):
                vcpus, count = quote.offering.vcpus, quote.offering.accelerator_count
                each = {"node": 1.0, "vcpu": vcpus, "accelerator": count}[line.unit]
                if each is not None:
                    found.append(((line.provider, line.region, line.code), float(each)))
    return tuple(found)
