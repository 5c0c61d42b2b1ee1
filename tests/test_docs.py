"""What the pages show in Python runs, page by page, and every public name has a docstring with an example."""

import importlib
import inspect
import pathlib
import re
import shlex
import warnings

import pytest
from typer.main import get_command

import toprank
from toprank.cli.main import app
from toprank.statistics import base

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    """One block after the other, in one namespace, as a reader would paste them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base, "_REGISTRY", dict(base._REGISTRY))  # a page may define a statistic
    names = {"__name__": "page"}
    for number, code in enumerate(blocks(page), start=1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", toprank.control.SearchStoppedWarning)
            exec(compile(code, f"{page.name}, block {number}", "exec"), names)


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


def public_names():
    """Every name of every public module: (module, name)."""
    for module in ("toprank", "toprank.testing", *(f"toprank.{name}" for name in toprank._SUBMODULES)):
        for name in importlib.import_module(module).__all__:
            value = getattr(importlib.import_module(module), name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{module}.{name}"


@pytest.mark.parametrize("name", sorted(public_names()))
def test_every_public_name_is_explained_with_an_example(name):
    module, _, own = name.rpartition(".")
    value = getattr(importlib.import_module(module), own)
    said = inspect.getdoc(value) or ""
    assert said, f"{name} has no docstring"
    if inspect.isclass(value) and issubclass(value, BaseException):
        return
    assert ">>>" in said, f"{name} has no example"
