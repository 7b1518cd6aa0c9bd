"""Errors of the speed model on results left out, and the intervals that hold 80 % of them.

Results are left out by model, by accelerator, by model and accelerator together, and by source, as users meet them.
Two further questions show one result and ask for the others: one published, of the same replica but maybe of another
version, day or way to divide it, as publishers' are; and one measured by the asker, of the same curve (all but the
requests at once the same).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from planner.performance.serving.rate_estimates import (
    BASES,
    KnownResults,
    add_results,
    correct_first_token,
    correct_split,
    find_nearby,
    known_results,
    load_intervals,
)
from planner.performance.serving.serving_results import OWN, PUBLISHED, ServingResult
from planner.performance.serving.speed_model import PARTS, SERVED, STATIC, Effects
from tools.serving.limit_picks import BREAK_TOLERANCE, LimitPick, pick_under_limits
from tools.serving.model_fitting import fit_coefficients, fitted_results, log_cycle
from tools.serving.prompt_fitting import fit_prompt_times

FOLDS = 8
FEWEST = 20
LOW, HIGH = 0.1, 0.9


def _part_name(result: ServingResult) -> str:
    return result.point.part.name if result.point is not None else ""


LEFT_OUT: Mapping[str, Callable[[ServingResult], str]] = {
    "model": lambda result: result.family,
    "accelerator": _part_name,
    "model and accelerator": lambda result: f"{result.family}|{_part_name(result)}",
    "source": lambda result: result.repository,
}
ONE_POINT, ONE_POINT_OF = {PUBLISHED: "all but one, published", OWN: "all but one, measured"}, "model and accelerator"
"""The question with one result shown, by the origin that it is given."""


@dataclass(frozen=True, slots=True)
class LeftOutResult:
    """A result, what was left out with it, and ln(measured / estimated) of its rate and of its time to first token
    (None where that was not measured)."""

    result: ServingResult
    left_out: str
    basis: str
    log_ratio: float
    first_token_log_ratio: float | None


def validate_folds(results: Sequence[ServingResult]) -> tuple[list[LeftOutResult], list[LimitPick]]:
    """Every result, and picks on every curve, estimated from a fit that has not seen what is left out."""
    usable = fitted_results(results)
    outcomes = [outcome for name, key in LEFT_OUT.items() for outcome in _validate(usable, name, key)]
    cases = [outcome for outcome in outcomes if isinstance(outcome, LeftOutResult)]
    return cases, [outcome for outcome in outcomes if isinstance(outcome, LimitPick)]


def _validate(
    usable: Sequence[ServingResult], name: str, key: Callable[[ServingResult], str]
) -> Iterator[LeftOutResult | LimitPick]:
    sizes = Counter(key(result) for result in usable)
    folds: list[set[str]] = [set() for _ in range(FOLDS)]
    for value, _ in sizes.most_common():
        min(folds, key=lambda fold: sum(sizes[each] for each in fold)).add(value)
    for fold in folds:
        kept = [result for result in usable if key(result) not in fold]
        coefficients = fit_coefficients(kept)
        coefficients = {**coefficients, **fit_prompt_times(kept, coefficients)}
        known = known_results(kept, coefficients)
        hidden = [result for result in usable if key(result) in fold]
        curves, replicas = _group_results(hidden, _curve_of), _group_results(hidden, _replica_of)
        for curve in curves.values():
            yield from pick_under_limits(name, curve, known, coefficients)
            if name == ONE_POINT_OF:
                for origin, question in ONE_POINT.items():
                    yield from pick_under_limits(question, curve, known, coefficients, shown=origin)
        for result in hidden:
            point = result.point
            assert point is not None
            if (point.fit, PARTS[0], "", "") not in coefficients:
                continue
            yield judge_result(result, name, known, coefficients)
            for origin, question in ONE_POINT.items() if name == ONE_POINT_OF else ():
                alike = curves[_curve_of(result)] if origin == OWN else replicas[_replica_of(result)]
                others = [other for other in alike if other is not result]
                if others:
                    one = replace(others[result.line % len(others)], origin=origin)
                    yield judge_result(result, question, add_results(known, [one], coefficients), coefficients)


def judge_result(result: ServingResult, name: str, known: KnownResults, coefficients: Effects) -> LeftOutResult:
    """A result against its estimate."""
    point = result.point
    assert point is not None
    nearby = find_nearby(point, known)
    split, (basis, _) = correct_split(point, nearby, coefficients), nearby.judge(point.concurrency)
    first = None
    if point.load == SERVED and result.ttft_s:
        first = math.log(result.ttft_s / correct_first_token(point, split, nearby, coefficients))
    return LeftOutResult(result, name, basis, math.log(math.fsum(split.values())) - log_cycle(result), first)


def _replica_of(result: ServingResult) -> tuple[object, ...]:
    """What a question tells of a replica, and the source."""
    assert result.point is not None
    return (replace(result.point, concurrency=1.0), result.repository)


def _curve_of(result: ServingResult) -> tuple[object, ...]:
    """Results of one curve differ only in the requests at once: the model, the version of the engine, the parallelism
    and the day are the same, too."""
    return (*_replica_of(result), result.setup)


def _group_results(
    results: Sequence[ServingResult], key: Callable[[ServingResult], tuple[object, ...]]
) -> Mapping[tuple[object, ...], Sequence[ServingResult]]:
    groups: dict[tuple[object, ...], list[ServingResult]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def fit_intervals(cases: Sequence[LeftOutResult]) -> list[tuple[str, str, float, float, int]]:
    """Fit, basis, low and high of measured over estimated rate, and results: quantiles over results left out, of those
    that have this basis for any reason. A basis of few results takes the widest bounds of the others."""
    rows = []
    for fit in (SERVED, STATIC):
        mine = {basis: [c.log_ratio for c in cases if _fit_of(c) == fit and c.basis == basis] for basis in BASES}
        ample = {basis: ratios for basis, ratios in mine.items() if len(ratios) >= FEWEST}
        bounds = {basis: (_quantile(ratios, LOW), _quantile(ratios, HIGH)) for basis, ratios in ample.items()}
        widest = (min(low for low, _ in bounds.values()), max(high for _, high in bounds.values()))
        for basis in BASES:
            low, high = bounds.get(basis, widest)
            rows.append((fit, basis, math.exp(low), math.exp(high), len(mine[basis])))
    return rows


def _fit_of(case: LeftOutResult) -> str:
    assert case.result.point is not None
    return case.result.point.fit


def _quantile(values: Sequence[float], fraction: float) -> float:
    ordered = sorted(values)
    place = fraction * (len(ordered) - 1)
    below = ordered[math.floor(place)]
    return below + (ordered[math.ceil(place)] - below) * (place - math.floor(place))


def format_picks(picks: Sequence[LimitPick]) -> str:
    """One line for each way of leaving out: picks, the share that breaks the limit, and the throughput unused."""
    over = f"{100 * (BREAK_TOLERANCE - 1):.0f} % over, %"  # of picks
    lines = ["", f"{'picks under a TPOT limit':28}{'picks':>8}{over:>14}{'unused, median %':>18}{'p90 %':>8}"]
    for name in (*LEFT_OUT, *ONE_POINT.values()):
        mine = [pick for pick in picks if pick.left_out == name]
        unused = [pick.unused for pick in mine if not pick.breaks]
        lines.append(
            f"{name:28}{len(mine):8,}{100 * sum(pick.breaks for pick in mine) / len(mine):14.1f}"
            f"{100 * _quantile(unused, 0.5):18.0f}{100 * _quantile(unused, 0.9):8.0f}"
        )
    return "\n".join(lines) + "\n"


def format_errors(cases: Sequence[LeftOutResult]) -> str:
    """One line for each kind of question: results, median and 90th percentile of the error, share in the interval."""
    intervals = load_intervals()
    lines = [f"{'left out':28}{'load':10}{'results':>8}{'median %':>10}{'p90 %':>8}{'held %':>8}"]
    for name in (*LEFT_OUT, *ONE_POINT.values()):
        for load in ("served", "offline", STATIC):
            mine = [c for c in cases if c.left_out == name and c.result.point and c.result.point.load == load]
            if not mine:
                continue
            errors = [abs(math.expm1(-case.log_ratio)) for case in mine]
            held = sum(
                low <= math.exp(case.log_ratio) <= high
                for case in mine
                for low, high in (intervals[_fit_of(case), case.basis],)
            )
            lines.append(
                f"{name:28}{load:10}{len(mine):8,}{100 * _quantile(errors, 0.5):10.1f}"
                f"{100 * _quantile(errors, 0.9):8.1f}{100 * held / len(mine):8.0f}"
            )
    return "\n".join(lines) + "\n"


def format_first_tokens(cases: Sequence[LeftOutResult]) -> str:
    """One line for each way of leaving out: results and the error of the time to first token."""
    lines = ["", f"{'time to first token':28}{'results':>8}{'median %':>10}{'p90 %':>8}"]
    for name in (*LEFT_OUT, *ONE_POINT.values()):
        mine = [case.first_token_log_ratio for case in cases if case.left_out == name]
        errors = [abs(math.expm1(-ratio)) for ratio in mine if ratio is not None]
        lines.append(
            f"{name:28}{len(errors):8,}{100 * _quantile(errors, 0.5):10.1f}{100 * _quantile(errors, 0.9):8.1f}"
        )
    return "\n".join(lines) + "\n"
