"""DLL610: a sampler that yields the same order in every epoch, because nothing calls its `set_epoch`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Attribute, CallRef, IfExp, Name
from dllint.finding import Finding, Place
from dllint.inference.values import Class, External, Instance, Site, Value
from dllint.libraries.index import PLAIN_BASES, canonical
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.project.prepared_loaders import prepared_loaders
from dllint.rules.causes import Causes
from dllint.rules.data.samplers import DISTRIBUTED, is_a, may_shuffle, samplers, seeded_samplers
from dllint.rules.data.training_loops import EpochLoop, TrainingLoops

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL610"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[tuple[Loader, Instance, EpochLoop]] = Causes()
    prepared = set(prepared_loaders(project.world))
    training = project.ask(TrainingLoops)
    for loader in project.loaders:
        if (loader.file.path, loader.call) in prepared:
            continue
        distributed = (one for one in samplers(project, loader, DISTRIBUTED) if may_shuffle(project, one))
        # Where the loops train is the costly question: it is not asked for a sampler that is surely told.
        own = (one for one in seeded_samplers(project, loader) if not _told(project, one))
        for sampler in (*distributed, *own):
            for loop in (*training.of(loader), *training.remaking(loader)):
                if not _set_somewhere(project, sampler, loader, loop):
                    assert sampler.file is not None
                    here = (loop.file.path, loop.loop.span)
                    causes.add((loader, sampler, loop), (sampler.file.path, sampler.call), here)
    for found in causes:
        loader, sampler, loop = found[0]
        assert sampler.file is not None
        made = sampler.file.calls[sampler.call]
        loops = dict.fromkeys((other.file, other.loop.span) for _, _, other in found[1:])
        loops.pop((loop.file, loop.loop.span), None)
        makers = [(one.file, one.file.calls[one.call].span) for _, one, _ in found if one.file is not None]
        yield Finding(
            CODE,
            loop.file.path,
            loop.loop.span,
            "main",
            {
                "name": "DistributedSampler" if isinstance(sampler.of, External) else sampler.of.name,
                "sampler": project.where(sampler.file, made.span),
                "call": f"{_receiver(sampler, loader, loop)}.set_epoch({loop.variable})",
            },
            related=(
                *(
                    Place(file.path, span, "this sampler shuffles by its seed and its epoch")
                    for file, span in dict.fromkeys(makers)
                ),
                Place(loop.batches.file.path, loop.batches.event.span, "every epoch reads its DataLoader here"),
                *(Place(file.path, span, "these epochs have the same order too") for file, span in loops),
            ),
            statement=loop.loop.span,
        )


def _told(project: Project, sampler: Instance) -> bool:
    """Whether a call of `set_epoch` is known to be one on this sampler."""
    world = project.world
    return any(
        _is_same(value, sampler)
        for file, index in world.called("set_epoch")
        if isinstance(func := file.calls[index].func, Attribute)
        for value in world.values.evaluate(func.value, world.call_site(file, index, None))
    )


def _set_somewhere(project: Project, sampler: Instance, loader: Loader, loop: EpochLoop) -> bool:
    """Whether some code of the same program sets, or may set, the sampler's epoch."""
    world = project.world
    here = (loader.file.path, loop.file.path, loop.batches.file.path)

    def together(file: SourceFile) -> bool:
        graph = project.import_graph
        return graph.together(here, (file.path,)) and not any(graph.runs_without(one, (file.path,)) for one in here)

    for file, index in world.called("set_epoch"):
        func = file.calls[index].func
        if not together(file) or world.impossible(world.call_site(file, index, None)):
            continue
        if not isinstance(func, Attribute):
            return True
        values = world.values.evaluate(func.value, world.call_site(file, index, None))
        if not values or not all(_is_other(project, value, sampler) for value in values):
            return True
    for file, store in world.stores.outside_stores("epoch"):
        site = Site(file, store.scope, store.event.region, store.event.span.start, None)
        if "sampler" in str(last_name(store.base)).lower() and together(file):
            return True
        if any(_is_same(value, sampler) for value in world.values.evaluate(store.base, site)):
            return True
    return any(together(file) for file, _ in world.loaded("set_epoch"))


def _is_same(value: Value, sampler: Instance) -> bool:
    return isinstance(value, Instance) and value.file is sampler.file and value.call == sampler.call


def _is_other(project: Project, value: Value, sampler: Instance) -> bool:
    """Whether a value provably is not the sampler and does not forward the epoch to it in unseen code."""
    if not isinstance(value, Instance) or _is_same(value, sampler):
        return False
    if isinstance(value.of, Class):
        # Without the method the call would fail, so it must be guarded by `hasattr(loader, "set_epoch")`.
        hierarchy = project.world.hierarchy
        hands_on = any(hierarchy.method(value.of, name) is not None for name in ("__getattr__", "__getattribute__"))
        own = all(canonical(name) in PLAIN_BASES for name in hierarchy.externals(value.of))
        return hierarchy.method(value.of, "set_epoch") is not None or (own and not hands_on)
    return is_a(project, value, DISTRIBUTED) and value.call >= 0


def _receiver(sampler: Instance, loader: Loader, loop: EpochLoop) -> str:
    """How the function with the loop can name the sampler: by the variable that holds it, or through the loader."""
    for event in loop.file.scopes[loop.scope].events_of("assign") if loop.file is sampler.file else ():
        ways = (event.value.body, event.value.orelse) if isinstance(event.value, IfExp) else (event.value,)
        if CallRef(sampler.call) in ways and isinstance(event.target, (Name, Attribute)):
            return render(event.target, loop.file)
    iterated = loop.batches.iterable
    if loop.file is loop.batches.file and loop.scope == loop.batches.scope and isinstance(iterated, (Name, Attribute)):
        held = "batch_sampler" if sampler in loader.argument("batch_sampler").values else "sampler"
        return f"{render(iterated, loop.file)}.{held}"
    return "sampler"


def judge(case: Case) -> Judgement:
    """A run does not observe the order in which a sampler yields indices."""
    return case.inconclusive("its sampler ran; the run does not record the order")
