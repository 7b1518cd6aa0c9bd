"""A job told by its neural network instead of a measurement: what it is, how it is run, how it is split."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from planner.request.field_types import DescribedByFile, Positive, Precision, RequestModel, Text

WRITTEN_COUNT = r"^\s*([0-9]+(?:\.[0-9]+)?)\s*([kmbtKMBT])\s*$"
COUNT_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
INTEGER_PRECISIONS = ("int8", "int4")
"""Weights that are read, never trained."""
PositiveInt = Annotated[int, Field(ge=1)]


def _parse_count(value: Any) -> Any:
    """7B and 350M as they are written; anything else as it is."""
    match = re.fullmatch(WRITTEN_COUNT, value) if isinstance(value, str) else None
    return float(match[1]) * COUNT_SUFFIXES[match[2].lower()] if match else value


ParameterCount = Annotated[
    Positive,
    BeforeValidator(_parse_count, json_schema_input_type=Positive | Annotated[str, Field(pattern=WRITTEN_COUNT)]),
]


class Parallelism(RequestModel):
    """How a gang shares a job: tensor x pipeline accelerators hold one copy; the rest of the gang are copies (data)."""

    tensor: PositiveInt = 1
    """Accelerators among which each layer is split (tensor parallelism)."""
    pipeline: PositiveInt = 1
    """Accelerators among which the layers are divided (pipeline parallelism)."""
    zero_stage: Annotated[int, Field(ge=0, le=3)] = 0
    """State that data-parallel copies share: 1 the optimizer, 2 gradients too, 3 weights too (FSDP)."""
    sequence: bool = True
    """Whether tensor parallelism also splits activations along the sequence."""
    exchange: Literal["all_reduce", "parameter_server"] = "all_reduce"
    """How data-parallel copies exchange gradients."""


class NeuralNetwork(DescribedByFile):
    """A network and how it is run: `model`, or `parameters` and as much of its shape as is known. A shape that is
    neither given nor that of the named model is inferred from models of like size, and said so."""

    FILE_FIELD = "config"
    FILE_MEANING = (
        "config.json of the model (Hugging Face), relative to this file; fields beside it replace those of the model."
    )
    WRITTEN_OUT = "the figures of a config.json"

    model: Text | None = None
    """A published model (llama-2-7b; see planner memory --models); supplies every value not given here."""
    parameters: ParameterCount | None = None
    """Number of weights: 7e9 or 7B."""
    active_parameters: ParameterCount | None = None
    """Weights that work on one token (mixture of experts)."""
    layers: PositiveInt | None = None
    """Number of layers."""
    hidden_size: PositiveInt | None = None
    """Width of the hidden state."""
    attention_heads: PositiveInt | None = None
    """Attention heads of a layer."""
    kv_heads: PositiveInt | None = None
    """Key and value heads of a layer."""
    head_size: PositiveInt | None = None
    """Width of one attention head."""
    feed_forward_size: PositiveInt | None = None
    """Width of the feed-forward layer."""
    vocabulary: PositiveInt | None = None
    """Number of tokens in the vocabulary."""
    run: Literal["pretraining", "finetuning", "lora", "inference"] = "pretraining"
    """Kind of run."""
    precision: Literal[Precision, "int8", "int4"] = "bf16"
    """Precision of the weights."""
    optimizer: Literal["adamw", "adamw_8bit", "adafactor", "sgd_momentum", "sgd"] = "adamw"
    """Optimizer of the training."""
    master_weights: bool = True
    """Whether the optimizer keeps an fp32 copy of weights of lower precision."""
    lora_rank: PositiveInt = 16
    """Rank of the LoRA adapters."""
    lora_targets: Literal["query_value", "all"] = "all"
    """Matrices with a LoRA adapter."""
    sequence_length: PositiveInt = 2048
    """Tokens of one sequence."""
    batch_per_device: Positive = 1
    """Sequences processed at once by each copy of the network (micro-batch)."""
    checkpointing: Literal["none", "selective", "full"] = "selective"
    """Activations that are recomputed instead of stored."""
    flash_attention: bool = True
    """Whether attention scores are computed without storing them."""
    kv_cache_precision: Literal[Precision, "int8"] = "bf16"
    """Precision of the key-value cache."""
    parallelism: Parallelism | None = None
    """How the gang splits the network; default: ZeRO 3 over the gang for training, tensor parallelism within 8
    accelerators for inference."""

    @model_validator(mode="after")
    def _check_model_known(self) -> Self:
        if self.model is None and self.parameters is None:
            raise ValueError("give a published model, or parameters")
        if self.precision in INTEGER_PRECISIONS and self.run in {"pretraining", "finetuning"}:
            raise ValueError(f"weights in {self.precision} are not trained: run is lora or inference")
        return self
