"""Whether CPUs could do described work for less than a GPU: a bound, as no run of it on a CPU is known.

A core does no more than its part of the data sheet of its CPU: its bandwidth where tokens are generated one
stream at a time, its peak rate elsewhere. A virtual processor is at most a core, so a machine at p an hour with v of
them does a unit of work for no less than p / (v x the most of a core). The least of that over machines and CPUs, over
the price of a unit on the GPU, is the part of its data sheet that a CPU would have to reach to cost less.
"""

from __future__ import annotations

from typing import NamedTuple

from planner.performance.memory.footprint import GIB
from planner.performance.network_arithmetic import BITS
from planner.performance.serving.served_models import served_model
from planner.performance.throughput.accelerator_scores import computed_peak
from planner.performance.throughput.network_estimates.job_throughput import most_units_per_hour
from planner.request.models import Request, Workload
from planner.result.message import Message
from planner.supply.price_rules import list_cpu_machines
from planner.workloads.eligibility import is_cpu, is_described
from pricing.accelerator import Accelerator
from pricing.catalog.price_catalog import Catalog
from pricing.machines import PlainMachine


class CpuBound(NamedTuple):
    """The fraction of the data sheet of `cpu` that each core of `machine` would have to reach to cost less."""

    fraction: float
    cpu: str
    machine: PlainMachine


def compare_with_listed_cpus(
    request: Request, workload: Workload, price_per_unit: float, catalog: Catalog
) -> CpuBound | None:
    """The bound against a price of a unit of work elsewhere; None where the work is not described, or no CPU or machine
    tells enough."""
    if not is_described(workload) or workload.network is None:
        return None
    cores = [
        (most / part.cores, part.name)
        for part in catalog.names.by_name.values()
        if is_cpu(part) and part.cores and (most := _most_per_hour(workload, part)) is not None
    ]
    weights_gib = _weights_gib(workload)
    machines = [
        (each.price_per_hour / each.vcpus, each.key, each)
        for each in list_cpu_machines(catalog, request, workload)
        if each.vcpus and (each.memory_gib or 0) >= weights_gib
    ]
    if not cores or not machines:
        return None
    most_of_core, cpu = max(cores)
    price_of_core, _, machine = min(machines, key=lambda each: each[:2])
    return CpuBound(price_of_core / most_of_core / price_per_unit, cpu, machine)


def _most_per_hour(workload: Workload, part: Accelerator) -> float | None:
    """Work units an hour of a whole CPU at all that its data sheet allows."""
    network, serving = workload.network, workload.serving
    assert network is not None
    if serving is None:
        return most_units_per_hour(network, workload.unit or "tokens", part)
    model, peak = served_model(network), computed_peak(part, network.precision)
    if isinstance(model, Message) or peak is None:
        return None
    tokens = serving.input_tokens * (1 - serving.prefix_cached_fraction) + serving.output_tokens
    return peak[1] * 1e12 / (2 * model.active_parameters * tokens) * 3600


def _weights_gib(workload: Workload) -> float:
    """Memory of the weights; 0 where the network does not tell."""
    network = workload.network
    assert network is not None
    model = served_model(network)
    return 0.0 if isinstance(model, Message) else model.parameters * BITS[network.precision] / 8 / GIB
