"""Behind `planner memory`: networks from options or a file, judged on every accelerator, as text or JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.cli._files import bytes_of
from planner.cli._prices import parts as parts_of
from planner.cli._run import DONE
from planner.cli._tables import aligned, json_text, show
from planner.errors import Complaint, InvalidRequest
from pricing.errors import UnknownName

if TYPE_CHECKING:
    from planner.memory import Memory, Smallest
    from planner.network import Network
    from pricing.accelerator import Accelerator

FIELDS = {"sequence": "sequence_length", "batch": "batch_per_device", "zero": "zero_stage"}
"""Options whose field has another name."""
SPLIT = ("tensor", "pipeline", "zero_stage")
PARTS = ("weights", "gradients", "optimizer", "activations", "kv_cache", "overhead")
HEAD = ("accelerator", "GiB", "fits on", "perhaps on", "GiB on each", "low", "high", "")
RIGHT = HEAD[1:-1]


@dataclass(frozen=True, slots=True)
class Asked:
    """One network, what it is called, and the count that its parts are shown for."""

    name: str
    network: Network
    count: float


def _asked(file: str, options: Mapping[str, str | None], faults: list[Complaint]) -> list[Asked]:
    """The networks asked for, by a file or by options; faults are added."""
    given = {FIELDS.get(name, name): text for name, text in options.items() if text is not None}
    if file and given:
        names = ", ".join(sorted(_option(field) for field in given))
        faults.append(Complaint("", names, "a file says this for each workload", file, "one of the two"))
    if file:
        return _of_file(file, faults)
    count = _count(given.pop("count", None), "--count", faults)
    split = {field: given.pop(field) for field in SPLIT if field in given}
    network = _network({**given, **({"parallelism": split} if split else {})}, "", {}, faults)
    return [Asked(network.model or "model", network, count)] if network else []


def _option(field: str) -> str:
    field = field.rpartition(".")[2]
    names = {value: key for key, value in FIELDS.items()}
    return f"--{names.get(field, field).replace('_', '-')}" if field else "--model"


def _count(value: object, place: str, faults: list[Complaint]) -> float:
    try:
        number = float(str(value)) if value is not None else 1.0
    except ValueError:
        number = 0.0
    if not 0 < number <= 1_000_000:
        faults.append(Complaint("", place, "no number of accelerators", str(value), "1 or more"))
        return 1.0
    return number


def _network(document: Any, path: str, places: Mapping[str, str] | None, faults: list[Complaint]) -> Network | None:
    """The network; its faults are added, at the options that said it where it has no path."""
    from pydantic import ValidationError

    from planner.network import Network
    from planner.request import locate

    try:
        return Network.model_validate(document)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            field = ".".join(part for part in item["loc"] if isinstance(part, str) and part.isidentifier())
            value = item.get("input")
            shown = "" if isinstance(value, dict | list) or value is None else repr(value)[:80]
            full = f"{path}.{field}" if field else path
            place = locate(full, places or {}) if path else _option(field)
            faults.append(Complaint(full, place, item["msg"].removeprefix("Value error, "), shown))
        return None


def _of_file(file: str, faults: list[Complaint]) -> list[Asked]:
    from planner.intake import read_apart as read
    from planner.request import locate

    try:
        source = read(bytes_of(file), file)
    except InvalidRequest as error:
        faults += error.complaints  # told with the faults of the options
        return []
    faults += source.complaints
    workloads = source.document.get("workloads")
    found = []
    for index, workload in enumerate(workloads if isinstance(workloads, list) else ()):
        document = workload.get("network") if isinstance(workload, dict) else None
        if document is None:
            continue
        path = f"workloads[{index}]"
        count = _count(workload.get("gang"), locate(f"{path}.gang", source.places), faults)
        network = _network(document, f"{path}.network", source.places, faults)
        if network is not None:
            found.append(Asked(str(workload.get("name", path)), network, count))
    if not faults and not found:
        faults.append(Complaint("workloads", file, "no workload has a network", "", "network: {model: llama-2-7b}"))
    return found


def report(file: str, options: Mapping[str, str | None], wanted: Sequence[str], format_name: str) -> int:
    """The exit code, once every network is judged and shown; InvalidRequest with every fault."""
    from planner.memory import needed, smallest_gang

    faults: list[Complaint] = []
    asked = _asked(file, options, faults)
    accelerators = _accelerators(wanted, faults)
    if faults:
        raise InvalidRequest(tuple(faults))
    blocks: list[str] = []
    documents: list[dict[str, Any]] = []
    for each in asked:
        memory = needed(each.network, each.count)
        found = [(part, smallest_gang(each.network, part)) for part in accelerators]
        if format_name == "json":
            documents.append(_document(each, memory, found))
        else:
            blocks.append("\n".join(_printable(line) for line in _block(each, memory, found)))
    show(json_text({"networks": documents}) if format_name == "json" else "\n\n".join(blocks) + "\n")
    return DONE


def _accelerators(wanted: Sequence[str], faults: list[Complaint]) -> list[Accelerator]:
    """Those asked for, else all that are known, by name."""
    from pricing.catalog import Catalog

    names = Catalog.current().names
    found: dict[str, Accelerator] = {}
    for text in parts_of(wanted):
        try:
            found |= {part.name: part for part in names.match(text)}
        except UnknownName as unknown:
            near = f"nearest: {', '.join(unknown.nearest)}" if unknown.nearest else "a known accelerator"
            faults.append(Complaint("", "--accelerator", "unknown accelerator", text, near))
    return list((found if wanted else names.by_name).values())


def _document(
    asked: Asked, memory: Memory | str, found: Sequence[tuple[Accelerator, Smallest | str]]
) -> dict[str, Any]:
    return {
        "name": asked.name,
        "network": asked.network.model_dump(exclude_none=True),
        "count": asked.count,
        "memory": _figures(memory),
        "accelerators": [
            {"accelerator": part.name, "memory_gib": part.memory_gib, "reason": smallest}
            if isinstance(smallest, str)
            else {
                "accelerator": part.name,
                "memory_gib": part.memory_gib,
                "count": smallest.count,
                "tight": smallest.tight,
                "memory": _figures(smallest.memory),
            }
            for part, smallest in found
        ],
    }


def _figures(memory: Memory | str) -> dict[str, Any]:
    if isinstance(memory, str):
        return {"reason": memory}
    plain = {field.name: getattr(memory, field.name) for field in dataclasses.fields(memory)}
    return plain | {"parallelism": memory.parallelism.model_dump()}


def _block(asked: Asked, memory: Memory | str, found: Sequence[tuple[Accelerator, Smallest | str]]) -> Iterator[str]:
    network = asked.network
    yield f"{asked.name}: {_run(network)}"
    if isinstance(memory, str):
        yield f"  on {asked.count:g}: cannot be told: {memory}"
    else:
        yield f"  {memory.explanation}"
        rows = [(name.replace("_", " "), f"{getattr(memory, f'{name}_gib'):,.2f}") for name in PARTS]
        rows.append(("total", f"{memory.total_gib:,.2f}"))
        head = (f"on each of {asked.count:g}" if asked.count > 1 else "on one", "GiB")
        for line in aligned(head, rows, ("GiB",)):
            yield f"  {line}"
        yield f"  between {memory.low_gib:,.1f} and {memory.high_gib:,.1f} GiB"
    yield ""
    yield from aligned(HEAD, [_row(part, smallest) for part, smallest in found], RIGHT)


def _run(network: Network) -> str:
    words = [f"{network.run} in {network.precision}"]
    if network.run != "inference":
        words += [f"with {network.optimizer}", f"recomputation {network.checkpointing}"]
    words += [f"sequences of {network.sequence_length:,}", f"{network.batch_per_device:g} at once"]
    return ", ".join(words)


def _row(part: Accelerator, smallest: Smallest | str) -> tuple[str, ...]:
    size = "" if part.memory_gib is None else f"{part.memory_gib:g}"
    if isinstance(smallest, str):
        return part.name, size, "-", "-", "", "", "", smallest
    memory = smallest.memory
    counts = [f"{count:,}" if count else "-" for count in (smallest.count, smallest.tight)]
    figures = [f"{value:,.1f}" for value in (memory.total_gib, memory.low_gib, memory.high_gib)]
    return part.name, size, *counts, *figures, memory.explanation.rpartition("; ")[2]


def models(format_name: str) -> int:
    """The exit code, once the published models are listed."""
    from planner.shapes import COLUMNS, published

    rows = [{name: getattr(shape, name) for name in COLUMNS} for shape in published().values()]
    if format_name == "json":
        show(json_text({"models": rows}))
        return DONE
    head = ("model", "parameters", "layers", "hidden", "heads", "kv heads", "source")
    cells = [
        (row["name"], f"{row['parameters'] / 1e9:,.2f}B", *(str(row[name]) for name in SHOWN), row["source"])
        for row in rows
    ]
    show("\n".join(aligned(head, cells, head[1:-1])) + "\n")
    return DONE


SHOWN = ("layers", "hidden_size", "attention_heads", "kv_heads")


def _printable(line: str) -> str:
    """The line as it is but for what could steer a terminal: names come from a file."""
    return "".join(char if char.isprintable() else " " for char in line)
