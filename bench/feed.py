"""A price feed of any length here, in the shape of Azure's: `python feed.py PORT ROWS`. Synthetic, no market.

Its first page holds the shipped Azure prices of one region; all others hold sizes without accelerators.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

from pricing.catalog.price_catalog import Catalog

REGION = "eastus"
A_PAGE = 1000


def row(size: str, price: float, name: str) -> dict[str, object]:
    """One row of the feed, on demand."""
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "armRegionName": REGION,
        "location": "US East",
        "effectiveStartDate": "2026-06-01T00:00:00Z",
        "serviceName": "Virtual Machines",
        "serviceId": "DZH313Z7MMC8",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "isPrimaryMeterRegion": True,
        "armSkuName": size,
        "retailPrice": price,
        "unitPrice": price,
        "meterId": f"00000000-0000-0000-0000-{abs(hash(size)) % 10**12:012d}",
        "meterName": name,
        "productId": "DZH318Z0K9JH",
        "skuId": "DZH318Z0K9JH/00QW",
        "productName": "Virtual Machines Series",
        "skuName": name,
        "type": "Consumption",
    }


def ours() -> Iterator[dict[str, object]]:
    """The shipped on-demand prices of the region."""
    for quote in Catalog.embedded().quotes(providers=["azure"], regions=[REGION], options=["on_demand"]):
        name = quote.price.instance_type
        yield row(name, quote.price.price_per_hour, name.removeprefix("Standard_").replace("_", " "))


def serve(port: int, rows: int) -> None:
    first = list(ours())
    others = [row(f"Standard_D{number}as_v9", 0.1, f"D{number}as v9") for number in range(A_PAGE)]
    plain = json.dumps(others)[1:-1]

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            skipped = int(parse_qs(urlsplit(self.path).query).get("$skip", ["0"])[0])
            following = skipped + A_PAGE
            items = json.dumps(first + others[: A_PAGE - len(first)])[1:-1] if skipped == 0 else plain
            link = json.dumps(f"http://127.0.0.1:{port}/api/retail/prices?$skip={following}")
            body = f'{{"Items":[{items}],"NextPageLink":{link if following < rows else "null"},"Count":{A_PAGE}}}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    HTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
