"""`planner measure`: the user's own job is run and watched, and a measurement file is left for a request to name."""

from __future__ import annotations

import click

PASS_ON = {"allow_interspersed_args": False}
"""What follows the command is the command's own, with or without dashes in front."""


@click.command(short_help="Run a job of yours and measure it: rate, energy, what limits it.", context_settings=PASS_ON)
@click.argument("job", nargs=-1, required=True, metavar="[--] COMMAND [ARGUMENT]...")
@click.option("--pattern", metavar="REGEX", help="Read work from the job's output: one group of (?P<units>...) done by "
              "that line, (?P<total>...) done so far, (?P<rate>...) a second.")  # fmt: skip
@click.option("--progress", metavar="FILE",
              help="Read work from a file: the last number of its last line, done so far.")  # fmt: skip
@click.option("--unit", default="units", show_default=True, help="What is counted: tokens, samples, images ...")
@click.option("--scope", type=click.Choice(["job", "device"]), default="job", show_default=True,
              help="Whose work is reported: the whole job's or that of one accelerator.")  # fmt: skip
@click.option("--scaling", type=click.Choice(["weak", "strong", "replicas"]), default="weak", show_default=True,
              help="At another count: weak keeps the batch per device, strong that of the job.")  # fmt: skip
@click.option("--precision", type=click.Choice(["fp32", "tf32", "fp16", "bf16", "fp8", "fp4"]), help="It computes in.")
@click.option("--batch", type=click.FloatRange(min=0, min_open=True), help="Batch size, kept in the file.")
@click.option("--count", type=click.FloatRange(min=0, min_open=True), help="Accelerators.  [default: those it used]")
@click.option("--accelerator", metavar="NAME", help="Which it is.  [default: what the machine says]")
@click.option("--total-units", type=click.FloatRange(min=0, min_open=True), help="All work, for the time it takes.")
@click.option("--name", help="What the job is called.  [default: after the command]")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="End the job after so long.")
@click.option("--until-steady", is_flag=True, help="End the job once its rate is steady and known to 2 %.")
@click.option("--warmup", type=click.FloatRange(min=0), default=0, metavar="SECONDS",
              help="Leave out at least so much; what else is warm-up is found.")  # fmt: skip
@click.option("--stall", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="Say so where it neither prints nor progresses for so long.")  # fmt: skip
@click.option("--end-stalled", is_flag=True, help="And end it then.")
@click.option("--grace", type=click.FloatRange(min=0), default=10, show_default=True, metavar="SECONDS",
              help="From asking the job to end (SIGTERM) to killing it.")  # fmt: skip
@click.option("--interval", type=click.FloatRange(min=0.05, max=3600), default=0.5, show_default=True,
              metavar="SECONDS", help="Between samples of the machine.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE.json", help="Where it is written.  [default: NAME.measured.json]")
def command(job: tuple[str, ...], output: str | None, **told: object) -> int:
    """Run COMMAND, watch the machine meanwhile, and write what was measured: its rate with a 95 % interval, energy for
    a unit of work, and what limits it (input, memory, power, heat, batch).

    Work is read from what the job prints (--pattern), from a file it keeps (--progress), or from calls of
    planner.measure.progress(units) in it. NVIDIA accelerators need the extra `measure`; without any, the CPU is
    measured. Output and signals pass through.

    \b
    Examples:
      planner measure -- python train.py
      planner measure --pattern 'loss.* (?P<rate>[0-9.]+) tokens/s' --unit tokens --until-steady -- python train.py
      planner measure --progress done.txt --seconds 120 --precision bf16 -o job.measured.json -- torchrun train.py

    \b
    Exit codes:
      0    measured, or ended by --seconds or --until-steady
      2    asked wrongly (nothing was run), or no work could be read where --pattern or --progress said
      124  it stalled and was ended
      130  interrupted (128 + the signal)
      of the job  where the job failed: its own, 128 + the signal that killed it; what was measured is written
    """
    from planner.cli._job_measurement import measure

    return measure(job, output, told)
