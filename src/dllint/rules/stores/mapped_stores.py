"""Memory-mapped stores that datasets keep, and loaders whose workers outlive an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Compare, Constant, Name, Subscript
from dllint.finding import SEVERITIES, Finding, Place
from dllint.inference.values import Class, External, Instance
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.handles import Handles
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class KeptStore:
    """A store that a dataset opens and keeps. `label` is "the lmdb environment `Faces.env`"."""

    label: str
    attr: str
    file: SourceFile
    call: int

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span


class Stores:
    """Finds the memory-mapped stores that datasets keep, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def kept(self, value: Instance) -> Iterator[KeptStore]:
        """The stores that an object, or an object inside it, opens in any of its methods and keeps as attributes."""
        for handle in self.project.ask(Handles).kept(value):
            if handle.opener.mapped:
                label = f"{handle.opener.mapped} `{handle.owner.name}.{handle.attr}`"
                yield KeptStore(label, handle.attr, handle.file, handle.call)

    def persistent(self, loader: Loader) -> str | None:
        """Why the loader's workers persist through all epochs, as text; None if they do not."""
        if loader.flag("persistent_workers"):
            return "`persistent_workers=True`"
        if loader.cls is not None and self.keeps_iterator(loader):
            return f"`{loader.cls.name}` keeps its iterator"
        if self._iterator_kept(loader):
            return "the iterator of this DataLoader is kept"
        return None

    def keeps_iterator(self, loader: Loader) -> bool:
        """Whether the class of a loader keeps its iterator: `self.iterator = super().__iter__()` or `iter(…)`."""
        for owner in self.world.hierarchy.line(loader.cls) if loader.cls is not None else ():
            if not isinstance(owner, Class):
                continue
            for stores in self.world.stores.own_stores(owner).values():
                for store in stores:
                    if isinstance(store.value, CallRef):
                        func = owner.file.calls[store.value.index].func
                        if last_name(func) in ("__iter__", "_get_iterator"):
                            return True
        return False

    def _iterator_kept(self, loader: Loader) -> bool:
        """Whether `iter(loader)` is assigned to an attribute or added to a list in one."""
        target = Instance(External(""), loader.file, loader.call)
        file = loader.file
        for index in file.facts.called.get("iter", ()):
            call = file.calls[index]
            if call.func != Name("iter") or not call.args:
                continue
            site = self.world.call_site(file, index, None)
            if not any(
                isinstance(value, Instance) and value.file is target.file and value.call == target.call
                for value in self.world.values.evaluate(call.args[0].value, site)
            ):
                continue
            if self._stays(file, index, call.scope):
                return True
        return False

    def _stays(self, file: SourceFile, index: int, scope: int) -> bool:
        wanted = CallRef(index)
        for store in file.stores(scope):
            if (
                store.value is not None
                and any(one == wanted for one in walk(store.value, file))
                and isinstance(store.key, str)
            ):
                return True
        for other in file.calls_of(scope):
            call = file.calls[other]
            if (
                isinstance(call.func, Attribute)
                and call.func.attr in ("append", "add")
                and isinstance(call.func.value, Attribute)
                and any(argument.value == wanted for argument in call.args)
            ):
                return True
        return False

    def slurm(self) -> str | None:
        """The evidence that the project runs under SLURM, as text; None if there is none."""
        for script in self.project.scripts((".sbatch", ".slurm", ".sh"), b"#SBATCH"):
            return f"`{self.project.shown(script)}`"
        for file in self.project.files:
            if "submitit" in file.imported_packages():
                return f"submitit in {self.project.shown(file.path)}"
            for index in file.facts.called.get("get", []) + file.facts.called.get("getenv", []):
                call = file.calls[index]
                name = call.args[0].value if call.args else None
                if isinstance(name, Constant) and str(name.value).startswith("SLURM_"):
                    return f"`{name.value}` at {self.project.where(file, call.span)}"
        return self._slurm_item()

    def _slurm_item(self) -> str | None:
        for file in self.project.files:
            if "os" not in file.imported_packages():
                continue
            read = [(event.value, event.span) for scope in file.scopes for event in scope.events]
            tested = [(region.expr, region.span) for region in file.facts.regions]
            for expr, span in (*read, *tested):
                for part in walk(expr, file) if expr is not None else ():
                    key = (
                        part.index if isinstance(part, Subscript) else part.left if isinstance(part, Compare) else None
                    )
                    if isinstance(key, Constant) and str(key.value).startswith("SLURM_"):
                        return f"`{key.value}` at {self.project.where(file, span)}"
        return None


def by_store(found: Iterator[tuple[Finding, Place, list[KeptStore]]]) -> Iterator[Finding]:
    """Merge the findings of loaders that read the same stores into the first, with the others as related places.

    Args:
        found: per loader, its finding, its place and the stores behind it.
    """
    causes: Causes[tuple[Finding, Place]] = Causes()
    for finding, loader, stores in found:
        causes.add((finding, loader), *((store.file.path, store.span) for store in stores))
    for group in causes:
        first = max((finding for finding, _ in group), key=lambda one: SEVERITIES.index(one.severity or "info"))
        opened = (place for finding, _ in group for place in finding.related)
        others = (loader for finding, loader in group if finding is not first)
        yield replace(first, related=tuple(dict.fromkeys((*opened, *others))))
