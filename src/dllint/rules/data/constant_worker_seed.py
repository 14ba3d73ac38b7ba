"""DLL603: a worker_init_fn that seeds all workers alike, or every epoch alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dllint.finding import AddImport, Edit, Finding, Fix, Place, ReplaceExpression
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.rules.data.draws_verdict import concerns, judge
from dllint.rules.data.worker_seeds import Seeding, WorkerSeeds, always_starts, conditional

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL603"
FROM_TORCH = "torch.initial_seed() % 2**32"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    seeds = WorkerSeeds(project)
    causes: Causes[tuple[list[Seeding], Loader]] = Causes()
    for loader in project.loaders:
        if not loader.workers().possible:
            continue
        name = seeds.seeds_itself(loader)
        if name is not None and not loader.flag("persistent_workers"):
            yield _of_argument(project, loader, name)
        for seedings in seeds.of_loader(loader):
            repeated = _repeated(seedings)
            once = loader.flag("persistent_workers") and all(one.constancy == "worker" for one in repeated)
            if repeated and not once:
                causes.add((repeated, loader), (repeated[0].file.path, repeated[0].call))
    for found in causes:
        yield _finding(project, found[0][0], [loader for _, loader in found])


def _repeated(seedings: list[Seeding]) -> list[Seeding]:
    """The seedings that stand: constant by worker or epoch, and not followed by one of the same generators that
    is not."""
    return [
        one
        for position, one in enumerate(seedings)
        if one.constancy in ("constant", "worker")
        and not any(
            set(one.seeder.families) <= set(later.seeder.families) and later.constancy not in ("constant", "worker")
            for later in seedings[position + 1 :]
        )
    ]


def _finding(project: Project, seedings: list[Seeding], loaders: list[Loader]) -> Finding:
    first = min(seedings, key=lambda one: one.constancy != "constant")
    several = any(loader.workers().count != 1 for loader in loaders)
    alike = first.constancy == "constant" and several
    lasting = all(loader.flag("persistent_workers") for loader in loaders)
    others = [Place(one.file.path, one.span, "and here") for one in seedings if one is not first]
    file, call, given = first.file, first.written, first.argument
    if first.hops:
        # A helper that seeds may serve the main process too: what is wrong is how the workers call it.
        hop = first.hops[0]
        others.insert(0, Place(file.path, call.span, "seeds here"))
        file, call = hop.file, next(one for one in hop.file.calls if one.span == hop.span)
        given = call.args[0] if call.args else given
    return Finding(
        CODE,
        file.path,
        call.span,
        "main" if alike else "epochs",
        {
            "seed": render(given.value if given else None, file),
            "loader": project.where(loaders[0].file, loaders[0].span),
        },
        severity="info" if lasting and not alike else None,
        related=(*others, *dict.fromkeys(project.loader_place(loader) for loader in loaders)),
        fixes=_fixes(project, seedings, loaders),
        statement=call.statement,
    )


def _of_argument(project: Project, loader: Loader, name: str) -> Finding:
    """`worker_init_fn=np.random.seed`: the worker's number is the seed."""
    call = loader.file.calls[loader.call]
    given = next((one for one in call.args if one.keyword == "worker_init_fn"), None)
    return Finding(
        CODE,
        loader.file.path,
        given.value_span if given is not None else call.span,
        "epochs",
        {"seed": f"{name}(worker_id)", "loader": project.where(loader.file, loader.span)},
        statement=call.statement,
    )


def _fixes(project: Project, seedings: list[Seeding], loaders: list[Loader]) -> tuple[Fix, ...]:
    """Every seed from torch's, where the function does nothing but seed workers. A seed that holds more than numbers
    and the worker's own (a rank) tells processes apart too, which the fix would undo; and one that stands under a
    condition is a mode that somebody asks for, where the same draws may be the purpose."""
    root = seedings[0].root
    if any(one.hops or one.argument is None for one in seedings) or _called(project, seedings[0]):
        return ()
    edits: list[Edit] = []
    for one in seedings:
        assert one.argument is not None
        code = "torch.initial_seed()" if one.seeder.families == ("torch",) else FROM_TORCH
        edits.append(ReplaceExpression(one.file.path, one.argument.value_span, code))
    edits.append(AddImport(root.file.path, "torch"))
    plain = all(one.plain and not conditional(one.file, one.written.region) for one in seedings)
    plain = plain and all(always_starts(loader) for loader in loaders)
    return (Fix(f"Seed from torch's own seed: `{FROM_TORCH}`", "safe" if plain else "unsafe", tuple(edits)),)


def _called(project: Project, seeding: Seeding) -> bool:
    """Whether the project calls the function itself, elsewhere than in workers."""
    return any(caller.call >= 0 for caller in project.world.calls.callers(seeding.root))
