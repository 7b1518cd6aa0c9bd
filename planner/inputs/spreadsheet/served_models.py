"""A served model in a row of a sheet: its name and precision, the lengths of its requests or the file of a trace that
tells them, and their limits."""

from __future__ import annotations

import re
from typing import Any

from planner.inputs.notation.units import normalize_text
from planner.inputs.spreadsheet.demand import DemandStatement
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow
from planner.inputs.spreadsheet.throughput_measurement import PRECISIONS

TOKENS = ("input_tokens", "output_tokens")
MILLISECONDS = ((r"\bms\b|millisecond", 1.0), (r"\bs\b|\bsecs?\b|second", 1000.0))


def read_served_model(line: WorkloadRow, stated: DemandStatement | None) -> dict[str, Any]:
    """The network and the serving of a row that names a served model; empty for others. A rate of requests without
    lengths is a problem of the request, not of the row."""
    cell, name = line.cell("served_model"), line.text("served_model")
    if cell is None or not name or stated is None or stated.key != "requests_per_second":
        return {}
    network = {"run": "inference"} | line.record("network.model", cell, name)
    precision = line.cell("precision")
    if precision is not None and (text := normalize_text(line.text("precision"))):
        network |= line.record("network.precision", precision, PRECISIONS.get(text, text))
    serving: dict[str, Any] = {}
    if (trace := line.cell("request_trace")) is not None and (file := line.text("request_trace")):
        serving |= line.record("serving.trace", trace, file)
    for meaning in TOKENS:
        if (number := line.number(meaning)) is not None:
            serving |= line.record(f"serving.{meaning}", number.cell, number.value)
        elif not serving.get("trace"):
            missing = meaning.replace("_", " ")
            line.ledger.add_problem(cell, f"a served model without {missing}", f"a column {missing}")
    for meaning, key in (("ttft", "ttft_ms"), ("tpot", "tpot_ms")):
        number = line.number(meaning)
        value = _read_milliseconds(line, number) if number is not None else None
        if number is not None and value is not None:
            serving |= line.record(f"serving.{key}", number.cell, value)
    if (number := line.number("percentile")) is not None:
        serving |= line.record("serving.percentile", number.cell, number.value)
    if (engine := line.cell("engine")) is not None and (text := normalize_text(line.text("engine"))):
        serving |= line.record(
            "serving.engine", engine, {"tensorrt llm": "trtllm", "tensorrt-llm": "trtllm"}.get(text, text)
        )
    mixed, may_mix = line.cell("mixed_accelerators"), line.flag("mixed_accelerators")
    if mixed is not None and may_mix is not None:
        serving |= line.record("serving.mixed_accelerators", mixed, may_mix)
    return {"network": network, "serving": serving}


def _read_milliseconds(line: WorkloadRow, number: CellNumber) -> float | None:
    for words in (number.unit_words, number.column.words):
        for pattern, factor in MILLISECONDS:
            if re.search(pattern, words):
                return number.value * factor
    line.ledger.add_problem(number.cell, f"{number.column.header.text!r} has no unit", "ms or s in the header")
    return None
