"""A language model served to many requests at once: their lengths, their limits, and how it is run."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.request.field_types import DescribedByFile, Positive, RequestModel, Text

Engine = Literal["vllm", "sglang", "trtllm"]
Variation = Annotated[float, Field(ge=0, le=10)]


class ServedRate(DescribedByFile):
    """A rate of this model that you measured; lengths that are not stated are those of the service."""

    FILE_FIELD = "file"
    FILE_MEANING = (
        "Results of a benchmark of the server, relative to this file; fields beside it replace those of the results."
    )
    WRITTEN_OUT = "a measurement"

    accelerator: Text
    """Name of the accelerator, as any cloud writes it."""
    count: Annotated[int, Field(ge=1, le=72)] = 1
    """Accelerators of the replica."""
    concurrency: Positive
    """Requests at once."""
    output_tokens_per_s: Positive
    """Output tokens per second of the replica."""
    input_tokens: Positive | None = None
    """Tokens of a prompt, mean over requests; null: those of the service."""
    output_tokens: Positive | None = None
    """Tokens generated for a request, mean over requests; null: those of the service."""
    ttft_ms: Positive | None = None
    """Mean time to first token in milliseconds at that concurrency, without waiting for a place; null: estimated."""
    estimated: bool = False
    """Whether another program estimated the rate (aiconfigurator): it counts no more than a measurement on another
    accelerator."""
    source: str = ""
    """Where the measurement is from."""


class Speculation(RequestModel):
    """Speculative decoding as you measured it on this service."""

    tokens_per_step: Annotated[float, Field(ge=1, le=100)]
    """Tokens that a step yields for a request, mean: those accepted and the one that every step yields."""
    step_time_ratio: Annotated[float, Field(ge=1, le=100)]
    """Time of a step, drafts included, over that of a step without speculation at the same requests at once."""


class Disaggregation(RequestModel):
    """Prompts and generation on accelerators of their own (prefill and decode apart), as you measured them on this
    service, on a replica of `gang` accelerators."""

    prefill_accelerators: Annotated[int, Field(ge=1, le=7)]
    """Accelerators of the replica that read prompts; the others generate and hold the key-value cache."""
    ttft_ratio: Annotated[float, Field(gt=0, le=100)]
    """Time to first token, transfer of the cache included, over that of a replica of as many accelerators that does
    both, at the same requests at once."""
    tpot_ratio: Annotated[float, Field(gt=0, le=100)]
    """Time per output token over that of a replica of as many accelerators that does both, at the same requests at
    once."""


class Serving(DescribedByFile):
    """The requests of a service and the limits on their times; the model is `network`, arrivals are `demand`."""

    FILE_FIELD = "trace"
    FILE_MEANING = "Trace of the requests as they arrived, relative to this file: gives lengths and demand."
    WRITTEN_OUT = "lengths of the requests, and a demand,"

    input_tokens: Positive
    """Tokens of a prompt, mean over requests."""
    output_tokens: Annotated[float, Field(ge=2, allow_inf_nan=False)]
    """Tokens generated for a request, mean over requests."""
    input_variation: Variation = 1.0
    """Coefficient of variation of the prompt's length (standard deviation over mean)."""
    output_variation: Variation = 1.0
    """Coefficient of variation of the generated length."""
    ttft_ms: Positive | None = None
    """Limit on the time to first token in milliseconds, waiting included; null: a request may wait as long as it
    runs."""
    tpot_ms: Positive | None = None
    """Limit on the time per output token after the first, in milliseconds; null: no limit."""
    percentile: Annotated[float, Field(ge=50, le=99.9)] = 95
    """Percentage of requests within the limits."""
    burstiness: Annotated[float, Field(ge=1, le=100)] = 1
    """Squared coefficient of variation of the times between arrivals within an hour: 1 is Poisson, more is burstier."""
    engine: Engine = "vllm"
    """Software that serves."""
    expert_parallel: bool = False
    """Whether the accelerators of a replica have whole experts of a mixture each (enable_expert_parallel of vLLM) and
    not a part of every one: results of replicas run so are nearer then."""
    concurrency_max: Annotated[int, Field(ge=1, le=8192)] = 512
    """Most requests at once of a replica (max_num_seqs of vLLM)."""
    prefix_cached_fraction: Annotated[float, Field(ge=0, lt=1)] = 0
    """Fraction of the input tokens that is found in the prefix cache, as you measured it (vllm:prefix_cache_hits over
    queries); `measured` rates are with it."""
    speculation: Speculation | None = None
    """Speculative decoding; null: none. `measured` rates are with it."""
    disaggregation: Disaggregation | None = None
    """Prefill and decode on accelerators of their own; null: none. `measured` rates are with it."""
    mixed_accelerators: bool = False
    """Whether shares of the arrivals may be served on several types of accelerators in one region, where that costs
    less; each share has replicas, and spare ones, of its own."""
    measured: Annotated[tuple[ServedRate, ...], Field(max_length=1000)] = ()
    """Rates that you measured. Replicas of that accelerator and about that count have them as their level; elsewhere
    they count beside the published results."""

    @model_validator(mode="after")
    def _tells_limits_apart(self) -> Self:
        if self.ttft_ms is not None and self.tpot_ms is not None and self.ttft_ms < self.tpot_ms:
            raise ValueError("ttft_ms below tpot_ms: the first token takes a step of the model and the prompt")
        return self
