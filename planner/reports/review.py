"""The plan as the review page of `planner serve` reads it: JSON of the first screen, its charts, and the plan itself.

The first screen has the words of every other report. The plan is without the list of what was considered, which is
most of a long plan; `json` has it whole.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, replace
from typing import Any

from pydantic import TypeAdapter

from planner.reports._content.first_screen import (
    RISKS_MAX,
    PlannedOrder,
    doubt_sentences,
    first_screen,
    list_orders,
    list_risks,
)
from planner.reports._content.number_format import month_name
from planner.reports._content.order_payments import OrderPayments, find_order_payments
from planner.reports._content.plan_charts import pair_to_draw, usage_series
from planner.reports._content.repricing import LedgerRepricing
from planner.reports._content.sections import Bullets, headline, plan_frame, recommended_strategy, status_text
from planner.reports._content.svg_charts import ChartSeries
from planner.result import Plan
from planner.result.message import Message
from pricing.plain_text import plain_text

MEDIA_TYPE = "application/x.gpu-planner.review+json"
SUFFIX = ".review.json"
FACTS_MAX = 8
"""Statements beside the recommendation."""
DOUBTS_MAX = 40
UNSEEN = dict.fromkeys([*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Control characters that JSON does not escape, and those that turn the direction of a text: the page shows names."""


def render(plan: Plan) -> bytes:
    """The review as UTF-8 JSON on one line."""
    screen = json.dumps(_screen_values(plan), ensure_ascii=False, allow_nan=False)
    whole = _plan_adapter().dump_json(replace(plan, considered=())).decode()
    return f'{{"screen": {screen}, "plan": {whole}}}\n'.translate(UNSEEN).encode()


def _screen_values(plan: Plan) -> dict[str, Any]:
    chosen, repricing = recommended_strategy(plan), LedgerRepricing(plan)
    orders = [] if chosen is None else [_order_values(plan, chosen.name, each) for each in list_orders(plan, chosen)]
    (decision, *_) = first_screen(plan, FACTS_MAX)
    facts = [item for block in decision.blocks if isinstance(block, Bullets) for item in block.items]
    pair = pair_to_draw(plan)
    bars, lines = usage_series(plan, chosen) if chosen is not None else ([], [])
    return {
        "headline": headline(plan),
        "facts": facts,
        "frame": plan_frame(plan),
        "status": {strategy.name: status_text(strategy) for strategy in plan.strategies},
        "reasons": {strategy.name: _message_texts(strategy.reasons) for strategy in plan.strategies},
        "orders": orders,
        "risks": [asdict(risk) for risk in list_risks(plan, chosen)] if chosen is not None else [],
        "risks_listed": RISKS_MAX,
        "doubts": doubt_sentences(plan, DOUBTS_MAX),
        "considered": len(plan.considered),
        "usage": {"bars": _series_values(bars), "lines": _series_values(lines)},
        "break_even": None if pair is None else [each.system for each in plan.break_even].index(pair.system),
        "sliders": sorted(repricing.read_assumptions & {each.name for each in plan.assumptions}),
        "figures": repricing.figures,
    }


def _order_values(plan: Plan, strategy: str, order: PlannedOrder) -> dict[str, Any]:
    """An order with the lines of the audit trail that its amounts are made of, each with the month of its prices; null
    where they are of the plan as it was made."""
    unknown = OrderPayments(None, None)
    paid = unknown if order.purchase is None else find_order_payments(plan, strategy, order.purchase)
    return {
        "month": month_name(plan, order.month),
        "title": plain_text(order.title),
        "where": plain_text(order.where),
        "usable": order.usable_from,
        "upfront": order.upfront,
        "per_month": order.per_month,
        "upfront_lines": paid.upfront if paid.upfront is None else [astuple(each) for each in paid.upfront],
        "per_month_lines": paid.per_month if paid.per_month is None else [astuple(each) for each in paid.per_month],
    }


def _series_values(series: Iterable[ChartSeries]) -> list[dict[str, Any]]:
    return [{"name": each.name, "values": each.values} for each in series]


def _message_texts(messages: Iterable[Message]) -> list[str]:
    return [plain_text(str(message)) for message in messages]


@functools.cache
def _plan_adapter() -> TypeAdapter[Plan]:
    return TypeAdapter(Plan)
