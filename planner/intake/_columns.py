"""What the columns of a sheet mean: their headers matched by meaning, with the units that the headers carry.

Knows words, not values: a header whose words fit nothing is left to be named as unused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.intake._grid import Cell, Row
from planner.intake._months import is_yearless, month_of, ordinal_of
from planner.intake._numbers import currency_of
from planner.intake._units import ACCELERATOR as ACC
from planner.intake._units import WORK, Metric, metric_of, plain, seconds_of, work_unit

_COUNT = r"(?:number of|no\.? of|nr\.? of|num|count of|how many|quantity of|qty of)"
_DONE = r"measured|throughput|sustain|capacity|benchmark|achieved|observed"
_TRAFFIC = r"requests?|reqs?|quer(?:y|ies)|calls?|inferences|prompts?"

MEANINGS: tuple[tuple[str, str], ...] = (
    ("notes", r"^(?:notes?|comments?|remarks?|justification|description|details|rationale)\b"),
    ("source", r"^(?:source|benchmark|measured (?:with|by)|measurement source|evidence)\b"),
    ("measured_on", r"\bmeasured (?:on|at)\b|measurement date|date measured"),
    ("interruptible", r"interruptib|pre ?emptib|\bspot\b|can be interrupted"),
    ("substitution", rf"substitut|\b(?:other|any) {ACC} (?:ok|allowed|possible|acceptable)|may move to other"),
    ("accelerators", rf"\b(?:allowed|acceptable|approved|permitted|eligible|alternative) {ACC}|\b{ACC} (?:allowed|options)\b"),
    ("may_be_owned", r"\bowned\b|\bon ?prem|\bownable\b"),
    ("residency", r"residen|data location|\bdata (?:must )?stays?\b|sovereign|jurisdiction"),
    ("checkpoint_minutes", r"checkpoint"),
    ("restart_minutes", r"\brestart"),
    ("memory", r"\bmemory\b|\bvram\b|\bhbm\b"),
    ("egress", r"\begress\b|\boutbound\b|\bdata (?:transfer )?out\b"),
    ("storage", r"\bstorage\b|\bdata ?set size\b|\bdisk\b"),
    ("budget", r"\bbudget|\b(?:cost|spend|spending) (?:cap|limit|ceiling)\b|\bmax(?:imum)? (?:cost|spend)"),
    ("growth", r"\bgrowth\b|\bmom\b|\bgrows\b"),
    ("deadline", r"\bdeadline\b|\bdue\b|\b(?:needed|finish|finished|complete|done) by\b|\btarget (?:date|month)\b"),
    ("precision", r"\bprecision\b|\bdtype\b"),
    ("utilisation", r"\butili[sz]ation\b|\butil\b|\bduty cycle\b|\buptime\b|\bshare of (?:hours|time)\b|% of (?:hours|time)"),
    ("daily_shape", r"\bshape\b|\b(?:traffic|load|daily|usage) (?:pattern|profile)\b|^(?:pattern|profile)$"),
    ("scaling", r"^scaling\b"),
    ("parallel_jobs", r"\bparallel\b|\bconcurren"),
    ("gang", rf"\b{ACC}(?: per |/)(?:job|replica|gang|instance of the model)\b|\bgang\b|\btensor parallel"),
    ("accelerators_per_node", rf"\b{ACC}(?: per |/)(?:node|server|host|machine)\b"),
    ("nodes", rf"^(?:{_COUNT} )?(?:nodes|servers|hosts|machines)(?: count)?$|^node count$"),
    ("units_per_request", rf"\b{WORK}(?: per |/)(?:request|query|call|prompt)\b"),
    ("per", rf"^(?:per|basis|measured per|(?:rate|throughput|speed) (?:basis|per|is per|for|is for)|per {ACC} or job)$"),
    ("throughput", rf"\bthroughput\b|\b(?:{_TRAFFIC}|rps|qps)\b.*\b(?:{_DONE}|per {ACC}|per replica|per job)|(?:{_DONE}).*\b(?:rps|qps)\b"),
    ("requests_per_second", rf"\b(?:{_TRAFFIC})(?: per |/)(?:s|sec|second)s?\b|\brps\b|\bqps\b|\btraffic\b"),
    ("accelerator_hours", rf"\b{ACC} ?(?:hours?|hrs?|h)\b"),
    ("throughput", rf"\b{WORK}(?: per |/)(?:s|secs?|seconds?|h|hr|hours?|mins?|minutes?)\b|\b(?:tps|ips)\b|\bit/s\b"),
    ("total_units", rf"\btotal (?:{WORK}|work|units)\b|\b(?:{WORK}|work|units) (?:in )?total\b|\btotal work\b|^(?:[kmbt] )?{WORK}(?: [kmbt]| (?:m|b|tr)illions?)?$|\b{WORK} to (?:train|process)\b|^(?:training|target) {WORK}\b"),
    ("units_per_month", rf"\b(?:{WORK}|work|units|volume)\b.*(?:per |/)(?:day|week|month|mo|mth|quarter|year|yr)\b|\b(?:daily|weekly|monthly|annual|yearly) (?:{WORK}|work|units|volume)\b|^(?:[kmbt] )?{WORK} monthly\b"),
    ("hours", r"\b(?:hours?|hrs?|runtime)\b"),
    ("unit", r"^(?:unit|units|uom|metric|measure)(?: of .*)?$|^(?:demand|work) (?:unit|metric)$"),
    ("amount", r"^(?:demand|amount|usage|need|forecast|work needed|quantity needed)\b"),
    ("accelerator", rf"\b(?:{ACC}|hardware) (?:type|model|name|kind|sku|family)\b|^(?:gpu|accelerator|chip|tpu|device|card|hardware)(?: required| requested| needed)?$|^(?:gpu/tpu|gpu or tpu|accelerator type)$"),
    ("gpus", rf"^{_COUNT} {ACC}\b|\b{ACC} (?:count|qty|quantity|number)\b|^(?:gpus|accelerators|tpus|chips|devices|cards)(?: (?:needed|required|requested))?$|^(?:count|qty|quantity)$"),
    ("team", r"\bteam\b|\bowner\b|\bcost cent(?:er|re)\b|\bdepartment\b|\bdept\b|\brequest(?:er|or|ed by)\b|\bbusiness unit\b|\bsquad\b|^group$|\bdivision\b"),
    ("kind", r"\bkind\b|\b(?:workload|job) (?:type|class|category)\b|^(?:type|category|class)$"),
    ("provider", r"\bprovider\b|\bcloud\b|\bvendor\b|\bcsp\b"),
    ("region", r"\bregions?\b|\blocation\b"),
    ("name", r"\bworkload\b|\bjob\b|\bservice\b|\bname\b|\bproject\b|\bapplication\b|^app$|^model$|\buse case\b|^task$"),
)  # fmt: skip
NAME_RANK = ("workload", "job", "name", "service", "application", "app", "model", "use case", "task", "project")
FIRST_WINS = frozenset({"name", "team", "kind", "notes", "region", "provider", "source"})
NEEDED = "GPU-hours, GPUs with hours, work per month (tokens/month), total work with a deadline, or requests per second"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that means something. `month` is set for "month" columns ("2026-12" or "#3" for the plan's third month).

    `words` is the header in plain words; `metric` what a demand in it is counted in, as far as header and headers above say.
    """

    index: int
    meaning: str
    header: Cell
    words: str
    month: str = ""
    metric: Metric | None = None
    currency: str = ""


