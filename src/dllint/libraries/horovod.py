"""Horovod 0.28 (`horovod/common/basics.py`, `HorovodBasics`: fixed once `init` has run)."""

from dllint.libraries.facets import Library

LIBRARY = Library(
    of_the_process=frozenset(
        f"horovod.torch.{name}" for name in ("rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")
    ),
)
