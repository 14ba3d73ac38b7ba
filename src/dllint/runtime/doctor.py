"""Measures the limits of this machine and an interpreter, and explains each figure's meaning for loaders."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dllint.evidence.storage_limits import forkserver_storages
from dllint.runtime import versions
from dllint.runtime.limits import DEFAULT_MAX_MAP_COUNT, Limits, measure
from dllint.runtime.predict import size

PATIENCE = 120.0
"""Maximum number of seconds for an interpreter to import torch and OpenCV."""

_ENOUGH_DESCRIPTORS = 4096
_SMALL_SHM = 1 << 30
_DOCKER_SHM = 64 << 20
_OLDEST_TORCH = (2, 0)
# Approximate private memory of a spawned worker once it has imported torch.
_SPAWNED_WORKER = 150 << 20


class DoctorError(Exception):
    """The interpreter could not be queried; the message gives the reason in one line."""


@dataclass(frozen=True)
class Finding:
    """One measured figure of this machine or interpreter.

    Attributes:
        name: the name of the figure.
        value: the figure in readable form.
        meaning: its meaning for loaders.
        problem: what is wrong with it and what to do, "" if nothing is.
    """

    name: str
    value: str
    meaning: str
    problem: str = ""


@dataclass(frozen=True)
class Examination:
    limits: Limits
    interpreter: Mapping[str, Any]
    findings: tuple[Finding, ...]


def examine(python: str | None = None) -> Examination:
    """Examine this machine and an interpreter, by default the running one.

    Raises:
        DoctorError: the interpreter does not run.
    """
    limits = measure()
    interpreter = ask(python or sys.executable)
    return Examination(limits, interpreter, tuple(judge(limits, interpreter)))


def ask(python: str) -> dict[str, Any]:
    """Return the output of `versions` when run with `python`.

    Raises:
        DoctorError: it does not run, or takes too long.
    """
    try:
        process = subprocess.run(
            [python, "-B", versions.__file__],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DoctorError(f"{python} did not answer within {PATIENCE:g} s") from None
    except OSError as error:
        raise DoctorError(f"cannot run {python}: {error.strerror or error}") from None
    try:
        told = json.loads(process.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        told = None
    if not isinstance(told, dict) or "python" not in told:
        last = (process.stderr.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        raise DoctorError(f"{python} does not answer as a Python interpreter: {last}")
    return told


def judge(limits: Limits, interpreter: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield one finding per figure, with its meaning."""
    yield from _versions(interpreter)
    yield _start_method(interpreter)
    yield from _counts(limits, interpreter)
    yield from _memory(limits)
    yield _cores(limits)
    yield from _threads(limits, interpreter)


# --- The interpreter


def _versions(interpreter: Mapping[str, Any]) -> Iterator[Finding]:
    yield Finding(
        "Python", f"{interpreter['python']} ({interpreter['executable']})", "the interpreter that was examined"
    )
    torch = interpreter.get("torch")
    meaning = "dllint run uses the program's torch; dllint check needs none"
    if not torch:
        yield Finding(
            "torch", "not installed", meaning, "this interpreter cannot run loaders: name the program's with --python"
        )
    elif "error" in torch:
        yield Finding("torch", "cannot be imported", meaning, torch["error"])
    else:
        old = _numbers(torch["version"]) < _OLDEST_TORCH
        cuda = torch.get("cuda")
        devices = torch.get("cuda_devices", 0)
        yield Finding(
            "torch",
            torch["version"] + (f", CUDA {cuda}, {devices} devices" if cuda else ", without CUDA"),
            meaning,
            "dllint run supports torch 2.0 and newer" if old else "",
        )
    psutil = interpreter.get("psutil") or {}
    if "version" in psutil:
        value = psutil["version"]
    else:
        value = "cannot be imported" if psutil else "not installed"
    needed = interpreter.get("platform") != "linux"
    yield Finding(
        "psutil",
        value,
        "dllint reads the memory of processes with it where there is no /proc",
        "memory of workers cannot be shown here: pip install psutil" if needed and "version" not in psutil else "",
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit())


