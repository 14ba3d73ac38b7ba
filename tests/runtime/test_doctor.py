"""What is said of a machine and an interpreter, and what is wrong with them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dllint.runtime.doctor import DoctorError, Finding, ask, examine, judge
from dllint.runtime.limits import Cgroup, Limits, Slurm

MIB, GIB = 1 << 20, 1 << 30
SOUND = Limits(
    nofile_soft=65536,
    nofile_hard=1 << 20,
    max_map_count=65530,
    scm_max_fd=253,
    shm_total=16 * GIB,
    shm_free=15 * GIB,
    memory_total=64 * GIB,
    memory_available=50 * GIB,
    cores=8,
    cores_allowed=8,
)
PYTHON: dict[str, Any] = {
    "executable": "python",
    "python": "3.12.1",
    "platform": "linux",
    "start_methods": ["fork", "spawn", "forkserver"],
    "start_method": "fork",
    "torch": {"version": "2.13.0+cpu", "threads": 8, "sharing_strategy": "file_descriptor", "cuda": None},
    "numpy": {"version": "2.4.6"},
    "psutil": {"version": "7.2.2"},
    "cv2": {"version": "5.0.0", "threads": 8, "backend": "pthreads"},
}


def problems(limits: dict[str, Any] | None = None, interpreter: dict[str, Any] | None = None) -> dict[str, str]:
    from dataclasses import replace

    found = judge(replace(SOUND, **(limits or {})), {**PYTHON, **(interpreter or {})})
    return {one.name: one.problem for one in found if one.problem}


def finding(name: str, **limits: Any) -> Finding:
    from dataclasses import replace

    return next(one for one in judge(replace(SOUND, **limits), PYTHON) if one.name.startswith(name))


def test_nothing_is_wrong_with_a_sound_machine() -> None:
    assert problems() == {}


def test_every_figure_says_what_it_means() -> None:
    assert all(one.value and one.meaning for one in judge(SOUND, PYTHON))


def test_few_open_files() -> None:
    said = problems({"nofile_soft": 1024, "nofile_hard": 524288})["open files"]
    assert "1,024" in said
    assert "ulimit -n 524288" in said
    assert "998" in finding("open files", nofile_soft=1024).meaning


def test_forkserver_by_default() -> None:
    said = problems({}, {"python": "3.14.0", "start_method": "forkserver"})
    assert "245" in said["default start method"]


@pytest.mark.parametrize("shm", [{"shm_total": 64 * MIB, "shm_free": 64 * MIB}, {"shm_free": 100 * MIB}])
def test_little_shared_memory(shm: dict[str, int]) -> None:
    assert "/dev/shm" in problems(shm)


def test_docker_is_named_for_its_default() -> None:
    assert "--shm-size" in problems({"shm_total": 64 * MIB, "shm_free": 64 * MIB})["/dev/shm"]


@pytest.mark.parametrize(
    "limits", [{"cores_allowed": 2}, {"cpu_quota": 1.5}, {"slurm": Slurm("7", 4 * GIB, 2, None, None)}]
)
def test_fewer_cores_than_there_are(limits: dict[str, Any]) -> None:
    assert "os.cpu_count() says 8" in problems(limits)["cores"]


def test_a_scheduler_that_sums_rss_and_kills() -> None:
    job = Slurm("7", 4 * GIB, 8, "jobacct_gather/linux", True)
    assert "LMDB" in problems({"slurm": job})["SLURM job 7"]
    assert problems({"slurm": Slurm("7", 4 * GIB, 8, "jobacct_gather/cgroup", True)}) == {}


def test_a_control_group_that_is_nearly_full() -> None:
    full = Cgroup(2, 4 * GIB, 4 * GIB, anonymous=3 * GIB, shared=GIB // 2)
    cached = Cgroup(2, 4 * GIB, 4 * GIB, anonymous=GIB, shared=0, file=3 * GIB)
    assert "80 %" in problems({"cgroup": full})["control group (v2)"]
    assert problems({"cgroup": cached}) == {}


def test_a_variable_that_means_nothing() -> None:
    said = problems({"environment": {"OPENCV_OPENMP_NUM_THREADS": "1"}})
    assert "OPENCV_FOR_THREADS_NUM" in said["OpenCV"]


def test_without_any_library() -> None:
    bare = {"torch": None, "numpy": None, "psutil": None, "cv2": None}
    assert list(problems({}, bare)) == ["torch"]
    assert "--python" in problems({}, bare)["torch"]
    assert "psutil" in problems({}, {**bare, "platform": "darwin"})


def test_libraries_that_cannot_be_imported_say_why() -> None:
    broken = {"cv2": {"error": "ImportError: libGL.so.1: cannot open shared object file"}}
    assert "libGL" in problems({}, broken)["OpenCV"]


def test_torch_that_is_too_old() -> None:
    assert "2.0" in problems({}, {"torch": {"version": "1.13.1", "threads": 8}})["torch"]


def test_an_unlimited_machine() -> None:
    assert {one.name for one in judge(Limits(), PYTHON)} >= {"Python", "torch", "cores"}


# --- Interpreters


def test_this_interpreter() -> None:
    told = ask(sys.executable)
    assert told["python"] == ".".join(map(str, sys.version_info[:3]))
    assert told["start_method"] in told["start_methods"]


def test_no_interpreter(tmp_path: Path) -> None:
    with pytest.raises(DoctorError, match="cannot run"):
        ask(str(tmp_path / "none"))
    with pytest.raises(DoctorError, match="cannot run"):
        ask(str(tmp_path))


def test_something_else_than_an_interpreter(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho hello\necho no >&2\n")
    other.chmod(other.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(DoctorError, match="does not answer as a Python interpreter: no"):
        ask(str(other))


def test_libraries_that_print_while_they_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cv2.py").write_text("print('welcome')\nraise OSError('no display')\n")
    (tmp_path / "torch.py").write_text("import nothing_like_this\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    told = ask(sys.executable)
    assert told["cv2"] == {"error": "OSError: no display"}
    assert told["torch"] == {"error": "ModuleNotFoundError: No module named 'nothing_like_this'"}


# --- The command


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dllint", "doctor", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "72"},
    )


def test_text() -> None:
    done = run()
    assert done.returncode == 0
    assert "default start method: " in done.stdout
    assert max(len(line) for line in done.stdout.splitlines() if line.startswith("  ")) <= 72


def test_json() -> None:
    told = json.loads(run("--output-format", "json").stdout)
    assert set(told) == {"findings", "limits", "interpreter"}
    assert {"name", "value", "meaning", "problem"} == set(told["findings"][0])
    assert told["limits"]["cores_allowed"] >= 1


def test_bad_interpreter_is_one_line(tmp_path: Path) -> None:
    done = run("--python", str(tmp_path / "none"))
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot run ")
    assert done.stderr.count("\n") == 1


def test_an_interpreter_with_torch() -> None:
    python = os.environ.get("DLLINT_TORCH_PYTHON")
    if not python:
        pytest.skip("DLLINT_TORCH_PYTHON names no interpreter")
    found = {one.name: one for one in examine(python).findings}
    assert found["torch"].value.startswith("2.")
    assert found["sharing strategy"].value == "file_descriptor"
    assert "backend" in found["OpenCV"].value
