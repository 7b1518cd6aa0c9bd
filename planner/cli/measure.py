"""`planner measure`: runs and monitors a job, and writes a measurement file for requests to refer to."""

from __future__ import annotations

import click

PASS_ON = {"allow_interspersed_args": False}
"""Arguments after COMMAND belong to it, with or without leading dashes."""


@click.command(context_settings=PASS_ON)
@click.argument("job", nargs=-1, required=True, metavar="[--] COMMAND [ARGUMENT]...")
@click.option("--pattern", metavar="REGEX", help="Read work from the job's output by one named group: (?P<units>...) "
              "units of this line, (?P<total>...) units so far, (?P<rate>...) units per second.")  # fmt: skip
@click.option("--progress", metavar="FILE",
              help="Read work from a file: the last number of its last line is the total so far.")  # fmt: skip
@click.option("--unit", default="units", show_default=True, help="Unit of work: tokens, samples, images ...")
@click.option("--scope", type=click.Choice(["job", "device"]), default="job", show_default=True,
              help="Whether the reported work is of the whole job or of one accelerator.")  # fmt: skip
@click.option("--scaling", type=click.Choice(["weak", "strong", "replicas"]), default="weak", show_default=True,
              help="Scaling to other counts: weak fixes the batch per device, strong that of the job.")  # fmt: skip
@click.option(
    "--precision",
    type=click.Choice(["fp32", "tf32", "fp16", "bf16", "fp8", "fp4"]),
    help="Numeric precision of the computation.",
)
@click.option("--batch", type=click.FloatRange(min=0, min_open=True), help="Batch size, recorded in the file.")
@click.option(
    "--count",
    type=click.FloatRange(min=0, min_open=True),
    help="Number of accelerators.  [default: those the job used]",
)
@click.option("--accelerator", metavar="NAME", help="Accelerator name.  [default: as the driver reports it]")
@click.option(
    "--total-units",
    type=click.FloatRange(min=0, min_open=True),
    help="Total work of the job, to estimate its duration.",
)
@click.option("--name", help="Name of the job.  [default: from the command]")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Stop the job after this time.")
@click.option("--until-steady", is_flag=True, help="Stop the job once its rate is steady and known to 2 %.")
@click.option("--warmup", type=click.FloatRange(min=0), default=0, metavar="SECONDS",
              help="Exclude at least this much; further warm-up is detected.")  # fmt: skip
@click.option("--stall", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="Report a stall after this time without output or progress.")  # fmt: skip
@click.option("--end-stalled", is_flag=True, help="Stop a stalled job (needs --stall).")
@click.option("--grace", type=click.FloatRange(min=0), default=10, show_default=True, metavar="SECONDS",
              help="Time between SIGTERM and SIGKILL.")  # fmt: skip
@click.option("--interval", type=click.FloatRange(min=0.05, max=3600), default=0.5, show_default=True,
              metavar="SECONDS", help="Time between samples of the machine.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE.json", help="Measurement file.  [default: NAME.measured.json]")
def command(job: tuple[str, ...], output: str | None, **options: object) -> int:
    """Run COMMAND, monitor the machine, and write a measurement file: rate with a 95 % interval, energy per unit of
    work, and bottleneck (input, memory, power, heat, batch).

    Work is read from the output of the job (--pattern), from a file that it updates (--progress), or from its calls of
    planner.measure.progress(units). NVIDIA accelerators need the extra `measure`; without an accelerator, the CPU is
    measured. Output and signals pass through.

    \b
    Examples:
      planner measure -- python train.py
      planner measure --pattern 'loss.* (?P<rate>[0-9.]+) tokens/s' --unit tokens --until-steady -- python train.py
      planner measure --progress done.txt --seconds 120 --precision bf16 -o job.measured.json -- torchrun train.py

    \b
    Exit codes:
      0    measured, or stopped by --seconds or --until-steady
      2    invalid input (the job was not run), or --pattern or --progress gave no work
      124  the job stalled and was stopped
      130  interrupted (128 + the signal)
      other  the job failed: its own code, or 128 + the signal that killed it; the measurement is written
    """
    from planner.cli._job_measurement import measure

    return measure(job, output, options)
