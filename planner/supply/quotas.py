"""Quotas of an account against the strategies of a plan: which to raise, where, by how much and when.

Unless the request enforces them, quotas do not constrain a plan; they are compared with it afterwards. This module
knows no cloud: a quota carries the rule of what counts against it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from itertools import groupby

from planner.request.models import Request
from planner.result import Gap, QuotaRequest, Strategy
from planner.result.message import Message, message
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import parse_purchase_option
from pricing.quota import Quota
from pricing.units import HOURS_PER_MONTH

STALE_DAYS = 30
HOURS_PER_DAY = 24
NOISE_DIGITS = 6
"""Decimals of a number of nodes that are more than the solver's tolerance."""
NO_CAPACITY_GAP = Gap("no_capacity_figure", "capacity", message("stock_unknown"))


@dataclass(frozen=True, slots=True, order=True)
class RentedNodeType:
    """Nodes of one type that run in one region under one kind of price."""

    provider: str
    region: str
    instance_type: str
    kind: str


@dataclass(frozen=True, slots=True)
class RunningNodes:
    """How many nodes of one kind run in each month, and for which workloads."""

    nodes: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    workloads: dict[str, None] = field(default_factory=dict)


def count_running_nodes(request: Request, strategy: Strategy) -> dict[RentedNodeType, RunningNodes]:
    """All rented nodes of a strategy. Committed nodes count while they are paid for, whether or not work runs on them;
    days of nodes are spread over their month.

    Work that may run at any hour of its month is counted spread evenly over it, in whole gangs where a gang spans
    nodes. The nodes that different workloads use in part add up, as do their busiest hours; of workloads that share
    nodes the busiest hour of all together counts.
    """
    by_type: dict[RentedNodeType, RunningNodes] = {}
    sharing = {workload.name for workload in request.workloads if workload.shares_nodes}
    pooled: dict[tuple[RentedNodeType, int], list[Sequence[float]]] = defaultdict(list)
    for use in strategy.uses:
        if option := parse_purchase_option(use.purchase_option):
            node_type = RentedNodeType(use.provider, use.region, use.name, option.kind)
            line = by_type.setdefault(node_type, RunningNodes())
            line.workloads[use.workload] = None
            if use.what == "hourly" and use.workload in sharing:
                pooled[node_type, use.month].append(use.block_nodes or (use.nodes,))
            elif use.what == "hourly":
                line.nodes[use.month] += use.nodes
    for (node_type, month), uses in pooled.items():
        by_type[node_type].nodes[month] += count_in_busiest_block(uses)
    for purchase in strategy.purchases:
        if purchase.unit != "money" and (option := parse_purchase_option(purchase.purchase_option)):
            line = by_type.setdefault(
                RentedNodeType(purchase.provider, purchase.region, purchase.name, option.kind), RunningNodes()
            )
            at_once = purchase.count if purchase.unit == "node" else purchase.count * HOURS_PER_DAY / HOURS_PER_MONTH
            for month in range(purchase.usable_from, min(purchase.usable_to, request.months) + 1):
                line.nodes[month] += at_once
    return by_type


def count_in_busiest_block(uses: Sequence[Sequence[float]]) -> float:
    """The most nodes at once of uses that share nodes: the nodes of each in every load block, or one number for all."""
    blocks = max(map(len, uses), default=0)
    return max((math.fsum(use[min(block, len(use) - 1)] for use in uses) for block in range(blocks)), default=0.0)


@dataclass(frozen=True, slots=True)
class QuotaNeed:
    """The need of one strategy for one quota, in its unit, by month; the size of `uncounted` types is unknown."""

    quota: Quota
    by_month: dict[int, float]
    workloads: tuple[str, ...]
    uncounted: tuple[str, ...]

    @property
    def peak(self) -> float:
        return max(self.by_month.values(), default=0.0)

    @property
    def free(self) -> float:
        """The part of the limit that is not in use; all of it where the use is unknown."""
        return self.quota.limit - (self.quota.used or 0.0)

    @property
    def short_months(self) -> list[int]:
        """The months that need more than is free. A need of 0 is never short, even where use exceeds the limit."""
        return sorted(month for month, amount in self.by_month.items() if amount > max(self.free, 0.0))


