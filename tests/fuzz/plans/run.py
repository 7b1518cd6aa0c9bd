"""One drawn request through the command: its plan checked, its refusal read, its reasons mended and tried again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.plans import mends
from tests.fuzz.plans.checker import find_faults
from tests.fuzz.plans.draw import Drawn, draw
from tests.golden.runner import Answer, run_command

SECONDS = 60
"""Of the processor, for one request."""
ROUNDS = 4
"""Mends one after the other, where one promises no whole plan."""
PLAN, REFUSED, IMPOSSIBLE = 0, 2, 3
FILE = "request.json"
Document = dict[str, Any]


@dataclass
class Outcome:
    """What became of the request of a seed. `faults` are empty where all is as it should be."""

    seed: int
    code: int = -1
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def as_line(self) -> str:
        return json.dumps(vars(self) | {"counts": dict(sorted(self.counts.items()))})


def run_seed(seed: int, *, own_process: bool = False) -> Outcome:
    """The request of a seed, in the current folder; `own_process` starts the command as a user does."""
    return _check(draw(seed), Outcome(seed), own_process=own_process)


def check_request(document: Document) -> Outcome:
    """The same for a request that is there."""
    return _check(Drawn(document), Outcome(-1), own_process=False)


def _check(drawn: Drawn, outcome: Outcome, *, own_process: bool) -> Outcome:
    answer = _estimate(drawn.document, drawn.arguments, outcome, own_process=own_process)
    outcome.code = answer.code
    if drawn.fault or answer.code == REFUSED:
        outcome.faults += _refusal_faults(drawn, answer)
        outcome.counts["refused"] += 1
        return outcome
    if answer.code not in (PLAN, IMPOSSIBLE):
        outcome.faults.append(f"exit code {answer.code}: {answer.errors[-600:]}")
        return outcome
    plan = json.loads(answer.printed)
    if (answer.code == IMPOSSIBLE) != (plan["status"] == "infeasible"):
        outcome.faults.append(f"exit code {answer.code} of a plan that is {plan['status']}")
    outcome.faults += [str(fault) for fault in find_faults(drawn.document, plan)]
    for strategy in plan["strategies"]:
        outcome.counts[f"strategies {strategy['status']}"] += 1
        if strategy["status"] == "infeasible":
            outcome.faults += _mend_faults(drawn, strategy["name"], strategy["reasons"], outcome)
    return outcome


def _estimate(document: Document, arguments: tuple[str, ...], outcome: Outcome, *, own_process: bool = False) -> Answer:
    Path(FILE).write_text(json.dumps(document, indent=1), encoding="utf-8")
    command = ["estimate", FILE, "--format", "json", *arguments]
    if own_process:
        program = Path(sys.executable).with_name("planner")
        done = subprocess.run([program, *command], capture_output=True, timeout=20 * SECONDS, check=False)
        return Answer(done.returncode, done.stdout, done.stderr.decode())
    before = time.process_time()
    answer = run_command(command)
    spent = time.process_time() - before
    outcome.seconds = max(outcome.seconds, round(spent, 2))
    if spent > SECONDS:
        outcome.faults.append(f"{spent:.0f} s of the processor")
    return answer


def _refusal_faults(drawn: Drawn, answer: Answer) -> Iterator[str]:
    """A refusal has exit code 2, no plan, a place for each problem, and names the fault that was put in."""
    told = answer.errors
    if answer.code != REFUSED:
        yield f"exit code {answer.code} for {drawn.fault!r}"
    elif not drawn.fault:
        yield f"refused, though it is meant to be sound: {told[-400:]}"
    if answer.printed or "Traceback" in told:
        yield f"a refusal printed more: {told[-400:]}"
    places = [int(number) for number in re.findall(r"line (\d+) column \d+:", told)]
    lines = Path(FILE).read_text(encoding="utf-8").splitlines()
    if drawn.fault and not any(drawn.fault in text for text in (told, *(lines[place - 1] for place in places))):
        yield f"{drawn.fault!r} is not named: {told[-400:]}"


def _mend_faults(drawn: Drawn, name: str, reasons: list[Document], outcome: Outcome) -> Iterator[str]:
    """Every reason that states what would do does, when it is applied alone; one without any is counted."""
    found = list(mends.mend(drawn.document, name, reasons))
    told = sorted({reason["code"] for reason in reasons})
    if not found:
        outcome.counts[f"not to be mended by program: {' '.join(told)}"] += 1
    for code, document in found:
        rest, rounds = _mended(document, drawn.arguments, outcome, final=code in mends.FINAL)
        outcome.counts[f"mended: {code}" if rest is None else f"not mended: {code}"] += 1
        if rest is not None:
            yield f"{name}: {code} is mended, and it is still impossible after {rounds}: {rest}"


def _mended(document: Document, arguments: tuple[str, ...], outcome: Outcome, *, final: bool) -> tuple[str | None, int]:
    """None where the request is feasible, at once or (if not `final`) after further mends; else what is told then."""
    rest = ""
    for rounds in range(1, 2 if final else ROUNDS + 1):
        answer = _estimate(document, arguments, outcome)
        if answer.code == PLAN:
            plan = json.loads(answer.printed)
            faults = find_faults(document, plan)
            return (None if not faults else f"its plan: {faults[0]}"), rounds
        if answer.code != IMPOSSIBLE:
            return f"exit code {answer.code}: {answer.errors[-300:]}", rounds
        strategy = json.loads(answer.printed)["strategies"][0]
        rest = "; ".join(reason["text"] for reason in strategy["reasons"])[:500]
        if {reason["code"] for reason in strategy["reasons"]} == {"nothing_to_own"}:
            return None, rounds  # served it is, but no system can be owned for it, whatever the request says
        following = list(mends.mend(document, strategy["name"], strategy["reasons"]))
        if final or not following:
            return rest, rounds
        document = following[0][1]
    return rest, ROUNDS