def _start_method(interpreter: Mapping[str, Any]) -> Finding:
    method = interpreter.get("start_method") or ""
    meaning = {
        "fork": "workers share the parent's memory and inherit its open files, locks and CUDA state; nothing is "
        "pickled, so pickling errors appear only under another method: from Python 3.14 on, forkserver is the "
        "default on Linux",
        "spawn": "datasets are pickled to each worker, which imports the main module again: scripts need a __main__ "
        f"guard, and a worker takes about {size(_SPAWNED_WORKER)} before its first item",
        "forkserver": "datasets are pickled to each worker, which is forked from a clean server: scripts need a "
        "__main__ guard, and each tensor needs one file descriptor",
    }
    strategy = (interpreter.get("torch") or {}).get("sharing_strategy")
    problem = ""
    if method == "forkserver" and strategy == "file_descriptor":
        problem = (
            f"a dataset with more than {forkserver_storages()} separate tensors starts no worker (ValueError: too many "
            "fds): keep one flat tensor with offsets"
        )
    return Finding("default start method", method or "unknown", meaning.get(method, ""), problem)


# --- Descriptors and maps


def _counts(limits: Limits, interpreter: Mapping[str, Any]) -> Iterator[Finding]:
    strategy = (interpreter.get("torch") or {}).get("sharing_strategy")
    if strategy:
        yield Finding(
            "sharing strategy",
            strategy,
            "each tensor that is sent needs a file descriptor and a memory map in both processes"
            if strategy == "file_descriptor"
            else "each tensor that is sent needs a memory map in both processes",
        )
    soft, hard = limits.nofile_soft, limits.nofile_hard
    if soft is not None:
        most = max(soft - 3 - 7 - 4 * 4, 0)
        problem = ""
        if soft < _ENOUGH_DESCRIPTORS:
            higher = f"ulimit -n {hard}" if hard is None or hard > soft else "a higher hard limit"
            problem = f"low: a list that keeps batches reaches it after about {soft:,} tensors; raise it with {higher}"
        yield Finding(
            "open files",
            f"{soft:,} (hard limit {'none' if hard is None else f'{hard:,}'})",
            f"a loader with 4 spawned workers can send {most:,} separate tensors of a dataset",
            problem.replace("ulimit -n None", "ulimit -n"),
        )
    if limits.scm_max_fd is not None:
        yield Finding(
            "descriptors a message",
            f"{limits.scm_max_fd}",
            f"a worker under forkserver can receive {forkserver_storages()} separate tensors, whatever ulimit -n says",
        )
    if limits.max_map_count is not None:
        about = max(limits.max_map_count - 500, 0)
        yield Finding(
            "memory maps per process",
            f"{limits.max_map_count:,}",
            f"about {about:,} separate tensors can be sent with the file_system strategy",
            f"below the kernel's default of {DEFAULT_MAX_MAP_COUNT:,}: sysctl vm.max_map_count"
            if limits.max_map_count < DEFAULT_MAX_MAP_COUNT
            else "",
        )
    if limits.processes is not None and limits.processes < 1024:
        yield Finding(
            "processes of this user",
            f"{limits.processes:,}",
            "workers, and the threads of each, count",
            "low: workers or their threads may fail to start; raise it with ulimit -u",
        )


# --- Memory


