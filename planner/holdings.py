"""What is there already: commitments that run and nodes that are owned. Used at no further price, and what they still
cost is owed whatever is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planner import owned
from planner.answer import Gap
from planner.assumptions import Assumptions
from planner.candidates import HELD, Held, Resource
from planner.cashflow import Terms
from planner.errors import Complaint
from planner.estate import LiveCommitment
from planner.options import options
from planner.request import Request
from pricing.catalog import Catalog, Quote
from pricing.price import Price, option_of
from pricing.table import nearest

SOURCE = "request"
LISTED_MAX = 12


def existing(
    request: Request, catalog: Catalog, assumptions: Assumptions, terms: Terms, month_names: tuple[str, ...]
) -> tuple[tuple[Resource, ...], tuple[Gap, ...]]:
    """All that is there already, with what could not be used or counted."""
    nodes, gaps = owned_nodes(request, catalog, assumptions, terms, month_names)
    return (*commitments(request, catalog, month_names), *nodes), gaps


def commitments(request: Request, catalog: Catalog, month_names: tuple[str, ...]) -> tuple[Resource, ...]:
    """Those that still cover a month of the plan; what is owed for them falls at the end of each month they cover."""
    found = []
    for line in request.existing.commitments:
        covered = _covered(line, month_names)
        if covered:
            found.append(_resource(line, covered, request, catalog))
    return tuple(found)


def owned_nodes(
    request: Request, catalog: Catalog, assumptions: Assumptions, terms: Terms, month_names: tuple[str, ...]
) -> tuple[tuple[Resource, ...], tuple[Gap, ...]]:
    """Nodes that are owned and within their life, and a gap for each that cannot be used."""
    systems = {system.name.casefold(): system for system in owned.systems(catalog, request)}
    found, gaps = [], []
    for line in request.existing.nodes:
        system = systems[line.system.casefold()]
        node, about = owned.node_of(system, catalog, assumptions, request, is_there=True)
        gaps += about
        age = _months_between(line.bought or month_names[0], month_names[0])
        life = round(assumptions["useful_life_months"].value) - age
        covers = range(1, min(life, terms.months) + 1)
        if node is None or not covers:
            if node is not None:
                text = f"{age} months old, past the useful life of {age + life}: not used; state a longer life if it is"
                gaps.append(Gap("not_planned", f"{system.name} (existing)", text))
            continue
        key = (HELD, node.name, line.bought or "")
        held = Held(line.count, covers, age_months=age)
        found.append(Resource(key, "owned", node.accelerator, node.accelerators, node=node, held=held))
    return tuple(found), tuple(gaps)


def _months_between(earlier: str, later: str) -> int:
    (a, b), (c, d) = (map(int, name.split("-")) for name in (earlier, later))
    return max(0, (c - a) * 12 + d - b)


def _covered(line: LiveCommitment, month_names: tuple[str, ...]) -> range:
    """The months of the plan up to the one it ends in."""
    return range(1, sum(name <= line.ends for name in month_names) + 1)


def _resource(line: LiveCommitment, covered: range, request: Request, catalog: Catalog) -> Resource:
    offering = catalog.offerings[line.provider, line.instance_type]
    option = option_of(line.purchase_option)
    assert option is not None
    price = Price(
        line.provider, line.region, line.instance_type, line.purchase_option, *option, 0.0, request.currency,
        request.as_of, SOURCE, "listed", "runs already",
    )  # fmt: skip
    quote = Quote(offering, price, catalog.names.by_name[offering.accelerator], 0)
    return Resource(
        (HELD, line.provider, line.region, line.instance_type, line.purchase_option, line.ends),
        "commitment",
        offering.accelerator,
        offering.accelerator_count or 0,
        quote=quote,
        held=Held(line.count, covered, fee_per_month=line.fee_per_month),
    )


def complaints(request: Request, catalog: Catalog) -> Iterator[Complaint]:
    """Every fault of the names and ways of paying of existing commitments, and of where workloads keep their data."""
    seen: dict[tuple[str, ...], str] = {}
    for index, line in enumerate(request.existing.commitments):
        path = f"existing.commitments[{index}]"
        if line.provider not in catalog.providers:
            yield _unknown(f"{path}.provider", line.provider, catalog.providers)
            continue
        regions = [region for provider, region in catalog.regions if provider == line.provider]
        if line.region not in regions:
            yield _unknown(f"{path}.region", line.region, regions)
        types = [name for provider, name in catalog.offerings if provider == line.provider]
        if line.instance_type not in types:
            yield _unknown(f"{path}.instance_type", line.instance_type, types)
        yield from _option(f"{path}.purchase_option", line.purchase_option)
        key = (line.provider, line.region, line.instance_type, line.purchase_option, line.ends)
        if (first := seen.setdefault(key, path)) != path:
            expected = f"one line, with the count of this and of {first}"
            yield Complaint(path, path, "the same commitment twice", " ".join(key), expected)
    for index, workload in enumerate(request.workloads):
        if workload.data_region is not None:
            yield from _place(f"workloads[{index}].data_region", workload.data_region, catalog)


def _option(path: str, written: str) -> Iterator[Complaint]:
    option = option_of(written)
    known = [name for name, each in options().items() if each.COMMITS and each.UNIT == "node"]
    if option is None or option.kind not in known:
        expected = f"a commitment to nodes ({', '.join(known)}), such as reserved_1y_no_upfront"
        yield Complaint(path, path, "no such commitment", written, expected)


def _place(path: str, written: str, catalog: Catalog) -> Iterator[Complaint]:
    provider, _, region = written.partition(" ")
    if (provider, region) not in catalog.regions:
        places = [f"{known} {place}" for known, place in catalog.regions]
        yield _unknown(path, written, places)


def _unknown(path: str, written: str, known: Iterable[str]) -> Complaint:
    names = sorted(known)
    close = nearest(written, names) or tuple(names[:LISTED_MAX])
    return Complaint(path, path, f"unknown {path.rpartition('.')[2]}", written, f"one of {', '.join(close)}")
