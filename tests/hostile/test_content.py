"""Small files that once took minutes, gigabytes or the whole check are harmless, with the right exit code."""

from __future__ import annotations

import codecs
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pace import slowness

from dllint import project_requirements, screened_imports, suppressions
from dllint.documents import parse_json, parse_toml
from dllint.facts.extract.tokens import Tokens
from dllint.files import Undecodable, decode
from dllint.readme_versions import named_versions
from dllint.yaml_loader import parse_yaml

Run = Callable[..., Any]
HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)
MANY = 100_000


def within(seconds: float, work: Callable[[], object]) -> None:
    started = time.process_time()
    work()
    assert time.process_time() - started < seconds * slowness()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(HAZARD)
    (project / "pyproject.toml").write_text("")
    return project


@pytest.mark.parametrize(
    "text",
    [
        *("from" + " " * MANY, "from ." + " " * MANY + "x", "from" + "." * MANY, "from a" + ".a" * MANY + " " * MANY),
        *("import " + " " * MANY, ";" * MANY, "'" + "a." * MANY, "from x import (\n" * 20_000, "x = '{" + "{" * MANY),
    ],
)
def test_imports_are_found_in_linear_time(text: str) -> None:
    within(1, lambda: screened_imports.imports(text.encode()))


@pytest.mark.parametrize(
    "text",
    ["_base_ = [\n" * 20_000, "_base_ = (" + "'a.py', " * MANY, "_base_ = " + "'" * MANY, "_base_ " + " " * MANY],
)
def test_base_configurations_are_found_in_linear_time(text: str) -> None:
    within(1, lambda: screened_imports.bases(text.encode()))


@pytest.mark.parametrize("line", ["https://a/" + "-1" * MANY, "https://" + "a/" * MANY, "a-1-" * MANY + ".conda"])
def test_explicit_specs_are_read_in_linear_time(tmp_path: Path, line: str) -> None:
    (tmp_path / "spec-file.txt").write_text(f"@EXPLICIT\n{line}\n")
    within(1, lambda: project_requirements.declared(str(tmp_path)))


@pytest.mark.parametrize(
    "comment",
    [
        *("# noqa: DLL101" + " " * MANY, "# noqa: DLL101" + " ," * MANY, "# noqa: " + "A" * MANY, "# " * MANY),
        *("# dllint: ignore" + " " * MANY, "# dllint: ignore DLL1" + " " * MANY, "# dllint: ignore[" * 10_000),
    ],
)
def test_comments_are_read_in_linear_time(comment: str) -> None:
    within(2, lambda: suppressions.read(comment))


@pytest.mark.parametrize(
    "text",
    ["#" * MANY, "\\\n" * MANY, "$#\n" * 20_000, "f'" + "{{a}}" * 10_000, "f'" + "{a:{b}" * 10_000, "'" * MANY],
    ids=["comment", "joined lines", "no tokens", "braces", "fields", "quotes"],
)
def test_tokens_are_read_in_linear_time(text: str) -> None:
    within(2, lambda: Tokens(text))


@pytest.mark.parametrize(
    "text",
    [
        *("-pip " * 20_000, "pip install " + "/torch-1.1+" * 9_000, "torch](" * 15_000, "pip " + " " * MANY),
        *("python " * 15_000 + "1." * 50_000, "pip install \\\n" * 20_000, "conda -n " * 15_000),
    ],
    ids=["options", "wheel", "links", "blanks", "version", "joined lines", "environments"],
)
def test_notes_are_read_in_linear_time(text: str) -> None:
    within(1, lambda: list(named_versions(text)))


@pytest.mark.parametrize("encoding", ["idna", "punycode"])
def test_encodings_of_host_names_are_none_of_sources(encoding: str) -> None:
    with pytest.raises(Undecodable, match="no encoding for source text"):
        decode(f"# coding: {encoding}\nx = 1\n".encode())