@dataclass(frozen=True)
class QuotaAccount:
    """The quotas of a request compared with the strategies of its plan."""

    request: Request
    catalog: Catalog
    strategies: Sequence[Strategy]

    @cached_property
    def quotas(self) -> dict[tuple[str, str], list[Quota]]:
        """By provider and region, sorted by code."""
        by_place: dict[tuple[str, str], list[Quota]] = defaultdict(list)
        for line in sorted(self.request.quotas, key=lambda line: (line.provider, line.region, line.code)):
            by_place[line.provider, line.region].append(line.quota)
        return dict(by_place)

    @cached_property
    def providers(self) -> set[str]:
        """Those whose quotas are given."""
        return {provider for provider, _ in self.quotas}

    @cached_property
    def running(self) -> dict[str, dict[RentedNodeType, RunningNodes]]:
        """By strategy."""
        return {s.name: count_running_nodes(self.request, s) for s in self.strategies}

    def counting(self, node_type: RentedNodeType) -> list[Quota]:
        """The quotas that such nodes count against."""
        in_region = self.quotas.get((node_type.provider, node_type.region), ())
        return [quota for quota in in_region if quota.counts(node_type.instance_type, node_type.kind)]

    def needs(self, strategy: Strategy) -> list[QuotaNeed]:
        """The needs of a strategy for each quota that its nodes count against, in a fixed order."""
        by_quota: dict[tuple[str, str, str], tuple[Quota, list[tuple[RentedNodeType, RunningNodes]]]] = {}
        for node_type, line in sorted(self.running[strategy.name].items(), key=lambda item: item[0]):
            for quota in self.counting(node_type):
                by_quota.setdefault(quota.key, (quota, []))[1].append((node_type, line))
        return [self._sum_need(quota, lines) for _, (quota, lines) in sorted(by_quota.items())]

    def _sum_need(self, quota: Quota, lines: Iterable[tuple[RentedNodeType, RunningNodes]]) -> QuotaNeed:
        by_month: dict[int, float] = defaultdict(float)
        workloads: dict[str, None] = {}
        uncounted = []
        for node_type, line in lines:
            each = quota_units_per_node(quota, self.catalog.offerings[node_type.provider, node_type.instance_type])
            if each is None:
                uncounted.append(node_type.instance_type)
                continue
            workloads |= line.workloads
            for month, nodes in line.nodes.items():
                by_month[month] += each * round_up_nodes(nodes)
        return QuotaNeed(quota, dict(by_month), tuple(sorted(workloads)), tuple(dict.fromkeys(uncounted)))


def quota_units_per_node(quota: Quota, offering: Offering) -> float | None:
    """Units of the quota that one node of the type uses; None where no source has them."""
    if quota.unit == "node":
        return 1.0
    return offering.vcpus if quota.unit == "vcpu" else offering.accelerator_count


def round_up_nodes(nodes: float) -> int:
    """The nodes that must be there at once to have so many on average."""
    return math.ceil(round(nodes, NOISE_DIGITS))


def enforced_quotas(request: Request) -> tuple[Quota, ...]:
    """The quotas that no plan may exceed; none where a plan may request more."""
    lines = sorted(request.quotas, key=lambda line: (line.provider, line.region, line.code))
    return tuple(line.quota for line in lines) if request.limits.quotas == "hold" else ()


def list_quota_requests(request: Request, catalog: Catalog, strategies: Sequence[Strategy]) -> tuple[QuotaRequest, ...]:
    """The quota increases that each strategy needs, by strategy, provider, region and code."""
    account = QuotaAccount(request, catalog, strategies)
    return tuple(_build_quota_request(need, s) for s in strategies for need in account.needs(s) if need.short_months)


