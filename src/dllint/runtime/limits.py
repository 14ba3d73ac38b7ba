"""The limits of this machine, this session and the targets: descriptors, maps, shared memory, memory, cores.

Every figure is in bytes or a count; `None` if the platform does not report it or has no limit.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dllint.evidence.storage_limits import SCM_MAX_FD

# Documentation/admin-guide/sysctl/vm.rst
DEFAULT_MAX_MAP_COUNT = 65530

_UNLIMITED = 1 << 60  # cgroup v1 shows "no limit" as the largest multiple of a page below 2**63.


@dataclass(frozen=True)
class Cgroup:
    """The tightest memory limit of this process's control group and its ancestors.

    `current` is the memory charged to the group: anonymous memory, shared memory and page cache alike. `anonymous` and
    `shared` cannot be reclaimed, while `file` is reclaimed before anything is killed.
    """

    version: Literal[1, 2]
    limit: int | None = None
    current: int | None = None
    anonymous: int | None = None
    shared: int | None = None
    file: int | None = None


@dataclass(frozen=True)
class Slurm:
    """The resources of a SLURM job (sbatch(1), output environment variables), and how its memory is accounted.

    `gather` is JobAcctGatherType if the job can read it: `jobacct_gather/linux` sums RSS over processes.
    """

    job: str
    memory: int | None = None
    cores: int | None = None
    gather: str | None = None
    over_memory_kill: bool | None = None


@dataclass(frozen=True)
class Limits:
    nofile_soft: int | None = None
    nofile_hard: int | None = None
    max_map_count: int | None = None
    scm_max_fd: int | None = None
    shm_total: int | None = None
    shm_free: int | None = None
    memory_total: int | None = None
    memory_available: int | None = None
    address_space: int | None = None
    processes: int | None = None
    cores: int = 1
    cores_allowed: int = 1
    cpu_quota: float | None = None
    cgroup: Cgroup | None = None
    slurm: Slurm | None = None
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def memory(self) -> int | None:
        """The memory that all processes together may use: the machine's, or the lower limit of a group or a job."""
        said = [
            self.memory_total,
            self.cgroup.limit if self.cgroup else None,
            self.slurm.memory if self.slurm else None,
        ]
        return min((one for one in said if one is not None), default=None)


# Variables that determine how many threads a worker starts, or where temporary files go.
_TELLING = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
    "OPENCV_OPENMP_NUM_THREADS",
    "TMPDIR",
)


def measure(environment: Mapping[str, str] = os.environ, root: str = "/") -> Limits:
    """Return the limits currently in force for this process.

    Args:
        environment: environment variables of the program to run.
        root: the directory that contains proc and sys.
    """
    soft, hard = _resource("RLIMIT_NOFILE")
    shm_total, shm_free = _shm()
    memory = _meminfo(root)
    return Limits(
        nofile_soft=soft,
        nofile_hard=hard,
        max_map_count=_number(Path(root, "proc/sys/vm/max_map_count")),
        scm_max_fd=SCM_MAX_FD if sys.platform == "linux" else None,
        shm_total=shm_total,
        shm_free=shm_free,
        memory_total=memory.get("MemTotal", _physical()),
        memory_available=memory.get("MemAvailable"),
        address_space=_resource("RLIMIT_AS")[0],
        processes=_resource("RLIMIT_NPROC")[0],
        cores=os.cpu_count() or 1,
        cores_allowed=_affinity(),
        cpu_quota=_quota(root),
        cgroup=cgroup(root),
        slurm=slurm(environment),
        environment={name: environment[name] for name in _TELLING if name in environment},
    )


def _resource(name: str) -> tuple[int | None, int | None]:
    try:
        import resource
    except ImportError:  # Windows
        return None, None
    if not hasattr(resource, name):
        return None, None
    soft, hard = resource.getrlimit(getattr(resource, name))
    return tuple(None if one == resource.RLIM_INFINITY else one for one in (soft, hard))  # type: ignore[return-value]


def _shm() -> tuple[int | None, int | None]:
    if not os.path.isdir("/dev/shm"):
        return None, None
    usage = shutil.disk_usage("/dev/shm")
    return usage.total, usage.free


def _meminfo(root: str) -> dict[str, int]:
    found = {}
    for line in _text(Path(root, "proc/meminfo")).splitlines():
        name, _, rest = line.partition(":")
        if rest.endswith("kB"):
            found[name] = int(rest.split()[0]) * 1024
    return found


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# --- Control groups (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst)


