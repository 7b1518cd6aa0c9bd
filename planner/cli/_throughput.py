"""Behind `planner throughput`: workloads on every accelerator, and what to measure next, as text, JSON or CSV."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from planner.cli._prices import parts as parts_of
from planner.cli._run import DONE
from planner.cli._tables import aligned, csv_text, json_text, show
from planner.errors import Complaint, InvalidRequest
from pricing.errors import UnknownName

if TYPE_CHECKING:
    from planner.demand import Need
    from planner.further import Further, Row
    from planner.request import Request
    from pricing.catalog import Catalog

COLUMNS = (
    "workload", "unit", "accelerator", "gang", "usable", "reason", "units_per_second", "units_per_hour",
    "units_per_hour_low", "units_per_hour_high", "basis", "explanation", "currency", "price_per_accelerator_hour",
    "where", "cost_per_million_units", "cost_per_million_units_low", "cost_per_million_units_high", "measure_cost",
    "measure_where", "measure_instead_of", "measure_chance", "measure_saving", "measure_saving_good",
)  # fmt: skip
"""Of the CSV; a measurement stands in the row of its accelerator and gang."""
NEXT_MAX = 3
MILLION = 1e6
SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options narrow the answer to; each text may hold several names with commas."""

    workloads: tuple[str, ...]
    accelerators: tuple[str, ...]
    counts: tuple[str, ...]
    everything: bool


@dataclass(frozen=True, slots=True)
class Told:
    """One workload with its rows, and what is worth measuring, the most worth first; prices in `currency`."""

    need: Need
    rows: list[Row]
    further: list[Further]
    currency: str


def report(file: str, options: Mapping[str, Any], wanted: Wanted, format_name: str) -> int:
    """Prints the table of every workload asked for; InvalidRequest with every fault."""
    from planner.cli._offers import catalogue

    faults: list[Complaint] = []
    counts = [count for text in parts_of(wanted.counts) if (count := _count(text, faults))]
    if not file:
        faults.append(Complaint("", "FILE", "no file of workloads", "", "a request, a sheet, or --errors"))
        raise InvalidRequest(tuple(faults))
    listed, more = catalogue(options["private_prices"], options["exchange_rates"])
    faults += more
    named = _accelerators(wanted.accelerators, listed, faults)
    request, catalog, needs = _asked(file, options, listed, faults)
    chosen = _chosen(needs, parts_of(wanted.workloads), faults)
    if faults:
        raise InvalidRequest(tuple(faults))
    told = [_told(request, need, catalog, named, counts) for need in chosen]
    show(FORMATS[format_name](told, wanted.everything))
    return DONE


def _told(request: Request, need: Need, catalog: Catalog, named: Collection[str], counts: Sequence[float]) -> Told:
    """At the gang of the request and at each count asked for. What is named narrows what is told, never the choice
    that a measurement may change."""
    from planner.further import by_cost, rows, worth

    found: dict[tuple[str, float], Row] = {}
    further: dict[tuple[str, float], Further] = {}
    for count in (None, *counts):
        of_count = rows(request, need, catalog, count)
        for row in of_count:
            found.setdefault((row.accelerator, row.gang), row)
        for one in worth(of_count, need):
            further.setdefault((one.row.accelerator, one.row.gang), one)
    best_first = sorted(further.values(), key=lambda one: (one.cost - one.saving, one.row.accelerator, one.row.gang))
    return Told(
        need,
        [row for row in by_cost(found.values()) if not named or row.accelerator in named],
        [one for one in best_first if not named or one.row.accelerator in named],
        request.currency,
    )


def _asked(
    file: str, options: Mapping[str, Any], listed: Catalog, faults: Sequence[Complaint]
) -> tuple[Request, Catalog, Sequence[Need]]:
    """The request of a file as `planner estimate` would plan it, and the work of each workload."""
    from planner.ask import answered
    from planner.cli._files import bytes_of, written_out
    from planner.intake import read_apart as read
    from planner.plan import needs_of

    settings = {name: parts_of(options[name]) for name in ("providers", "regions") if options[name]}
    source = read(bytes_of(file, faults), file)
    document, unread = written_out(source.document, settings, file)
    complaints = (*unread, *source.complaints)
    places = {**source.places, **{name: f"--{name}" for name in settings}}
    try:
        return answered(document, listed, lambda request: needs_of(request, listed), complaints, places)
    except InvalidRequest as error:
        raise InvalidRequest((*faults, *error.complaints)) from None


def _count(text: str, faults: list[Complaint]) -> float | None:
    try:
        count = float(text)
    except ValueError:
        count = 0.0
    if 0 < count <= MILLION:
        return count
    faults.append(Complaint("", "--count", "no number of accelerators", text, "more than 0"))
    return None


def _accelerators(texts: Sequence[str], catalog: Catalog, faults: list[Complaint]) -> tuple[str, ...]:
    found: list[str] = []
    for text in parts_of(texts):
        try:
            found += [part.name for part in catalog.names.match(text)]
        except UnknownName as error:
            near = f"one like {', '.join(error.nearest)}" if error.nearest else "a name of `planner offers`"
            faults.append(Complaint("", "--accelerator", "no such accelerator", text, near))
    return tuple(found)


def _chosen(needs: Sequence[Need], names: Sequence[str], faults: list[Complaint]) -> list[Need]:
    known = {need.workload.name.casefold(): need for need in needs}
    expected = f"one of {', '.join(need.workload.name for need in needs)}"
    strangers = [name for name in names if name.casefold() not in known]
    faults.extend(Complaint("", "--workload", "no such workload", name, expected) for name in strangers)
    wanted = dict.fromkeys(name.casefold() for name in names)
    return [known[name] for name in wanted if name in known] if names else list(needs)


