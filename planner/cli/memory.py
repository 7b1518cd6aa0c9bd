"""`planner memory`: whether a network fits on accelerators, and on how many."""

from __future__ import annotations

import click


@click.command()
@click.argument("file", default="", metavar="[FILE]")
@click.option("--model", metavar="NAME", help="A published model: llama-2-7b; see --models.")
@click.option("--parameters", metavar="N", help="Number of parameters, for an unpublished model: 7B.")
@click.option("--run", metavar="KIND", help="pretraining, finetuning, lora or inference.  [default: pretraining]")
@click.option("--precision", metavar="NAME", help="fp32, tf32, bf16, fp16, fp8, fp4, int8 or int4.  [default: bf16]")
@click.option("--optimizer", metavar="NAME", help="adamw, adamw_8bit, adafactor, sgd_momentum, sgd.  [default: adamw]")
@click.option("--sequence", metavar="TOKENS", help="Sequence length, prompt and answer together.  [default: 2048]")
@click.option("--batch", metavar="N", help="Batch size per copy of the model.  [default: 1]")
@click.option("--checkpointing", metavar="KIND", help="Recomputation: none, selective or full.  [default: selective]")
@click.option("--lora-rank", metavar="N", help="Rank of the adapters.  [default: 16]")
@click.option("--tensor", metavar="N", help="Tensor parallelism.  [default: see below]")
@click.option("--pipeline", metavar="N", help="Pipeline stages.  [default: see below]")
@click.option("--zero", metavar="STAGE", help="ZeRO stage, 0 to 3; 3 is FSDP.  [default: see below]")
@click.option("--count", metavar="N", help="Print the memory of each of N accelerators.  [default: 1]")
@click.option("--accelerator", "accelerators", metavar="LIST", multiple=True, help="Only these; repeat or use commas.")
@click.option("--models", "list_models", is_flag=True, help="List the published models and stop.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="Output format.")  # fmt: skip
def command(
    file: str, accelerators: tuple[str, ...], format_name: str, *, list_models: bool, **options: str | None
) -> int:
    """Estimate the memory of a model on each accelerator, by component, and the smallest count of each that it fits on.

    The model is given by options, or by the `network` of each workload in FILE (YAML or JSON, - for standard input).
    The total is an interval, as frameworks and drivers differ: at the count under `fits on` even its upper end fits, at
    the count under `may fit on` only its lower end.

    Without --tensor, --pipeline and --zero, training shards everything among all accelerators (ZeRO 3, FSDP), and
    inference uses tensor parallelism up to 8 and pipeline stages beyond. An unknown shape is inferred from published
    models of similar size; the output notes this, and the interval is wider.

    \b
    Examples:
      planner memory --model llama-2-7b --run finetuning --sequence 4096
      planner memory --model llama-3-70b --run inference --precision int4 --accelerator L40S,H100
      planner memory --parameters 30B --run lora --count 2
      planner memory --format json job.yaml
    """
    from planner.cli._memory_sizing import report_memory, show_models

    if list_models:
        return show_models(format_name)
    return report_memory(file, options, accelerators, format_name)
