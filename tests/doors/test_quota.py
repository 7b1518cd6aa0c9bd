"""`planner quota` against a replayed account, and the table of quotas that a request names, from every door."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pricing.catalog.price_catalog import ROOT

RECORDED = ROOT / "providers/aws/testdata/list-service-quotas.json"
TABLE = """\
provider,region,code,title,unit,limit,used,types,kinds,as_of,source_id
aws,us-east-1,L-DB2E81BA,Running On-Demand G and VT instances,vcpu,4,0,g[0-9]*,on_demand,2026-11-20,by hand
"""


@pytest.fixture(autouse=True)
def _an_account_of_this_test_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    for name, value in {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "not-a-secret"}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


class Replay(BaseHTTPRequestHandler):
    """Service Quotas as recorded; us-west-2 is denied. The region of a call stands in its signature."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        is_denied = "/us-west-2/" in self.headers["Authorization"]
        denied = {"__type": "AccessDeniedException", "Message": "not allowed: servicequotas:ListServiceQuotas"}
        body = json.dumps(denied).encode() if is_denied else RECORDED.read_bytes()
        self.send_response(400 if is_denied else 200)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def endpoint():
    """The options that send the calls of AWS's Service Quotas to this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Replay)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield "--endpoint", f"aws.service-quotas=http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_quotas_are_printed_as_a_table(planner, endpoint):
    ran = planner("quota", "--provider", "aws", "--regions", "us-east-1", *endpoint)
    assert ran.code == 0, ran.err
    rows = {row["code"]: row for row in table(ran.out)}
    assert list(rows) == sorted(rows)
    recorded = {quota["QuotaCode"]: quota["Value"] for quota in json.loads(RECORDED.read_text())["Quotas"]}
    p = rows["L-417A185B"]
    assert float(p["limit"]) == recorded["L-417A185B"]
    assert (p["region"], p["unit"], p["used"]) == ("us-east-1", "vcpu", "")
    assert f"aws: {len(rows)} quotas in 1 region" in ran.err
    assert "left out: quotas of other things" in ran.err


def test_what_is_denied_is_named_and_the_rest_is_written(planner, endpoint, written):
    ran = planner("quota", "--provider", "aws", "--regions", "us-east-1,us-west-2", *endpoint, "-o", "quotas.csv")
    assert ran.code == 4
    assert ran.out == ""
    assert "planner: aws: 1 part of its quotas not read" in ran.err
    fault = next(line for line in ran.err.splitlines() if "us-west-2" in line)
    assert fault.startswith("  quotas in us-west-2: denied: ")
    assert fault.endswith("(see docs/guides/access-aws.md for the rights it needs)")
    assert {row["region"] for row in table(Path("quotas.csv").read_text())} == {"us-east-1"}
    assert [name for name in written() if "quotas" in name] == ["quotas.csv"]


@pytest.mark.slow
def test_a_provider_that_cannot_be_read_costs_no_other(planner, endpoint, monkeypatch, tmp_path):
    for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    regions = ("--regions", "us-east-1,us-central1")
    ran = planner("quota", "--provider", "gcp,aws", *regions, *endpoint, "-o", "quotas.csv")
    assert ran.code == 4
    assert {row["provider"] for row in table(Path("quotas.csv").read_text())} == {"aws"}
    assert "planner: gcp: 1 part of its quotas not read" in ran.err
    assert "regional GPU quotas: no credentials: " in ran.err
    assert "(see docs/guides/access-gcp.md)" in ran.err


def test_nothing_read_leaves_the_file_as_it_was(planner, endpoint):
    Path("quotas.csv").write_text(TABLE)
    ran = planner("quota", "--provider", "aws", "--regions", "us-west-2", *endpoint, "-o", "quotas.csv")
    assert ran.code == 4
    assert Path("quotas.csv").read_text() == TABLE


def test_what_is_asked_wrongly_is_told_at_once(planner, written):
    ran = planner("quota", "--provider", "aws,azur", "--endpoint", "aws.s3=http://127.0.0.1:1", "-o", ".")
    assert ran.code == 2
    faults = ran.err.splitlines()[1:]
    assert faults[0] == "  -o .: is a folder; read .; expected the name of a CSV file"
    assert faults[1] == "  --provider: unknown provider; read azur; expected nearest: azure"
    assert faults[2].startswith("  --endpoint: no service of aws; read s3; expected one of ")
    assert written() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_that_cannot_be_written_is_told(planner, endpoint, tmp_path):
    (tmp_path / "shut").mkdir(mode=0o500)
    ran = planner("quota", "--provider", "aws", "--regions", "us-east-1", *endpoint, "-o", "shut/quotas.csv")
    assert ran.code == 2
    assert "-o shut/quotas.csv: cannot be written" in ran.err


def test_what_is_read_can_be_named_by_a_plan(planner, endpoint, job):
    planner("quota", "--provider", "aws", "--regions", "us-east-1", *endpoint, "-o", "quotas.csv")
    ran = planner(
        "estimate",
        str(job),
        "--quotas",
        "quotas.csv",
        "--providers",
        "aws",
        "--regions",
        "us-east-1",
        "--format",
        "json",
    )
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert "no quota or stock was given" not in ran.out
    assert [gap["subject"] for gap in told["gaps"] if gap["kind"] == "quota"] == [
        "aws us-east-1 Running On-Demand G and VT instances (L-DB2E81BA)"
    ]


# the table that a request names


def plan(ran) -> dict:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def request(hours: dict, **more) -> str:
    return json.dumps({**hours, "providers": ["aws"], "regions": ["us-east-1"], **more})


def test_a_document_names_a_table_beside_itself(planner, hours, tmp_path):
    # 1,460 hours a month on an L4 are two g6.xlarge of 4 vCPUs around the clock: 8 against a limit of 4.
    (tmp_path / "asked").mkdir()
    (tmp_path / "asked/limits.csv").write_text(TABLE)
    (tmp_path / "asked/job.json").write_text(request(hours, quotas="limits.csv"))
    (asked,) = plan(planner("estimate", "asked/job.json", "--format", "json"))["quota_requests"]
    assert (asked["code"], asked["limit"], asked["needed"], asked["ask_for"]) == ("L-DB2E81BA", 4, 8, 8)
    assert (asked["unit"], asked["first_month"], asked["workloads"]) == ("vcpu", 1, ["batch"])
    by_option = planner("estimate", "asked/job.json", "--quotas", "asked/limits.csv", "--format", "json")
    assert plan(by_option)["quota_requests"] == [asked]
    (tmp_path / "limits.csv").write_text(TABLE.replace(",4,0,", ",6,0,"))
    from_here = planner("estimate", "-", "--format", "json", stdin=request(hours, quotas="limits.csv").encode())
    assert [q["limit"] for q in plan(from_here)["quota_requests"]] == [6]


def test_rows_may_stand_in_the_document(planner, hours, tmp_path):
    (tmp_path / "job.json").write_text(request(hours, quotas=table(TABLE)))
    assert [q["ask_for"] for q in plan(planner("estimate", "job.json", "--format", "json"))["quota_requests"]] == [8]


def test_faults_of_the_table_are_told_with_all_others(planner, hours, tmp_path, written):
    (tmp_path / "bad.csv").write_text(TABLE.replace("vcpu,4", "core,four"))
    (tmp_path / "job.json").write_text(request(hours, quotas="bad.csv", months=0))
    before = written()
    ran = planner("estimate", "job.json", "--strategies", "cloudy")
    assert ran.code == 2
    assert "  bad.csv:2: limit is 'four', expected a number" in ran.err
    assert "  bad.csv:2: unit is 'core', expected one of vcpu, accelerator, node" in ran.err
    assert "greater than or equal to 1" in ran.err
    assert "read 'cloudy'" in ran.err
    assert written() == before
    ran = planner("estimate", "job.json", "--quotas", "none.csv", "--months", "2")
    assert ran.code == 2
    assert "none.csv: the file is missing" in ran.err


def test_a_service_takes_rows_and_reads_no_file(client, hours):
    rows = table(TABLE)
    answer = client.post("/plan", content=request(hours, quotas=rows), headers={"content-type": "application/json"})
    assert answer.status_code == 200, answer.text
    assert [q["ask_for"] for q in answer.json()["quota_requests"]] == [8]
    refused = client.post(
        "/plan", content=request(hours, quotas="/etc/passwd"), headers={"content-type": "application/json"}
    )
    assert refused.status_code == 422
    (fault,) = refused.json()["errors"]
    assert fault["path"] == "quotas"
    assert fault["message"] == "expected a list of quotas; only `planner estimate` reads a file that is named here"
    asked = client.post("/plan?quotas=x.csv", content=request(hours), headers={"content-type": "application/json"})
    assert asked.status_code == 422
    assert asked.json()["errors"][0]["path"] == "?quotas"


# what a reader sees


@pytest.fixture
def asked(planner, hours, tmp_path):
    """A plan of two strategies that both ask for the same, in each format."""
    (tmp_path / "limits.csv").write_text(TABLE.replace("Running", "=Running|"))
    (tmp_path / "job.json").write_text(request(hours, quotas="limits.csv", strategies=["cloud", "hybrid"]))
    ran = planner("estimate", "job.json", "--full", "-o", "plan.md", "-o", "plan.xlsx", "-o", "plan.json")
    assert ran.code == 0, ran.err
    return ran.out


def test_a_reader_is_told_what_to_ask_for(asked, tmp_path):
    text = " ".join(asked.partition("Quotas to request\n")[2].partition("Break-even")[0].split())
    # 8 vCPUs on a limit of 4, none of them in use: 4 more, from the first month on.
    assert "aws us-east-1 L-DB2E81BA vCPUs 8 4 4 0 8 2026-12" in text
    assert "=Running| On-Demand G and VT instances, as of 2026-11-20; for batch" in text
    assert "Requests of the other strategies: 1" in text
    page = (tmp_path / "plan.md").read_text()
    assert "| aws us-east-1 | L-DB2E81BA | vCPUs | 8 | 4 | 4 | 0 | 8 | 2026-12 | =Running\\| On-Demand" in page


@pytest.mark.slow
@pytest.mark.usefixtures("asked")
def test_a_workbook_has_them_for_every_strategy(tmp_path):
    import openpyxl

    rows = list(openpyxl.load_workbook(tmp_path / "plan.xlsx")["Quotas"].iter_rows(values_only=True))
    head = next(index for index, row in enumerate(rows) if row[0] == "strategy")
    found = [dict(zip(rows[head], row, strict=True)) for row in rows[head + 1 :]]
    assert [(row["strategy"], row["to request"], row["more"], row["limit"]) for row in found] == [
        ("cloud", 8, 4, 4),
        ("hybrid", 8, 4, 4),
    ]
    told = json.loads((tmp_path / "plan.json").read_text())["quota_requests"]
    assert [(row["strategy"], row["title"]) for row in told] == [(row["strategy"], row["title"]) for row in found]


def test_a_plan_that_asks_for_nothing_has_no_such_part(planner, hours, tmp_path):
    (tmp_path / "limits.csv").write_text(TABLE.replace(",4,0,", ",8,0,"))
    (tmp_path / "job.json").write_text(request(hours, quotas="limits.csv"))
    ran = planner("estimate", "job.json", "-o", "plan.xlsx")
    assert ran.code == 0, ran.err
    assert "Quotas to request" not in ran.out
