"""Memory footprint of a network on the fullest accelerator of a gang, part by part: the formulas and their papers.

Symbols as in the papers: s sequence, b batch, h hidden size, a heads, L layers, V vocabulary, t tensor parallel,
p pipeline parallel, d copies. Independent of the accelerator.
"""

from __future__ import annotations

import math
from dataclasses import fields

from planner.performance.model_catalog import ModelShape
from planner.performance.network_arithmetic import BITS, FULL_BYTES, HALF_BYTES
from planner.request.neural_network import NeuralNetwork, Parallelism
from pricing.frozen_values import dataclass

GIB = 2**30
GATED_MATRICES = 3
"""Matrices of a gated feed-forward."""
MOMENTS = {"adamw": 2, "adamw_8bit": 2, "adafactor": 0, "sgd_momentum": 1, "sgd": 0}
"""Values stored for each weight. Adafactor stores sums of rows and columns only (Shazeer and Stern 2018,
arXiv:1804.04235), which is negligible."""
BUCKET = 5e8
"""Elements collected before an exchange: DeepSpeed's default of reduce_bucket_size."""
PREFILL_TOKENS = 2048
"""Tokens that a server processes at once: vLLM's default of max_num_batched_tokens."""


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Bytes on the fullest accelerator."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    kv_cache: float
    overhead: float

    @property
    def total(self) -> float:
        return math.fsum(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, slots=True)
class FrameworkMargin:
    """Assumptions in which frameworks differ.

    `activations` and `gated` are multiples of the paper's activations, the latter for a gated feed-forward;
    `logit_bytes` are stored for each logit (fp32 only; or 16 bits, fp32 and a gradient); `scale_bits` are the
    quantization scales per value of four bits: a scale of 32 bits for 64 values or 8 bits for 16 makes half a bit,
    0.127 if the scales are quantized too (Dettmers et al. 2023, QLoRA, arXiv:2305.14314, section 3); `context_gib` is
    the memory of driver and libraries; `buckets` are stored for each exchange, with ZeRO 3 one fewer; `lean` divides a
    pipeline evenly, layers and embeddings, and reads input embeddings from host memory in inference.
    """

    activations: float
    gated: float
    logit_bytes: float
    scale_bits: float
    context_gib: float
    buckets: int
    unsharded_layers: int
    lean: bool


LOW = FrameworkMargin(0.9, 1.0, 4, 0.127, 0.3, buckets=1, unsharded_layers=1, lean=True)
LIKELY = FrameworkMargin(1.0, 1.2, 4, 0.5, 0.7, buckets=1, unsharded_layers=2, lean=False)
HIGH = FrameworkMargin(1.25, 1.5, 8, 0.5, 1.25, buckets=2, unsharded_layers=2, lean=False)
"""Activations: peaks in github.com/Lightning-AI/litgpt tutorials/resource-tables.md are 0.9 to 1.0 times the paper's
for phi-1.5 and StableLM, 1.2 for Llama 2 and 1.5 with 4-bit weights (norms in fp32, nothing fused). Scales: QLoRA,
section 3, with double quantization and without. A CUDA context takes 0.3 to 0.4 GB with kernels loaded when needed and
over 1 GB without (pytorch/pytorch issues 107667, 109888 and 28394). llama.cpp has input embeddings in host memory."""


@dataclass(frozen=True, slots=True)
class GangLayout:
    """A network on a gang: `copies` is d."""

    network: NeuralNetwork
    shape: ModelShape
    split: Parallelism
    copies: int

    @property
    def tokens(self) -> float:
        return self.network.batch_per_device * self.network.sequence_length

    @property
    def trains(self) -> bool:
        return self.network.run != "inference"

    @property
    def tensor(self) -> int:
        return self.split.tensor


def memory_parts(layout: GangLayout, margin: FrameworkMargin) -> MemoryParts:
    """What each part takes on the fullest accelerator."""
    network = layout.network
    parameters = _parameters_per_accelerator(layout, margin)
    trained = _trained_parameters(layout, margin)
    share = layout.copies if layout.split.zero_stage else 1
    weights = _weight_bytes(layout, margin, parameters) + (trained * HALF_BYTES if network.run == "lora" else 0.0)
    gradients = optimizer = 0.0
    if layout.trains:
        each = FULL_BYTES if _is_single_precision(network) else HALF_BYTES
        gradients = trained * each / (share if layout.split.zero_stage >= 2 else 1)
        optimizer = trained * _optimizer_bytes(network) / share
    return MemoryParts(
        weights=weights + _unsharded_bytes(layout, margin),
        gradients=gradients,
        optimizer=optimizer,
        activations=_training_activations(layout, margin) if layout.trains else _inference_activations(layout, margin),
        kv_cache=0.0 if layout.trains else _kv_cache_bytes(layout, margin),
        overhead=margin.context_gib * GIB + _bucket_bytes(layout, margin, trained),
    )


