"""How many tensor storages can be sent to workers, by start method and sharing strategy; forked workers are sent none:

| limit             | under                       | most storages                                       |
|-------------------|-----------------------------|-----------------------------------------------------|
| SCM_MAX_FD        | forkserver, file_descriptor | 253 - 8 - descriptors that the dataset carries      |
| RLIMIT_NOFILE     | file_descriptor             | soft limit - open descriptors - 7 - 4 a worker      |
| vm.max_map_count  | both                        | limit - maps now - 64                               |
| /dev/shm          | both                        | whole pages of each, against what is free           |

Below RLIMIT_NOFILE lies a band of 3 a worker in which a loader starts, fails or hangs by chance. (Measured with torch
2.13 by driving loaders to failure; they start at 98 % of the prediction and fail at 102 %.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dllint.observation import Storages

STRATEGIES = ("file_descriptor", "file_system")
STARTING_METHODS = ("spawn", "forkserver")

SCM_MAX_FD = 253
FORKSERVER_OWN = 8
"""net/core/scm.h: SCM_MAX_FD descriptors at most go in one message over a Unix socket, and the fork server's request
carries 8 of its own and of the loader's queues (multiprocessing/forkserver.py: 4; index and result queue: 4)."""


class Wall(NamedTuple):
    """A limit on storages: `most` is the largest number that still works. `uncertain` below it may fail by chance."""

    limit: str
    most: int
    uncertain: int = 0


def walls(
    storages: Storages,
    method: str,
    strategy: str,
    *,
    workers: int,
    nofile: int | None = None,
    fds: int | None = None,
    max_map_count: int | None = None,
    maps: int | None = None,
) -> list[Wall]:
    """The limits on how many non-empty storages a loader can send, the tightest first.

    Args:
        storages: as counted; only the descriptors that the dataset carries besides matter.
        nofile, fds: the soft limit of the process, and what is open before workers start.
        max_map_count, maps: of a process, and what it has before workers start.
    """
    found: list[Wall] = []
    if method not in STARTING_METHODS:
        return found
    if strategy == "file_descriptor":
        if method == "forkserver":
            found.append(Wall("SCM_MAX_FD", forkserver_storages(storages.other_fds)))
        if nofile is not None and fds is not None:
            most = nofile - fds - 7 - 4 * workers - storages.other_fds
            found.append(Wall("RLIMIT_NOFILE", max(most, 0), 3 * workers))
    if max_map_count is not None and maps is not None:
        found.append(Wall("vm.max_map_count", max(max_map_count - maps - 64, 0)))
    return sorted(found, key=lambda wall: wall.most)


def storages_sent(storages: Storages, strategy: str, limit: str) -> int:
    """How many of the counted storages press on a limit: those in shared memory have their descriptor and map."""
    count = storages.storages if strategy == "file_system" else storages.storages - storages.empty
    if limit == "SCM_MAX_FD":
        return max(storages.references - storages.empty, count)
    return max(count - storages.shared, 0)


def forkserver_storages(handles: int = 0) -> int:
    """The non-empty storages that a loader can hand to the fork server under file_descriptor.

    Args:
        handles: other descriptors that the dataset carries, as of queues and pipes.
    """
    return SCM_MAX_FD - FORKSERVER_OWN - handles
