"""Measurements of a process from `/proc`: memory, descriptors, maps, threads; `None` on systems other than Linux.

Sizes are in bytes. For a process that has ended or belongs to another user they are `None`; no error is raised.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any, Literal, Union

Process = Union[int, Literal["self"]]

# Fields of smaps_rollup (Documentation/filesystems/proc.rst); Pss_Anon and Pss_File exist since Linux 5.9.
_PARTS = {
    "Rss": "rss",
    "Pss": "pss",
    "Pss_Anon": "pss_anon",
    "Pss_File": "pss_file",
    "Pss_Shmem": "shm",
}
_PRIVATE = ("Private_Clean", "Private_Dirty", "Private_Hugetlb")


def memory(process: Process = "self") -> dict[str, int] | None:
    """Return the resident (`rss`), proportional (`pss`) and unique (`uss`) set size, and PSS by backing, in bytes.

    PSS divides each page among the processes that map it, so that its sum over processes is their actual use.
    """
    found: dict[str, int] = {}
    unique = 0
    for line in _lines(process, "smaps_rollup"):
        name, _, rest = line.partition(":")
        if name in _PARTS:
            found[_PARTS[name]] = _kibibytes(rest)
        elif name in _PRIVATE:
            unique += _kibibytes(rest)
    if "rss" not in found:
        return None
    found["uss"] = unique
    return found


def held(process: Process = "self", files: bool = False) -> dict[str, Any]:
    """Return the fields of a record of kind "sample": threads, descriptors, maps; memory if readable; mapped files if
    they are asked for."""
    found = {**(memory(process) or {}), "threads": threads(process), "fds": descriptors(process)}
    if not files:
        return {**found, "maps": maps(process)}
    lines = list(_lines(process, "maps"))
    return {**found, "maps": len(lines) or None, "mapped_files": _mapped_files(lines)}


def descriptors(process: Process = "self") -> int | None:
    """Return the number of open descriptors of a process, except the one used for this count."""
    try:
        names = os.listdir(f"/proc/{process}/fd")
    except OSError:
        return None
    return len(names) - (process == "self" or process == os.getpid())


def maps(process: Process = "self") -> int | None:
    """Return the number of memory maps, which vm.max_map_count limits per process."""
    count = sum(1 for _ in _lines(process, "maps"))
    return count or None


def shared_tensors() -> int:
    """Return the number of this process's maps that are tensors in shared memory: torch_PID_… (torch:
    aten/src/ATen/MapAllocator.cpp, `NewProcessWideShmHandle`), whether or not the file was unlinked."""
    return sum("/dev/shm/torch_" in line for line in _lines("self", "maps"))


def threads(process: Process = "self") -> int | None:
    try:
        return len(os.listdir(f"/proc/{process}/task"))
    except OSError:
        return None


def processor_time(process: Process = "self") -> int | None:
    """Return the processor time that a process has used, in ticks of the kernel (proc_pid_stat(5), utime and stime)."""
    for line in _lines(process, "stat"):
        fields = line.rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return None


def thread_names() -> list[str]:
    """Return the names of this process's threads, sorted; most libraries leave them at the process's own name."""
    try:
        tasks = os.listdir("/proc/self/task")
    except OSError:
        return []
    return sorted(name.strip() for task in tasks for name in _lines("self", f"task/{task}/comm"))


def mapped_files(process: Process = "self") -> int | None:
    """Return the bytes of data files that the process has mapped: the most that page cache can add to its RSS."""
    return _mapped_files(list(_lines(process, "maps")))


def _mapped_files(lines: list[str]) -> int | None:
    """Return the bytes of the data files among the lines of `/proc/PID/maps`; `None` without any lines.

    A map may extend beyond its file, as LMDB's does, so the file's actual size on disk is counted. Libraries, fonts and
    the locale are mapped files too, but have few pages; files with executable maps are left out.
    """
    files: dict[tuple[str, str], tuple[str, int]] = {}
    code: set[tuple[str, str]] = set()
    for line in lines:
        fields = line.split(None, 5)
        if len(fields) < 6 or not fields[5].startswith("/") or fields[5].startswith(("/dev/", "/memfd:", "/SYSV")):
            continue
        start, _, end = fields[0].partition("-")
        file = (fields[3], fields[4])
        if "x" in fields[1]:
            code.add(file)
        path, size = files.get(file, (fields[5].rstrip("\n"), 0))
        files[file] = (path, size + int(end, 16) - int(start, 16))
    if not lines:
        return None
    return sum(min(size, _occupied(path, size)) for file, (path, size) in files.items() if file not in code)


def _occupied(path: str, otherwise: int) -> int:
    try:
        found = os.stat(path)
    except OSError:
        return otherwise
    return max(found.st_blocks * 512, 0) if stat.S_ISREG(found.st_mode) else 0


def session(leader: int) -> list[tuple[int, str]]:
    """Return the living processes of a session with their command lines (`setsid` makes the caller a leader)."""
    found = []
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for name in names:
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as file:
                command = file.read().replace("\0", " ")
        except (OSError, ValueError):
            continue
        # The fields after the name in parentheses are state, ppid, pgrp, session (proc_pid_stat(5)).
        if fields[0] not in "ZX" and int(fields[3]) == leader:
            found.append((int(name), command))
    return found


def _kibibytes(text: str) -> int:
    return int(text.split()[0]) * 1024


def _lines(process: Process, name: str) -> Iterator[str]:
    try:
        with open(f"/proc/{process}/{name}", encoding="utf-8", errors="surrogateescape") as file:
            yield from file
    except OSError:
        return