def _bytes_per_value(precision: str, margin: FrameworkMargin) -> float:
    bits = BITS[precision]
    return (bits + (margin.scale_bits if bits == 4 else 0.0)) / 8


def _is_single_precision(network: NeuralNetwork) -> bool:
    return network.precision in {"fp32", "tf32"}


def _layers_per_stage(layout: GangLayout, margin: FrameworkMargin) -> float:
    """Layers of the largest stage."""
    share = layout.shape.layers / layout.split.pipeline
    return share if margin.lean else math.ceil(share)


def _parameters_per_accelerator(layout: GangLayout, margin: FrameworkMargin) -> tuple[float, float]:
    """Parameters of layers and of embeddings on one accelerator before ZeRO: P / (t p); with a pipeline the first stage
    has one embedding in addition to its share of layers."""
    shape, split = layout.shape, layout.split
    layers = shape.layer_parameters * _layers_per_stage(layout, margin)
    embeddings = min(shape.embedding_parameters, shape.parameters)
    if margin.lean and not layout.trains:
        embeddings /= shape.embedding_matrices
    if split.pipeline > 1:
        embeddings = embeddings / split.pipeline if margin.lean else embeddings / shape.embedding_matrices
    return layers / split.tensor, embeddings / split.tensor


def _trained_parameters(layout: GangLayout, margin: FrameworkMargin) -> float:
    """Parameters that get gradients. An adapter of rank r adds r (rows + columns) to its matrix (Hu et al. 2021, LoRA,
    arXiv:2106.09685)."""
    if layout.network.run != "lora":
        return math.fsum(_parameters_per_accelerator(layout, margin))
    shape, rank = layout.shape, layout.network.lora_rank
    heads, kv = shape.attention_heads * shape.head_size, shape.kv_heads * shape.head_size
    rows = (shape.hidden_size + heads) + (shape.hidden_size + kv)
    if layout.network.lora_targets == "all":
        rows += rows + shape.feed_forward_matrices * (shape.hidden_size + shape.feed_forward_size)
    return rank * rows * _layers_per_stage(layout, margin) / layout.tensor


def _weight_bytes(layout: GangLayout, margin: FrameworkMargin, parameters: tuple[float, float]) -> float:
    """Stored weights. Layers may have 8 or 4 bits, embeddings have 16 (QLoRA; llm.int8()). Training in 8 or 4 bits
    stores a copy in 16 bits too. ZeRO 3 shards them over the copies (Rajbhandari et al. 2019, arXiv:1910.02054)."""
    stored = _bytes_per_value(layout.network.precision, margin)
    trained_low = layout.trains and layout.network.run != "lora" and stored < HALF_BYTES
    layers, embeddings = parameters
    total = layers * (stored + (HALF_BYTES if trained_low else 0.0)) + embeddings * max(stored, HALF_BYTES)
    return total / layout.copies if layout.split.zero_stage == 3 else total


def _optimizer_bytes(network: NeuralNetwork) -> float:
    """Bytes per trained weight: moments, and an fp32 copy of weights in fewer bits. AdamW: 4 + 4 + 4 (Rajbhandari et
    al. 2019, section 3.1: with weights and gradients 16 in all); in 8 bits 1 + 1 + 4 (Dettmers et al. 2021,
    arXiv:2110.02861). Without a copy the moments have the precision of the weights."""
    copy = 0.0 if _is_single_precision(network) or not network.master_weights else FULL_BYTES
    if network.optimizer == "adamw_8bit":
        return copy + MOMENTS[network.optimizer]
    each = HALF_BYTES if not _is_single_precision(network) and not network.master_weights else FULL_BYTES
    return copy + MOMENTS[network.optimizer] * each


def _unsharded_bytes(layout: GangLayout, margin: FrameworkMargin) -> float:
    """Weights that ZeRO 3 collects from the other copies for computing: the current layer and the one prefetched, and
    the embeddings, in 16 bits (model state working memory of Rajbhandari et al. 2021, ZeRO-Infinity, arXiv:2104.07857;
    a unit in FSDP)."""
    if layout.split.zero_stage < 3 or layout.copies == 1:
        return 0.0
    layers = margin.unsharded_layers * layout.shape.layer_parameters
    embeddings = 0.0 if margin.lean else layout.shape.embedding_parameters
    each = FULL_BYTES if _is_single_precision(layout.network) else HALF_BYTES
    return each * (layers + embeddings) * (1 - 1 / layout.copies) / layout.tensor


