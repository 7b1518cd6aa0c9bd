"""All checks of a plan's JSON against the document of its request, apart from the program that made it."""

from __future__ import annotations

from typing import Any

from tests.fuzz.plans import check_money, check_rules, check_work
from tests.fuzz.plans.answer import Answer, Fault
from tests.fuzz.plans.question import Question

PER_DOLLAR = {"USD": 1.0, "EUR": 1 / 1.25, "GBP": 1 / 1.5}
"""By the table of exchange rates that is drawn with the requests."""


def find_faults(document: dict[str, Any], plan: dict[str, Any]) -> list[Fault]:
    """Every rule that a plan breaks."""
    question = Question(document, PER_DOLLAR[document.get("currency", "USD")])
    faults = list(check_rules.advice_is_right(plan, document))
    shown = (tuple(plan["month_names"]), [strategy["name"] for strategy in plan["strategies"]])
    if shown != (question.months, question.strategies):
        faults.append(Fault("months and strategies", "the plan", shown, question.months))
    for strategy in plan["strategies"]:
        if strategy["status"] == "infeasible":
            if not strategy["reasons"] or strategy["uses"] or strategy["cash"]:
                faults.append(Fault("infeasible", strategy["name"], "no reasons, or uses and payments"))
            continue
        answer = Answer(question, plan, strategy)
        if unsound := [*check_work.amounts_are_sound(answer), *check_money.all_is_of_the_catalogue(answer)]:
            faults += unsound
            continue  # nothing can be added up
        for check in (*check_work.CHECKS[1:], *check_rules.CHECKS, *check_money.CHECKS):
            faults += check(answer)
    return faults
