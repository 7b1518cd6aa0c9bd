"""Errors of predictions from measurements on results left out of the fit, and the intervals that follow from them.

What is left out: each source (all benchmarks of one publisher: how users meet the model, with work and ways of
measuring of their own), each year with all that follow it (a fit of what was published before), each benchmark,
accelerator and architecture. Intervals of steps to another accelerator come from sources left out, those to another
count from
benchmarks left out, since the ways to grow have too few sources.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import fmean

from planner.performance.throughput import intervals
from planner.performance.throughput.published_results import PublishedResult
from planner.performance.throughput.result_errors import (
    Case,
    PredictionErrors,
    predict_pair,
    summarise_cases,
    weighted_quantile,
)
from planner.performance.throughput.result_pairs import ACCELERATOR, ResultPair, prediction_pairs, scaling_pairs
from pricing.accelerator import AcceleratorNames
from pricing.text_tables import align_columns
from tools.throughput.errors import COVERAGE_TARGET, FoldKey, cross_validate, group_weights
from tools.throughput.model_fitting import FittedThroughput, fit_model

GROUPS_MIN = 3
"""Benchmarks that must have grown in one way before this way can be predicted."""
SOURCES_MIN = 3
"""Sources before a year from which that year is predicted."""
PRIOR_SCALES = (0.5, 1.0, 2.0)
"""Of all priors together, for the check of their choice."""
SOURCE, YEAR, GROUP = "source", "year", "group"
NESTED = "source-with-priors-chosen-without-it"
DISTANCE_STEPS = ("same_architecture", "same_vendor", "across_vendors", "architecture_not_fitted")
"""Steps to another accelerator, each no narrower than the one before."""
NEW_PARTS = ("accelerator", "architecture")
"""Folds after which the accelerator predicted is not in the fit."""
GROUP_POWER = 0.5
"""A case weighs as its group's size to minus this in an interval."""
HEAD = ("", "cases", "groups", "median / p90 %", "ratio", "in the 80 % interval")
Cases = dict[str, list[Case]]


def folds_by_title(names: AcceleratorNames) -> dict[str, FoldKey[PublishedResult]]:
    """The folds that leave out all results of one key."""
    parts = names.by_name
    return {
        SOURCE: lambda result: (result.publisher,),
        GROUP: lambda result: (result.group,),
        "accelerator": lambda result: (result.accelerator,),
        "architecture": lambda result: (parts[result.accelerator].architecture,),
    }


def validate_folds(
    results: Sequence[PublishedResult], names: AcceleratorNames, report: Callable[[str], object], titles: Sequence[str]
) -> Cases:
    """The residuals of every fold of `titles`; `report` is called with each title before its turn."""
    cases: Cases = {}
    for title, key in folds_by_title(names).items():
        if title in titles:
            report(title)
            cases[title] = cross_validate(results, key, lambda left, rest: _predict_left(results, names, left, rest))
    for title, validate in ((YEAR, validate_years), (NESTED, validate_choice)):
        if title in titles:
            report(title)
            cases[title] = validate(results, names)
    return cases


def _predict_left(
    results: Sequence[PublishedResult],
    names: AcceleratorNames,
    is_left_out: Callable[[PublishedResult], bool],
    rest: Sequence[PublishedResult],
    prior_scale: float = 1.0,
) -> list[Case]:
    coverage = _FoldCoverage.from_results(rest)
    pairs = [pair for pair in prediction_pairs(results, names, is_left_out) if coverage.can_predict(pair)]
    return predict_pairs(pairs, fit_model(rest, names, prior_scale), names) if pairs else []


def predict_pairs(pairs: Sequence[ResultPair], model: FittedThroughput, names: AcceleratorNames) -> list[Case]:
    """The residual of every pair by a fit."""
    parts = dict(names.by_name)
    return [predict_pair(pair, parts, model.coefficients, model.scalings) for pair in pairs]


@dataclass(frozen=True, slots=True)
class _FoldCoverage:
    """Ways to grow that the rest of a fold has results of."""

    scalings: frozenset[str]

    @classmethod
    def from_results(cls, rest: Sequence[PublishedResult]) -> _FoldCoverage:
        groups: dict[str, set[str]] = defaultdict(set)
        for pair in scaling_pairs(rest):
            groups[pair.scaling].add(pair.first.group)
        return cls(frozenset(scaling for scaling, names in groups.items() if len(names) >= GROUPS_MIN))

    def can_predict(self, pair: ResultPair) -> bool:
        return pair.task == ACCELERATOR or pair.scaling in self.scalings


def validate_years(results: Sequence[PublishedResult], names: AcceleratorNames) -> list[Case]:
    """Each year's pairs (with the later result of that year) by a fit of the years before."""
    cases: list[Case] = []
    for year in sorted({result.year for result in results if result.year is not None}):
        before = [result for result in results if result.year is not None and result.year < year]
        known = [result for result in results if result.year is not None and result.year <= year]
        if len({result.publisher for result in before}) >= SOURCES_MIN:
            cases += _predict_left(known, names, partial(_is_of_year, year), before)
    return cases


