"""action.yml, and the settings for editors and CI that the documentation shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from dllint.reporters import Format

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EDITORS = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", EDITORS, re.DOTALL)


@pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are bash")
def test_the_check_of_the_action_marks_lines_and_writes_the_report(tmp_path: Path) -> None:
    step = next(one for one in ACTION["runs"]["steps"] if one.get("id") == "check")
    programs = tmp_path / "dllint" / "bin"
    programs.mkdir(parents=True)
    (programs / "dllint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dllint "$@"\n')
    (programs / "dllint").chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(HAZARD)
    given = {"paths": ACTION["inputs"]["paths"]["default"], "arguments": "--no-cache --ignore DLL101"}
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value)
        for name, value in step["env"].items()
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env={**os.environ, **environment, "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "out")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=dllint DLL204 unpicklable-worker-callable,file=train.py,line=2,")
    sarif = (tmp_path / "out").read_text().removeprefix("sarif=").strip()
    (run,) = json.loads(Path(sarif).read_text())["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["DLL204"]


def test_the_action_uploads_what_the_check_wrote() -> None:
    upload = ACTION["runs"]["steps"][-1]
    assert upload["with"]["sarif_file"] == ACTION["outputs"]["sarif"]["value"]
    assert "always()" in upload["if"]
    used = set(re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])


def test_the_snippets_name_what_there_is() -> None:
    for text in blocks("yaml"):
        yaml.safe_load(text)
    for text in blocks("json"):
        json.loads(text)
    for text in blocks("toml"):
        tomllib.loads(text)
    formats = re.findall(r"--output(?:-format)?[ =](\w+)", EDITORS)
    assert {"gitlab", "junit", "rdjson"} <= set(formats) <= set(get_args(Format))
    (uses,) = (one for one in blocks("yaml") if "uses: OWNER/dllint" in one)
    options = yaml.safe_load(uses)["jobs"]["dllint"]["steps"][1]["with"]
    assert set(options) <= set(ACTION["inputs"])


def snippets() -> dict[str, tuple[str, str]]:
    """Schema and text of the action, and of the settings for CI in the documentation."""
    page = (ROOT / "docs" / "editors-and-ci.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"<!-- workflow -->\n```yaml\n(.*?)```", page, re.DOTALL)
    (uses,) = (one for one in blocks("yaml") if "uses: OWNER/dllint" in one)
    (gitlab,) = (one for one in blocks("yaml") if "codequality" in one)
    return {
        "action": ("vendor.github-actions", (ROOT / "action.yml").read_text(encoding="utf-8")),
        "workflow": ("vendor.github-workflows", workflow),
        "with the action": ("vendor.github-workflows", uses),
        "GitLab": ("vendor.gitlab-ci", gitlab),
    }


@pytest.mark.parametrize("name", ["action", "workflow", "with the action", "GitLab"])
def test_settings_for_ci_are_as_their_schemas_have_them(name: str, tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    schema, text = snippets()[name]
    path = tmp_path / "settings.yml"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    if name != "GitLab":
        return
    path.write_text(text.replace("\n  ", "\n  - ", 1), encoding="utf-8")
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