def cgroup(root: str = "/") -> Cgroup | None:
    path = _cgroup_path(root, "memory")
    if path is not None:
        levels = _up(path, Path(root, "sys/fs/cgroup/memory"))
        stat = _pairs(path / "memory.stat")
        limit = _tightest(levels, "memory.limit_in_bytes")
        return Cgroup(
            1,
            limit,
            _number(path / "memory.usage_in_bytes"),
            stat.get("total_rss", stat.get("rss")),
            stat.get("total_shmem", stat.get("shmem")),
            stat.get("total_cache", stat.get("cache")),
        )
    path = _cgroup_path(root, "")
    if path is None:
        return None
    stat = _pairs(path / "memory.stat")
    limit = _tightest(_up(path, Path(root, "sys/fs/cgroup")), "memory.max")
    return Cgroup(2, limit, _number(path / "memory.current"), stat.get("anon"), stat.get("shmem"), stat.get("file"))


def memory_kills(root: str = "/") -> int:
    """Return how many processes of this group, or else of this machine, the kernel has killed for lack of memory."""
    for controller, name in (("memory", "memory.oom_control"), ("", "memory.events")):
        path = _cgroup_path(root, controller)
        count = _pairs(path / name).get("oom_kill") if path is not None else None
        if count is not None:
            return count
    return _pairs(Path(root, "proc/vmstat")).get("oom_kill", 0)


def _cgroup_path(root: str, controller: str) -> Path | None:
    """Return the directory of this process's group: for a version 1 controller, or for version 2 if it is "".

    In a container the path is often the host's and does not exist; then the mount itself is the group. `None` if there
    is no group.
    """
    mount = Path(root, "sys/fs/cgroup", controller)
    probe = "memory.limit_in_bytes" if controller else "cgroup.controllers"
    for line in _text(Path(root, "proc/self/cgroup")).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(",") if controller else not controllers:
            for candidate in (mount / path.lstrip("/"), mount):
                if (candidate / probe).exists():
                    return candidate
    return None


def _up(path: Path, mount: Path) -> list[Path]:
    return [path, *(parent for parent in path.parents if parent == mount or mount in parent.parents)]


def _tightest(levels: list[Path], name: str) -> int | None:
    said = [limit for level in levels if (limit := _number(level / name)) is not None and limit < _UNLIMITED]
    return min(said, default=None)


def _quota(root: str) -> float | None:
    """Return the group's CPU quota in cores, as set for containers; `None` if there is none."""
    path = _cgroup_path(root, "")
    if path is not None:
        fields = _text(path / "cpu.max").split()
        if len(fields) == 2 and fields[0].isdigit():
            return int(fields[0]) / int(fields[1])
    for mount in ("cpu", "cpu,cpuacct"):
        quota, period = (
            _number(Path(root, "sys/fs/cgroup", mount, name)) for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        )
        if quota is not None and period and quota > 0:
            return quota / period
    return None


# --- SLURM

_SIZE = re.compile(r"(\d+)([KMGT]?)", re.IGNORECASE)
_UNITS = {"": 1 << 20, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def slurm(environment: Mapping[str, str] = os.environ) -> Slurm | None:
    """Return the SLURM job of this process; `None` if there is none. Sizes without a unit are in MiB."""
    job = environment.get("SLURM_JOB_ID") or environment.get("SLURM_JOBID")
    if not job:
        return None
    cores = _whole(environment.get("SLURM_CPUS_ON_NODE")) or _whole(environment.get("SLURM_CPUS_PER_TASK"))
    memory = _size(environment.get("SLURM_MEM_PER_NODE"))
    if memory is None and (each := _size(environment.get("SLURM_MEM_PER_CPU"))) is not None:
        memory = each * (cores or 1)
    gather, kills = _slurm_configuration(environment.get("SLURM_CONF", "/etc/slurm/slurm.conf"))
    return Slurm(job, memory, cores, gather, kills)


def _slurm_configuration(path: str) -> tuple[str | None, bool | None]:
    said = {}
    for line in _text(Path(path)).splitlines():
        name, separator, value = line.partition("#")[0].partition("=")
        if separator:
            said[name.strip().lower()] = value.strip()
    if not said:
        return None, None
    parameters = said.get("jobacctgatherparams", "").lower()
    gather = said.get("jobacctgathertype")
    if gather and ("usepss" in parameters or "noshared" in parameters):
        gather += " with UsePss" if "usepss" in parameters else " with NoShared"
    return gather, "overmemorykill" in parameters


def _size(text: str | None) -> int | None:
    matched = _SIZE.fullmatch((text or "").strip())
    if matched is None or not int(matched[1]):  # 0 means all of the node's memory
        return None
    return int(matched[1]) * _UNITS[matched[2].upper()]


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.strip().isdigit() else None


# --- Files


def _pairs(path: Path) -> dict[str, int]:
    found = {}
    for line in _text(path).splitlines():
        name, _, value = line.partition(" ")
        if value.isdigit():
            found[name] = int(value)
    return found


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    try:
        return int(text)
    except ValueError:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