def _is_of_year(year: int, result: PublishedResult) -> bool:
    return result.year == year


def validate_choice(results: Sequence[PublishedResult], names: AcceleratorNames) -> list[Case]:
    """Each source by a fit whose priors were scaled by what serves the other sources best, each left out in turn:
    the error of a choice that has not seen what it is judged on."""
    key = folds_by_title(names)[SOURCE]

    def predict(is_left_out: Callable[[PublishedResult], bool], rest: list[PublishedResult]) -> list[Case]:
        def mean_error(scale: float) -> float:
            cases = cross_validate(rest, key, lambda left, few: _predict_left(rest, names, left, few, scale))
            return fmean(abs(case.log_error) for case in cases if case.subject.task == ACCELERATOR)

        return _predict_left(results, names, is_left_out, rest, min(PRIOR_SCALES, key=mean_error))

    return cross_validate(results, key, predict)


def fit_spreads(cases: Mapping[str, Sequence[Case]]) -> dict[str, float]:
    """By kind of step, the spread that covers COVERAGE_TARGET of the cases left out (see the module); no wider step has
    less than the narrower one before it: a far count than a near one, another vendor than another architecture.

    Steps to another accelerator go by their distance, whether or not it was fitted.
    """
    cases_by_step: dict[str, list[Case]] = defaultdict(list)
    for case in cases[SOURCE]:
        if case.subject.task == ACCELERATOR:
            for step in {case.subject.distance_step, *case.subject.steps}:
                cases_by_step[step].append(case)
    for case in cases[GROUP]:
        if not case.subject.distance:
            cases_by_step[case.subject.steps[0]].append(case)
    spreads: dict[str, float] = {}
    for step in intervals.STEPS:
        own = covering_spread(cases_by_step[step]) if step in cases_by_step else 0.0
        spreads[step] = max(own, *(spreads.get(narrower, 0.0) for narrower in _narrower_steps(step)))
    return spreads


def _narrower_steps(step: str) -> Iterator[str]:
    yield step.removesuffix("_far")
    yield step.removeprefix(intervals.STREAM_STEP)
    ordered = [f"{step[: -len(kind)]}{narrower}" for narrower, kind in pairwise(DISTANCE_STEPS) if step.endswith(kind)]
    yield from ordered[-1:]


def covering_spread(cases: Sequence[Case]) -> float:
    """The spread that covers COVERAGE_TARGET of these cases, groups weighted down by their size."""
    errors = [abs(case.log_error) for case in cases]
    return weighted_quantile(errors, COVERAGE_TARGET, group_weights(cases, GROUP_POWER))


def nested_interval(cases: Sequence[Case], names_of: Mapping[str, str]) -> Callable[[Case], intervals.LogInterval]:
    """For each case of another accelerator the interval of its distance made without the source of its group
    (`names_of`): of streams, too, which have one source and would have none of their own."""
    spreads: dict[tuple[str, str], float] = {}

    def interval(case: Case) -> intervals.LogInterval:
        source, distance = names_of[case.group], case.subject.distance
        if (source, distance) not in spreads:
            others = [c for c in cases if c.subject.distance == distance and names_of[c.group] != source]
            spreads[source, distance] = covering_spread(others)
        return intervals.LogInterval.symmetric(spreads[source, distance])

    return interval


def format_errors(cases: Mapping[str, Sequence[Case]], results: Sequence[PublishedResult]) -> str:
    """Errors in per cent by what was left out; another accelerator by sources with intervals made without them."""
    lines: list[str] = []
    for title, residuals in cases.items():
        shown = [c for c in residuals if title not in NEW_PARTS or "architecture_not_fitted" in c.subject.steps]
        lines += (f"left out: each {title}", "", *error_lines(summarise_cases(shown or residuals)), "")
        if title == SOURCE:
            publishers = {result.group: result.publisher for result in results}
            to_accelerator = [case for case in residuals if case.subject.task == ACCELERATOR]
            nested = summarise_cases(to_accelerator, nested_interval(to_accelerator, publishers))
            lines += ("left out: each source, from its interval too", "", *error_lines(nested), "")
    return "\n".join(lines) + "\n"


def error_lines(summaries: Sequence[PredictionErrors]) -> Iterator[str]:
    rows = [
        (one.title.replace("_", " "), f"{one.cases:,d}", str(one.groups), _format_pair(one.median, one.p90),
         _format_pair(one.ratio_median, one.ratio_p90), f"{one.covered:.0%}")
        for one in summaries
    ]  # fmt: skip
    yield from (f"  {text}" for text in align_columns(HEAD, rows, HEAD[1:]))


def _format_pair(middle: float, p90: float) -> str:
    return f"{100 * middle:.1f} / {100 * p90:.0f}"
