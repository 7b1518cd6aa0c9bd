"""Makes the pictures of the documentation from the program: `make pictures`, then look at them before a commit.

report.svg is the first screen of a plan; workbook.png needs LibreOffice and poppler, page.png Chromium. What cannot be
made is left as it is, by name. Prices, dates and requests are those of the package: only the program changes a picture.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
PROGRAM = (sys.executable, "-c", "from planner.cli import main; main()")
DATES = ("--start", "2026-12", "--as-of", "2026-11-21")
REPORT = ("estimate", *DATES, "examples/finetune.yaml")
REVIEW = ("estimate", *DATES, "examples/capacity-review.csv")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OFFICES = ("soffice", "libreoffice")
CHARACTER, LINE, MARGIN = 7.8, 18, 16
"""Pixels of the picture of a text."""
WAIT_S = 120


def run_planner(*arguments: str) -> str:
    """What the program prints, with the prices of the package."""
    environment = {**os.environ, "GPU_PLANNER_DATA": os.devnull, "PLANNER_CONFIG": os.devnull}
    done = subprocess.run([*PROGRAM, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)  # noqa: S603  (our own command)
    return done.stdout


def draw_text(text: str, command: str) -> str:
    """A terminal with a command and what it prints, as SVG."""
    lines = [f"$ {command}", *text.rstrip("\n").splitlines()]
    width = round(CHARACTER * max(map(len, lines)) + 2 * MARGIN)
    height = LINE * len(lines) + 2 * MARGIN
    rows = [
        f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 13}" xml:space="preserve">{escape(line)}</text>'
        for number, line in enumerate(lines)
        if line
    ]
    style = "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    title = f"<title>{escape(command)}</title><style>{style}</style>"
    return "\n".join([head, title, '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>', *rows, "</svg>", ""])


def draw_report() -> None:
    """The first screen of one job."""
    command = " ".join(["planner", *REPORT])
    screen = run_planner(*REPORT).rpartition("\n\n")[0]  # without the ids, which change with each release
    (PICTURES / "report.svg").write_text(draw_text(screen, command), encoding="utf-8")


def draw_workbook() -> str:
    """The first sheet of a workbook as LibreOffice shows it; why there is no picture, else empty."""
    office = next(filter(None, map(shutil.which, OFFICES)), None)
    painter = shutil.which("pdftoppm")
    if office is None or painter is None:
        return "LibreOffice and pdftoppm (poppler) are not both found"
    with TemporaryDirectory() as folder:
        run_planner(*REVIEW, "-o", f"{folder}/workbook.xlsx")
        profile = f"-env:UserInstallation={(Path(folder) / 'profile').as_uri()}"
        print_pdf = [
            office,
            profile,
            "--headless",
            "--convert-to",
            "pdf",
            "--outdir",
            folder,
            f"{folder}/workbook.xlsx",
        ]
        paint = [
            painter,
            "-png",
            "-r",
            "80",
            "-H",
            "440",
            "-singlefile",
            f"{folder}/workbook.pdf",
            f"{folder}/workbook",
        ]
        for words in (print_pdf, paint):
            subprocess.run(words, check=True, capture_output=True, timeout=WAIT_S)  # noqa: S603  (on our own file)
        shutil.copy(Path(folder) / "workbook.png", PICTURES / "workbook.png")
    return ""


def draw_page() -> str:
    """The review page with a plan, in Chromium; why there is no picture, else empty."""
    from playwright.sync_api import Error, sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    request = {**json.loads((ROOT / "examples/request.json").read_bytes()), "as_of": DATES[-1]}
    with serve() as address, sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except Error:
            return "Chromium is not found"
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(f"{address}/")
        file = {"name": "request.json", "mimeType": "application/json", "buffer": json.dumps(request).encode()}
        page.set_input_files("#file", file)
        page.wait_for_selector("#review section", timeout=1000 * WAIT_S)
        page.wait_for_selector("#review svg")
        page.screenshot(path=PICTURES / "page.png")
        browser.close()
    return ""


@contextmanager
def serve() -> Iterator[str]:
    """The address of a service on the loopback, with a store of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with TemporaryDirectory() as folder:
        words = [*PROGRAM, "serve", "--port", str(port), "--store", f"sqlite:///{folder}/store.sqlite"]
        environment = {**os.environ, "GPU_PLANNER_DATA": folder, "PLANNER_CONFIG": os.devnull}
        service = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603  (our own command)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address)
            yield address
        finally:
            service.terminate()
            service.wait(WAIT_S)


def _wait_for(address: str) -> None:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            urlopen(f"{address}/readyz", timeout=5).close()  # noqa: S310  (the loopback)
        except (URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(address)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    draw_report()
    for name, reason in (("workbook.png", draw_workbook()), ("page.png", draw_page())):
        print(f"{name}: {reason or 'made'}")
