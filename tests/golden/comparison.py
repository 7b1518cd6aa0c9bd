"""Differences between two values that were made of an output."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from tests.golden.normalized import NUMERIC

RELATIVE = 1e-9
NOISE = 1e-9
"""Two numbers below this are both zero: the rest of a sum that should be."""


class _Missing:
    def __repr__(self) -> str:
        return "(nothing)"


MISSING = _Missing()


@dataclass(frozen=True)
class Difference:
    """One value that changed; `path` are keys and positions, joined by slashes."""

    path: str
    was: Any
    now: Any


def differences(was: Any, now: Any, path: str = "") -> Iterator[Difference]:
    """What changed from `was` to `now`, in the order of `was`."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            yield from differences(was.get(key, MISSING), now.get(key, MISSING), f"{path}/{key}")
    elif isinstance(was, list) and isinstance(now, list):
        yield from _list_differences(was, now, path)
    elif not is_equal(was, now):
        yield Difference(path, was, now)


def is_equal(was: Any, now: Any) -> bool:
    """Whether two single values are the same; numbers within the tolerance, whether whole or not."""
    if isinstance(was, bool) or isinstance(now, bool):
        return was is now
    if isinstance(was, int | float) and isinstance(now, int | float):
        if math.isnan(was) or math.isnan(now):
            return math.isnan(was) and math.isnan(now)
        return math.isclose(was, now, rel_tol=RELATIVE) or max(abs(was), abs(now)) < NOISE
    if isinstance(was, str) and isinstance(now, str) and NUMERIC.fullmatch(was) and NUMERIC.fullmatch(now):
        return was == now or is_equal(float(was), float(now))
    return type(was) is type(now) and bool(was == now)


def _list_differences(was: list[Any], now: list[Any], path: str) -> Iterator[Difference]:
    """Position by position; where the lengths differ, the elements that are alike are matched first."""
    if len(was) == len(now):
        for index, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from differences(one, other, f"{path}/{index}")
        return
    matcher = SequenceMatcher(None, [_key(each) for each in was], [_key(each) for each in now], autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        for step in range(max(last - first, end - begin)):
            one = was[first + step] if first + step < last else MISSING
            other = now[begin + step] if begin + step < end else MISSING
            index = min(first + step, last) if one is not MISSING else begin + step
            yield from differences(one, other, f"{path}/{index}")


def _key(value: Any) -> Any:
    """Something that can be hashed and is equal for values that are equal but for their last digits."""
    if isinstance(value, dict):
        return frozenset((key, _key(each)) for key, each in value.items())
    if isinstance(value, list):
        return tuple(_key(each) for each in value)
    return f"{value:.8g}" if isinstance(value, float) else repr(value)
