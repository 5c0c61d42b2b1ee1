"""Options are named by the commands; below them messages name arguments."""

import ast
import re
from pathlib import Path

import pytest
import typer

import toprank
from toprank.cli.main import app, main
from toprank.workflow.flags import ARGUMENTS

HOUSE = Path(toprank.__file__).parent
COMMANDS = ("cli", "screen", "workflow")
"""Layers that are about the command line, and may name its options."""


def _options():
    commands = typer.main.get_command(app).commands.values()
    names = {option for command in commands for part in command.params for option in part.opts}
    return {name for name in names if name.startswith("--")}


def _messages(path):
    """Every text in a module that is not a docstring."""
    tree = ast.parse(path.read_text())
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documentation = {
        id(node.value)
        for owner in ast.walk(tree)
        if isinstance(owner, owners)
        for node in owner.body
        if isinstance(node, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


def test_lower_layers_name_no_option():
    options, found = _options(), []
    assert "--read" in options
    for path in sorted(HOUSE.rglob("*.py")):
        inside = path.relative_to(HOUSE)
        if inside.parts[0] in COMMANDS:
            continue
        found += [
            f"{inside}:{line}: {text!r}"
            for line, text in _messages(path)
            if options & set(re.findall(r"--[a-z][a-z-]*", text))
        ]
    assert not found


def test_every_argument_named_is_an_option():
    assert {f"--{name.replace('_', '-')}" for name in ARGUMENTS} <= _options()


@pytest.mark.parametrize("flag", ["--read 'when=", "--missing 'x=-999'"])
def test_the_command_names_the_option(flag, tmp_path, capsys):
    rows = [f"{i % 12 + 1:02d}/{i % 11 + 1:02d}/2024,{-999 if i == 3 else i},{i % 2}" for i in range(40)]
    (tmp_path / "d.csv").write_text("when,x,y\n" + "\n".join(rows))
    assert main(["rank", str(tmp_path / "d.csv"), "-t", "y", "--splits", "0", "--ranker", "logistic"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert flag in shown
    assert "`" not in shown


def test_an_error_names_the_option(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("x,y\n1,fraud\n2,legit\n3,fraud\n")
    assert main(["rank", str(tmp_path / "d.csv"), "-t", "y"]) == 2
    assert "--positive fraud or --positive legit" in capsys.readouterr().err
