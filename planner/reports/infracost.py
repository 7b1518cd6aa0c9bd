"""The recommended strategy in the shape of Infracost's JSON output (version 0.2), for tools that read that.

That shape has one month and a plan has many: it holds the mean month of the plan, in effective cost, so that its total
times the months is the strategy's total cost; `metadata` has that and the month of highest cost. Amounts are texts, as
there; a missing price is null with priceNotFound, never 0. Shape: infracost/infracost, internal/output, whose tools
crash on a comparison without totals and call resources without a price free: no resource is counted as such.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from planner.reports._content.charges import Charge, build_charges
from planner.reports._content.number_format import month_name
from planner.reports._content.sections import recommended_strategy
from planner.result import Gap, Plan, Strategy, Use
from pricing.counted_nouns import format_count
from pricing.plain_text import plain_text

MEDIA_TYPE = "application/x.infracost+json"
SUFFIX = ".infracost.json"
VERSION = "0.2"
NODE, DATA, NO_PRICE = "gpu_node", "gpu_cost", "no_price"
HOURS, MONTHS = "hours", "months"


@dataclass(slots=True)
class _Component:
    """The mean month of one workload, or of one kind of cost."""

    unit: str
    quantities: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)


Resources = dict[tuple[str, str], dict[str, _Component]]


def render(plan: Plan) -> bytes:
    """The mean month as indented JSON; without a recommendation all totals are null."""
    chosen = recommended_strategy(plan)
    plan_charges = build_charges(plan, chosen) if chosen is not None else ()
    missing = [gap for gap in plan.gaps if gap.kind == NO_PRICE and _is_relevant_gap(plan, gap, chosen)]
    priced = [_resource_entry(plan, kind, name, parts) for (kind, name), parts in _by_resource(plan_charges).items()]
    resources = [*priced, *(_without_price(plan, gap) for gap in missing)]
    total = math.fsum(_charge_cost(each) for each in plan_charges) / plan.months if chosen is not None else None
    summary = _resource_summary(resources, len(missing))
    name = f"gpu plan {month_name(plan, 1)}..{month_name(plan, plan.months)}"
    document = {
        "version": VERSION,
        "metadata": _plan_metadata(plan, chosen, plan_charges),
        "currency": plan.currency,
        "projects": [
            {
                "name": f"{name}, mean month" + (f" of {chosen.name}" if chosen is not None else ""),
                "metadata": {"path": plain_text(plan.inputs.name), "type": "gpu_plan"},
                "pastBreakdown": None,
                "breakdown": {"resources": resources, **_cost_entries(plan, total, "total")},
                "diff": None,
                "summary": summary,
            }
        ],
        **_cost_entries(plan, total, "total"),
        **_cost_entries(plan, None, "pastTotal"),
        **_cost_entries(plan, None, "diffTotal"),
        "timeGenerated": f"{plan.as_of}T00:00:00Z",
        "summary": summary,
        "missingPricesCount": len(missing),
        "missingPricesComponents": [f"{NO_PRICE}.{plain_text(gap.subject)}" for gap in missing],
    }
    return f"{json.dumps(document, ensure_ascii=False, indent=2)}\n".encode()


def _charge_cost(charge: Charge) -> float:
    """Effective cost; cash where the plan has no such view."""
    return charge.billed if charge.effective is None else charge.effective


def _by_resource(plan_charges: Iterable[Charge]) -> Resources:
    """The cost of each kind of node by workload, and all other cost by kind and place."""
    resources: Resources = defaultdict(dict)
    for each in plan_charges:
        if each.kind == "purchase" and not _charge_cost(each):
            continue
        is_node = each.kind in ("use", "unused") or (each.kind == "purchase" and each.effective is None)
        place = " ".join(part for part in (each.category, each.provider, each.region) if part)
        key = (NODE, plain_text(each.pool or each.what)) if is_node else (DATA, plain_text(place))
        name = plain_text(each.line.workload) if isinstance(each.line, Use) else each.kind if is_node else each.category
        part = resources[key].setdefault(name, _Component(HOURS if isinstance(each.line, Use) else MONTHS))
        part.quantities.append((each.quantity or 0.0) if part.unit == HOURS else 1.0)
        part.costs.append(_charge_cost(each))
    return resources


def _resource_entry(plan: Plan, kind: str, name: str, parts: dict[str, _Component]) -> dict[str, Any]:
    cost = math.fsum(amount for part in parts.values() for amount in part.costs) / plan.months
    return {
        "name": name,
        "resourceType": kind,
        "metadata": {},
        **_cost_entries(plan, cost),
        "costComponents": [_component_entry(plan, title, part) for title, part in parts.items()],
    }


def _component_entry(plan: Plan, name: str, part: _Component) -> dict[str, Any]:
    """Quantity and cost of the mean month; the price is their quotient, so that quantity times price is the cost."""
    cost = math.fsum(part.costs) / plan.months
    quantity = math.fsum(part.quantities) / plan.months if part.unit == HOURS else 1.0
    return {
        "name": name,
        "unit": part.unit,
        "hourlyQuantity": _decimal_text(quantity / plan.hours_per_month),
        "monthlyQuantity": _decimal_text(quantity),
        "price": _decimal_text(cost / quantity) if quantity else None,
        **_cost_entries(plan, cost),
        "priceNotFound": False,
    }


def _is_relevant_gap(plan: Plan, gap: Gap, chosen: Strategy | None) -> bool:
    """Whether a missing price could have changed the answer: it names a workload, or an accelerator that the strategy
    uses or a workload allows."""
    relevant_accelerators = {name for workload in plan.workloads for name in workload.accelerators}
    relevant_accelerators |= {use.accelerator for use in chosen.uses} if chosen is not None else set()
    return bool(gap.workload) or any(name and name in gap.subject for name in relevant_accelerators)


def _without_price(plan: Plan, gap: Gap) -> dict[str, Any]:
    unknown = {"hourlyQuantity": None, "monthlyQuantity": None, "price": None, **_cost_entries(plan, None)}
    return {
        "name": plain_text(gap.subject),
        "resourceType": NO_PRICE,
        "metadata": {"effect": plain_text(str(gap.effect)), "workload": plain_text(gap.workload)},
        **_cost_entries(plan, None),
        "costComponents": [{"name": plain_text(gap.subject), "unit": HOURS, **unknown, "priceNotFound": True}],
    }


def _cost_entries(plan: Plan, monthly: float | None, prefix: str = "") -> dict[str, str | None]:
    """Hourly and monthly cost: hourlyCost, or totalHourlyCost with a prefix."""
    costs = {"HourlyCost": None if monthly is None else monthly / plan.hours_per_month, "MonthlyCost": monthly}
    return {
        prefix + name if prefix else name[0].lower() + name[1:]: _decimal_text(cost) for name, cost in costs.items()
    }


def _resource_summary(resources: Sequence[dict[str, Any]], missing: int) -> dict[str, Any]:
    """Missing prices are "not supported yet" there; "no price" means free, "usage-based" without a usage file."""
    return {
        "totalDetectedResources": len(resources),
        "totalSupportedResources": len(resources) - missing,
        "totalUnsupportedResources": missing,
        "totalUsageBasedResources": 0,
        "totalNoPriceResources": 0,
        "unsupportedResourceCounts": {NO_PRICE: missing} if missing else {},
        "noPriceResourceCounts": {},
    }


def _plan_metadata(plan: Plan, chosen: Strategy | None, plan_charges: Iterable[Charge]) -> dict[str, Any]:
    """The meaning of the one month, and the sources of its amounts."""
    months: dict[int, list[float]] = defaultdict(list)
    for each in plan_charges:
        months[each.month].append(_charge_cost(each))
    sums = {month: math.fsum(amounts) for month, amounts in months.items()}
    costliest_month = max(sums, key=lambda month: (sums[month], -month), default=None)
    return {
        "generator": "gpu-planner",
        "planId": plan.plan_id,
        "planContentDigest": plan.content_digest,
        "planSchemaVersion": plan.schema_version,
        "asOf": str(plan.as_of),
        "strategy": chosen.name if chosen is not None else None,
        "month": f"mean of {format_count(plan.months, 'month')}",
        "view": "effective cost: commitments and owned nodes in the months that they serve",
        "totalCost": _decimal_text(math.fsum(sums.values())) if chosen is not None else None,
        "dearestMonth": month_name(plan, costliest_month) if costliest_month is not None else None,
        "dearestMonthCost": _decimal_text(sums[costliest_month]) if costliest_month is not None else None,
        "oldestPrice": str(plan.oldest_price) if plan.oldest_price is not None else None,
        "exchangeRates": [plain_text(rate.words) for rate in plan.exchange_rates],
        "gaps": len(plan.gaps),
    }


def _decimal_text(amount: float | None) -> str | None:
    """An amount in full, without an exponent."""
    return None if amount is None else format(Decimal(repr(amount)), "f")