def _bucket_bytes(layout: GangLayout, margin: FrameworkMargin, trained: float) -> float:
    if not layout.trains or layout.copies == 1:
        return 0.0
    buckets = max(0, margin.buckets - 1) if layout.split.zero_stage == 3 else margin.buckets
    return buckets * min(BUCKET, trained) * (FULL_BYTES if _is_single_precision(layout.network) else HALF_BYTES)


def _layer_activations(layout: GangLayout, *, scores: bool) -> float:
    """Bytes that one layer stores for the backward pass of one micro-batch.

    Korthikanti et al. 2022 (arXiv:2205.05198), equations 1 to 4: s b h (34 + 5 a s / h) in 16 bits; with tensor
    parallelism s b h (10 + 24/t + 5 a s / (h t)), with sequence parallelism all of it over t; without the scores where
    they are recomputed (selective) or never written (Dao et al. 2022, FlashAttention, arXiv:2205.14135). The terms are
    separate here so that grouped heads and a gated feed-forward (four values of its width instead of two, no dropout)
    count with their own sizes.
    """
    shape, tensor = layout.shape, layout.tensor
    value = FULL_BYTES if _is_single_precision(layout.network) else HALF_BYTES
    drops = shape.feed_forward_matrices < GATED_MATRICES
    inner = 2 if drops else 4
    whole = value * 4 * shape.hidden_size + (2 * shape.hidden_size if drops else 0)
    heads = shape.head_size * 2 * (shape.attention_heads + shape.kv_heads)
    split = value * (heads + inner * shape.feed_forward_size)
    if scores:
        split += (2 * value + 1) * shape.attention_heads * layout.network.sequence_length
    return layout.tokens * ((whole / tensor if layout.split.sequence else whole) + split / tensor)


def _training_activations(layout: GangLayout, margin: FrameworkMargin) -> float:
    """Activations of training: those of all layers of the first stage, which has p micro-batches in flight (1F1B), or
    of the last with the logits, whichever is more. Full recomputation stores the input of each layer, 2 s b h, and
    all of the current layer."""
    network, split = layout.network, layout.split
    written = not network.flash_attention
    if network.checkpointing == "full":
        value = FULL_BYTES if _is_single_precision(network) else HALF_BYTES
        each = value * layout.tokens * layout.shape.hidden_size / (layout.tensor if split.sequence else 1)
        working = _layer_activations(layout, scores=written)
    else:
        each = _layer_activations(layout, scores=written and network.checkpointing == "none")
        working = 0.0
    layers = _layers_per_stage(layout, margin)
    logits = layout.tokens * layout.shape.vocabulary * margin.logit_bytes / layout.tensor
    more = margin.gated if layout.shape.feed_forward_matrices == GATED_MATRICES else margin.activations
    first = more * (each * layers * split.pipeline + working)
    last = more * (each * layers + working) + logits
    return max(first, last)


def _inference_activations(layout: GangLayout, margin: FrameworkMargin) -> float:
    """Activations of inference, freed layer by layer: those of the tokens processed at once at the widest point of a
    layer, and one row of logits for each sequence."""
    shape = layout.shape
    tokens = min(layout.tokens, PREFILL_TOKENS)
    width = 2 * shape.hidden_size + 2 * max(shape.feed_forward_size, shape.head_size * shape.attention_heads)
    value = FULL_BYTES if _is_single_precision(layout.network) else HALF_BYTES
    logits = layout.network.batch_per_device * shape.vocabulary * margin.logit_bytes
    return (margin.activations * tokens * width * value + logits) / layout.tensor


def _kv_cache_bytes(layout: GangLayout, margin: FrameworkMargin) -> float:
    """Keys and values of every token: 2 L a_kv (h/a) s b (Shazeer 2019, arXiv:1911.02150; Ainslie et al. 2023,
    arXiv:2305.13245). A head is never split: with more tensor parallel accelerators than a_kv some repeat one."""
    shape = layout.shape
    heads = max(1.0, shape.kv_heads / layout.tensor)
    each = 2 * _layers_per_stage(layout, margin) * heads * shape.head_size
    return each * layout.tokens * _bytes_per_value(layout.network.kv_cache_precision, margin)
