"""DLL401: workers that live through all epochs over a memory-mapped store, and grow with every page they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import Finding, Fix, Place, SetArgument
from dllint.project import Project
from dllint.rules.stores.mapped_stores import Stores

CODE = "DLL401"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for loader in project.loaders:
        if not loader.workers().possible:
            continue
        why = project.ask(Stores).persistent(loader)
        if why is None:
            continue
        stores = [store for value in project.dataset_objects(loader) for store in project.ask(Stores).kept(value)]
        if not stores:
            continue
        slurm = project.ask(Stores).slurm()
        values = {"why": why, "store": stores[0].label}
        if slurm is not None:
            values["evidence"] = slurm
        fixes: tuple[Fix, ...] = ()
        if any(argument.keyword == "persistent_workers" for argument in loader.file.calls[loader.call].args):
            edit = SetArgument(loader.file.path, loader.span, "persistent_workers", "False")
            fixes = (Fix("Let workers end with the epoch: `persistent_workers=False`", "unsafe", (edit,)),)
        yield Finding(
            CODE,
            loader.file.path,
            loader.span,
            "main" if slurm is None else "slurm",
            values,
            severity="info" if slurm is None else "warning",
            related=tuple(
                dict.fromkeys(Place(store.file.path, store.span, f"{store.label} is opened here") for store in stores)
            ),
            fixes=fixes,
            statement=loader.file.calls[loader.call].statement,
        )
