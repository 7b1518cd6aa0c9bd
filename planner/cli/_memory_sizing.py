"""Behind `planner memory`: memory of networks from options or a file on every accelerator, as text or JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner.cli._catalog_options import parse_count, split_names, suggest_names
from planner.cli._exit_codes import DONE
from planner.cli._input_problems import option_flag
from planner.cli._tables import json_text, print_text
from planner.library.request_files import read_bytes
from planner.messages import joined_text, text_of, with_texts
from planner.request.errors import InputProblem, InvalidRequest
from planner.result.message import Message
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_line
from pricing.text_tables import align_columns

if TYPE_CHECKING:
    from planner.performance.memory import MemoryEstimate, SmallestGang
    from planner.request.neural_network import NeuralNetwork
    from pricing.accelerator import Accelerator

FIELDS = {"sequence": "sequence_length", "batch": "batch_per_device", "zero": "zero_stage"}
"""Options whose field has another name."""
SPLIT = ("tensor", "pipeline", "zero_stage")
SHAPE_COLUMNS = ("layers", "hidden_size", "attention_heads", "kv_heads")
PARTS = ("weights", "gradients", "optimizer", "activations", "kv_cache", "overhead")
HEAD = ("accelerator", "GiB", "fits on", "may fit on", "GiB on each", "low", "high", "")
RIGHT = HEAD[1:-1]


@dataclass(frozen=True, slots=True)
class NetworkRequest:
    """A network, its name, and the number of accelerators that the components are printed for."""

    name: str
    network: NeuralNetwork
    count: float


def _collect_networks(file: str, options: Mapping[str, str | None], faults: list[InputProblem]) -> list[NetworkRequest]:
    """The networks of the file or of the options; problems are added to `faults`."""
    given = {FIELDS.get(name, name): text for name, text in options.items() if text is not None}
    if file and given:
        names = ", ".join(sorted(_field_flag(field) for field in given))
        faults.append(InputProblem("", names, "cannot be combined with a file", file, "one of the two"))
    if file:
        return _read_networks(file, faults)
    count = _parse_gang(given.pop("count", None), "--count", faults)
    split = {field: given.pop(field) for field in SPLIT if field in given}
    network = _parse_network({**given, **({"parallelism": split} if split else {})}, "", {}, faults)
    return [NetworkRequest(network.model or "model", network, count)] if network else []


def _field_flag(field: str) -> str:
    field = field.rpartition(".")[2]
    names = {value: key for key, value in FIELDS.items()}
    return option_flag(names.get(field, field)) if field else "--model"


def _parse_gang(value: object, place: str, faults: list[InputProblem]) -> float:
    """A number of accelerators; one where none is given, or where it is no number."""
    return 1.0 if value is None else parse_count(str(value), place, "1 or more", faults) or 1.0


def _parse_network(
    document: Any, path: str, places: Mapping[str, str], faults: list[InputProblem]
) -> NeuralNetwork | None:
    """The network; its problems are added to `faults`, placed at the options if it has no path."""
    from pydantic import ValidationError

    from planner.performance.model_catalog import describe_unknown_model
    from planner.request.document_problems import locate_path
    from planner.request.neural_network import NeuralNetwork

    model = document.get("model") if isinstance(document, dict) else None

    def add_problem(field: str, message: str, value_text: str) -> None:
        full = ".".join(part for part in (path, field) if part)
        place = locate_path(full, places) if path else _field_flag(field)
        faults.append(InputProblem(full, place, message, value_text))

    unknown_model = describe_unknown_model(model) if isinstance(model, str) and model else ""
    if unknown_model:
        add_problem("model", unknown_model, repr(model))
    try:
        network = NeuralNetwork.model_validate(document)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            field = ".".join(part for part in item["loc"] if isinstance(part, str) and part.isidentifier())
            value = item.get("input")
            value_text = "" if isinstance(value, dict | list) or value is None else repr(value)[:80]
            add_problem(field, item["msg"].removeprefix("Value error, "), value_text)
        return None
    return None if unknown_model else network


def _read_networks(file: str, faults: list[InputProblem]) -> list[NetworkRequest]:
    from planner.inputs.file_reader import read_isolated as read
    from planner.request.document_problems import locate_path

    try:
        source = read(read_bytes(file), file)
    except InvalidRequest as error:
        faults += error.complaints  # reported together with those of the options
        return []
    faults += source.complaints
    workloads = source.document.get("workloads")
    networks = []
    for index, workload in enumerate(workloads if isinstance(workloads, list) else ()):
        document = workload.get("network") if isinstance(workload, dict) else None
        if document is None:
            continue
        path = f"workloads[{index}]"
        count = _parse_gang(workload.get("gang"), locate_path(f"{path}.gang", source.places), faults)
        network = _parse_network(document, f"{path}.network", source.places, faults)
        if network is not None:
            networks.append(NetworkRequest(str(workload.get("name", path)), network, count))
    if not faults and not networks:
        faults.append(InputProblem("workloads", file, "no workload has a network", "", "network: {model: llama-2-7b}"))
    return networks


def report_memory(
    file: str, options: Mapping[str, str | None], accelerator_names: Sequence[str], format_name: str
) -> int:
    """Print every network and return the exit code; InvalidRequest with every problem."""
    from planner.performance.memory import estimate_memory, smallest_gang

    faults: list[InputProblem] = []
    networks = _collect_networks(file, options, faults)
    accelerators = _select_accelerators(accelerator_names, faults)
    if faults:
        raise InvalidRequest(tuple(faults))
    blocks: list[str] = []
    documents: list[dict[str, Any]] = []
    for each in networks:
        memory = estimate_memory(each.network, each.count)
        gangs = [(part, smallest_gang(each.network, part)) for part in accelerators]
        if format_name == "json":
            documents.append(_memory_document(each, memory, gangs))
        else:
            blocks.append("\n".join(plain_line(line) for line in _memory_lines(each, memory, gangs)))
    print_text(json_text({"networks": documents}) if format_name == "json" else "\n\n".join(blocks) + "\n")
    return DONE


def _select_accelerators(accelerator_names: Sequence[str], faults: list[InputProblem]) -> list[Accelerator]:
    """The named accelerators, or all of them."""
    from pricing.catalog.price_catalog import Catalog

    names = Catalog.current().names
    selected: dict[str, Accelerator] = {}
    for text in split_names(accelerator_names):
        try:
            selected |= {part.name: part for part in names.match(text)}
        except UnknownName as unknown:
            faults.append(InputProblem("", "--accelerator", "unknown accelerator", text, suggest_names(unknown)))
    return list((selected if accelerator_names else names.by_name).values())


def _memory_document(
    entry: NetworkRequest, memory: MemoryEstimate | Message, gangs: Sequence[tuple[Accelerator, SmallestGang | Message]]
) -> dict[str, Any]:
    return {
        "name": entry.name,
        "network": entry.network.model_dump(exclude_none=True),
        "count": entry.count,
        "memory": _memory_values(memory),
        "accelerators": [
            {"accelerator": part.name, "memory_gib": part.memory_gib, **_gang_values(smallest)}
            for part, smallest in gangs
        ],
    }


def _gang_values(smallest: SmallestGang | Message) -> dict[str, Any]:
    if isinstance(smallest, Message):
        return {"reason": _message_document(smallest)}
    return {"count": smallest.count, "tight": smallest.tight, "memory": _memory_values(smallest.memory)}


def _memory_values(memory: MemoryEstimate | Message) -> dict[str, Any]:
    if isinstance(memory, Message):
        return {"reason": _message_document(memory)}
    plain = {field.name: getattr(memory, field.name) for field in dataclasses.fields(memory)}
    explanation = [_message_document(each) for each in memory.explanation]
    return plain | {"parallelism": memory.parallelism.model_dump(), "explanation": explanation}


def _message_document(message: Message) -> dict[str, Any]:
    return dataclasses.asdict(with_texts(message))


def _memory_lines(
    entry: NetworkRequest, memory: MemoryEstimate | Message, gangs: Sequence[tuple[Accelerator, SmallestGang | Message]]
) -> Iterator[str]:
    network = entry.network
    yield f"{entry.name}: {_describe_run(network)}"
    if isinstance(memory, Message):
        yield f"  on {entry.count:g}: unknown: {text_of(memory)}"
    else:
        yield f"  {joined_text(memory.explanation)}"
        rows = [(name.replace("_", " "), f"{getattr(memory, f'{name}_gib'):,.2f}") for name in PARTS]
        rows.append(("total", f"{memory.total_gib:,.2f}"))
        head = (f"on each of {entry.count:g}" if entry.count > 1 else "on one", "GiB")
        yield from align_columns(head, rows, ("GiB",), indent="  ")
        yield f"  between {memory.low_gib:,.1f} and {memory.high_gib:,.1f} GiB"
    yield ""
    yield from align_columns(HEAD, [_accelerator_row(part, smallest) for part, smallest in gangs], RIGHT)


def _describe_run(network: NeuralNetwork) -> str:
    words = [f"{network.run} in {network.precision}"]
    if network.run != "inference":
        words += [f"with {network.optimizer}", f"recomputation {network.checkpointing}"]
    words += [f"sequences of {network.sequence_length:,}", f"{network.batch_per_device:g} at once"]
    return ", ".join(words)


def _accelerator_row(part: Accelerator, smallest: SmallestGang | Message) -> tuple[str, ...]:
    size = "" if part.memory_gib is None else f"{part.memory_gib:g}"
    if isinstance(smallest, Message):
        return part.name, size, "-", "-", "", "", "", text_of(smallest)
    memory = smallest.memory
    counts = [f"{count:,}" if count else "-" for count in (smallest.count, smallest.tight)]
    figures = [f"{value:,.1f}" for value in (memory.total_gib, memory.low_gib, memory.high_gib)]
    return part.name, size, *counts, *figures, text_of(memory.explanation[1])


def show_models(format_name: str) -> int:
    """The exit code, once the published models are listed."""
    from planner.performance.model_catalog import COLUMNS, published_models

    rows = [{name: getattr(shape, name) for name in COLUMNS} for shape in published_models().values()]
    if format_name == "json":
        print_text(json_text({"models": rows}))
        return DONE
    head = ("model", "parameters", "layers", "hidden", "heads", "kv heads", "source")
    cells = [
        (row["name"], f"{row['parameters'] / 1e9:,.2f}B", *(str(row[name]) for name in SHAPE_COLUMNS), row["source"])
        for row in rows
    ]
    print_text("\n".join(align_columns(head, cells, head[1:-1])) + "\n")
    return DONE
