"""The least that FastAPI can do with a request: give it back. What POST /plan is measured against."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import Response

app = FastAPI()


@app.get("/")
def ready() -> str:
    return "ready"


@app.post("/")
async def echo(request: Request) -> Response:
    return Response(await request.body(), media_type="application/json")
