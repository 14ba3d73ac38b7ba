"""The Python versions that a project can be installed on, from what its files require."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint import config, linter


def newest(root: Path, **files: str) -> str:
    """The newest target of a project with these files; "__" in a name stands for a dot, "_IN_" for a slash."""
    for name, text in files.items():
        path = root / name.replace("__", ".").replace("_IN_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / ".git").mkdir(exist_ok=True)
    targets = config.load([str(root)]).targets
    return ".".join(map(str, (targets.installable or targets.pythons)[-1]))


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("torch==2.4.0", "3.12"),
        ("torch == 2.4.1+cu121", "3.12"),
        ("torch<2.9", "3.13"),
        ("torch>=1.10,<2.0", "3.11"),
        ("torch~=2.4.0", "3.12"),
        ("torch==1.13.1 --hash=sha256:00", "3.11"),
        ("torch==1.7.1+cu110 torchaudio==0.7.2 -f https://download.pytorch.org/whl/torch_stable.html", "3.9"),
        ("torch==1.7.1", "3.9"),
        ("torch==0.4.1", "3.7"),
        ("torch==1.0.1.post2", "3.7"),
        ("torch==0.3.0_4", "3.7"),
        ("torchvision==0.15.2", "3.11"),
        ("tensorflow-gpu==2.8.4", "3.10"),
        ("dgl<2", "3.11"),
        ("torch[opt]==2.4.0  # as on the cluster", "3.12"),
        ("torch==2.4.0; sys_platform == 'linux'", "3.12"),
        ("torch==2.4.0\ntorch==2.4.1", "3.12"),
        # any newer release will do
        ("torch", "3.14"),
        ("torch>=1.7", "3.14"),
        ("torch~=2.4", "3.14"),
        ("torch!=2.4.0", "3.14"),
        ("torch==2.9.1", "3.14"),
        ("torch==2.*", "3.14"),
        ("torch==2.11.0.dev20260101", "3.14"),
        ("# torch==1.7.1", "3.14"),
        ("torch-scatter==1.7.1", "3.14"),
        ("pytorch-lightning==1.7.1", "3.14"),
        ("torch @ https://example.org/torch.whl", "3.14"),
        ("torch==nonsense", "3.14"),
        ("torch==2.4.0; python_version < '3.13'\ntorch>=2.9; python_version >= '3.13'", "3.14"),
        ("torch==2.4.0; sys_platform == 'darwin'", "3.14"),
        ("torch==2.4.0\ntorch>=2.9", "3.14"),
    ],
)
def test_a_pinned_package_excludes_the_pythons_that_it_was_not_built_for(
    tmp_path: Path, line: str, python: str
) -> None:
    assert newest(tmp_path, requirements__txt=f"numpy\n{line}\n") == python


@pytest.mark.parametrize(
    ("name", "text", "python"),
    [
        ("setup__py", 'setup(install_requires=["torch==2.4.0", "numpy"])', "3.12"),
        ("setup__py", 'setup(name="x", python_requires=">=3.8, <3.12")', "3.11"),
        ("setup__cfg", "[options]\npython_requires = >=3.8,<3.12\n", "3.11"),
        ("setup__cfg", "[options]\ninstall_requires =\n    numpy\n    torch<2.5\n[x]\ny = 1\n", "3.12"),
        ("pyproject__toml", '[project]\ndependencies = ["torch<2.5"]\n', "3.12"),
        ("pyproject__toml", '[tool.poetry.dependencies]\npython = ">=3.8"\ntorch = "~2.4"\n', "3.12"),
        ("pyproject__toml", '[tool.poetry.dependencies]\ntorch = {version = "2.4.0"}\n', "3.12"),
        ("environment__yml", "dependencies:\n  - python=3.8\n  - pip:\n    - numpy\n", "3.8"),
        ("environment__yml", "channels:\n- pytorch\ndependencies:\n- pytorch::pytorch=1.12.1=py3_0\n", "3.10"),
        ("conda_env__yaml", 'dependencies:\n  - "pip":\n      - "torch==2.4.0"\n', "3.12"),
        (
            "spec-file__txt",
            "# platform: linux-64\n@EXPLICIT\nhttps://x.org/pkgs/main/linux-64/python-3.8.1-h0_2.conda\n",
            "3.8",
        ),
        ("requirements__txt", "@EXPLICIT\nhttps://x.org/linux-64/pytorch-1.4.0-py3.7_cuda10_0.tar.bz2#0af1\n", "3.8"),
        ("notes__txt", "https://x.org/pkgs/main/linux-64/python-3.8.1-h0_2.conda\n", "3.14"),
        ("spec__txt", "@EXPLICIT\nhttps://x.org/linux-64/python_abi-3.8-2_cp38.conda\n", "3.14"),
        ("project__yml", "name: x\ndependencies:\n  - python 3.9.7\nprefix: /home\n", "3.9"),
        ("Dockerfile", "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\n", "3.11"),
        ("Dockerfile", "FROM --platform=linux/amd64 python:3.11-slim AS base\n", "3.11"),
        ("requirements_IN_base__txt", "torch==2.4.0\n", "3.12"),
        ("dependencies_IN_environment_torch__yml", "dependencies:\n- python=3.11\n", "3.11"),
        ("README__md", "conda create -y -n rows python=3.8 && conda activate rows\n", "3.8"),
        ("README__md", "Needs Python 3.7 and CUDA.\n", "3.7"),
        ("README__md", "Requirements: PyTorch 1.7.1, Python 3.6+\n", "3.9"),
        ("README__md", "Requires Python<3.12\n", "3.11"),
        ("readme_IN_INSTALL__md", "conda create -n rows python=3.8\n", "3.8"),
        ("README__md", "`pip install torch==2.4.0`\n", "3.12"),
        # not required, or not Python's version
        ("setup__py", 'setup(extras_require={"old": ["torch==1.7"]})', "3.14"),
        ("setup__py", '# setup(install_requires=["torch==2.4.0"])', "3.14"),
        ("pyproject__toml", '[project.optional-dependencies]\ngpu = ["torch<2.5"]\n', "3.14"),
        ("pyproject__toml", '[tool.poetry.dependencies]\ntorch = {version = "2.4.0", optional = true}\n', "3.14"),
        ("requirements-dev__txt", "torch==2.4.0\n", "3.14"),
        ("requirements_IN_docs__txt", "torch==2.4.0\n", "3.14"),
        ("docs_IN_requirements__txt", "torch==2.4.0\n", "3.14"),
        ("environment__yml", "dependencies:\n  - python>=3.8\n  - pytorch\n", "3.14"),
        ("model__yml", "dependencies: none\npython: 3.8\ntorch: 1.7\n", "3.14"),
        ("Dockerfile", "FROM nvidia/cuda:11.8-devel\nFROM python:3\n", "3.14"),
        ("README__md", "Python 3.8 or later, `pip install opencv-python==4.1.1`\n", "3.14"),
        ("README__md", "![](https://img.shields.io/badge/python-3.8%20%7C%203.9-blue)\n", "3.14"),
        ("README__md", "Runs on Python 3.8 and Python 3.14.\n", "3.14"),
    ],
)
def test_every_kind_of_file_counts_that_says_what_the_program_needs(
    tmp_path: Path, name: str, text: str, python: str
) -> None:
    assert newest(tmp_path, **{name: text}) == python


def test_files_that_require_a_package_are_alternatives(tmp_path: Path) -> None:
    assert (
        newest(tmp_path, requirements__txt="torch==2.4.0", setup__py='setup(install_requires=["torch>=2"])') == "3.14"
    )


def test_a_package_whose_metadata_name_no_version(tmp_path: Path) -> None:
    environment = "dependencies:\n  - python=3.8\n"
    readme = "conda create -n rows python=3.8\n"
    setup = 'setup(install_requires=["numpy", "torch"])'
    assert newest(tmp_path, README__md=readme, setup__py=setup) == "3.14"
    assert newest(tmp_path, requirements__txt="torch==2.4.0") == "3.12"
    assert newest(tmp_path, environment__yml=environment) == "3.8"
    wide = 'setup(install_requires=["numpy"], python_requires=">=3.7")'
    assert newest(tmp_path, requirements__txt="", setup__py=wide) == "3.14"


def test_words_give_way_to_a_declaration(tmp_path: Path) -> None:
    assert newest(tmp_path, requirements__txt="torch==2.4.0", README__md="PyTorch 1.7 or newer") == "3.12"


OLD = "dependencies:\n  - python=3.8\n"
NEW = "dependencies:\n  - python=3.14\n"


@pytest.mark.parametrize(
    ("files", "python"),
    [
        ({"one_IN_environment__yml": OLD}, "3.8"),
        ({"one_IN_docker_IN_environment__yml": OLD, "two_IN_requirements__txt": "torch==2.4.0"}, "3.12"),
        ({"one_IN_environment__yml": OLD, "README__md": "pip install -r requirements.txt"}, "3.8"),
        ({"one_IN_environment__yml": OLD, "two_IN_train__py": ""}, "3.8"),
        ({"one_IN_environment__yml": OLD, "two_IN_environment__yml": NEW}, "3.14"),
        ({"one_IN_environment__yml": OLD, "two_IN_requirements__txt": "torch"}, "3.14"),
        ({"one_IN_environment__yml": OLD, "two_IN_setup__py": "setup(install_requires=['numpy'])"}, "3.14"),
        ({"one_IN_environment__yml": OLD, "requirements__txt": "numpy"}, "3.14"),
        ({"one_IN_environment__yml": OLD, "requirements__txt": "torch==2.4.0"}, "3.12"),
        ({"one_IN_environment__yml": OLD, "README__md": "conda create -n one python=3.12"}, "3.12"),
        ({"examples_IN_environment__yml": OLD}, "3.14"),
        ({"third_party_IN_requirements__txt": "torch==1.0"}, "3.14"),
        ({"__venv_IN_environment__yml": OLD}, "3.14"),
        ({"_template_IN_environment__yml": OLD}, "3.14"),
        ({"deep_IN_er_IN_environment__yml": OLD}, "3.14"),
    ],
)
def test_the_projects_of_a_repository_are_alternatives(tmp_path: Path, files: dict[str, str], python: str) -> None:
    assert newest(tmp_path, **files) == python


def test_a_readme_that_contradicts_the_image_counts_for_nothing(tmp_path: Path) -> None:
    image = "FROM nvidia/cuda:9.1-runtime-ubuntu16.04\nRUN conda install -y pytorch=0.4.1 cuda91 -c pytorch\n"
    badge = "![Python 2.7](https://img.shields.io/badge/python-2.7-green.svg)\n"

    assert newest(tmp_path, Dockerfile=image, README__md=badge) == "3.7"


def test_a_chosen_target_and_isolated_mode_are_not_narrowed(tmp_path: Path) -> None:
    chosen = '[tool.dllint]\ntarget-python = ">=3.10"\n'
    assert newest(tmp_path, requirements__txt="torch==2.4.0", pyproject__toml=chosen) == "3.14"
    assert config.load([str(tmp_path)], isolated=True).targets.pythons[-1] == (3, 14)
    chosen_now = config.load([str(tmp_path)], overrides={"target-python": "3.13"})
    assert chosen_now.targets.pythons == ((3, 13),)


def test_files_that_contradict_requires_python_change_nothing(tmp_path: Path) -> None:
    stated = '[project]\nrequires-python = ">=3.13"\n'
    assert newest(tmp_path, requirements__txt="torch==2.4.0", pyproject__toml=stated) == "3.14"


@pytest.mark.parametrize(
    ("name", "text", "told", "postponed"),
    [
        ("requirements.txt", "torch==2.4.0\n", [(9, "error")], 1),
        ("environment.yml", "dependencies:\n  - python=3.8\n", [(9, "error")], 1),
        ("install.sh", "pip install torch==2.4.0\n", [(9, "error")], 1),
        ("setup.py", "setup(python_requires='<3.12')\n", [(9, "error")], 1),
        ("README.md", "pip install torch==2.4.0\n", [(5, "info"), (9, "error")], 0),
        ("README.md", "Needs PyTorch 1.7.1.\n", [(5, "info"), (9, "error")], 0),
        ("requirements.txt", "torch>=2.4.0\n", [(5, "warning"), (9, "error")], 0),
    ],
)
def test_what_only_a_later_python_breaks(
    tmp_path: Path, name: str, text: str, told: list[tuple[int, str]], postponed: int
) -> None:
    """Left out where requirements rule it out, and info where the README does; also in checks that are kept."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\n\n\ndef build(rows):\n"
        "    return DataLoader(rows, num_workers=2, collate_fn=lambda batch: batch)\n\n\n"
        "def spawned(rows):\n    return DataLoader(rows, 2, num_workers=2, collate_fn=lambda batch: batch,\n"
        '                      multiprocessing_context="spawn")\n'
    )

    def check(python: str | None = None) -> linter.Report:
        chosen = {"target-python": python} if python else {}
        overrides = {"select": ["DLL204"], "cache-dir": str(tmp_path / "cache"), **chosen}
        return linter.check([str(tmp_path)], config.load([str(tmp_path)], overrides=overrides))

    def severities(report: linter.Report) -> list[tuple[int, str | None]]:
        return [(one.span.line, one.severity) for one in report.findings]

    before = check()
    (tmp_path / name).write_text(text)
    after, again = check(), check()

    assert severities(before) == [(5, "warning"), (9, "error")]
    assert (severities(after), after.postponed) == (told, postponed)
    assert (again.findings, again.postponed) == (after.findings, after.postponed)
    assert severities(check("3.14")) == [(5, "error"), (9, "error")]
