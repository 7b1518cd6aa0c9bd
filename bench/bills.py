"""A FOCUS bill of many rows: read and told apart, against the plain call of the library that reads it.

`python bench/bills.py 10000000` makes and reads one of ten million rows (5.6 GB of CSV in a temporary folder).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import Figure, medians, peak

ROWS = 300_000
RUNS = 3
MEMORY = "1GB"
COLUMNS = """
    'us-east-1a' AS AvailabilityZone, printf('%.10f', (i % 1000) / 7.0) AS BilledCost,
    '900000000001' AS BillingAccountId,
    'Big Corp' AS BillingAccountName, 'USD' AS BillingCurrency, '2026-10-01T00:00:00Z' AS BillingPeriodEnd,
    '2026-09-01T00:00:00Z' AS BillingPeriodStart, 'Usage' AS ChargeCategory, NULL AS ChargeClass,
    CASE WHEN i % 20 = 0 THEN '$55.04 per On Demand Linux p5.48xlarge Instance Hour'
        ELSE '$0.0' || (i % 90) || ' per GB-month of storage class ' || (i % 3000) END AS ChargeDescription,
    'Usage-Based' AS ChargeFrequency,
    strftime(TIMESTAMP '2026-09-01 01:00:00' + INTERVAL 1 HOUR * (i % 720), '%Y-%m-%dT%H:%M:%SZ') AS ChargePeriodEnd,
    strftime(TIMESTAMP '2026-09-01 00:00:00' + INTERVAL 1 HOUR * (i % 720), '%Y-%m-%dT%H:%M:%SZ') AS ChargePeriodStart,
    NULL AS CommitmentDiscountCategory, NULL AS CommitmentDiscountId, NULL AS CommitmentDiscountName,
    NULL AS CommitmentDiscountStatus, NULL AS CommitmentDiscountType,
    printf('%.6f', (i % 24) / 24.0) AS ConsumedQuantity,
    'Hours' AS ConsumedUnit, printf('%.10f', (i % 1000) / 7.0) AS ContractedCost, '0.1' AS ContractedUnitPrice,
    printf('%.10f', (i % 1000) / 7.0) AS EffectiveCost, 'Amazon Web Services, Inc.' AS InvoiceIssuerName,
    printf('%.10f', (i % 1000) / 7.0) AS ListCost, '0.1' AS ListUnitPrice, 'Standard' AS PricingCategory,
    printf('%.6f', (i % 24) / 24.0) AS PricingQuantity, 'Hours' AS PricingUnit, 'AWS' AS ProviderName,
    'Amazon Web Services, Inc.' AS PublisherName, 'us-east-1' AS RegionId, 'US East (N. Virginia)' AS RegionName,
    'i-' || hash(i % 50000) AS ResourceId, NULL AS ResourceName, 'instance' AS ResourceType,
    'Compute' AS ServiceCategory, 'Amazon Elastic Compute Cloud' AS ServiceName, 'SKU' || (i % 3000) AS SkuId,
    'SKU.' || (i % 3000) AS SkuPriceId, 'account ' || (i % 40) AS SubAccountId, 'Team ' || (i % 40) AS SubAccountName,
    '{"application": "app' || (i % 200) || '", "environment": "dev", "k": "' || (i % 50) || '"}' AS Tags"""
"""The columns of FOCUS 1.0; one row in twenty is of an accelerator."""
PLAIN = (
    "import duckdb; e = duckdb.connect(config={{'memory_limit': '{memory}'}}); "
    "e.sql(\"SELECT bit_xor(hash(COLUMNS(*))) FROM '{path}'\").fetchall()"
)
"""What the library does to read every cell once, with columns and types found by itself."""
OURS = (
    "from pathlib import Path; from planner.inputs import bills; from pricing.catalog.price_catalog import Catalog; "
    "bill = bills._read_bill(Path('{path}'), Catalog.embedded(), 'bill', progress=None); "
    "assert bill.rows_in == {rows} and bill.rows_used == ({rows} + 19) // 20 and not bill.differences()"
)


def bills(rows: int = ROWS, runs: int = RUNS) -> Iterator[Figure]:
    """A FOCUS bill read by `planner usage`, seconds and peak memory, CSV and Parquet, against plain DuckDB."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        path = Path(folder) / "bill.csv"
        with duckdb.connect(config={"memory_limit": MEMORY}) as engine:
            engine.execute(f"COPY (SELECT {COLUMNS} FROM range({rows}) AS made(i)) TO '{path}' (HEADER)")
        yield from _figures(path, rows, runs, f"CSV of {path.stat().st_size / 1e6:,.0f} MB")
        parquet = Path(folder) / "bill.parquet"
        with duckdb.connect(config={"memory_limit": MEMORY}) as engine:
            engine.execute(f"COPY (SELECT {COLUMNS} FROM range({rows}) AS made(i)) TO '{parquet}'")
        yield from _figures(parquet, rows, runs, "Parquet")


def _figures(path: Path, rows: int, runs: int, kind: str) -> Iterator[Figure]:
    plain = PLAIN.format(path=path, memory=MEMORY)
    ours = OURS.format(path=path, rows=rows)
    least, whole = medians([lambda: peak(plain), lambda: peak(ours)], runs)
    name = f"{rows:,} FOCUS rows, {kind}"
    yield Figure(name, whole / 1000, whole / least, "plain DuckDB", unit="s")
    most, ground = peak(ours), peak(plain)
    yield Figure(f"{name}: most in memory", most, most / ground, "plain DuckDB", unit="MiB")


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    for figure in bills(number, 1 if number > 2_000_000 else RUNS):
        print(figure.line(), flush=True)
