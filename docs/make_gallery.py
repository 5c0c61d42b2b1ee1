"""Run the stories of the gallery, keep what they print and draw, and write the page: `make gallery`.

    python docs/make_gallery.py [NAME ...]

What the page shows is kept beside the scripts, so that the site is built without fitting anything; a test
runs every script. (sphinx-gallery would run them whenever the site is built, for minutes.)
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

GALLERY = Path(__file__).with_name("gallery")
PAGE = Path(__file__).with_name("gallery.md")
STORIES = {
    "maintenance": "Maintenance",
    "drug_screening": "Drug screening",
    "tax_audit": "Tax audits",
    "search_results": "Search results",
    "fraud": "Fraud, and time",
    "choosing_k": "Choosing K",
}
HEAD = """# Gallery

Six stories, each a script that takes a few seconds on data it makes itself. What they printed and drew is
kept beside them (`make gallery`, which writes this page too); the test suite runs every one. The data are
made up, so that you can change what a story depends on and see it go the other way; on
[data that were measured somewhere](heldout.md) differences are smaller.
"""
STORY = """
## {title}

**{question}** {text}

```{{literalinclude}} gallery/{name}.txt
:language: none
```

![{question}](gallery/{name}.png)

```{{literalinclude}} gallery/{name}.py
:language: python
:start-at: import sys
```
"""


def run(name: str) -> None:
    """One story: its text and its figure."""
    script = GALLERY / f"{name}.py"
    began = time.perf_counter()
    command = [sys.executable, str(script), str(script.with_suffix(".png"))]
    done = subprocess.run(command, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{script.name} failed:\n{done.stderr}")
    script.with_suffix(".txt").write_text(done.stdout, encoding="utf-8")
    print(f"{time.perf_counter() - began:6.1f} s  {script.name}\n{done.stdout}", flush=True)


def page() -> str:
    """The page, from what the scripts say of themselves."""
    parts = [HEAD]
    for name, title in STORIES.items():
        code = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
        question, _, text = (ast.get_docstring(ast.parse(code)) or "").partition("\n\n")
        parts.append(STORY.format(title=title, question=question, text=" ".join(text.split()), name=name))
    return "".join(parts)


if __name__ == "__main__":
    for story in sys.argv[1:] or STORIES:
        run(story)
    PAGE.write_text(page(), encoding="utf-8")