def _memory(limits: Limits) -> Iterator[Finding]:
    if limits.shm_total is not None:
        free = limits.shm_free or 0
        problem = ""
        if limits.shm_total <= _DOCKER_SHM:
            problem = "this is Docker's default: workers die with a bus error; docker run --shm-size=8g, or --ipc=host"
        elif free < _SMALL_SHM:
            problem = "nearly full: large batches fail with `No space left on device (28)`"
        yield Finding(
            "/dev/shm",
            f"{size(free)} free of {size(limits.shm_total)}",
            "holds the batches that workers have ready, (workers × prefetch_factor + 2) of them, and under spawn and "
            "forkserver the dataset's tensors once",
            problem,
        )
    else:
        yield Finding("/dev/shm", "not there", "torch shares tensors in another way on this platform")
    if limits.memory_total is not None:
        available = limits.memory_available
        low = available is not None and available < limits.memory_total / 10
        yield Finding(
            "memory",
            size(limits.memory_total) + (f", {size(available)} available" if available is not None else ""),
            "forked workers share what they only read; each spawned worker copies the arrays and lists of the dataset",
            "little is available: other processes hold the rest" if low else "",
        )
    group = limits.cgroup
    if group is not None:
        used = f", {size(group.current)} charged now" if group.current is not None else ""
        near = group.limit is not None and _held(limits) > 0.8 * group.limit
        yield Finding(
            f"control group (v{group.version})",
            (f"{size(group.limit)} allowed" if group.limit is not None else "no limit") + used,
            "this includes page cache, which can be reclaimed; anonymous and shared memory cannot; over the limit a "
            "worker is killed (`killed by signal: Killed`)",
            "more than 80 % of it is held by memory that cannot be reclaimed" if near else "",
        )
    job = limits.slurm
    if job is not None:
        how = job.gather or "unknown (jobacct_gather/linux sums RSS over processes, and counts shared pages in each)"
        kills = {True: ", and it kills by that", False: ", which it does not kill by", None: ""}[job.over_memory_kill]
        sums = job.gather == "jobacct_gather/linux" and job.over_memory_kill
        yield Finding(
            f"SLURM job {job.job}",
            f"{size(job.memory) if job.memory is not None else 'no memory limit'}, "
            f"{f'{job.cores} cores' if job.cores is not None else 'cores unknown'}",
            f"accounting: {how}{kills}",
            "mapped stores such as LMDB count once in every worker: request their size × "
            "workers, or ask your cluster's admin for UsePss"
            if sums
            else "",
        )


def _held(limits: Limits) -> int:
    group = limits.cgroup
    return (group.anonymous or 0) + (group.shared or 0) if group is not None else 0


# --- Cores and threads


def _cores(limits: Limits) -> Finding:
    usable = float(limits.cores_allowed)
    said = [f"{limits.cores_allowed} of {limits.cores} by affinity"]
    if limits.cpu_quota is not None:
        usable = min(usable, limits.cpu_quota)
        said.append(f"{limits.cpu_quota:g} by the control group's quota")
    if limits.slurm is not None and limits.slurm.cores is not None:
        usable = min(usable, limits.slurm.cores)
        said.append(f"{limits.slurm.cores} by SLURM")
    problem = ""
    if usable < limits.cores:
        problem = (
            f"os.cpu_count() says {limits.cores}: workers or threads counted by it are too many; take "
            "len(os.sched_getaffinity(0)), or less where there is a quota"
        )
    return Finding(
        "cores",
        ", ".join(said),
        f"more than {max(int(usable), 1)} busy workers, of all ranks on this machine together, do not make it faster",
        problem,
    )


def _threads(limits: Limits, interpreter: Mapping[str, Any]) -> Iterator[Finding]:
    cv2 = interpreter.get("cv2")
    meaning = "a pool of threads in every worker that uses it: cv2.setNumThreads(0) in the dataset's module prevents it"
    fictional = "OPENCV_OPENMP_NUM_THREADS" in limits.environment
    wrong = "OPENCV_OPENMP_NUM_THREADS is set, but OpenCV does not read it: use OPENCV_FOR_THREADS_NUM"
    if not cv2:
        yield Finding("OpenCV", "not installed", meaning, wrong if fictional else "")
    elif "error" in cv2:
        yield Finding("OpenCV", "cannot be imported", meaning, cv2["error"])
    else:
        problem = wrong if fictional else ""
        if not problem and cv2["threads"] > 1 and cv2["threads"] > limits.cores_allowed:
            problem = f"it would start {cv2['threads']} threads on {limits.cores_allowed} cores"
        yield Finding(
            "OpenCV",
            f"{cv2['version']}, {cv2['threads']} threads, {cv2['backend'] or 'unknown'} backend",
            meaning
            if cv2["threads"] > 1
            else "it starts no threads here, but would in every worker of a machine with more cores",
            problem,
        )
    torch = interpreter.get("torch") or {}
    if "threads" in torch:
        yield Finding(
            "torch threads",
            str(torch["threads"]),
            "in the main process; a DataLoader worker sets its own to 1, which OpenCV and NumPy ignore",
        )
    for name, value in limits.environment.items():
        if name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"):
            yield Finding(name, value, "caps a pool of threads in every process that inherits it")