def _build_quota_request(need: QuotaNeed, strategy: Strategy) -> QuotaRequest:
    quota = need.quota
    return QuotaRequest(
        strategy=strategy.name,
        provider=quota.provider,
        region=quota.region,
        code=quota.code,
        title=quota.title,
        unit=quota.unit,
        limit=quota.limit,
        used=quota.used,
        needed=need.peak,
        ask_for=need.peak + (quota.used or 0.0),
        first_month=need.short_months[0],
        workloads=need.workloads,
        as_of=quota.as_of,
        source_id=quota.source_id,
    )


def find_quota_gaps(
    request: Request,
    catalog: Catalog,
    strategies: Sequence[Strategy],
    chosen: Strategy | None,
    month_names: Sequence[str],
) -> Iterator[Gap]:
    """Quotas to raise for the recommended strategy, and needs that could not be compared with a quota."""
    account = QuotaAccount(request, catalog, strategies)
    yield NO_CAPACITY_GAP
    if chosen is not None:
        for need in account.needs(chosen):
            yield from _shortage_gaps(need, month_names)
    yield from _missing_provider_gaps(account)
    yield from _uncovered_type_gaps(account)
    yield from _unknown_size_gaps(account)
    yield from _stale_quota_gaps(account)


def _shortage_gaps(need: QuotaNeed, month_names: Sequence[str]) -> Iterator[Gap]:
    quota = need.quota
    subject = f"{quota.provider} {quota.region} {quota.title} ({quota.code})"
    workloads = ", ".join(need.workloads[:3])
    if need.short_months:
        effect = message(
            "quota_too_small",
            unit=quota.unit,
            limit=quota.limit,
            used=quota.used,
            needed=need.peak,
            request_more=need.peak - need.free,
            needed_by=month_names[need.short_months[0] - 1],
            as_of=quota.as_of,
        )
        yield Gap("quota", subject, effect, workloads)
    elif quota.used is None and need.peak:
        effect = message("quota_use_unknown", unit=quota.unit, limit=quota.limit, needed=need.peak)
        yield Gap("quota", subject, effect, workloads)


def _missing_provider_gaps(account: QuotaAccount) -> Iterator[Gap]:
    used = {node_type.provider for lines in account.running.values() for node_type in lines}
    for provider in sorted(used - account.providers):
        yield Gap("no_capacity_figure", f"{provider} quotas", message("no_quota_given"))
    for provider in sorted(account.providers - set(account.catalog.providers)):
        yield Gap("quota", f"quotas of {provider}", message("quota_provider_unknown"))


def _uncovered_type_gaps(account: QuotaAccount) -> Iterator[Gap]:
    running = {node_type for lines in account.running.values() for node_type in lines}
    missing = sorted(each for each in running if each.provider in account.providers and not account.counting(each))
    for (provider, region), group in groupby(missing, lambda each: (each.provider, each.region)):
        names = ", ".join(f"{each.instance_type} {each.kind}" for each in group)
        yield Gap("quota", f"{provider} {region}: {names}", message("quota_missing_for_types"))


def _unknown_size_gaps(account: QuotaAccount) -> Iterator[Gap]:
    for need in (need for s in account.strategies for need in account.needs(s) if need.uncounted):
        quota = need.quota
        effect = message("quota_units_unknown", unit=quota.unit, quota_code=quota.code, region=quota.region)
        yield Gap("quota", f"{quota.provider} {', '.join(need.uncounted)}", effect)


def _stale_quota_gaps(account: QuotaAccount) -> Iterator[Gap]:
    as_of = account.request.as_of
    for provider in sorted(account.providers):
        oldest = min(line.as_of for line in account.request.quotas if line.provider == provider)
        if (age := (as_of - oldest).days) > STALE_DAYS:
            yield Gap("quota", f"quotas of {provider}", message("quotas_outdated", as_of=oldest, age_days=age))


def quota_conventions(request: Request) -> tuple[Message, ...]:
    """How a plan counts against the quotas of its request; empty where the request has none."""
    if not request.quotas:
        return ()
    providers = sorted({line.provider for line in request.quotas})
    enforced = request.limits.quotas == "hold"
    return (
        message("quotas_enforced", providers=providers)
        if enforced
        else message("quotas_compared", providers=providers),
        message("quota_counts_committed_nodes"),
        message("quota_counts_whole_gangs"),
    )
