"""DLL603: a worker_init_fn that seeds all workers, or all epochs, with the same numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dllint.facts.nodes import Name
from dllint.facts.schema import Event, Expr
from dllint.finding import AddImport, Edit, Finding, Fix, Place, ReplaceExpression
from dllint.linking.conditions import render
from dllint.linking.expressions import walk, without_calls
from dllint.linking.implicit_calls import expressions
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.project.unchosen_paths import UnchosenPaths
from dllint.rules.causes import Causes
from dllint.rules.data.draws_verdict import concerns, judge
from dllint.rules.data.endless_datasets import never_ends
from dllint.rules.data.parent_states import ParentStates
from dllint.rules.data.seeded_draws import may_draw
from dllint.rules.data.training_loops import TrainingLoops
from dllint.rules.data.worker_seeds import Seeding, WorkerSeeds, adds_rank_and_worker, conditional, holds_rank
from dllint.span import Span

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL603"
_REPEATED = ("constant", "worker", "second")
"""Seeds that several workers, or several epochs, have."""
FROM_TORCH = "torch.initial_seed() % 2**32"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    seeds = project.ask(WorkerSeeds)
    causes: Causes[tuple[list[Seeding], Loader]] = Causes()
    of_items: Causes[tuple[Seeding, Loader]] = Causes()
    for loader in project.loaders:
        if not loader.workers().possible:
            continue
        name = seeds.seeds_itself(loader)
        if name is not None and not loader.flag("persistent_workers"):
            yield _of_argument(project, loader, name)
        several = loader.workers().count != 1
        for one in seeds.of_items(loader):
            if several if one.constancy == "second" else not loader.flag("persistent_workers"):
                of_items.add((one, loader), (one.file.path, one.written.scope))
        for seedings in seeds.of_loader(loader):
            repeated = [one for one in _repeated(seedings) if several or one.constancy != "second"]
            if _seeds_once(project, loader):
                # Workers seed only once: a later epoch continues where the last one ended.
                repeated = [
                    one
                    for one in repeated
                    if (several and one.constancy in ("constant", "second")) or adds_rank_and_worker(one)
                ]
            repeated = [one for one in repeated if not _is_renewed(project, one, loader)]
            if repeated:
                causes.add((repeated, loader), (repeated[0].file.path, repeated[0].call))
    for found in causes:
        yield _finding(project, found[0][0], [loader for _, loader in found])
    for uses in of_items:
        yield _in_items(project, uses)


def _repeated(seedings: list[Seeding]) -> list[Seeding]:
    """The seedings that take effect: constant per worker or over all workers, and not followed by another seeding of
    the same generators that varies."""
    return [
        one
        for position, one in enumerate(seedings)
        if one.constancy in _REPEATED
        and not any(
            set(one.seeder.families) <= set(later.seeder.families) and later.constancy not in _REPEATED
            for later in seedings[position + 1 :]
        )
    ]


def _is_renewed(project: Project, seeding: Seeding, loader: Loader, surely: bool = True) -> bool:
    """Whether a seed is made of NumPy's state in new workers, and that differs in each epoch, surely or perhaps. Where
    all workers have one seed, it must differ between them as well."""
    if not project.ask(WorkerSeeds).is_of_state(seeding):
        return False
    alike = seeding.constancy == "constant" and loader.workers().count != 1
    old = project.ask(ParentStates).differ(loader, among_workers=alike)
    return old is not None and not (surely and old.unsure)


def _seeds_once(project: Project, loader: Loader) -> bool:
    """Whether workers live as long as the training, so that none starts again with the seed of the last epoch.

    A loop over epochs that leaves an endless dataset after some batches starts them again.
    """
    if loader.flag("persistent_workers"):
        return True
    return never_ends(project, loader) and not any(True for _ in project.ask(TrainingLoops).of(loader))


def _finding(project: Project, seedings: list[Seeding], loaders: list[Loader]) -> Finding:
    first = min(seedings, key=lambda one: _REPEATED.index(one.constancy))
    several = any(loader.workers().count != 1 for loader in loaders)
    alike = first.constancy == "constant" and several
    lasting = all(_seeds_once(project, loader) for loader in loaders)
    evaluating = all(_evaluates(project, loader) for loader in loaders)
    families = {family for one in seedings for family in one.seeder.families}
    idle = not any(may_draw(project, loader, families) for loader in loaders)
    doubtful = all(_is_renewed(project, one, loader, surely=False) for one in seedings for loader in loaders)
    message = "idle" if idle else "main" if alike else "ranks" if lasting else "epochs"
    if first.constancy == "second":
        message = "idle" if idle else "second"
    others = [Place(one.file.path, one.span, "and here", alike=True) for one in seedings if one is not first]
    file, call = first.file, first.written
    if first.hops:
        # The seeding helper may serve the main process too: the defect is how the workers call it.
        hop = first.hops[0]
        others.insert(0, Place(file.path, call.span, "seeds here"))
        file, call = hop.file, next(one for one in hop.file.calls if one.span == hop.span)
    # A mode that the user asks for, often to compare two runs.
    asked = not any(project.ask(UnchosenPaths).runs_unasked(one.file, one.call, one.frame) for one in seedings)
    return Finding(
        CODE,
        file.path,
        call.span,
        message,
        {
            "seed": _seed(project, first),
            "loader": project.where(loaders[0].file, loaders[0].span),
        },
        related=(*others, *dict.fromkeys(project.loader_place(loader) for loader in loaders)),
        severity="info" if evaluating or idle or asked or doubtful else None,
        fixes=() if message == "ranks" or evaluating else _fixes(project, seedings),
        statement=call.statement,
    )


def _seed(project: Project, seeding: Seeding) -> str:
    """The seed as the function writes it that a worker calls, which may pass it to a helper."""
    if seeding.argument is None:
        return ""
    site = project.world.call_site(seeding.file, seeding.call, seeding.frame)
    steps = project.ask(WorkerSeeds).origins.expressions(seeding.argument.value, site) if seeding.hops else ()
    passed = [render(one.expr, one.site.file) for one in steps if one.site.scope == seeding.root.scope]
    return passed[0] if passed else render(seeding.argument.value, seeding.file)


def _evaluates(project: Project, loader: Loader) -> bool:
    """Whether a loader is for evaluation, where the same draws in every epoch are often the purpose: it asks for the
    order of the dataset, `shuffle=False`, and no loop over its batches trains."""
    ordered = not loader.argument("shuffle").absent and loader.flag("shuffle") is False
    return ordered and not any(True for _ in project.ask(TrainingLoops).of(loader))


def _in_items(project: Project, found: list[tuple[Seeding, Loader]]) -> Finding:
    """`torch.manual_seed(get_worker_info().id)` in `__getitem__`: new workers start in each epoch."""
    first, loader = found[0]
    others = dict.fromkeys(
        Place(one.file.path, one.span, "and here", alike=True) for one, _ in found if one.span != first.span
    )
    assert first.argument is not None
    return Finding(
        CODE,
        first.file.path,
        first.span,
        "seconds" if first.constancy == "second" else "items",
        {"seed": render(first.argument.value, first.file), "loader": project.where(loader.file, loader.span)},
        related=(*others, *dict.fromkeys(project.loader_place(one) for _, one in found)),
        statement=first.written.statement,
    )


def _of_argument(project: Project, loader: Loader, name: str) -> Finding:
    """The finding for `worker_init_fn=np.random.seed`, where the worker's number is the seed."""
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


