"""What `make docs` built, looked through: every public name has its place, and no local link leads nowhere.

    python docs/check_site.py docs/_build/html

Addresses elsewhere are not tried: what is right here must not depend on who answers there.
"""

from __future__ import annotations

import importlib
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

import toprank

OUTWARD = ("http", "https", "mailto", "data", "javascript")
EXTENDED = ("exact.mip.backends", "losses.objectives")  # what docs/extending.md builds on
MODULES = (
    "toprank",
    "toprank.base",
    "toprank.testing",
    *(f"toprank.{name}" for name in (*toprank._SUBMODULES, *EXTENDED)),
)


class Links(HTMLParser):
    """The addresses a page points to and the names of the places in it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value or "")
            elif name in ("href", "src") and value:
                self.targets.append(value)


def broken_links(site: Path) -> list[str]:
    """Local links of a site to files, or to places in pages, that are not there."""
    pages = {page.resolve(): Links(page) for page in sorted(site.rglob("*.html"))}
    broken = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme in OUTWARD or parts.netloc:
                continue
            aim = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            place = unquote(parts.fragment)
            if not aim.exists() or (place and aim in pages and place not in pages[aim].places):
                broken.append(f"{page.relative_to(site.resolve())}: {target}")
    return broken


def public_names() -> list[str]:
    """Every name of every public module, with its module."""
    return [f"{module}.{name}" for module in MODULES for name in importlib.import_module(module).__all__]


def names_without_a_page(site: Path) -> list[str]:
    """Public names that the site's index of names lacks."""
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    listed = {name for kind in inventory.data.values() for name in kind}
    return [name for name in public_names() if name not in listed]


def main(site: Path) -> None:
    """Say what is wrong, and fail if anything is."""
    wrong = [f"no page: {name}" for name in names_without_a_page(site)]
    wrong += [f"leads nowhere: {link}" for link in broken_links(site)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(public_names())} public names have their page; every local link leads somewhere")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