def _text(told: Sequence[Told], everything: bool) -> str:
    return "\n".join(line for one in told for line in _block(one, everything)) + "\n"


def _block(told: Told, everything: bool) -> Iterator[str]:
    from planner.workload import is_described

    usable = [row for row in told.rows if row.usable]
    others = [row for row in told.rows if not row.usable]
    workload = told.need.workload
    yield f"{workload.name}, in {told.need.unit}"
    if not workload.measurements and not is_described(workload):
        yield "  only hours are given, no measurement: an accelerator-hour is one accelerator for one hour (definition)"
    if usable:
        head = _head(told.currency)
        yield from (f"  {line}" for line in aligned(head, map(_cells, usable), (*head[1:5], *head[6:9])))
    if others and not everything:
        without = sum(row.rate is None for row in others)
        yield f"  {len(others)} more cannot be rented or used ({without} of unknown throughput): --all shows why"
    if others and everything:
        yield "  cannot be rented or used"
        yield from (f"    {line}" for line in aligned(("accelerator", "gang", "a second", ""), map(_reason, others)))
    yield "  measure next"
    yield from (f"    {line}" for line in _next(told.further, told.currency))
    yield ""


def _head(currency: str) -> tuple[str, ...]:
    return (
        "accelerator", "gang", "a second", "an hour", "80 % interval", "basis", f"{currency} per accelerator-hour",
        f"{currency} per million", "80 % range", "",
    )  # fmt: skip


def _cells(row: Row) -> tuple[str, ...]:
    rate = row.rate
    assert rate is not None
    costs = _costs(row)
    low, cost, high = (_number(costs[name] * MILLION) for name in ("low", "expected", "high"))
    exact = rate.low == rate.high
    return (
        row.accelerator,
        f"{row.gang:g}",
        _number(rate.units_per_hour / SECONDS),
        _number(rate.units_per_hour),
        "" if exact else f"{_number(rate.low)} to {_number(rate.high)}",
        rate.basis.replace("_", " "),
        _number(row.price_per_accelerator_hour or 0.0),
        cost,
        "" if exact else f"{low} to {high}",
        row.where,
    )


def _reason(row: Row) -> tuple[str, ...]:
    rate = "unknown" if row.rate is None else _number(row.rate.units_per_hour / SECONDS)
    return row.accelerator, f"{row.gang:g}", rate, row.reason


def _next(further: Sequence[Further], currency: str) -> Iterator[str]:
    worthwhile = [one for one in further if one.saving > one.cost][:NEXT_MAX]
    if not worthwhile:
        yield "nothing: no measurement is likely to save more than an hour of its rent"
    for one in worthwhile:
        yield (
            f"{one.row.gang:g} x {one.row.accelerator} for an hour, {one.cost:,.2f} {currency} "
            f"({one.row.rent_where}): {one.chance:.0%} that it changes the choice against {one.instead_of}; "
            f"saves {one.saving:,.0f} {currency} on average, {one.saving_good:,.0f} at the good end"
        )


def _number(value: float) -> str:
    """Three digits that matter."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _json(told: Sequence[Told], _: bool) -> str:
    return json_text([_one_json(one) for one in told])


def _one_json(told: Told) -> dict[str, Any]:
    return {
        "workload": told.need.workload.name,
        "unit": told.need.unit,
        "currency": told.currency,
        "accelerators": [
            {
                **asdict(row),
                "usable": row.usable,
                "price_per_accelerator_hour": row.price_per_accelerator_hour,
                "cost_per_unit": _costs(row) if row.usable else None,
            }
            for row in told.rows
        ],
        "measure_next": [asdict(one) for one in told.further],
    }


def _csv(told: Sequence[Told], _: bool) -> str:
    return csv_text(COLUMNS, (line for one in told for line in _lines(one)))


def _lines(told: Told) -> Iterator[dict[str, Any]]:
    further = {(one.row.accelerator, one.row.gang): one for one in told.further}
    for row in told.rows:
        line: dict[str, Any] = {
            "workload": told.need.workload.name, "unit": told.need.unit, "accelerator": row.accelerator,
            "gang": row.gang, "usable": row.usable, "reason": row.reason, "currency": told.currency,
            "price_per_accelerator_hour": row.price_per_accelerator_hour, "where": row.where,
        }  # fmt: skip
        if (rate := row.rate) is not None:
            line |= {
                "units_per_second": rate.units_per_hour / SECONDS, "units_per_hour": rate.units_per_hour,
                "units_per_hour_low": rate.low, "units_per_hour_high": rate.high, "basis": rate.basis,
                "explanation": rate.explanation,
            }  # fmt: skip
        if row.usable:
            costs = _costs(row)
            line |= {f"cost_per_million_units_{end}": costs[end] * MILLION for end in ("low", "high")}
            line["cost_per_million_units"] = costs["expected"] * MILLION
        if one := further.get((row.accelerator, row.gang)):
            line |= {
                "measure_cost": one.cost, "measure_where": row.rent_where, "measure_instead_of": one.instead_of,
                "measure_chance": one.chance, "measure_saving": one.saving, "measure_saving_good": one.saving_good,
            }  # fmt: skip
        yield line


def _costs(row: Row) -> dict[str, float]:
    """Per unit, at the ends of the interval and in between."""
    assert row.rate is not None
    ends = {"low": row.rate.high, "expected": row.rate.units_per_hour, "high": row.rate.low}
    return {name: row.cost_per_unit(value) for name, value in ends.items()}


FORMATS: Mapping[str, Callable[[Sequence[Told], bool], str]] = {"text": _text, "json": _json, "csv": _csv}
"""JSON and CSV tell every accelerator, whether --all or not."""