def _fixes(project: Project, seedings: list[Seeding]) -> tuple[Fix, ...]:
    """Replace every seed by torch's, if the function only seeds workers.

    The fix is never safe: two runs that drew the same numbers then draw different ones, unless the program calls
    `torch.manual_seed`. There is no fix if

    - the seed is set under a condition: it may be a mode in which equal draws are the purpose;
    - the seed includes a rank: processes with the same main seed would then draw the same numbers;
    - the seed includes a parameter that nothing else uses, which whoever binds it would pass in vain;
    - the function seeds torch: only removing that call helps.
    """
    root = seedings[0].root
    if any(one.hops or one.argument is None for one in seedings) or _called(project, seedings[0]):
        return ()
    if any(one.seeder.families == ("torch",) for one in seedings):
        return ()
    if any(conditional(one) or any(holds_rank(one, value) for value in _written_values(one)) for one in seedings):
        return ()
    if _leaves_parameter(project, seedings):
        return ()
    edits: dict[Edit, None] = {}
    for one in seedings:
        assert one.argument is not None
        span = _variable(one) or one.argument.value_span
        edits[ReplaceExpression(one.file.path, span, FROM_TORCH)] = None
    edits[AddImport(root.file.path, "torch")] = None
    return (Fix(f"Seed from `{FROM_TORCH}`, which differs per worker and epoch", "unsafe", tuple(edits)),)


def _assignment(seeding: Seeding) -> Event | None:
    """The statement that sets the seed, if the seed is a variable that the function sets once; None otherwise."""
    assert seeding.argument is not None
    if not isinstance(seeding.argument.value, Name):
        return None
    bindings = seeding.file.bindings(seeding.written.scope).get(seeding.argument.value.id, [])
    event = bindings[0].event if len(bindings) == 1 else None
    if event is None or event.kind != "assign" or event.target != seeding.argument.value:
        return None
    return event


def _variable(seeding: Seeding) -> Span | None:
    """The expression assigned to such a variable: the fix replaces it there, so that no unused variable remains."""
    event = _assignment(seeding)
    return event.value_span if event is not None else None


def _written_values(seeding: Seeding) -> list[Expr | None]:
    event = _assignment(seeding)
    given = seeding.argument.value if seeding.argument is not None else None
    return [given, event.value if event is not None else None]


def _leaves_parameter(project: Project, seedings: list[Seeding]) -> bool:
    """Whether a parameter besides the worker's number is used by the seeds alone."""
    root = seedings[0].root
    file = root.file
    number = 1 if project.world.hierarchy.receiver_kind(root) else 0
    bound = {param.name for param in file.scopes[root.scope].params[number + 1 :]}
    parts = (one for expr, *_ in expressions(file, root.scope) for one in without_calls(expr)) if bound else ()
    used = Counter(one.id for one in parts if isinstance(one, Name))
    written = {id(expr): expr for one in seedings for expr in _written_values(one) if expr is not None}
    replaced = Counter(one.id for expr in written.values() for one in walk(expr, file) if isinstance(one, Name))
    return any(replaced[name] >= used[name] > 0 for name in bound)


def _called(project: Project, seeding: Seeding) -> bool:
    """Whether the project itself calls the function, outside of workers."""
    return any(caller.call >= 0 for caller in project.world.calls.callers(seeding.root))
