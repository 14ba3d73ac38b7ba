"""The calls that run OpenCV's thread pool in workers, and the loaders whose workers no cap reaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Call, ImportedName
from dllint.finding import Applicability, Fix, InsertStatement
from dllint.inference import limits
from dllint.inference.values import Class, External, Function, Instance, Value
from dllint.libraries.contents import held_by
from dllint.libraries.index import APPLIES_OPENCV, OPENCV_FUNCTIONS, RUNS_OPENCV, canonical
from dllint.libraries.opencv import CAPITALIZED_FUNCTIONS, WITHOUT_POOL
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.project.loaders import Loader
from dllint.project.regimes import Regime
from dllint.project.worker_code import WorkerRun
from dllint.rules.threads.opencv_caps import Cap, Caps
from dllint.rules.threads.small_images import are_few, is_small
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

FICTIONAL = "OPENCV_OPENMP_NUM_THREADS"
_PACKAGES = ("cv2.", *sorted({f"{name.partition('.')[0]}." for name in OPENCV_FUNCTIONS}))


@dataclass(frozen=True)
class Uncapped:
    """A cv2 call that uses the pool in a loader's workers, and that no cap reaches under `regime`.

    `cap` runs only in the parent; None if there is none. `elsewhere`: other workers run the same call with a cap.
    `methods` are the start methods under which that cap does not reach the loader's workers. `through` names the class
    of another library that calls cv2 there; "" if the project calls cv2 itself.
    """

    run: WorkerRun
    index: int
    loader: Loader
    regime: Regime
    cap: Cap | None
    elsewhere: bool = False
    methods: tuple[str, ...] = ()
    through: str = ""

    @property
    def call(self) -> Call:
        return self.run.file.calls[self.index]


def _is_foreign(value: Value) -> bool:
    """Whether a value is an object of a library."""
    return isinstance(value, Instance) and isinstance(value.of, External)


class OpenCV:
    """Finds the calls of cv2 in workers, and the caps that reach them, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.caps = Caps(project)

    @cached_property
    def uncapped(self) -> list[Uncapped]:
        """Every cv2 call that uses the pool in workers and that no cap reaches, once per loader and entry point."""
        found: list[Uncapped] = []
        capped: set[tuple[str, int]] = set()
        for loader in self.project.loaders:
            possible = loader.workers().possible and not self.caps.by_framework(loader)
            regimes = self.project.regimes(loader) if possible else []
            if not regimes:
                continue
            decisive = [regime for regime in regimes if regime.shown] or regimes
            runs = list(self.project.worker_runs(loader))
            uses = list(self.first_uses(runs))
            if not uses:
                continue
            without = [regime for regime in decisive if not self.caps.reach(loader, regime, runs)]
            cap = self.caps.staying_in_parent(loader) if without else None
            lost = [regime for regime in without if regime.method != "fork"] if cap is not None else []
            methods = tuple(dict.fromkeys(regime.method for regime in lost))
            for run, index, through in uses:
                if lost:
                    found.append(Uncapped(run, index, loader, lost[0], cap, methods=methods, through=through))
                elif len(without) == len(decisive):
                    found.append(Uncapped(run, index, loader, without[0], None, through=through))
                else:
                    capped.add((run.file.path, index))
        return [replace(one, elsewhere=(one.run.file.path, one.index) in capped) for one in found]

    def first_uses(self, runs: list[WorkerRun]) -> Iterator[tuple[WorkerRun, int, str]]:
        """Per entry point of the workers' code, the nearest call of cv2, or of a function around it, that uses the
        thread pool.

        If there is none: the first call of another library's object that uses it, with the name of its class.
        """
        entered: set[tuple[str, int, str]] = set()
        for run in runs:
            root = (run.root[0], run.root[1], run.entry)
            if root in entered:
                continue
            index = next(self._pool_calls(run), None)
            if index is not None:
                entered.add(root)
                yield run, index, ""
        for run in runs if self._has_transforms else ():
            root = (run.root[0], run.root[1], run.entry)
            found = self._transform(run) if root not in entered else None
            if found is not None:
                entered.add(root)
                yield run, *found

    @cached_property
    def _has_transforms(self) -> bool:
        packages = {name.partition(".")[0] for name in RUNS_OPENCV}
        return not packages.isdisjoint(self.world.import_graph.packages)

    def _transform(self, run: WorkerRun) -> tuple[int, str] | None:
        """The first call of an external object that runs OpenCV or contains one that does, with the name of its
        class."""
        for index in run.file.calls_of(run.scope):
            func = run.file.calls[index].func
            if isinstance(func, (Name, Attribute)):
                site = self.world.call_site(run.file, index, run.frame)
                called = list(self.world.values.evaluate(func, site))
                if isinstance(func, Attribute) and func.attr.startswith(APPLIES_OPENCV):
                    called += filter(_is_foreign, self.world.values.evaluate(func.value, site))
                for value in called:
                    name = self._running(value, 0)
                    if name is not None:
                        return index, name
        return None

    def _running(self, value: Value, depth: int) -> str | None:
        """The class of a transform that runs OpenCV, the object's own or of one inside it; None if there is none."""
        if not isinstance(value, Instance):
            return None
        names = [value.of.name] if isinstance(value.of, External) else self.world.hierarchy.externals(value.of)
        own = isinstance(value.of, Class) and self.world.hierarchy.method(value.of, "apply") is not None
        found = next((name for name in names if canonical(name) in RUNS_OPENCV), None)
        if found is not None and not own:
            return None if found.endswith(".Resize") and self._gives_few(value) else found
        if limits.EXTERNAL_DEPTH.exceeded(depth):
            return None
        inside = (self._running(one, depth + 1) for one in held_by(self.world, value))
        return next((name for name in inside if name is not None), None)

    def _gives_few(self, transform: Instance) -> bool:
        """Whether a transform resizes to an image that is too small for the pool."""
        actuals = self.world.made_with(transform)
        sides = [
            actuals.keywords.get(name) or (actuals.positional[at] if at < len(actuals.positional) else None)
            for at, name in enumerate(("height", "width"))
        ]
        plain = not {"interpolation", "mask_interpolation"} & actuals.keywords.keys() and len(actuals.positional) < 3
        return plain and are_few(*(self.world.values.passed(one) if one is not None else () for one in sides))

    def beginning(self, one: Uncapped) -> Hop | None:
        """The first cv2 call, reads included, that workers run from the entry point of a use; None if that is the
        use itself or belongs to another library."""
        if one.through:
            return None
        calls = [
            ((*(hop.span for hop in run.hops), run.file.calls[index].span), run.file, index)
            for run in self.project.worker_runs(one.loader)
            if (run.root, run.entry) == (one.run.root, one.run.entry)
            for index, name in self.project.workers.external_calls(run, "cv2.")
            if "()" not in name
        ]
        if not calls:
            return None
        _, file, index = min(calls, key=lambda call: call[0])
        if (file, index) == (one.run.file, one.index):
            return None
        call = file.calls[index]
        return Hop(file, call.span, f"`{render(call.func, file)}`, the first cv2 call in these workers")

    def branches(self, found: list[Uncapped]) -> Iterator[Hop]:
        """The first cv2 call that uses the pool on each other way through the same workers' code, which may run without
        the nearest one: an augmentation that another branch chooses; and the first call in each function of another
        library's object that uses it."""
        taken: set[tuple[str, int]] = set()
        called = {(one.run.file.path, one.index) for one in self.uncapped}
        for one in found:
            for run in self.project.worker_runs(one.loader):
                if (run.root, run.entry) != (one.run.root, one.run.entry) or (run.file.path, run.scope) in taken:
                    continue
                taken.add((run.file.path, run.scope))
                for index in self._ways(run):
                    if (run.file.path, index) not in called:
                        call = run.file.calls[index]
                        yield Hop(run.file, call.span, f"`{render(call.func, run.file)}` starts them too")
        for one in found if self._has_transforms else ():
            for run in self.project.worker_runs(one.loader):
                applied = self._transform(run) if (run.root, run.entry) == (one.run.root, one.run.entry) else None
                if applied is not None and (run.file.path, applied[0]) not in called:
                    called.add((run.file.path, applied[0]))
                    yield Hop(run.file, run.file.calls[applied[0]].span, f"`{applied[1]}` starts them too")

    def _ways(self, run: WorkerRun) -> list[int]:
        """The cv2 calls of a function that use the pool and that may be its first: no other one always runs before."""
        found: list[int] = []
        for index in self._pool_calls(run):
            region = run.file.calls[index].region
            if not any(run.file.encloses(run.file.calls[other].region, region) for other in found):
                found.append(index)
        return found

    def _pool_calls(self, run: WorkerRun) -> Iterator[int]:
        for index, name in self.project.workers.external_calls(run, *_PACKAGES):
            if canonical(name) in OPENCV_FUNCTIONS or (name.startswith("cv2.") and self._starts_pool(run, index, name)):
                yield index

    def _starts_pool(self, run: WorkerRun, index: int, name: str) -> bool:
        return self.uses_pool(name) and not is_small(self.world, run.file, index, name, run.frame)

    @staticmethod
    def uses_pool(name: str) -> bool:
        if "()" in name:
            return False
        parts = name.split(".")
        named_like_class = parts[-1][:1].isupper() and parts[-1] not in CAPITALIZED_FUNCTIONS
        return len(parts) > 1 and parts[1] not in WITHOUT_POOL and not named_like_class

    def fixes(self, run: WorkerRun, loader: Loader | None = None) -> tuple[Fix, ...]:
        """The fix that adds a cap at the top of the module that the workers run.

        It is only suggested if that is a module of functions, which programs without workers may use too, or if it
        would slow down computations of the program itself.

        Args:
            loader: the loader whose workers run it, if its process has no cap yet.
        """
        anchor = self._anchor(run)
        if anchor is None:
            return ()
        file, span, name = anchor
        entry, _ = run.root
        slower = loader is not None and (self._called_by_others(run) or self._computes_itself(loader))
        kind: Applicability = "safe" if (file.path == entry or _in_class(run)) and not slower else "suggestion"
        edit = InsertStatement(file.path, span, f"{name}.setNumThreads(0)", "after")
        return (Fix("Cap OpenCV's threads in every worker, where the module is imported", kind, (edit,)),)

    def _called_by_others(self, run: WorkerRun) -> bool:
        """Whether a function that workers run is also called by code outside of workers, which a cap would slow
        down."""
        if run.scope == 0 or run.file.scopes[run.scope].parent != 0:
            return False
        return any(
            caller.call >= 0 and not self._in_workers(caller.file, caller.file.calls[caller.call].scope)
            for caller in self.world.calls.callers(Function(run.file, run.scope))
        )

    def _computes_itself(self, loader: Loader) -> bool:
        """Whether the program that makes a loader runs OpenCV's pool outside of the workers, in its own files."""
        for path in dict.fromkeys((loader.file.path, *self.caps.above(loader))):
            file = self.world.files[path]
            names = {
                alias or module for _, _, (module, name, alias, _) in file.imports() if (module, name) == ("cv2", None)
            }
            for call in file.calls if names else ():
                match call.func:
                    case Attribute(Name(module), function) if module in names and self.uses_pool(f"cv2.{function}"):
                        if not self._in_workers(file, call.scope):
                            return True
        return False

    def _in_workers(self, file: SourceFile, scope: int) -> bool:
        return any(self.project.runs_in_worker(loader, file, scope) for loader in self.project.loaders)

    def _anchor(self, run: WorkerRun) -> tuple[SourceFile, Span, str] | None:
        """The module-level `import cv2` after which a cap reaches the workers, and the name that it binds.

        It is in the module of their entry point or of the call. None if there is none.
        """
        for file in _files(run):
            for event in file.scopes[0].events:
                imported = event.detail
                if event.region == 0 and isinstance(imported, ImportedName) and imported[:2] == ("cv2", None):
                    return file, event.span, imported.alias or "cv2"
        return None

    def module(self, run: WorkerRun) -> str:
        """The module to write a cap into that reaches the workers."""
        anchor = self._anchor(run)
        return (anchor[0] if anchor is not None else _files(run)[0]).path


def _files(run: WorkerRun) -> tuple[SourceFile, SourceFile]:
    """The file of the entry point, and that of the function."""
    return run.hops[0].file if run.hops else run.file, run.file


def _in_class(run: WorkerRun) -> bool:
    """Whether the function that runs in the worker is a method, as of a dataset or a transform."""
    scope = run.scope
    while scope > 0:
        if run.file.scopes[scope].kind == "class":
            return True
        scope = run.file.scopes[scope].parent
    return False
