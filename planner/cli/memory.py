"""`planner memory`: whether a network fits on accelerators, and on how many."""

from __future__ import annotations

import click


@click.command(short_help="Tell how much accelerator memory a model needs, and the fewest that hold it.")
@click.argument("file", default="", metavar="[FILE]")
@click.option("--model", metavar="NAME", help="A published model: llama-2-7b; see --models.")
@click.option("--parameters", metavar="N", help="Weights in all, for a model that is not published: 7B.")
@click.option("--run", metavar="KIND", help="pretraining, finetuning, lora or inference.  [default: pretraining]")
@click.option("--precision", metavar="NAME", help="fp32, tf32, bf16, fp16, fp8, fp4, int8 or int4.  [default: bf16]")
@click.option("--optimizer", metavar="NAME", help="adamw, adamw_8bit, adafactor, sgd_momentum, sgd.  [default: adamw]")
@click.option("--sequence", metavar="TOKENS", help="Length of a sequence, prompt and answer together.  [default: 2048]")
@click.option("--batch", metavar="N", help="Sequences at once on each copy of the model.  [default: 1]")
@click.option("--checkpointing", metavar="KIND", help="Recomputation: none, selective or full.  [default: selective]")
@click.option("--lora-rank", metavar="N", help="Rank of the adapters.  [default: 16]")
@click.option("--tensor", metavar="N", help="Accelerators that share each layer.  [default: see below]")
@click.option("--pipeline", metavar="N", help="Stages of layers.  [default: see below]")
@click.option("--zero", metavar="STAGE", help="What copies share, 0 to 3; 3 is FSDP.  [default: see below]")
@click.option("--count", metavar="N", help="Show the parts on each of so many accelerators.  [default: 1]")
@click.option("--accelerator", "accelerators", metavar="LIST", multiple=True, help="Only these; repeat or use commas.")
@click.option("--models", "list_models", is_flag=True, help="List the published models and stop.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How it is printed.")  # fmt: skip
def command(
    file: str, accelerators: tuple[str, ...], format_name: str, *, list_models: bool, **options: str | None
) -> int:
    """Tell what a model needs on each accelerator, part by part, and the smallest count of each that holds it.

    The model is told by options, or by the `network` of each workload in FILE (YAML or JSON, - for standard input).
    The total is a band, as frameworks and drivers differ: `fits on` holds even its upper end, `perhaps on` some of it.

    Without --tensor, --pipeline and --zero, training shares everything among all accelerators (ZeRO 3, FSDP), and
    inference splits layers over up to 8 and stages beyond. A shape that is not known is inferred from published models
    of like size, which is said and widens the band.

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
