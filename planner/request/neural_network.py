"""A job told by its neural network instead of a measurement: what it is, how it is run, how it is split."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from planner.request.field_types import Positive, Precision, RequestModel, Text

COUNT_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
INTEGER_PRECISIONS = ("int8", "int4")
"""Weights that are read, never trained."""
PositiveInt = Annotated[int, Field(ge=1)]


def _parse_count(value: Any) -> Any:
    """7B and 350M as they are written; anything else as it is."""
    match = (
        re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmbt])\s*", value, re.IGNORECASE)
        if isinstance(value, str)
        else None
    )
    return float(match[1]) * COUNT_SUFFIXES[match[2].lower()] if match else value


ParameterCount = Annotated[Positive, BeforeValidator(_parse_count)]


class Parallelism(RequestModel):
    """How a gang shares a job: tensor x pipeline accelerators hold one copy; the rest of the gang are copies (data)."""

    tensor: PositiveInt = 1
    pipeline: PositiveInt = 1
    zero_stage: Annotated[int, Field(ge=0, le=3)] = Field(
        default=0, description="what the copies share out: 1 optimizer, 2 gradients too, 3 weights too (FSDP)"
    )
    sequence: bool = Field(
        default=True, description="tensor parallelism also splits along the sequence what it would leave whole"
    )
    exchange: Literal["all_reduce", "parameter_server"] = "all_reduce"


class NeuralNetwork(RequestModel):
    """A network and how it is run: `model`, or `parameters` and as much of its shape as is known. A shape that is
    neither given nor that of the named model is inferred from models of like size, and said so."""

    model: Text | None = Field(
        None, description="a published model (llama-2-7b; planner memory --models); gives whatever is not said here"
    )
    parameters: ParameterCount | None = Field(None, description="weights in all: 7e9 or 7B")
    active_parameters: ParameterCount | None = Field(
        None, description="weights that work on one token (mixture of experts)"
    )
    layers: PositiveInt | None = None
    hidden_size: PositiveInt | None = None
    attention_heads: PositiveInt | None = None
    kv_heads: PositiveInt | None = None
    head_size: PositiveInt | None = None
    feed_forward_size: PositiveInt | None = None
    vocabulary: PositiveInt | None = None
    run: Literal["pretraining", "finetuning", "lora", "inference"] = "pretraining"
    precision: Literal[Precision, "int8", "int4"] = "bf16"
    optimizer: Literal["adamw", "adamw_8bit", "adafactor", "sgd_momentum", "sgd"] = "adamw"
    master_weights: bool = Field(True, description="the optimizer keeps an fp32 copy of weights in fewer bits")
    lora_rank: PositiveInt = 16
    lora_targets: Literal["query_value", "all"] = Field("all", description="the matrices that get an adapter")
    sequence_length: PositiveInt = 2048
    batch_per_device: Positive = Field(1, description="sequences at once on each copy of the network (micro-batch)")
    checkpointing: Literal["none", "selective", "full"] = Field(
        "selective", description="activations computed again instead of kept"
    )
    flash_attention: bool = Field(True, description="attention scores are never written out")
    kv_cache_precision: Literal[Precision, "int8"] = "bf16"
    parallelism: Parallelism | None = Field(
        None, description="default: ZeRO 3 over the gang to train, tensor parallel within 8 to infer"
    )

    @model_validator(mode="after")
    def _check_model_known(self) -> Self:
        if self.model is None and self.parameters is None:
            raise ValueError("give a published model, or parameters")
        if self.precision in INTEGER_PRECISIONS and self.run in {"pretraining", "finetuning"}:
            raise ValueError(f"weights in {self.precision} are not trained: run is lora or inference")
        return self
