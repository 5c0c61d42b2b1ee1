"""What the pages show in Python runs, page by page, and every public name has a docstring with an example."""

import ast
import importlib
import inspect
import itertools
import pathlib
import re
import shlex
import warnings

import pytest
from typer.main import get_command

import toprank
from toprank.cli.main import app
from toprank.exact.mip import backends
from toprank.statistics import base

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHER_PACKAGES = {"from-lightgbm.md": "lightgbm", "networks.md": "torch"}
"""Pages whose code needs what the tests do not."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    """One block after the other, in one namespace, as a reader would paste them."""
    if page.name in OTHER_PACKAGES:
        pytest.importorskip(OTHER_PACKAGES[page.name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base, "_REGISTRY", dict(base._REGISTRY))  # a page may define a statistic
    monkeypatch.setattr(backends, "_REGISTERED", {})  # or bring a solver
    names = {"__name__": "page"}
    for number, code in enumerate(blocks(page), start=1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", toprank.control.SearchStoppedWarning)
            exec(compile(code, f"{page.name}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_written_as_pages_are(page):
    """Every block says its language, or it would be coloured as Python; nothing empty is in bold."""
    text = page.read_text(encoding="utf-8")
    assert [block[:40] for block in re.findall(r"^```\n(.*?)^```$", _opened(text), re.M | re.S)] == []
    assert "****" not in text


def _opened(text):
    """The page without blocks that say their language."""
    return re.sub(r"^```[^\n]+\n.*?^```$", "", text, flags=re.M | re.S)


def command_lines():
    """Every line of the pages that calls the program: (page, line)."""
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("toprank ") and not line.startswith("toprank[") and "..." not in line:
                yield pytest.param(line, id=f"{page.name}: {line}")


@pytest.mark.parametrize("line", [*command_lines()])
def test_the_options_of_a_command_exist(line):
    """What it does is tested elsewhere; here, that nobody is shown an option that is not there."""
    command, *rest = shlex.split(line.split(" > ")[0].split(" < ")[0], comments=True)[1:]
    known = get_command(app).commands
    if command.startswith("-"):
        return
    assert command in known
    options = {name for one in known[command].params for name in (*one.opts, *one.secondary_opts)}
    given = {word.split("=")[0] for word in rest if word.startswith("-") and word != "-"}
    assert given <= options | {"--help"}


EXTENDED = ("exact.mip.backends", "losses.objectives")  # what docs/extending.md builds on
MODULES = (
    "toprank.base",
    "toprank.testing",
    *(f"toprank.{name}" for name in (*toprank._SUBMODULES, *EXTENDED)),
)


def public_names():
    """Every name of every public module, with its module."""
    for module in ("toprank", *MODULES):
        yield from (f"{module}.{name}" for name in importlib.import_module(module).__all__)


def is_value(one):
    """Whether a name stands for a value or a type, which has no docstring of its own and no example."""
    return not (inspect.isclass(one) or callable(one)) or hasattr(one, "__origin__")


@pytest.mark.parametrize("name", sorted(public_names()))
def test_every_public_name_is_explained_with_an_example(name):
    module, _, own = name.rpartition(".")
    value = getattr(importlib.import_module(module), own)
    if inspect.ismodule(value) or is_value(value):
        said = inspect.getdoc(value) if inspect.ismodule(value) else said_below(module, own)
        assert said, f"{name} is not explained"
        return
    said = inspect.getdoc(value) or ""
    assert said, f"{name} has no docstring"
    if inspect.isclass(value) and issubclass(value, BaseException):
        return
    assert ">>>" in said, f"{name} has no example"


def said_below(module, name):
    """The text below the line that gives a name its value, wherever in the package that is."""
    path = pathlib.Path(importlib.import_module(module).__file__)
    for file in path.parent.rglob("*.py") if path.name == "__init__.py" else [path]:
        body = ast.parse(file.read_text(encoding="utf-8")).body
        for line, below in itertools.pairwise(body):
            targets = [line.target] if isinstance(line, ast.AnnAssign) else getattr(line, "targets", [])
            if name in [getattr(target, "id", None) for target in targets]:
                is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                return below.value.value if is_text else None
    return None


def test_every_public_module_has_a_page():
    """That each of their names gets one too, `make docs` sees to with docs/check_site.py."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = {line.strip() for line in page.partition("## Modules")[2].splitlines()}
    assert [module for module in MODULES if module.removeprefix("toprank.") not in listed] == []


LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]*)?\)")
READ = sorted({*PAGES, *ROOT.glob("*.md")})


def places(page):
    """The headings of a page as addresses within it."""
    headings = re.findall(r"^#+ +(.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", READ, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_local_links_lead_somewhere(page):
    for target, place in LINK.findall(page.read_text(encoding="utf-8")):
        aim = (page.parent / target).resolve() if target else page
        assert aim.exists(), f"{page.name} points to {target}"
        if place and aim.suffix == ".md":
            assert place[1:] in places(aim), f"{page.name} points to {target}{place}"
