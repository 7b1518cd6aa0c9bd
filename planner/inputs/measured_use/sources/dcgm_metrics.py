"""Metrics of NVIDIA's DCGM exporter from Prometheus: a range query as JSON, or an export as CSV.

    curl -G .../api/v1/query_range -d start=... -d end=... -d step=300 \\
         --data-urlencode 'query={__name__=~"DCGM_FI_DEV_GPU_UTIL|DCGM_FI_PROF_GR_ENGINE_ACTIVE"}'

(prometheus.io/docs/prometheus/latest/querying/api, resultType matrix). DCGM_FI_DEV_GPU_UTIL is in percent,
DCGM_FI_PROF_GR_ENGINE_ACTIVE a fraction, which is taken where a GPU has both (docs.nvidia.com/datacenter/dcgm, field
identifiers; labels: github.com/NVIDIA/dcgm-exporter). CSV has columns for the time, the value and each label, or a
column for each series named `metric{label="value"}`, as Grafana writes it. Each sample stands for the time to the next
one. A GPU without a pod is unallocated, where any series names pods. Times are UTC.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from planner.inputs.measured_use.use_record import UNALLOCATED, MeasuredUsage, MeasuredUse, RowCount, UnreadableUse
from planner.inputs.text_encoding import binary_kind, decode
from planner.inputs.workload_files.hardware_names import find_accelerator
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.mig_slices import load_slices

TITLE = "DCGM metrics from Prometheus"
PERCENT, FRACTION = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
GROUPS = ("exported_namespace", "namespace", "hpc_job")
"""Labels that name workloads, the first that any series has. With a pod of its own the exporter is not the workload."""
PODS = ("exported_pod", "pod")
EXPORTER = "dcgm-exporter"
STEP_MAX_S = 3600.0
LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
TIMES = ("time", "timestamp", "_time", "ts")
VALUES = ("value", "_value", PERCENT.casefold(), FRACTION.casefold())
_HEADER = re.compile(r"(?P<metric>DCGM_FI_\w+)?\{(?P<labels>.*)\}")
_LABEL = re.compile(r'(\w+)\s*[=:]\s*"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class GpuSeries:
    """The samples of a metric of one GPU in one pod: Unix time and fraction of the time at work."""

    place: str
    labels: Mapping[str, str]
    samples: Sequence[tuple[float, float]]

    @property
    def pod(self) -> str:
        """The pod at work on it; empty for none, and for the pod of the exporter itself."""
        pod = next((self.labels[name] for name in PODS if self.labels.get(name)), "")
        return "" if pod.startswith(EXPORTER) else pod

    @property
    def device(self) -> tuple[str, ...]:
        """The GPU, or the slice of one."""
        labels = self.labels
        host = labels.get("Hostname") or labels.get("hostname") or labels.get("instance", "")
        gpu = labels.get("UUID") or f"{host} {labels.get('gpu', '')}"
        return gpu, labels.get("GPU_I_ID", "")


def claims(data: bytes) -> bool:
    """Whether a series of one of the two metrics is named at the beginning."""
    if binary_kind(data) is not None:
        return False
    head = data[:20_000].decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    return (PERCENT in head or FRACTION in head) and not head.startswith(("#", PERCENT + "{", FRACTION + "{"))


def read(data: bytes, name: str, catalog: Catalog, tag: str, answers: Mapping[str, str]) -> MeasuredUsage:  # noqa: ARG001  (it has no questions)
    """The GPUs and how busy they were. Raises UnreadableUse."""
    try:
        text = decode(data)[0].removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnreadableUse("no text") from None
    matched = list(_list_json(text) if text.lstrip()[:1] in "{[" else _list_csv(text))
    series = [each for each in matched if len(each.samples) > 1 and each.labels.get("__name__") in (PERCENT, FRACTION)]
    if not series:
        raise UnreadableUse(f"no series of {PERCENT} or {FRACTION} with two samples or more")
    labels = {label for each in series for label, text in each.labels.items() if text}
    group = tag or next((each for each in GROUPS if each in labels), "")
    if group and group not in labels:
        raise UnreadableUse(f"no label {tag!r}; --tag names one of {', '.join(sorted(labels))}")
    left, uses = RowCount(), list[MeasuredUse]()
    has_fraction = {each.device for each in series if each.labels["__name__"] == FRACTION}
    names_pods = any(each.pod for each in series)
    counted = []
    usable = {id(each) for each in series}
    for each in matched:
        if id(each) not in usable:
            left.add("another metric, or a single sample", each.place)
        elif each.labels["__name__"] == PERCENT and each.device in has_fraction:
            left.add(f"{FRACTION} of the same GPU is used", each.place)
        else:
            counted.append(each)
    step = min(after - at for each in counted for (at, _), (after, _) in pairwise(each.samples))
    shared = _count_shared(counted)
    for each in counted:
        uses += _build_uses(each, group, step, shared, catalog, names_pods=names_pods)
    notes = ["times are UTC", f"each sample stands for {step:g} s"]
    notes += [] if names_pods else ["no series names a pod: all GPUs count as in use, busy or not"]
    grouped = f"the label {group}" if group else "the whole cluster"
    return MeasuredUsage(name, TITLE, len(matched), len(counted), tuple(uses), left.listed(), grouped, tuple(notes))


def _list_json(text: str) -> Iterator[GpuSeries]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableUse("not JSON") from None
    answers = document if isinstance(document, list) else [document]
    for index, answer in enumerate(answers):
        data = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(data, Mapping) or data.get("resultType") != "matrix":
            raise UnreadableUse("no answer of a range query (resultType matrix)", f"[{index}]")
        for number, each in enumerate(_as_list(data.get("result"))):
            place = f"data.result[{number}]"
            labels = each.get("metric") if isinstance(each, Mapping) else None
            if not isinstance(labels, Mapping):
                raise UnreadableUse("a series without labels", place)
            samples = _check_samples(_as_list(each.get("values")), str(labels.get("__name__")), place)
            yield GpuSeries(place, {str(key): str(value) for key, value in labels.items()}, samples)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _check_samples(values: Any, metric: str, place: str) -> list[tuple[float, float]]:
    """Times in order with fractions; samples that are no number (NaN) are left out."""
    scale, samples = (0.01 if metric == PERCENT else 1.0), list[tuple[float, float]]()
    for pair in values:
        try:
            at, value = float(pair[0]), float(pair[1]) * scale
        except (TypeError, ValueError, IndexError, KeyError, OverflowError):
            raise UnreadableUse(f"a sample is {str(pair)[:40]}, expected a time and a number", place) from None
        if not 0 <= at < LATEST or (samples and at <= samples[-1][0]):
            raise UnreadableUse("samples are not Unix times in their order", place)
        if math.isfinite(value) and metric in (PERCENT, FRACTION):
            if not 0 <= value <= 1.01:
                raise UnreadableUse(f"{metric} is {value / scale:g}, beyond its range", place)
            samples.append((at, min(1.0, value)))
    return samples


def _list_csv(text: str) -> Iterator[GpuSeries]:
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(rows, [])
        table = list(enumerate(rows, 2))
    except csv.Error as error:
        raise UnreadableUse(f"not CSV: {error}") from None
    names = [name.strip().casefold() for name in header]
    when = next((index for index, name in enumerate(names) if name in TIMES), None)
    if when is None:
        raise UnreadableUse(f"no column for the time ({', '.join(TIMES)})")
    value = next((index for index, name in enumerate(names) if name in VALUES), None)
    if value is not None:
        yield from _list_long(header, table, when, value)
        return
    for index, title in enumerate(header):
        match = _HEADER.search(title)
        if match is None:
            continue
        labels = dict(_LABEL.findall(match["labels"]))
        metric = match["metric"] or labels.get("__name__", "")
        pairs = [(_parse_moment(row[when], line), row[index]) for line, row in table if index < len(row) and row[index]]
        samples = _check_samples(pairs, metric, f"column {index + 1}")
        yield GpuSeries(f"column {index + 1}", {**labels, "__name__": metric}, samples)


def _list_long(
    header: Sequence[str], table: Sequence[tuple[int, Sequence[str]]], when: int, value: int
) -> Iterator[GpuSeries]:
    """A row for each sample, with its labels in columns."""
    metric_at = next(
        (i for i, name in enumerate(header) if name in ("__name__", "metric", "_field", "_measurement")), None
    )
    points: dict[tuple[tuple[str, str], ...], list[tuple[int, float, str]]] = defaultdict(list)
    for line, row in table:
        if len(row) < len(header):
            raise UnreadableUse(f"{len(row)} fields under {len(header)} columns", f"line {line}")
        labels = [(name, row[i]) for i, name in enumerate(header) if i not in (when, value, metric_at)]
        metric = row[metric_at] if metric_at is not None else header[value].strip()
        points[(("__name__", metric), *labels)].append((line, _parse_moment(row[when], line), row[value]))
    for key, its in points.items():
        ordered = sorted(its, key=lambda point: point[1])
        samples = _check_samples([(at, text) for _, at, text in ordered], key[0][1], f"line {its[0][0]}")
        yield GpuSeries(f"line {its[0][0]}", dict(key), samples)


def _parse_moment(text: str, line: int) -> float:
    """Unix time in seconds or milliseconds, or a date with its time; without a zone UTC."""
    try:
        number = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            raise UnreadableUse(
                f"the time is {text[:30]!r}, expected Unix time or 2026-09-01 08:30:00", f"line {line}"
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return number / 1000 if number > LATEST else number


def _count_shared(series: Sequence[GpuSeries]) -> Mapping[tuple[tuple[str, ...], float], int]:
    """How many pods share a GPU at a time."""
    counts: dict[tuple[tuple[str, ...], float], int] = defaultdict(int)
    for each in series:
        for at, _ in each.samples:
            counts[each.device, at] += 1
    return counts


def _build_uses(
    series: GpuSeries,
    group: str,
    step: float,
    shared: Mapping[tuple[tuple[str, ...], float], int],
    catalog: Catalog,
    *,
    names_pods: bool,
) -> Iterator[MeasuredUse]:
    """A use for each hour of a series, with the mean of its samples."""
    written = series.labels.get("modelName") or series.labels.get("model_name", "")
    accelerator = find_accelerator(catalog, written) if written else ""
    share = _slice_share(series, accelerator, catalog)
    workload = series.labels.get(group, "") if group else "(all GPUs)"
    if names_pods and not series.pod:
        workload = UNALLOCATED
    cells: dict[float, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for at, busy in series.samples:
        seconds = min(step, STEP_MAX_S) / shared[series.device, at]
        cell = cells[at // 3600]
        cell[0] += seconds
        cell[1] += seconds * busy
    for hour, (seconds, busy_seconds) in cells.items():
        start = datetime.fromtimestamp(hour * 3600, UTC).replace(tzinfo=None)
        team = series.labels.get("exported_namespace") or series.labels.get("namespace", "")
        yield MeasuredUse(
            workload or f"(no {group})", team if workload != UNALLOCATED else "", written, accelerator, start,
            1.0, share * seconds / 3600, busy=busy_seconds / seconds,
        )  # fmt: skip


def _slice_share(series: GpuSeries, accelerator: str, catalog: Catalog) -> float:
    """The part of a GPU that a slice of Multi-Instance GPU is; 1 for a whole one."""
    profile = series.labels.get("GPU_I_PROFILE", "")
    if not profile:
        return 1.0
    forms = {form.name for form in catalog.names.match(accelerator)} if accelerator else set()
    shares = {1 / each.instances for name in forms for each in load_slices().get(name, ()) if each.profile == profile}
    if len(shares) != 1:
        raise UnreadableUse(f"no slice {profile} of {accelerator or 'an unnamed GPU'} is known", series.place)
    return shares.pop()