MERGES = "a0: &a0 {k: 1, l: 2}\n"
YAML = {
    "merge keys": MERGES + "".join(f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 28)),
    "wide merge keys": MERGES + "".join(f"a{n}: &a{n} {{<<: [{f'*a{n - 1}, ' * 9}]}}\n" for n in range(1, 12)),
    "many merged": MERGES + "b: {<<: [" + "*a0, " * 20_000 + "]}",
    "flow": "[" * 60_000,
    "block": "- " * 60_000,
    "bool": "!!bool foo",
    "int": '!!int ""',
    "float": '!!float ""',
    "timestamp": "!!timestamp x",
    "digits": "a: " + "1" * 100_000,
    "sexagesimal": "a: " + "1:" * 50_000 + "1",
    "size": "# " + "x" * 200_000,
}


MERGED_ONCE = ("merge keys", "wide merge keys")
"""PyYAML 6.0.4 keeps one of equal keys when it merges, so that these stay small; older ones double them."""


@pytest.mark.parametrize("name", YAML)
def test_yaml_is_bounded(name: str) -> None:
    def parse() -> None:
        if name in MERGED_ONCE:
            try:
                tables = parse_yaml(YAML[name])
            except ValueError:
                return
            assert all(table == {"k": 1, "l": 2} for table in tables.values())
            return
        with pytest.raises(ValueError):
            parse_yaml(YAML[name])

    within(3, parse)


@pytest.mark.parametrize(
    "text",
    [
        *("a." * 40_000 + "a = 1", "[" + "a." * 40_000 + "a]", "x = {" + "'a'. " * 20_000 + "a = 1}"),
        *("a = " + "1" * 200_000, "a" * 200_000, '"' * 200_000),
    ],
    ids=["key", "header", "inline", "digits", "word", "quotes"],
)
def test_toml_is_bounded(text: str) -> None:
    def parse() -> None:
        with pytest.raises(ValueError):
            parse_toml(text)

    within(3, parse)


def test_json_numbers_are_bounded() -> None:
    with pytest.raises(ValueError):
        parse_json("1" * 1_000_000)


VALUES = {
    "c.json": '{"nan": NaN, "large": 1e400, "low": -Infinity, "long": 99999999999999999999999}',
    "c.yaml": "nan: .nan\nlarge: .inf\nlow: -.inf\nlong: 99999999999999999999999\n",
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_configuration_files_crash_no_rule(project: Path, check: Run, name: str) -> None:
    load = "json.load" if name.endswith(".json") else "yaml.safe_load"
    calls = "".join(
        f"    DataLoader(rows, num_workers=C[{key!r}], prefetch_factor=C[{key!r}], batch_size=int(C[{key!r}]))\n"
        for key in ("nan", "large", "low", "long")
    )
    (project / name).write_text(VALUES[name])
    (project / "use.py").write_text(
        f"import json, yaml\nfrom torch.utils.data import DataLoader\nC = {load}(open({name!r}))\ndef f(rows):\n{calls}"
    )
    assert check(project).returncode == 1


def test_values_of_sources_crash_no_rule(project: Path, check: Run) -> None:
    (project / "use.py").write_text(
        "import torch, torch.multiprocessing as mp\n"
        "from torch.utils.data import DataLoader, Dataset\n"
        "class D(Dataset):\n"
        "    def __init__(self):\n"
        "        self.rows = [torch.zeros(3) for _ in range(99999999999999999999)]\n"
        "        self.more = [torch.zeros(3) for _ in range(0, 10**30, 7)]\n"
        "        self.name = '%9999999999d' % 1 + 'x' * 99999999999\n"
        "    def __getitem__(self, i):\n"
        "        return self.rows[i % float('nan')]\n"
        "def f(rank):\n"
        "    for n in (float('inf'), float('nan'), 1e400, -1e400, 10**400, int(float('inf')), 99999999999999999999):\n"
        "        DataLoader(D(), num_workers=n, prefetch_factor=n, timeout=n)\n"
        "    DataLoader(D(), num_workers=float('inf'))\n"
        "    DataLoader(D(), num_workers=1e400, prefetch_factor=-1e400)\n"
        "mp.spawn(f, nprocs=99999999999999999999)\n" + "a0 = 'xxxxxxxxxx'\n"
        "" + "".join(f"a{n} = a{n - 1} + a{n - 1}\n" for n in range(1, 60)) + "open(a59)\n"
    )
    assert check(project).returncode == 1


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("zero", name) for name in (".git/index", "pyproject.toml", "x.py", "requirements.txt")),
        *(("pipe", "c.json"), ("itself", ".gitignore"), ("itself", "x.py")),
    ],
)
def test_what_is_no_regular_file_blocks_nothing(project: Path, check: Run, kind: str, name: str) -> None:
    (project / ".git").mkdir()
    (project / "data").mkdir()
    (project / "data/a.py").write_text("")
    (project / ".gitignore").write_text("data/\n")
    (project / "use.py").write_text("import json\nC = json.load(open('c.json'))\n" + HAZARD)
    path = project / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "zero" else path)
    done = check(project)
    assert done.returncode == (2 if name in ("pyproject.toml", ".git/index") else 1)
    if name == "x.py" and kind != "itself":
        assert b"not a regular file" in check(project, "x.py").stdout


