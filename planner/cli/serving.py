"""`planner serving`: replicas of a served language model on each accelerator, and the errors of the estimates."""

from __future__ import annotations

import click


@click.command()
@click.argument("file", default="", metavar="[FILE]")
@click.option("--model", metavar="NAME|FILE", help="Published model (planner memory --models), or its config.json.")
@click.option("--precision", metavar="NAME", help="Precision of the weights.  [default: bf16]")
@click.option("--input", "input_tokens", metavar="N", help="Tokens of a prompt, mean.")
@click.option("--output", "output_tokens", metavar="N", help="Tokens generated for a request, mean.")
@click.option("--ttft", "ttft_ms", metavar="MS", help="Limit on the time to first token, in milliseconds.")
@click.option("--tpot", "tpot_ms", metavar="MS", help="Limit on the time per output token, in milliseconds.")
@click.option("--percentile", metavar="P", help="Percentage of requests within the limits.  [default: 95]")
@click.option("--burstiness", metavar="X", help="Squared coefficient of variation between arrivals.  [default: 1]")
@click.option("--engine", metavar="NAME", help="vllm, sglang or trtllm.  [default: vllm]")
@click.option("--trace", metavar="FILE",
              help="Arrivals and lengths: a trace of requests, or a Prometheus history of vLLM.")  # fmt: skip
@click.option("--measured", "measured", metavar="ACCELERATOR:COUNT=FILE", multiple=True,
              help="Results of a load generator, or a Prometheus history; repeat.")  # fmt: skip
@click.option("--rate", "rates", metavar="LIST", multiple=True,
              help="Requests a second; repeat or use commas.  [default: 1, or mean and highest hour of the trace]",
              )  # fmt: skip
@click.option("--spare", metavar="N", help="Spare replicas.  [default: 0]")
@click.option("--accelerator", "accelerators", metavar="LIST", multiple=True, help="Only these; repeat or use commas.")
@click.option("--count", "counts", metavar="LIST", multiple=True,
              help="Every replica of these sizes, instead of the size with the fewest accelerators.")  # fmt: skip
@click.option("--mix", "mixed_accelerators", is_flag=True, default=None,
              help="Also the least costly mix of two accelerators at each rate.")  # fmt: skip
@click.option("--errors", "errors_file", metavar="FILE",
              help="Instead: errors of the estimates on FILE, a table of results.")  # fmt: skip
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="Output format.")  # fmt: skip
def command(
    file: str,
    measured: tuple[str, ...],
    rates: tuple[str, ...],
    accelerators: tuple[str, ...],
    counts: tuple[str, ...],
    errors_file: str | None,
    format_name: str,
    **options: str | bool | None,
) -> int:
    """Print, for each accelerator, the replica that serves the most requests at once within memory and limits, its
    rates with the 80 % interval and their basis, replicas for the arrivals, and the cost of a million tokens.

    The service is given by options, or by each workload of FILE that has `serving` (YAML or JSON, - for standard
    input). Costs are at the lowest hourly price on demand, with a replica in full use; input and output tokens
    share them by the time that prompts and generation take.

    Exit codes: 0 each service can be served; 3 nothing serves one; 2 invalid input (every problem).

    \b
    Examples:
      planner serving --model llama-3-70b --precision fp8 --input 1000 --output 400 --ttft 2000 --tpot 50
      planner serving --model config.json --input 1000 --output 400 --accelerator H100 --count 1,2,4
      planner serving --model llama-3-70b --trace requests.csv --measured H100:2=bench.json --ttft 2000
      planner serving --errors results.csv
    """
    from planner.cli._serving_tables import report_errors, report_serving

    if errors_file is not None:
        return report_errors(errors_file, format_name)
    return report_serving(file, options, measured, rates, accelerators, counts, format_name)
