"""Printed and computed figures compared: nested numbers, each with the nearest tolerance above it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pricing.frozen_values import dataclass

Nested: TypeAlias = "float | str | Mapping[str, Nested] | list[Nested] | None"
"""Figures by name or in order; None is a point that is never reached."""
NEVER = frozenset({"never", "none", "n/a", "inf", "infinity", "infinite", "no break-even", "no breakeven"})
FLOAT_TOLERANCE = 1e-9
"""Of the printed figure: what is as near as this is equal, whatever the tolerance."""


@dataclass(frozen=True, slots=True)
class CheckedValue:
    """One printed figure and the computed one. It holds if |computed - printed| <= max(absolute, relative x |printed|).

    None is "never". `message` says why there is no computed figure; "" where there is one.
    """

    name: str
    printed: float | str | None
    computed: float | None
    absolute: float
    relative: float
    ok: bool
    message: str = ""


def compare_values(expected: Nested, computed: Nested, tolerance: object) -> tuple[CheckedValue, ...]:
    """One leaf for each printed figure, in their order.

    A single computed figure stands for every printed one below it, and a group of one for a printed figure. A part of
    a tolerance that is missing counts as 0.
    """
    return tuple(_compare_nested("", expected, computed, tolerance, (0.0, 0.0)))


def _compare_nested(
    name: str, printed: Nested, computed: Nested, tolerance: object, inherited: tuple[float, float]
) -> Iterator[CheckedValue]:
    stated = _explicit_tolerance(tolerance)
    inherited = stated or inherited
    if not isinstance(printed, Mapping | list):
        yield _compare_value(name, printed, computed, inherited)
        return
    for key, value in _list_items(printed):
        path = f"{name}[{key}]" if isinstance(key, int) else f"{name}.{key}" if name else key
        try:
            part = _matching_part(computed, key)
        except LookupError as missing:
            yield from (
                _mark_missing(leaf, str(missing.args[0]))
                for leaf in _compare_nested(path, value, None, None, inherited)
            )
            continue
        yield from _compare_nested(path, value, part, _tolerance_below(tolerance, key), inherited)


def _list_items(printed: Mapping[str, Nested] | list[Nested]) -> list[tuple[str | int, Nested]]:
    return list(printed.items()) if isinstance(printed, Mapping) else list(enumerate(printed))


def _matching_part(computed: Nested, key: str | int) -> Nested:
    """Ours under the same name or number; LookupError says what there is instead."""
    if isinstance(computed, Mapping):
        if key in computed:
            return computed[str(key)]
        near = difflib.get_close_matches(str(key), computed, n=1, cutoff=0.6)
        among = f"nearest {near[0]}" if near else f"it gives {', '.join(computed) or 'none'}"
        raise LookupError(f"not a figure of this method with these inputs; {among}")
    if isinstance(computed, list):
        if isinstance(key, int) and key < len(computed):
            return computed[key]
        raise LookupError(f"not a figure of this method with these inputs; it gives a list of {len(computed)}")
    return computed


def _tolerance_below(tolerance: object, key: str | int) -> object:
    """The tolerance under the same name or number; where that has none, the same one holds on below."""
    if isinstance(tolerance, Mapping) and key in tolerance:
        return tolerance[key]
    if isinstance(tolerance, list) and isinstance(key, int) and key < len(tolerance):
        return tolerance[key]
    return tolerance


def _explicit_tolerance(tolerance: object) -> tuple[float, float] | None:
    """(absolute, relative) if either is stated right here."""
    if not isinstance(tolerance, Mapping) or not any(isinstance(tolerance.get(k), int | float) for k in ("abs", "rel")):
        return None
    return float(tolerance.get("abs", 0.0)), float(tolerance.get("rel", 0.0))


def _compare_value(
    name: str, printed: float | str | None, computed: Nested, tolerance: tuple[float, float]
) -> CheckedValue:
    absolute, relative = tolerance
    computed, message = _single_value(computed)
    never = printed is None or (isinstance(printed, str) and printed.strip().casefold() in NEVER)
    if message:
        return CheckedValue(name, printed, None, absolute, relative, False, message)
    if never or computed is None:
        return CheckedValue(name, None if never else printed, computed, absolute, relative, never and computed is None)
    if isinstance(printed, str) or printed is None:
        return CheckedValue(name, printed, computed, absolute, relative, False, "not printed as a number")
    allowed = max(absolute, relative * abs(printed), FLOAT_TOLERANCE * abs(printed))
    return CheckedValue(name, printed, computed, absolute, relative, abs(computed - printed) <= allowed)


def _single_value(computed: Nested) -> tuple[float | None, str]:
    """The one figure there is; None is never, and so is an infinite one."""
    while isinstance(computed, Mapping | list):
        parts = list(computed.values()) if isinstance(computed, Mapping) else computed
        if len(parts) != 1:
            named = f": {', '.join(computed)}" if isinstance(computed, Mapping) else ""
            return None, f"not one figure but {len(parts)}{named}"
        computed = parts[0]
    if isinstance(computed, str):
        return None, computed
    return (None if computed is None or not math.isfinite(computed) else float(computed)), ""


def _mark_missing(leaf: CheckedValue, message: str) -> CheckedValue:
    return CheckedValue(leaf.name, leaf.printed, None, leaf.absolute, leaf.relative, False, message)