def test_a_configuration_outside_of_the_project_is_not_read(project: Path, tmp_path: Path, check: Run) -> None:
    (tmp_path / "x.json").write_text('{"workers": 4}')
    (project / "link.json").symlink_to(tmp_path / "x.json")
    for name in ("../x.json", "link.json"):
        (project / "train.py").write_text(
            f"import json\nC = json.load(open({name!r}))\n" + HAZARD.replace("=2", "=C['workers']")
        )
        assert b"worker" not in check(project, "--select", "DLL101", "--output-format", "json").stdout


SOURCE = (
    "# é\nfrom torch.utils.data import DataLoader\nimport torch.multiprocessing as mp\n\n\n"
    "def f(rank):\n    DataLoader([1], num_workers=2, persistent_workers=False)\n    x = 1  # dllint: ignore[DLL101]\n"
)


@pytest.mark.parametrize(
    "given",
    [
        codecs.BOM_UTF8 + SOURCE.encode(),
        ("# -*- coding: latin-1 -*-\n" + SOURCE).encode("latin-1"),
        SOURCE.replace("\n", "\r\n").encode(),
        b"x = '\xff'\n",
    ],
    ids=["mark", "latin-1", "line ends", "undecodable"],
)
@pytest.mark.parametrize("encoding", ["ascii"])
def test_standard_input_keeps_its_encoding(project: Path, dllint: Run, given: bytes, encoding: str) -> None:
    done = dllint(project, "check", "-", "--fix", given=given, PYTHONIOENCODING=encoding)
    expected = given.replace(b"  # dllint: ignore[DLL101]", b"")
    assert done.stdout == expected
    assert done.returncode == (2 if b"\xff" in given else 0)


def test_names_of_files_steer_no_terminal(project: Path, check: Run) -> None:
    (project / "a\x1b[31m\n.py").write_text(HAZARD)
    (project / "b\x1b[31m.py").write_text("def f(:\n")
    done = check(project)
    assert done.returncode == 2
    assert b"\x1b" not in done.stdout + done.stderr


def test_conditions_that_name_one_another_are_asked_once(project: Path, check: Run) -> None:
    chain = "".join(f"        a{at} = a{at + 1} and a{at + 1} and a{at + 1}\n" for at in range(40, -1, -1))
    (project / "train.py").write_text(
        "import torch\nfrom torch.utils.data import DataLoader, Dataset\nclass Rows(Dataset):\n"
        f"    def __getitem__(self, index):\n        a42 = a41 = index\n{chain}        if a0:\n"
        "            torch.cuda.synchronize()\n        return index\n"
        "def main():\n    torch.zeros(3).cuda()\n    for rows in DataLoader(Rows(), num_workers=2):\n"
        "        print(rows)\n"
    )
    assert b"DLL103" in check(project).stdout
