"""Make the pictures of the report page in docs/_static, of the embedded example: `make screenshots`."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from toprank.cli.main import main

STATIC = Path(__file__).parent / "_static"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
SHOTS = {
    "report-light.png": {"viewport": {"width": 1100, "height": 1000}, "color_scheme": "light"},
    "report-dark.png": {"viewport": {"width": 1100, "height": 790}, "color_scheme": "dark"},
}


def shoot(page_file: Path) -> None:
    """The headline and the list in light colours, the charts in dark ones."""
    chromium = os.environ.get("TOPRANK_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, options in SHOTS.items():
            page = browser.new_context(**options).new_page()
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            if "dark" in name:
                page.locator("#curves").scroll_into_view_if_needed()
                page.evaluate("document.getElementById('charts').scrollIntoView()")
            page.screenshot(path=STATIC / name)
            _shrink(STATIC / name)
        browser.close()


def _shrink(path: Path) -> None:
    """Few colours are enough for a page of text and lines."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    STATIC.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page_file = Path(folder) / "report.html"
        if main(["rank", "--ranker", "rerank", "--depth", "60", "--quiet", "--report", str(page_file)]) != 0:
            raise SystemExit("the page could not be made")
        shoot(page_file)
