"""What a comparison found, as lines for a person to act on."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tests.golden.comparison import MISSING, Difference

SHOWN = 20
PLACES = 20
LONG = 160


def lines(found: Sequence[Difference], shown: int = SHOWN) -> Iterator[str]:
    """The first differences, those of JSON before all others, then how many there are in each place."""
    found = sorted(found, key=lambda each: ".json/" not in each.path)
    for difference in found[:shown]:
        yield difference.path
        yield f"  was {shortened(difference.was)}"
        yield f"  is  {shortened(difference.now)}"
    if len(found) > shown:
        yield f"... and {len(found) - shown} more"
    if found:
        yield "Where, with * for positions:"
        places = Counter(place(difference.path) for difference in found)
        cases = Counter(each for each, _ in {(place(each.path), each.path.split("/")[1]) for each in found})
        for name, count in places.most_common(PLACES):
            yield f"{count:8,} in {cases[name]:3} cases  {name}"
        if len(places) > PLACES:
            yield f"... and {len(places) - PLACES} more places"
    for case in equal_costs(found):
        yield f"{case}: other purchases or uses at the same present cost: another of several equally good plans"


def place(path: str) -> str:
    """A path without its group, its case and its positions."""
    return re.sub(r"(?<=/)\d+(?=/|$)", "*", "/".join(path.split("/")[2:]))


def shortened(value: Any) -> str:
    if value is MISSING:
        return "(nothing)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONG else f"{text[:LONG]} ... ({len(text):,} characters)"


def equal_costs(found: Sequence[Difference]) -> list[str]:
    """The cases whose strategies do other things and cost the same."""
    by_case: dict[str, set[str]] = {}
    for difference in found:
        group, case, *rest = difference.path.split("/")
        if rest[:2] == ["plan.json", "strategies"] and len(rest) > 3:
            by_case.setdefault(f"{group}/{case}", set()).add(rest[3])
    return [case for case, fields in by_case.items() if fields & {"purchases", "uses"} and "present_cost" not in fields]
