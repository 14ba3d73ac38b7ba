"""The attributes that objects inside a dataset keep from their construction on, and what their values certainly are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute
from dllint.facts.schema import Expr
from dllint.inference.values import (
    NONE,
    Class,
    Display,
    External,
    Function,
    Instance,
    Mapping,
    Site,
    Unknown,
    Value,
)
from dllint.libraries.index import MAKERS, canonical
from dllint.libraries.records import LINES, OPAQUE, RECORDS, form
from dllint.project.handles import Handles
from dllint.project.item_run import ItemRun
from dllint.project.kept_values import Kept
from dllint.rules.data.parts import Kind

if TYPE_CHECKING:
    from dllint.project.model import Project

_WHOLE_FILE = "torch.load"


class KeptAttributes:
    """The attributes of one dataset, and of the objects inside it, for the code that reads an item (`runs`)."""

    def __init__(self, project: Project, value: Instance, runs: Iterable[ItemRun]) -> None:
        self.project = project
        self.world = project.world
        self._kept: dict[tuple[str, int], dict[str, bool]] = {}
        assert isinstance(value.of, Class)
        self.holders = {value.of: value}
        for keeping in project.datasets.keeps(value):
            if isinstance(keeping.holder.of, Class):
                self.holders.setdefault(keeping.holder.of, keeping.holder)
        stored = (store for run in runs for store in run.file.stores(run.scope))
        self.set_by_items = {store.key for store in stored if isinstance(store.key, str)}

    def holder(self, base: Expr, attr: str, site: Site) -> Class | None:
        """The class of the object that keeps something as an attribute."""
        if attr in self.set_by_items:
            return None
        owners = self.world.values.evaluate(base, site)
        classes = {one.of for one in owners if isinstance(one, Instance) and one.of in self.holders}
        if len(classes) != 1 or not all(isinstance(one, Instance) and one.of in classes for one in owners):
            return None
        (holder,) = classes
        if not isinstance(holder, Class) or not self._is_kept(holder, attr) or self._is_shared(holder, attr):
            return None
        return holder

    def computes(self, base: Expr, attr: str, site: Site) -> bool:
        """Whether an attribute of an object is a property, or one that item code sets."""
        hierarchy = self.world.hierarchy
        objects = [one for one in self.world.values.evaluate(base, site) if isinstance(one, Instance)]
        return attr in self.set_by_items or any(
            hierarchy.is_property(method) for one in objects for method in hierarchy.meant(one, attr)
        )

    def _is_kept(self, holder: Class, attr: str) -> bool:
        """Whether an object has an attribute from its construction on, and keeps it: no method that is also called
        later sets it again."""
        found = self._kept.get(holder.key)
        if found is None:
            found = self._kept[holder.key] = {}
            for one in self.project.datasets.kept(self.holders[holder]):
                once = one.initial and not self._runs_again(holder, one)
                found[one.attr] = found.get(one.attr, True) and once
        return found.get(attr, False)

    def _is_shared(self, holder: Class, attr: str) -> bool:
        """Whether the class puts a tensor into shared memory, so that workers change it on purpose."""
        for owner in self.world.hierarchy.line(holder):
            for index in owner.file.facts.called.get("share_memory_", ()) if isinstance(owner, Class) else ():
                assert isinstance(owner, Class)
                func = owner.file.calls[index].func
                if isinstance(func, Attribute) and isinstance(func.value, Attribute) and func.value.attr == attr:
                    return True
        kept = (one for one in self.project.datasets.kept(self.holders[holder]) if one.attr == attr)
        return any(
            isinstance(value, Instance) and isinstance(value.of, External) and "share_memory_" in value.of.name
            for one in kept
            for value in one.values
        )

    def _runs_again(self, holder: Class, kept: Kept) -> bool:
        if kept.owner is None or kept.file.scopes[kept.scope].name == "__init__":
            return False
        made = self.project.datasets.construction.of_class(holder)
        callers = self.world.calls.callers(Function(kept.file, kept.scope))
        return (kept.file.path, kept.scope) in made and any(
            one.call >= 0 and (one.file.path, one.file.calls[one.call].scope) not in made for one in callers
        )

    def kind(self, expr: Expr, site: Site, inside: bool = False) -> Kind | None:
        """What an expression certainly is, if it is in memory and shared; None if it may be anything else. An element
        `inside` a list or dict is the same object, whatever it is."""
        values = [one for one in self.world.values.evaluate(expr, site) if one != NONE]
        kinds: set[Kind | None] = {self._kind_of(one) for one in values if not inside or not self._is_unknown(one)}
        if None in kinds or not values:
            return None
        return kinds.pop() if len(kinds) == 1 else "unpickled"

    def _is_unknown(self, value: Value) -> bool:
        """Whether nothing is known of a value that would make it a handle or an object of the project."""
        if isinstance(value, Unknown):
            return True
        outside = isinstance(value, Instance) and isinstance(value.of, External)
        return outside and self._kind_of(value) is None and self.project.ask(Handles).opener(value) is None

    def _kind_of(self, value: Value) -> Kind | None:
        if isinstance(value, Display):
            return "container" if value.kind in ("list", "tuple", "comp") else None
        if isinstance(value, Mapping):
            return "container"
        if isinstance(value, Instance) and isinstance(value.of, Class):
            plain = not self.world.hierarchy.externals(value.of) and value.call >= 0
            return "object" if plain else None
        if not isinstance(value, Instance) or not isinstance(value.of, External):
            return None
        name = canonical(value.of.name)
        if name == "collections.defaultdict":
            return "container"
        if name.startswith(_WHOLE_FILE) or (form(name) or ("", 0))[0] in (OPAQUE, RECORDS, LINES):
            return "unpickled"
        array = self.project.arrays.of(value)
        if array is None and name in MAKERS and MAKERS[name].shape == "same":
            return "tensor" if MAKERS[name].library == "torch" else "array"
        if array is None or not array.read or array.table:
            return None
        return "tensor" if array.library == "torch" else "array"
