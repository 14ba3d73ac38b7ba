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
from xml.etree import ElementTree

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


def install(programs: Path) -> None:
    """Put a `dllint` of this interpreter into a directory."""
    programs.mkdir(parents=True)
    (programs / "dllint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dllint "$@"\n')
    (programs / "dllint").chmod(0o755)


def checked(directory: Path, project: Path, paths: str, arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the action's check as GitHub does, with these inputs."""
    step = next(one for one in ACTION["runs"]["steps"] if one.get("id") == "check")
    install(directory / "dllint" / "bin")
    given = {"paths": paths, "arguments": arguments}
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value)
        for name, value in step["env"].items()
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env={**os.environ, **environment, "RUNNER_TEMP": str(directory), "GITHUB_OUTPUT": str(directory / "out")},
        capture_output=True,
        text=True,
        check=False,
    )


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are bash")


@needs_bash
def test_the_check_of_the_action_marks_lines_and_writes_the_report(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(HAZARD)
    done = checked(tmp_path, project, ACTION["inputs"]["paths"]["default"], "--no-cache --ignore DLL101")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=dllint DLL204 unpicklable-worker-callable,file=train.py,line=2,")
    sarif = (tmp_path / "out").read_text().removeprefix("sarif=").strip()
    (run,) = json.loads(Path(sarif).read_text())["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["DLL204"]


@needs_bash
def test_inputs_of_the_action_may_have_several_lines(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in ("a", "b", "c", "d"):
        (project / name).mkdir(parents=True)
        (project / name / "train.py").write_text(HAZARD)
    (workflow,) = yaml.safe_load("- paths: |\n    a\n    b c\n  arguments: >-\n    --no-cache\n    --ignore DLL101\n")
    done = checked(tmp_path, project, **workflow)
    assert done.returncode == 1, done.stderr
    assert re.findall(r"file=([^,]+)", done.stdout) == ["a/train.py", "b/train.py", "c/train.py"]
    shutil.rmtree(tmp_path / "dllint")
    done = checked(tmp_path, project, "d\r\n", "--no-cache\n--ignore DLL101\n")
    assert re.findall(r"file=([^,]+)", done.stdout) == ["d/train.py"]


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


def groovy_blocks(text: str) -> dict[str, str]:
    """The commands of a declarative pipeline, by the blocks around them: "pipeline stages stage steps sh"."""
    found: dict[str, str] = {}
    around: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name = line.split("(")[0].split()[0]
        if line == "}":
            around.pop()
        elif line.endswith("{"):
            around.append(name)
        else:
            found[" ".join([*around, name])] = line.removeprefix(name).strip()
    return found


def test_jenkins_gets_the_report_that_its_stage_wrote(tmp_path: Path) -> None:
    """Jenkins itself is not run: its file is parsed as Groovy, its shell step is executed, and its report is read."""
    (text,) = blocks("groovy")
    parser = pytest.importorskip("groovy_parser.parser")
    parser.parse_groovy_content(text)
    with pytest.raises(Exception, match="Unexpected token"):
        parser.parse_groovy_content(text.replace("{", "(", 1))
    commands = groovy_blocks(text)
    assert commands.keys() == {"pipeline agent", "pipeline stages stage steps sh", "pipeline post always junit"}
    script, report = (commands[f"pipeline {one}"].strip("'") for one in ("stages stage steps sh", "post always junit"))
    install(tmp_path / "bin")
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(HAZARD)
    (project / "pyproject.toml").write_text("")
    path = os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(["sh", "-xe", "-c", script], cwd=project, env=environment, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    suite = ElementTree.parse(project / report).getroot()
    assert [*suite.iter("failure")]
    assert "DLL204" in ElementTree.tostring(suite, encoding="unicode")
