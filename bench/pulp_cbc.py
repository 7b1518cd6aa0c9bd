"""The same plan by PuLP and CBC: how long a user would wait who wrote our program down there, nothing left out of it.

PuLP is installed into a throw-away environment. `python bench/run.py --peers pulp_cbc` calls it.

Ours is pruning, building and solving three strategies; theirs building and solving one, hybrid. Objectives must agree.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from measure import Figure
from portfolio import portfolio, setting_of

from planner.optimization.dominance import build_choice_set, full_choice_set
from planner.optimization.model import build_program
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import solve_program
from planner.optimization.strategy import strategy_scope
from planner.request.models import parse_request
from pricing.catalog.price_catalog import Catalog

NAMES = ("cloud", "onprem", "hybrid")
INSTANCES = ((1, 12, 1, 100.0), (1, 12, 2, 100.0), (1, 12, 3, 100.0))
"""Workloads, months, seed and goal; before them comes the measured workload of the examples, which may run anywhere."""
MEASURED = Path(__file__).parents[1] / "openapi" / "examples" / "measured.request.json"
GAP = 1e-4
LIMIT_S = 200
THEIRS = """
import json, sys, time
import pulp

def solve(path, gap, limit):
    data = json.load(open(path))
    began = time.perf_counter()
    problem = pulp.LpProblem("plan", pulp.LpMinimize)
    kinds = (pulp.LpContinuous, pulp.LpInteger)
    xs = [pulp.LpVariable(f"x{i}", lower, upper, kinds[whole])
          for i, (lower, upper, whole) in enumerate(zip(data["lower"], data["upper"], data["whole"]))]
    problem += pulp.lpSum(c * x for c, x in zip(data["cost"], xs) if c)
    rows = [[] for _ in data["row_lower"]]
    for r, c, v in zip(data["entry_row"], data["entry_column"], data["entry_value"]):
        rows[r].append(v * xs[c])
    for terms, low, high in zip(rows, data["row_lower"], data["row_upper"]):
        expression = pulp.lpSum(terms)
        if low is not None and low == high:
            problem += expression == low
        else:
            if low is not None:
                problem += expression >= low
            if high is not None:
                problem += expression <= high
    built = time.perf_counter() - began
    problem.solve(pulp.PULP_CBC_CMD(msg=False, gapRel=gap, timeLimit=limit, threads=1))
    print(json.dumps([built, time.perf_counter() - began, pulp.value(problem.objective), len(xs)]))

solve(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
"""


def ours(setting: PlanningContext) -> tuple[float, float]:
    """Seconds for three strategies from the market on, and the objective of hybrid."""
    began = time.perf_counter()
    pruned = replace(
        setting, choice=build_choice_set(setting.market, setting.demands, setting.assumptions, setting.terms)
    )
    objectives = [solve_program(build_program(pruned, strategy_scope(name, pruned))).objective for name in NAMES]
    return time.perf_counter() - began, objectives[-1]


def written(setting: PlanningContext, path: Path) -> None:
    """The program of hybrid with nothing left out, as arrays; endless bounds are null."""
    choice = full_choice_set(setting.market, setting.assumptions, setting.terms, len(setting.demands.needs))
    every = replace(setting, choice=choice)
    program = build_program(every, strategy_scope("hybrid", every))
    names = ("cost", "lower", "upper", "whole", "row_lower", "row_upper", "entry_row", "entry_column", "entry_value")
    ends = {float("inf"): None, float("-inf"): None}
    path.write_text(json.dumps({name: [ends.get(value, value) for value in getattr(program, name)] for name in names}))


def pulp_cbc() -> Iterator[Figure]:
    """Three strategies from the market on, against PuLP and CBC on hybrid alone with nothing left out, one run each."""
    catalog = Catalog.embedded()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pulp<4"], check=True)
        script = Path(folder) / "theirs.py"
        script.write_text(THEIRS)
        asked = {"as_of": "2026-11-21", "months": 12, "workloads": [json.loads(MEASURED.read_text())]}
        found = [("measured workload x 12 months", parse_request(asked), 100.0)]
        found += [(f"{w} workloads x {m} months, seed {s}", portfolio(w, m, s), goal) for w, m, s, goal in INSTANCES]
        for title, request, goal in found:
            setting = setting_of(request, catalog)
            ours(setting)
            mine, objective = ours(setting)
            path = Path(folder) / "instance.json"
            written(setting, path)
            ran = subprocess.run(
                [python, script, path, str(GAP), str(LIMIT_S)], check=True, capture_output=True, text=True
            )
            built, theirs, other, columns = json.loads(ran.stdout.splitlines()[-1])
            apart = abs(other - objective) / abs(objective)
            sys.stderr.write(f"  {title}: {columns:,d} columns, {built:.2f} s to build, objectives {apart:.1e} apart\n")
            yield Figure(f"{title}: PuLP and CBC, one strategy", theirs * 1000)
            yield Figure(f"{title}: ours, three", mine * 1000, theirs / mine, "faster", goal, at_most=False)
