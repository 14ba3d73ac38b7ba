"""The number of tensor storages that can be sent to workers, by start method and sharing strategy; fork sends none.

    | limit             | under                       | most storages                                       |
    |-------------------|-----------------------------|-----------------------------------------------------|
    | SCM_MAX_FD        | forkserver, file_descriptor | 253 - 8 - descriptors that the dataset carries      |
    | RLIMIT_NOFILE     | file_descriptor             | soft limit - open descriptors - 7 - 4 per worker    |
    | vm.max_map_count  | both                        | limit - current maps - 64                           |
    | /dev/shm          | both                        | whole pages of each, against the free space         |

Below RLIMIT_NOFILE there is a band of 3 per worker in which a loader starts, fails or hangs by chance. (Measured with
torch 2.13 by driving loaders to failure; they start at 98 % of the prediction and fail at 102 %.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.observation import Storages

STRATEGIES = ("file_descriptor", "file_system")
STARTING_METHODS = ("spawn", "forkserver")
_RECORDED = ("nofile", "fds", "max_map_count", "maps")
"""The names, in the run's records, of the limits on storages and of what counts against them."""

SCM_MAX_FD = 253
FORKSERVER_OWN = 8
"""At most SCM_MAX_FD descriptors fit in one message over a Unix socket (net/core/scm.h), and the fork server's request
carries 8 of its own and of the loader's queues (multiprocessing/forkserver.py: 4; index and result queue: 4)."""


class Wall(NamedTuple):
    """A limit on storages: up to `most` work, but the topmost `uncertain` of these may fail by chance."""

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
    """Return the limits on the number of non-empty storages that a loader can send, the tightest first.

    Args:
        storages: the counts; only the other descriptors that the dataset carries are used.
        nofile, fds: the soft limit of the process, and the descriptors open before workers start.
        max_map_count, maps: the limit per process, and the maps before workers start.
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


def walls_of(run: LoaderRun, method: str) -> list[tuple[Wall, int]]:
    """Return the limits on the storages that a loader of a run can send under a start method, the tightest first, each
    with the number that it sends."""
    storages = run.storages
    if storages is None:
        return []
    values = run.limits.values if run.limits is not None else {}
    known = {name: value if isinstance(value := values.get(name), int) else None for name in _RECORDED}
    strategy = storages.strategy or STRATEGIES[0]
    found = walls(storages, method, strategy, workers=run.count, **known)
    return [(wall, storages_sent(storages, strategy, wall.limit)) for wall in found]


def storages_sent(storages: Storages, strategy: str, limit: str) -> int:
    """Return how many storages count towards a limit: those in shared memory already have their descriptor and map."""
    count = storages.storages if strategy == "file_system" else storages.storages - storages.empty
    if limit == "SCM_MAX_FD":
        return max(storages.references - storages.empty, count)
    return max(count - storages.shared, 0)


def forkserver_storages(handles: int = 0) -> int:
    """Return the number of non-empty storages that a loader can pass to the fork server under file_descriptor.

    Args:
        handles: other descriptors that the dataset carries, such as those of queues and pipes.
    """
    return SCM_MAX_FD - FORKSERVER_OWN - handles


def prefetched(run: LoaderRun, workers: int) -> int:
    """Return the maximum bytes of shared memory that batches take: prefetched ones, the one in use, and the previous
    one, which the loss of a training step keeps alive until the next is computed. Measured with 2 workers: 5 batches
    without such a loss and 6 with it."""
    if run.first_batch is None:
        return 0
    return (workers * run.prefetch_factor + 2) * run.first_batch.shm
