"""Sizes a reader can hold in mind, and facts that stand in one place only."""

import ast
import re
import tomllib
from collections import Counter
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FILE = 400
LONGEST_FUNCTION = 40
LONGEST_FOLDER = 24
"""Modules beside each other that a reader can still look through."""
LONGER_FILES = {
    "statistics/base.py": 406,
    "statistics/inference.py": 421,
    "trees/_kernels.py": 409,
}
LONGER_FUNCTIONS = {
    "cli/main.py: rank": 47,
    "exact/boxes/_search_kernels.py: search": 119,
    "exact/boxes/_sweep_kernels.py: sweep": 72,
    "exact/climb/_kernels.py: climb": 88,
    "exact/climb/_sweep_kernels.py: sweep": 69,
    "exact/slices/_search_kernels.py: search": 143,
    "losses/_kernels.py: radix_order": 52,
    "losses/_kernels.py: pair_sums": 78,
    "reproduce/papers/rudin_wang_2018.py: our_claims": 44,
    "trees/_kernels.py: grow": 47,
    "workflow/ranking/in_memory.py: report": 41,
    "workflow/writing/summary.py: ranking_summary": 45,
}
"""What is longer today, and how long: none may grow, and one that has become short leaves the list."""


def lines_of(function):
    """Lines of a function's body, its docstring apart."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return 0 if not body else body[-1].end_lineno - body[0].lineno + 1


def functions(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, lines_of(node)


def check(sizes, limit, longer):
    beyond = {name: size for name, size in sizes.items() if size > longer.get(name, limit)}
    assert beyond == {}, f"more than {limit}, or more than they had: in named steps, please"
    assert [name for name in longer if sizes.get(name, 0) <= limit] == [], "short now: off the list"


def name_of(path):
    return path.relative_to(ROOT / "src" / "toprank").as_posix()


def test_files_are_short():
    sizes = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    check(sizes, LONGEST_FILE, LONGER_FILES)


def test_folders_are_short():
    folders = Counter(name_of(path.parent) for path in SOURCES if path.name != "__init__.py")
    check(folders, LONGEST_FOLDER, {})


def test_functions_are_short():
    sizes = {f"{name_of(path)}: {name}": size for path in SOURCES for name, size in functions(path)}
    check(sizes, LONGEST_FUNCTION, LONGER_FUNCTIONS)


def test_every_kernel_on_disk_is_one_that_is_thrown_away_after_an_upgrade():
    own = [path for path in SOURCES if "\n@njit(" in path.read_text(encoding="utf-8")]
    assert len(own) > 30
    for path in own:
        assert "from toprank.compiled import njit\n" in path.read_text(encoding="utf-8"), path


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_changelog_has_the_usual_form():
    """Keep a Changelog: versions, the one to come first, and six kinds of changes in each."""
    said = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", said, re.M)
    assert versions[0] == "[Unreleased]"
    assert [
        one for one in versions[1:] if not re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one)
    ] == []
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", said, re.M)) <= kinds
    for version in said.split("\n## ")[1:]:
        assert "\n- " not in version.partition("\n### ")[0], "a change that is of no kind"


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    said = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    reasons = said[said.index("## Why each dependency is there") :].casefold()
    names = {re.split(r"[>;[]", one)[0].strip() for one in wanted}
    assert [name for name in sorted(names) if name.casefold() not in reasons] == []


def test_the_conda_recipe_wants_what_the_package_wants():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe[recipe.index("  run:\n") : recipe.index("\ntest:")]
    listed = {
        line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()[2:] if line.strip()
    }
    # matplotlib-base is conda-forge's matplotlib without the windows.
    assert {one.replace("matplotlib-base", "matplotlib") for one in listed} == set(project["dependencies"])
    version = re.search(r'^__version__ = "(.*)"', (ROOT / "src/toprank/__init__.py").read_text("utf-8"), re.M)
    assert f'set version = "{version[1]}"' in recipe
    assert f'set python_min = "{project["requires-python"].removeprefix(">=")}"' in recipe


def test_what_is_tried_of_a_source_distribution_is_there_and_packed():
    script = (ROOT / ".ci" / "check_dist.py").read_text(encoding="utf-8")
    tried = ast.literal_eval(re.search(r"^FROM_THE_SDIST = (\[.*\])$", script, re.M)[1])
    assert [name for name in tried if not (ROOT / name).is_file()] == []
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert {"/src", "/tests", "/docs", "/examples", "/benchmarks", "/.ci"} <= {
        *packed["targets"]["sdist"]["include"]
    }
