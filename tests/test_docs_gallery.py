"""Every story of the gallery runs and draws its figure, and the page says what the scripts say."""

import importlib.util
import pathlib
import runpy
import sys

import matplotlib
import pytest

DOCS = pathlib.Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def gallery():
    specification = importlib.util.spec_from_file_location("make_gallery", DOCS / "make_gallery.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("script", sorted((DOCS / "gallery").glob("*.py")), ids=lambda script: script.stem)
def test_a_story_runs_and_draws(script, tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    figure = tmp_path / "figure.png"
    monkeypatch.setattr(sys, "argv", [str(script), str(figure)])
    runpy.run_path(str(script))
    assert figure.stat().st_size > 5000
    kept = script.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in printed] == [line.split()[:2] for line in kept]


def test_the_page_is_the_one_the_scripts_make(gallery):
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == gallery.page()
    assert {*gallery.STORIES} == {script.stem for script in (DOCS / "gallery").glob("*.py")}
