"""Files that the parent has made before the workers start: a pass over the same dataset without workers fills the cache
that `if path.exists(): … else: encode(…)` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import BoolOp, CallRef, Not
from dllint.facts.schema import Expr
from dllint.inference.values import Class
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.project.loaders import Loader
    from dllint.project.model import Project
    from dllint.rules.start_methods.cuda_forks import CudaUse

_EXIST = frozenset({"exists", "isfile", "is_file", "lexists"})


def only_without_file(use: CudaUse) -> bool:
    """Whether a worker reaches a use only where a file is missing."""
    steps = [(file, index) for file, index, _ in use.reached.calls]
    return any(_needs_none(file, file.calls[index].region) for file, index in (*steps, (use.reached.file, use.call)))


def are_prepared(project: Project, loader: Loader) -> bool:
    """Whether the program of a loader also reads one of its datasets by a loader without workers."""
    wanted = _classes(project, loader)
    return any(
        other.file is loader.file and other.workers().kind == "none" and wanted & _classes(project, other)
        for other in project.loaders
    )


def _classes(project: Project, loader: Loader) -> set[tuple[str, int]]:
    objects = project.datasets.expand(loader.datasets())
    return {value.of.key for value in objects if isinstance(value.of, Class)}


def _needs_none(file: SourceFile, region: int) -> bool:
    """Whether a region runs only where a test for a file fails."""
    entries = (file.facts.regions[number] for number in file.regions(region))
    return any(
        entry.kind == "if" and entry.expr is not None and _says_missing(entry.expr, entry.holds, file)
        for entry in entries
    )


def _says_missing(test: Expr, holds: bool, file: SourceFile) -> bool:
    while isinstance(test, Not):
        test, holds = test.operand, not holds
    if isinstance(test, BoolOp):
        # `not (a and b)` leaves open which of them fails, `not (a or b)` does not.
        decided = (test.op == "and") == holds
        return decided and any(_says_missing(part, holds, file) for part in test.children())
    return not holds and isinstance(test, CallRef) and last_name(file.calls[test.index].func) in _EXIST