def columns_of(row: Row, above: Row | None = None) -> tuple[Column, ...]:
    """The columns that a header row names, one or more for a meaning; `above` may hold the unit of month columns."""
    found = []
    over = ""
    for index, cell in enumerate(row.cells):
        text = above.cell(index).text if above else ""
        over = text or (over if found and found[-1].meaning == "month" else "")
        if column := _column(index, cell, over):
            found.append(column)
    return tuple(found)


def unknown(row: Row, columns: tuple[Column, ...]) -> list[Cell]:
    """The header cells that mean nothing to us."""
    known = {column.index for column in columns}
    return [cell for index, cell in enumerate(row.cells) if not cell.is_blank and index not in known]


def settle(columns: tuple[Column, ...]) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """One column for each text meaning (the best name, else the first), and those that were passed over."""
    kept: dict[str, Column] = {}
    rest: list[Column] = []
    passed: list[Column] = []
    for column in columns:
        if column.meaning not in FIRST_WINS:
            rest.append(column)
            continue
        held = kept.get(column.meaning)
        if held is None or (column.meaning == "name" and _name_rank(column) < _name_rank(held)):
            kept[column.meaning] = column
            passed += [held] if held else []
        else:
            passed.append(column)
    return tuple(sorted([*kept.values(), *rest], key=lambda column: column.index)), tuple(passed)


def _column(index: int, cell: Cell, over: str) -> Column | None:
    if cell.is_blank or cell.fault or cell.is_number or isinstance(cell.value, bool):
        return None
    if month := month_of(cell):
        return Column(index, "month", cell, cell.text, month, metric_of(over) if over else None)
    if number := ordinal_of(cell):
        return Column(index, "month", cell, cell.text, f"#{number}", metric_of(over) if over else None)
    if is_yearless(cell):
        return Column(index, "yearless", cell, cell.text)
    words = plain(cell.text)
    meaning = meaning_of(words)
    if not meaning or len(cell.text) > 80:
        return None
    metric = metric_of(cell.text)
    return Column(index, meaning, cell, words, "", metric, currency_of(cell.text))


def meaning_of(words: str) -> str:
    """What a header in plain words means, else empty."""
    for meaning, pattern in MEANINGS:
        if re.search(pattern, words):
            return meaning
    return ""


def rate_of(column: Column) -> tuple[str, float | None]:
    """The unit and the seconds of a throughput column, as its header says them."""
    return work_unit(column.words), seconds_of(column.words)


def _name_rank(column: Column) -> int:
    return next((rank for rank, word in enumerate(NAME_RANK) if re.search(rf"\b{word}\b", column.words)), len(NAME_RANK))
