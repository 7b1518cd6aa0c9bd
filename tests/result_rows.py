"""Rows of published results, as tests write them."""

from __future__ import annotations

from pathlib import Path

COLUMNS = (
    "group,benchmark,config,task,accelerator,accelerator_count,nodes,precision,batch,throughput,unit,"
    "time_to_train_minutes,submitter,runs,source,source_path,date,notes"
)


ROW = "mine:job,job,v1,training,{part},{count},1,{precision},{batch},{rate},samples/s,,,1,{source},,2026-03,{notes}"


def row(part="A100-80GB-SXM", rate=100.0, count=1, precision="fp16", batch=8, source="me", notes=""):
    return ROW.format(part=part, rate=rate, count=count, precision=precision, batch=batch, source=source, notes=notes)


def write_table(path: Path, *rows: str) -> Path:
    """A file of these rows under the head of the columns."""
    path.write_text("\n".join([COLUMNS, *rows]), encoding="utf-8-sig")
    return path
