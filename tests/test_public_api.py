"""The public face: names, lazy loading, the API page, and how quick an import is."""

import importlib
import inspect
import pathlib
import re
import subprocess
import sys
import time

import pytest
from sklearn.base import BaseEstimator

import toprank
from toprank.base import BaseRanker, LinearRanker

ROOT = pathlib.Path(__file__).parents[1]


def public_classes():
    found = {name: getattr(toprank, name) for name in toprank.__all__}
    return {name: value for name, value in found.items() if inspect.isclass(value)}


def test_all_is_sorted_and_complete():
    assert toprank.__all__ == sorted(toprank.__all__)
    assert len(set(toprank.__all__)) == len(toprank.__all__)
    for name in toprank.__all__:
        assert getattr(toprank, name) is not None
    assert set(toprank.__all__) <= set(dir(toprank))
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = toprank.Nonsense


def test_the_names_a_type_checker_sees_are_the_public_ones():
    source = inspect.getsource(toprank)
    block = source[source.index("if TYPE_CHECKING:") : source.index("__version__")]
    assert sorted(re.findall(r"import (\w+) as \1", block)) == sorted({*toprank.__all__, *toprank._NETWORKS})


def test_every_public_name_is_on_the_api_page():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = {line.strip().rpartition(".")[2] for line in page.splitlines()}
    missing = [name for name in toprank.__all__ if name not in listed]
    assert not missing


def test_every_ranker_is_public():
    """No ranker class hides in a module without being exported."""
    exported = {*public_classes().values(), BaseRanker, LinearRanker}
    hidden = []
    for module in sorted((ROOT / "src" / "toprank").rglob("*.py")):
        name = ".".join(module.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        if "testing" in name or name.endswith("__main__") or (toprank._ABSENT and ".networks" in name):
            continue
        classes = filter(inspect.isclass, vars(importlib.import_module(name)).values())
        rankers = [c for c in classes if issubclass(c, BaseRanker) and c.__module__ == name]
        rankers = [c for c in rankers if not c.__subclasses__()]  # the base of several is no ranker itself
        hidden += [c.__name__ for c in rankers if c not in exported and not c.__name__.startswith("_")]
    assert not hidden


def test_public_rankers_are_estimators_with_documented_examples():
    for name, value in public_classes().items():
        assert value.__doc__, name
        if issubclass(value, BaseEstimator):
            assert ">>>" in value.__doc__, f"{name} has no runnable example"


def _seconds(code):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begin


def test_importing_loads_nothing_heavy():
    heavy = ["numba", "pandas", "matplotlib", "highspy", "rich", "skops", "sklearn", "scipy", "torch"]
    code = f"import sys, toprank; bad = [m for m in {heavy} if m in sys.modules]; assert not bad, bad"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_naming_networks_does_not_load_pytorch():
    """Those who never train one notice nothing: neither the lineup nor the tags need it."""
    code = (
        "import sys; from toprank.lineup import capabilities, named_rankers; capabilities(); named_rankers();"
        " assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


WITHOUT = """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "torch" else found(name, *more)
import toprank
"""


def test_without_pytorch_networks_say_what_to_install():
    code = (
        WITHOUT
        + """
for name in ("RankNet", "DirectLossRanker", "SoDeepRanker"):
    assert name not in toprank.__all__ and name not in dir(toprank)
    for use in (f"toprank.{name}", f"from toprank import {name}"):
        try:
            exec(use)
        except ImportError as error:
            assert f"toprank.{name} needs PyTorch" in str(error) and "toprank[torch]" in str(error), error
        else:
            raise AssertionError(name)
from toprank import *
from toprank.lineup import capabilities, named_rankers
from toprank.model.files import own_types
assert "RankNet" not in capabilities() and "RankNet" not in named_rankers() and own_types()
"""
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_is_quick():
    # The best of three against the interpreter's own start in the same minute: a loaded machine slows both.
    bare = min(_seconds("pass") for _ in range(3))
    ours = min(_seconds("import toprank") for _ in range(3))
    assert ours < bare + 1.0
