"""From the reasons of an impossible strategy to requests in which they are mended, by the amounts that they state."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.fuzz.plans.question import Question

Document = dict[str, Any]
Reason = dict[str, Any]
IN_THE_WAY = ("workload_unserved", "work_not_done")
"""Reasons that say of a workload that it cannot be done, and nothing to change."""
BY_WORKLOAD = ("would_be_served", "slice_holds_gang", "would_be_done", "work_not_done_in_parallel")
FINAL = ("limit_too_low", "target_too_high", "no_single_limit_in_the_way", "limits_in_the_way_together")
"""Reasons after whose mend there is a plan. Others promise something that can do the work, beside which a limit or
another workload may still be in the way."""


def mend(document: Document, strategy: str, reasons: list[Reason]) -> Iterator[tuple[str, Document]]:
    """The code of each reason that can be applied, and the request of that strategy in which it is mended.

    Reasons of workloads are applied one for each workload together, as all of them are in the way, and each further one
    of a workload in its turn; other reasons alone.
    """
    base = copy.deepcopy(document) | {"strategies": [strategy]}
    base.pop("risk", None)
    choices: dict[str, list[Reason]] = {}
    for reason in reasons:
        if reason["code"] in BY_WORKLOAD or _is_of_batches(reason):
            choices.setdefault(reason["parameters"]["workload"], []).append(reason)
    stuck = {reason["parameters"]["workload"] for reason in reasons if reason["code"] in IN_THE_WAY}
    if choices and stuck <= choices.keys():
        for turn in range(max(map(len, choices.values()))):
            applied = [each[min(turn, len(each) - 1)] for each in choices.values()]
            yield " and ".join(sorted({each["code"] for each in applied})), _applied(base, applied)
    for reason in reasons:
        if reason["code"] in APPLY and reason["code"] not in (*BY_WORKLOAD, *IN_THE_WAY):
            yield reason["code"], _applied(base, [reason])


def _is_of_batches(reason: Reason) -> bool:
    """Whether public runs are missing only for a network that serves many requests at once."""
    refused = reason["parameters"].get("reasons", ()) if reason["code"] == "workload_unserved" else ()
    return any(each["code"] == "no_batched_inference_runs" for each in refused)


def _applied(base: Document, reasons: list[Reason]) -> Document:
    mended = copy.deepcopy(base)
    for reason in reasons:
        APPLY[reason["code"]](mended, reason["parameters"])
    return mended


def _workload(document: Document, name: str) -> Document:
    return next(row for row in document["workloads"] if row["name"] == name)


def _serve(document: Document, parameters: Document) -> None:
    """Without the limits that it names: of the workload, and of the request where that has them."""
    for limit in parameters["without"]:
        _lift(document, _workload(document, parameters["workload"]), limit)


def _lift(document: Document, row: Document, limit: str) -> None:
    if limit in ("providers", "regions", "residency", "accelerators"):
        row.pop(limit, None)
        if limit != "accelerators":
            document.pop(limit, None)
    elif limit == "memory":
        row.pop("memory_gib_per_accelerator", None)
        row.pop("memory_gib_total", None)
    elif limit in ("substitution", "interruptible", "may_be_owned", "spread"):
        row[limit] = True
    elif limit in ("purchase_options", "carbon_kg_per_year"):
        document.get("limits", {}).pop(limit, None)  # another workload may have done it already
    elif limit == "spot_fraction_max":
        row[limit] = 1
    elif limit == "lead_time_months":
        _have_time(document, {})
    elif limit == "capacity_blocks_beyond_window":
        document.setdefault("assumptions", {})[limit] = 1
    elif limit == "parallel_jobs":
        row.get("sweep", {}).pop("at_once", None)
        row.pop(limit, None)
    elif limit == "accelerators_per_node":
        row["accelerators_per_node"] = 1
    else:
        document[limit] = {"measured_only": False, "allow_estimates": True}[limit]


def _hold_gang(document: Document, parameters: Document) -> None:
    _workload(document, parameters["workload"])["gang"] = parameters["chips"]


def _serve_one_at_a_time(document: Document, parameters: Document) -> None:
    _workload(document, parameters["workload"])["network"]["batch_per_device"] = 1


def _raise_limit(document: Document, parameters: Document) -> None:
    """The limit by its title, at the amount that would do."""
    name, _, subject = parameters["limit"].partition(" ")
    limits, needed = document.setdefault("limits", {}), parameters["needed"]
    if name == "spot_fraction_max":
        _workload(document, subject)["spot_fraction_max"] = min(1.0, needed)
    elif name == "quota":
        provider, region, code = subject.split(" ", 2)
        for row in document["quotas"]:
            if (row["provider"], row["region"], row["code"]) == (provider, region, code):
                row["limit"] = needed + (row["used"] or 0)
    elif name in ("capex_per_year", "opex_per_year", "carbon_kg_per_year"):
        yearly = Question(document).by_year(limits[name])
        yearly[int(subject.removeprefix("year ")) - 1] = needed
        limits[name] = yearly
    else:
        limits[name] = needed


def _ease_target(document: Document, parameters: Document) -> None:
    document["limits"][parameters["limit"]] = parameters["attainable"]


def _drop_limits(document: Document, parameters: Document) -> None:
    for title in parameters["limits"]:
        name, _, subject = title.partition(" ")
        if name == "quota":
            document["limits"]["quotas"] = "ask"
        elif name == "spot_fraction_max":
            _workload(document, subject)["spot_fraction_max"] = 1
        else:
            document["limits"].pop(name, None)


def _have_time(document: Document, _: Document) -> None:
    assumed = document.setdefault("assumptions", {})
    assumed |= {"lead_time_months": 0, "migration_months": 0}


def _run_more_at_once(document: Document, parameters: Document) -> None:
    row = _workload(document, parameters["workload"])
    if "sweep" in row:
        row["sweep"]["at_once"] = parameters["parallel_jobs_needed"]
    else:
        row["parallel_jobs"] = parameters["parallel_jobs_needed"]


APPLY = {
    "would_be_served": _serve,
    "slice_holds_gang": _hold_gang,
    "limit_too_low": _raise_limit,
    "target_too_high": _ease_target,
    "no_single_limit_in_the_way": _drop_limits,
    "limits_in_the_way_together": _drop_limits,
    "would_be_done": _serve,
    "workload_unserved": _serve_one_at_a_time,
    "would_be_owned": _serve,
    "no_owned_system_in_time": _have_time,
    "work_not_done_in_parallel": _run_more_at_once,
}
