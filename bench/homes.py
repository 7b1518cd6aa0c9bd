"""What homes cost: ten portfolios planned with homes, and again with work divided freely over all places.

    python bench/homes.py

«spread» is `spread: true` on all work that may run at any hour; «services» on services as well, which then have whole
nodes in each place (decision 0030 was measured before that, with parts of nodes). Costs are present costs of hybrid;
each is within its gap of the proven optimum. A workload-month is split where its work of that month is done in more
than one place, and moves where another place than in the month before does most of it.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import pairwise

from portfolio import TEN, portfolio_document, setting_of

from planner.optimization.strategy import solve_strategy
from planner.request.models import parse_request
from planner.result import Strategy
from pricing.catalog.price_catalog import Catalog

NEGLIGIBLE_PART = 1e-6
"""Of the work of a month: less is left by the solver's tolerance."""
Place = tuple[str, str, str]
STANDING = ("inference", "interactive")


def solve(document: dict, catalog: Catalog) -> Strategy:
    """The least-cost hybrid of a request."""
    request = parse_request({**document, "strategies": ["hybrid"]})
    return solve_strategy("hybrid", setting_of(request, catalog)).strategy


def with_spread(document: dict, *, services: bool) -> dict:
    """The request with all work divided that may run at any hour, and `services` too."""
    jobs = [
        {**job, "spread": services or not (job["kind"] in STANDING or "daily_shape" in job["demand"])}
        for job in document["workloads"]
    ]
    return {**document, "workloads": jobs}


def count_splits_and_moves(strategy: Strategy) -> tuple[int, int, int]:
    """Workload-months with work, those in more than one place, and those that begin elsewhere than the last."""
    work: dict[str, dict[int, dict[Place, float]]] = defaultdict(lambda: defaultdict(dict))
    for use in strategy.uses:
        places = work[use.workload][use.month]
        place = (use.provider, use.region, use.name)
        places[place] = places.get(place, 0.0) + use.units
    split = moves = 0
    for months in work.values():
        parts = [_without_rounding(months[month]) for month in sorted(months)]
        split += sum(len(part) > 1 for part in parts)
        most = [max(sorted(part), key=part.__getitem__) for part in parts]
        moves += sum(before != after for before, after in pairwise(most))
    return sum(map(len, work.values())), split, moves


def _without_rounding(places: dict[Place, float]) -> dict[Place, float]:
    least = NEGLIGIBLE_PART * sum(places.values())
    return {place: units for place, units in places.items() if units > least}


def main() -> None:
    catalog, out = Catalog.embedded(), sys.stdout
    out.write(
        "| portfolio | homes, USD | above spread | above services | gaps, homes, spread, services | workload-months | "
    )
    out.write("split, moves: homes | spread | services |\n|" + " --- |" * 9 + "\n")
    for seed, (workloads, months) in enumerate(TEN, start=1):
        document = portfolio_document(workloads, months, seed)
        plans = (
            solve(document, catalog),
            solve(with_spread(document, services=False), catalog),
            solve(with_spread(document, services=True), catalog),
        )
        homes, *others = plans
        above = [f"{100 * (homes.present_cost / other.present_cost - 1):.2f} %" for other in others]
        gaps = ", ".join("none" if plan.gap_fraction is None else f"{100 * plan.gap_fraction:.4f} %" for plan in plans)
        counts = [count_splits_and_moves(plan) for plan in plans]
        cells = (
            f"{seed}: {workloads} x {months}", f"{homes.present_cost:,.0f}", *above, gaps, str(counts[0][0]),
            *(f"{split}, {moves}" for _, split, moves in counts),
        )  # fmt: skip
        out.write(f"| {' | '.join(cells)} |\n")
        out.flush()


if __name__ == "__main__":
    main()
