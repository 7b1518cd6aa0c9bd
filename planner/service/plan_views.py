"""Parts of a plan for clients that do not need all of it."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import fields
from difflib import get_close_matches

from planner.request.errors import InputProblem, InvalidRequest
from planner.result import Plan
from planner.service.plan_jobs import compress
from pricing.frozen_values import dataclass

VIEW, INCLUDE = "view", "include"
VIEWS = ("full", "summary")
DETAILS = ("considered", "assumptions", "ledger", "prices", "conventions", "throughput", "block_of_hour")
"""The parts that a summary leaves out: most of a small answer is the offers that were considered."""
PLAN_FIELDS = tuple(field.name for field in fields(Plan))


@dataclass(frozen=True, slots=True)
class PlanView:
    """The parts of a plan that a client wants: all, or a summary with those named."""

    is_summary: bool = False
    include: tuple[str, ...] = ()

    @property
    def left_out(self) -> frozenset[str]:
        """The fields that are left out."""
        return frozenset(DETAILS) - set(self.include) if self.is_summary else frozenset()


def take_view(query: dict[str, list[str]]) -> PlanView:
    """The view of ?view= and ?include=, which are removed from the query. InvalidRequest with every fault."""
    views, include = query.pop(VIEW, []), query.pop(INCLUDE, [])
    names = [name.strip() for text in include for name in text.split(",") if name.strip()]
    faults = [
        InputProblem("", f"?{VIEW}", "unknown view", view, f"one of {', '.join(VIEWS)}")
        for view in views
        if view not in VIEWS
    ]
    faults += [_unknown_part(name) for name in names if name not in PLAN_FIELDS]
    if len(views) > 1:
        faults.append(InputProblem("", f"?{VIEW}", "given more than once", ", ".join(views), "one value"))
    if faults:
        raise InvalidRequest(tuple(faults))
    return PlanView(bool(names) or "summary" in views, tuple(names))


def _unknown_part(name: str) -> InputProblem:
    nearest = get_close_matches(name, PLAN_FIELDS, 1)
    expected = f"a field of the plan, such as {', '.join(nearest or DETAILS)}"
    return InputProblem("", f"?{INCLUDE}", "no part of a plan", name, expected)


def select_parts(compressed: bytes, view: PlanView) -> tuple[bytes, str]:
    """The plan with the parts of a view, in gzip, and the digest of that."""
    document = json.loads(gzip.decompress(compressed))
    parts = {name: value for name, value in document.items() if name not in view.left_out}
    data = (json.dumps(parts, ensure_ascii=False) + "\n").encode()
    return compress(data), hashlib.sha256(data).hexdigest()
