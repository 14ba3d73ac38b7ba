"""Limits of the machine, read from a proc and sys that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.evidence.loader_runs import Seen
from dllint.evidence.storage_limits import forkserver_storages
from dllint.observation import Observation
from dllint.runtime.crash import crash
from dllint.runtime.limits import Limits, cgroup, measure, memory_kills, slurm

GIB = 1 << 30


def write(root: Path, texts: dict[str, str]) -> str:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return str(root)


def test_version_2_is_bounded_by_the_tightest_level(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/job/step"
    root = write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/job/step\n",
            f"{group}/cgroup.controllers": "cpu memory",
            f"{group}/memory.max": "max\n",
            f"{group}/memory.current": f"{GIB}\n",
            f"{group}/memory.stat": "anon 5000\nfile 9000\nshmem 700\n",
            f"{group}/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/job/memory.max": f"{8 * GIB}\n",
        },
    )
    found = cgroup(root)
    assert found is not None
    assert (found.version, found.limit, found.current) == (2, 8 * GIB, GIB)
    assert (found.anonymous, found.shared, found.file) == (5000, 700, 9000)
    assert measure({}, root).cpu_quota == 1.5


def test_version_1_writes_no_limit_as_a_huge_one(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/memory/box"
    root = write(
        tmp_path,
        {
            "proc/self/cgroup": "5:memory:/box\n0::/\n",
            f"{group}/memory.limit_in_bytes": "9223372036854771712\n",
            f"{group}/memory.usage_in_bytes": "4096\n",
            f"{group}/memory.stat": "rss 1\ntotal_rss 30\ntotal_cache 20\ntotal_shmem 10\n",
        },
    )
    found = cgroup(root)
    assert found is not None
    assert (found.version, found.limit, found.current) == (1, None, 4096)
    assert (found.anonymous, found.shared, found.file) == (30, 10, 20)


def test_in_a_container_the_mount_is_the_group(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/system.slice/docker-1234.scope\n",
            "sys/fs/cgroup/cgroup.controllers": "memory",
            "sys/fs/cgroup/memory.max": "1048576\n",
        },
    )
    found = cgroup(root)
    assert found is not None
    assert found.limit == 1 << 20


@pytest.mark.parametrize(
    ("texts", "kills"),
    [
        (
            {
                "proc/self/cgroup": "0::/job/step\n",
                "sys/fs/cgroup/job/step/cgroup.controllers": "memory",
                "sys/fs/cgroup/job/step/memory.events": "low 0\nhigh 0\nmax 812\noom 2\noom_kill 3\noom_group_kill 0\n",
            },
            3,
        ),
        (
            {
                "proc/self/cgroup": "0::/system.slice/docker-1234.scope\n",
                "sys/fs/cgroup/cgroup.controllers": "memory",
                "sys/fs/cgroup/memory.events": "oom 1\noom_kill 1\n",
            },
            1,
        ),
        (
            {
                "proc/self/cgroup": "5:memory:/box\n0::/\n",
                "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "8589934592\n",
                "sys/fs/cgroup/memory/box/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
                "proc/vmstat": "oom_kill 9\n",
            },
            4,
        ),
        # Before Linux 4.13 a group of version 1 counts no kills, and the root group of version 2 never does.
        (
            {
                "proc/self/cgroup": "5:memory:/box\n0::/\n",
                "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "8589934592\n",
                "sys/fs/cgroup/memory/box/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n",
                "proc/vmstat": "nr_free_pages 7\noom_kill 9\n",
            },
            9,
        ),
        (
            {
                "proc/self/cgroup": "0::/\n",
                "sys/fs/cgroup/cgroup.controllers": "memory",
                "proc/vmstat": "oom_kill 2\n",
            },
            2,
        ),
        ({}, 0),
    ],
)
def test_kills_for_lack_of_memory(texts: dict[str, str], kills: int, tmp_path: Path) -> None:
    assert memory_kills(write(tmp_path, texts)) == kills


@pytest.mark.parametrize(
    ("texts", "cause"),
    [
        (
            {
                "proc/self/cgroup": "0::/job/step\n",
                "sys/fs/cgroup/job/step/cgroup.controllers": "memory",
                "sys/fs/cgroup/job/memory.max": f"{8 * GIB}\n",
            },
            "the control group allows 8.0 GiB",
        ),
        (
            {
                "proc/self/cgroup": "5:memory:/box\n0::/\n",
                "sys/fs/cgroup/memory/box/memory.limit_in_bytes": f"{4 * GIB}\n",
            },
            "the control group allows 4.0 GiB",
        ),
        ({"proc/meminfo": f"MemTotal: {16 << 20} kB\n"}, "the machine has 16 GiB"),
    ],
)
def test_the_cause_of_a_kill_names_the_limit(texts: dict[str, str], cause: str, tmp_path: Path) -> None:
    limits = measure({}, write(tmp_path, texts))
    found = crash(Seen(Observation(())), 70, 9, 1, limits)
    assert found is not None
    assert found.message == "the program (pid 70) was killed by SIGKILL"
    assert found.cause == f"The kernel killed it because memory ran out: {cause}"
    other = crash(Seen(Observation(())), 70, 9, 0, limits)
    assert other is not None and "something else sent the signal" in other.cause
    segfault = crash(Seen(Observation(())), 70, 11, 1, limits)
    assert segfault is not None and segfault.cause == ""


def test_no_control_groups(tmp_path: Path) -> None:
    assert cgroup(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("variables", "memory"),
    [
        ({"SLURM_MEM_PER_NODE": "4096"}, 4 * GIB),
        ({"SLURM_MEM_PER_NODE": "4G"}, 4 * GIB),
        ({"SLURM_MEM_PER_CPU": "1024", "SLURM_CPUS_ON_NODE": "8"}, 8 * GIB),
        ({"SLURM_MEM_PER_NODE": "0"}, None),
        ({"SLURM_MEM_PER_NODE": "plenty"}, None),
        ({}, None),
    ],
)
def test_memory_of_a_job(variables: dict[str, str], memory: int | None) -> None:
    job = slurm({"SLURM_JOB_ID": "7", **variables})
    assert job is not None
    assert (job.job, job.memory) == ("7", memory)


def test_accounting_of_a_job(tmp_path: Path) -> None:
    configuration = tmp_path / "slurm.conf"
    configuration.write_text(
        "# JobAcctGatherType=none\nJobAcctGatherType=jobacct_gather/linux\nJobAcctGatherParams=OverMemoryKill\n"
    )
    job = slurm({"SLURM_JOB_ID": "7", "SLURM_CONF": str(configuration)})
    assert job is not None
    assert (job.gather, job.over_memory_kill) == ("jobacct_gather/linux", True)
    configuration.write_text("JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherParams=UsePss\n")
    job = slurm({"SLURM_JOB_ID": "7", "SLURM_CONF": str(configuration)})
    assert job is not None
    assert (job.gather, job.over_memory_kill) == ("jobacct_gather/linux with UsePss", False)


def test_outside_a_job() -> None:
    assert slurm({}) is None


def test_memory_is_what_the_tightest_allows(tmp_path: Path) -> None:
    root = write(tmp_path, {"proc/meminfo": f"MemTotal: {16 << 20} kB\nMemAvailable: {9 << 20} kB\nHuge: 0\n"})
    measured = measure({"SLURM_JOB_ID": "7", "SLURM_MEM_PER_NODE": "4G"}, root)
    assert (measured.memory_total, measured.memory_available) == (16 * GIB, 9 * GIB)
    assert measured.memory == 4 * GIB
    assert measure({}, root).memory == 16 * GIB
    assert Limits().memory is None


def test_this_machine() -> None:
    measured = measure()
    assert measured.cores_allowed >= 1
    assert measured.nofile_soft is None or measured.nofile_soft > 16


def test_descriptors_that_a_dataset_carries_count_as_well() -> None:
    assert (forkserver_storages(), forkserver_storages(3)) == (245, 242)
