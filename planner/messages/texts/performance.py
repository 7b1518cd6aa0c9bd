"""Memory, throughput and parallelism of jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

FAMILIES = {
    "training": "training a language model",
    "prefill": "reading prompts",
    "decode": "generating tokens",
}


def _gang_split(tensor: int, pipeline: int, copies: int, zero_stage: int, assumed: bool) -> str:
    parts = [f"{name} {size}" for name, size in (("tensor", tensor), ("pipeline", pipeline)) if size > 1]
    if copies > 1:
        parts.append(f"{copies:,} copies" + (f" sharing by ZeRO {zero_stage}" if zero_stage else ""))
    return f"{' x '.join(parts) or 'one accelerator'}{' (assumed)' if assumed and parts else ''}"


def _scaling_bound(
    fraction: float, pipeline: int, bubble_fraction: float, tensor: int, tensor_fraction: float, copies: int,
    exchange: str, exchange_fraction: float, waited_fraction: float, exchange_seconds: float,
    other_exchange_seconds: float,
) -> str:  # fmt: skip
    clauses = []
    if pipeline > 1:
        clauses.append(f"a pipeline of {pipeline} idles {bubble_fraction:.1%} of the time")
    if tensor > 1:
        clauses.append(f"tensor parallelism over {tensor} adds {tensor_fraction:.1%} to the computing time")
    if copies > 1:
        ways = ("all-reduce", "parameter servers")
        means, other = reversed(ways) if exchange == "parameter_server" else ways
        clauses.append(
            f"{copies} copies exchange by {means} for {exchange_fraction:.0%} of that time ({exchange_seconds:.3g} s a "
            f"step; by {other} {other_exchange_seconds:.3g} s), and wait for {waited_fraction:.0%}"
        )
    return f"at most {fraction:.3g} of linear: {', '.join(clauses) or 'the job is not split'}"


def _transferred_to(accelerator: str, family: str, precision: str, ratio: float, step: str) -> str:
    unfitted = f" ({step.replace('_', ' ')})" if step.endswith("not_fitted") else ""
    return f"transferred to {accelerator} as {family} at {precision} = {ratio:.3g}{unfitted}"


def _training_unit_unknown(unit: str) -> str:
    return (
        "the work of a described job is in tokens, prompt tokens (inference), samples or sequences (training), "
        f"not in {unit or 'no unit'!r}"
    )


def _inference_unit_unknown(unit: str) -> str:
    return f"inference is in tokens (generated) or prompt tokens (read), not in {unit or 'no unit'!r}"


def _parameters_unknown(model: str) -> str:
    return f"the parameters of {model!r} are unknown" if model else "it has no parameters"


def _no_run_of_vendor(family: str, accelerator: str, vendor: str, device_class: str) -> str:
    device = "CPU" if device_class == "cpu" else "accelerator"
    return f"no public run of {FAMILIES[family]} on {accelerator} or another {device} of {vendor}"


def _accelerator_older_than_runs(accelerator: str, year: int, vendor: str, family: str, oldest_year: int) -> str:
    return f"{accelerator} is of {year}, the oldest of {vendor} in public runs of {FAMILIES[family]} of {oldest_year}"


def _network_size_unlike_runs(family: str, parameters: float, parameters_min: float, parameters_max: float) -> str:
    span = f"{_format_count(parameters_min)} to {_format_count(parameters_max)}"
    return f"public runs of {FAMILIES[family]} have {span} parameters; none is near {_format_count(parameters)}"


def _balance_unlike_runs(
    accelerator: str, vendor: str, family: str, precision: str, operations_per_byte: float,
    operations_per_byte_min: float, operations_per_byte_max: float,
) -> str:  # fmt: skip
    return (
        f"{accelerator} computes {operations_per_byte:.0f} operations at {precision} for each byte it can read, the "
        f"accelerators of {vendor} in public runs of {FAMILIES[family]} {operations_per_byte_min:.0f} to "
        f"{operations_per_byte_max:.0f}: none is similar"
    )


def _described_estimate(
    parameters: float, utilisation: float, family: str, precision: str, count: float, accelerator: str,
    heavy_runs: int, runs: int, first_year: str, last_year: str, heaviest: Sequence[str],
) -> str:  # fmt: skip
    limit = "memory bandwidth" if family == "decode" else f"the {precision} peak"
    years = first_year if first_year == last_year else f"{first_year} to {last_year}"
    return (
        f"described, not measured: {_format_count(parameters)} parameters at {utilisation:.0%} of {limit} of "
        f"{count:g} x {accelerator}, from the {heavy_runs} of {runs} public runs of {FAMILIES[family]} ({years}) "
        f"with the most weight, first of all {'; '.join(heaviest)}"
    )


def _format_count(number: float) -> str:
    unit, name = next((u, n) for u, n in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (0, "")) if number >= u)
    return f"{number / (unit or 1):.3g}{name}"


def _shape_inferred(models: Sequence[str]) -> str:
    return f"shape not given: inferred from models of similar size ({', '.join(models)})"


def _no_model_of_similar_size(parameters: float, missing_fields: Sequence[str]) -> str:
    return f"no published model is of similar size ({parameters:.3g} parameters): give {', '.join(missing_fields)}"


SERVED_BASES = {
    "own": "your measurements on this accelerator",
    "measured": "measured results of this model on this accelerator",
    "model_elsewhere": "results of this model on other accelerators",
    "accelerator_not_served": "results of this model on other accelerators (none of any model on this one)",
    "model_not_served": "results of other models",
    "neither_served": "the model of all results alone (none of this model, none on this accelerator)",
    "over_nodes": "results on one node alone: none is of a replica over several",
}


def _replica_estimate(
    count: int, nodes: int, accelerator: str, concurrency: int, limit: str, output_tokens_per_s: float, tpot_ms: float,
    ttft_ms: float, basis: str, nearest: Sequence[str],
) -> str:  # fmt: skip
    held = {"memory": "memory", "tpot": "its TPOT limit", "ttft": "its TTFT limit", "concurrency": "concurrency_max"}
    on_nodes = f" on {nodes} nodes" if nodes > 1 else ""
    text = (
        f"a replica on {count} x {accelerator}{on_nodes} serves {concurrency:,} requests at once, held by "
        f"{held[limit]}: {output_tokens_per_s:,.0f} output tokens a second, TPOT {tpot_ms:,.0f} ms, TTFT "
        f"{ttft_ms:,.0f} ms without waiting; from {SERVED_BASES[basis]}"
    )
    return f"{text}, nearest {nearest[0]}" if nearest else text


TEXTS: dict[str, str | Callable[..., str]] = {
    "accelerator_memory_unknown": "the memory of {accelerator} is unknown",
    "accelerator_older_than_results": (
        "{accelerator} is of {year}; the oldest accelerator with results of served models is of {oldest_year}"
    ),
    "accelerator_older_than_runs": _accelerator_older_than_runs,
    "balance_unlike_runs": _balance_unlike_runs,
    "described_estimate": _described_estimate,
    "estimate_above_peak": "similar runs would have {accelerator} do more than its peak",
    "gang_not_divisible": "{gang:,} accelerators are no multiple of tensor {tensor} x pipeline {pipeline}",
    "gang_split": _gang_split,
    "inference_unit_unknown": _inference_unit_unknown,
    "interconnect_unknown": "the bandwidth between the accelerators of a node is unknown",
    "predicted_by_plug_in": "predicted by {title}, the throughput model {name} ({source})",
    "measured_on": "measured on {count:g} x {accelerator}",
    "memory_bandwidth_unknown": "no memory bandwidth is known for {accelerator}",
    "network_size_not_given": "neither a published model nor its parameters are given",
    "network_size_unlike_runs": _network_size_unlike_runs,
    "network_too_large": "still {needed_gib:.3g} GiB or more on each of {gang:,}: change the parallelism, recompute "
    "activations or reduce the batch",
    "no_batched_inference_runs": "public runs that serve many requests at once state neither how many nor how long "
    "their prompts are",
    "no_mixture_of_experts_runs": "no public run has the speed of a mixture of experts",
    "no_model_of_similar_size": _no_model_of_similar_size,
    "no_run_of_vendor": _no_run_of_vendor,
    "no_training_run_in_precision": "no public run trains in {precision}",
    "node_network_unknown": "the bandwidth of the network between nodes is unknown",
    "parameters_unknown": _parameters_unknown,
    "peak_rate_unknown": "no {precision} peak rate is known for {accelerator}",
    "pipeline_longer_than_network": "a pipeline of {stages:,} has more stages than the network has layers",
    "replica_estimate": _replica_estimate,
    "replica_memory_too_small": (
        "{count} x {accelerator} have {has_gib:,.1f} GiB each for the engine: its share of the weights and one request"
        " take {needed_gib:,.1f}"
    ),
    "replica_over_nodes": "{alone}; over {nodes} nodes: {reason}",
    "scaled_to": "scaled to {count:g} ({scaling} scaling, {efficiency:.3g} of linear)",
    "scaling_bound": _scaling_bound,
    "shape_inferred": _shape_inferred,
    "shape_published": "shape of {model}: {source} ({source_date})",
    "shape_stated": "shape as stated",
    "step_batch_unknown": "the bubble of a pipeline depends on the micro-batches of a step, and the batch of a step is "
    "not given",
    "training_unit_unknown": _training_unit_unknown,
    "transferred_to": _transferred_to,
    "tpot_limit_unmet": (
        "{count} x {accelerator} take {least_ms:,.0f} ms an output token for one request alone; the limit is"
        " {limit_ms:g}"
    ),
    "ttft_limit_unmet": (
        "{count} x {accelerator} take {least_ms:,.0f} ms to the first token of one request alone; the limit is"
        " {limit_ms:g}"
    ),
    "second_estimator_lacks": "it does not know {lacking}",
    "second_estimator_has_no_data": lambda reasons: f"it has no data: {'; '.join(reasons)}",
}
