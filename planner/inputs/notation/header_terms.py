"""The words by which headers are matched: column_meanings.csv, in the order of trial (the first match decides).

Patterns apply to normalized headers (`units.normalize_text`): lower case, no brackets, GPU-hours as "gpu hours".
"""

from __future__ import annotations

import csv
import re
from functools import lru_cache
from importlib import resources

from planner.inputs.notation.units import ACCELERATOR, MACHINE, SPANS, WORK

RUN = r"(?:run|experiment|execution|job|training|session|epoch|task|cycle|iteration)"
TERMS = {
    "accelerator": ACCELERATOR,
    "spans": SPANS,
    "work": WORK,
    "run": RUN,
    "count": r"(?:number of|no\.? of|nr\.? of|num|count of|how many|quantity of|qty of)",
    "done": r"(?:measured|throughput|sustain|capacity|benchmark|achieved|observed)",
    "traffic": r"(?:requests?|reqs?|quer(?:y|ies)|calls?|inferences|prompts?)",
    "thing": rf"(?:{WORK}|work|units|volume)",
    "every": r"(?:daily|weekly|monthly|annual|yearly)",
    "period": r"(?:day|week|wk|month|mo|mth|quarter|year|yr)",
    "machine": MACHINE,
    "at_work": r"(?:work(?:ing)? |business |active |run(?:ning)? |usage |use )",
    # Processors and people, whose hours are not those of accelerators:
    "not_of_accelerators": r"v?cpu|core|man|person|people|staff|engineer|engineering|support",
}
"""Parts of patterns, as {name} in column_meanings.csv."""

PRICED = (
    r"[$€£¥]|\b(?:prices?|pricing|priced|costs?|tariffs?|fees?|invoices?|spot rates?|hourly rates?|list rates?"
    r"|k?usd|k?eur|teur|k?gbp|k?chf|jpy|cad|aud|sek|nok|dkk|pln|brl|inr)\b"
)
"""Words of an amount of money: a header with one is never an amount of work, time or size."""
MAY_BE_PRICED = frozenset({
    "budget", "team", "notes", "source", "name", "residency", "provider", "region", "kind", "call_input_price",
    "call_output_price", "last_cost",
})  # fmt: skip
"""Meanings that a header with such a word may have nevertheless."""

SHARE_OF_HOURS = re.compile(r"share|of (?:the )?(?:hours|time|month)|uptime|duty|busy|active")
"""Words of a utilisation that lowers the hours beside it."""
PEAK = re.compile(r"\b(?:peak|max(?:imum)?|p9\d)\b")
KINDS = (
    ("batch", r"batch|offline|embed|\beval|scoring|\betl\b|render|simulation|processing"),
    ("interactive", r"interactive|notebook|jupyter|workstation|desktop|development|\bdev\b|exploration"),
    ("training", r"train|fine ?tun|\blora\b|\bsft\b|\brlhf\b|\bdpo\b|\bhpo\b|hyper ?param"),
    ("inference", r"inferenc|serving|\bserve|online|endpoint|real ?time|\bapi\b|chat"),
)
"""The kinds of workloads, as patterns over normalized texts."""
RECOVERY_LEVELS = (
    ("pilot_light", r"pilot"),
    ("warm_standby", r"warm|standby"),
    ("active_active", r"active"),
)
"""The levels of disaster recovery, as patterns over normalized texts."""


@lru_cache(maxsize=4096)
def match_kind(words: str) -> str:
    """The kind of workload that a normalized text names, else empty."""
    return next((kind for kind, pattern in KINDS if re.search(pattern, words)), "")


def _load_meanings() -> tuple[tuple[str, str], ...]:
    table = resources.files(__package__).joinpath("column_meanings.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(table.splitlines())
    return tuple(
        (row["meaning"], re.sub(r"\{([a-z_]+)\}", lambda name: TERMS[name[1]], row["pattern"])) for row in rows
    )


MEANINGS = _load_meanings()
"""Meanings and their patterns, in the order of trial; most meanings have several."""
