"""DLL403: batches are pinned while the workers map a store, and a sum of RSS counts both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import listed
from dllint.finding import Finding, Fix, Place
from dllint.project import Project
from dllint.rules.stores.mapped_stores import KeptStore, Stores, by_store

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL403"
_FIXES = (Fix("Compare RSS with PSS before you change the code", "suggestion"),)


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    return by_store(_found(project))


def _found(project: Project) -> Iterator[tuple[Finding, Place, list[KeptStore]]]:
    for loader in project.loaders:
        if not loader.workers().possible or loader.flag("pin_memory") is not True:
            continue
        stores = [store for value in project.dataset_objects(loader) for store in project.ask(Stores).kept(value)]
        if not stores:
            continue
        finding = Finding(
            CODE,
            loader.file.path,
            loader.span,
            "main",
            {"store": stores[0].label},
            related=tuple(
                dict.fromkeys(Place(store.file.path, store.span, f"{store.label} opened here") for store in stores)
            ),
            fixes=_FIXES,
            statement=loader.file.calls[loader.call].statement,
        )
        yield finding, project.loader_place(loader), stores


def judge(case: Case) -> Judgement:
    """A run does not measure the cost of pinning."""
    return case.inconclusive(f"it ran by {listed(case.methods) or 'no start method'}; the run did not measure its cost")
