"""Results left out of the fit: the apparatus that both throughput models share.

A fold leaves out all results of one key (a benchmark group, a source, an accelerator ...), predicts them from the rest,
and compares |predicted / actual - 1| and the share of cases inside their 80 % interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from planner.performance.throughput.result_errors import Residual, Subject

COVERAGE_TARGET = 0.8
Item = TypeVar("Item")
FoldKey = Callable[[Item], tuple[str, ...]]
"""Items of one key are predicted together, without any item that has a part of the key in common."""


def cross_validate(
    items: Sequence[Item],
    key: FoldKey[Item],
    predict: Callable[[Callable[[Item], bool], list[Item]], Iterable[Residual[Subject]]],
) -> list[Residual[Subject]]:
    """`predict(is_left_out, rest)` for each fold in turn, the folds in the order of their keys."""
    residuals: list[Residual[Subject]] = []
    for value in sorted({key(item) for item in items}):
        rest = [item for item in items if not share_part(key(item), value)]
        if rest:
            residuals += predict(_key_filter(key, value), rest)
    return residuals


def share_part(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(a == b for a, b in zip(one, other, strict=True))


def _key_filter(key: FoldKey[Item], value: tuple[str, ...]) -> Callable[[Item], bool]:
    return lambda item: key(item) == value


def group_weights(residuals: Sequence[Residual[Subject]], power: float) -> list[float]:
    """Of each residual: the size of its group to minus `power`, so that large groups do not dominate an interval."""
    sizes = Counter(residual.group for residual in residuals)
    return [sizes[residual.group] ** -power for residual in residuals]
