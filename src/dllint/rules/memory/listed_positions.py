"""Records that workers look up by the positions which belong to an item: `for number in self.windows[index]:
self.frames[number]`."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name, Opaque, Slice, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Function, Instance
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.item_run import ItemRun
    from dllint.project.kept_values import Kept

_COUNTING = frozenset({"range", "arange", "permutation", "randperm"})


def looked_up_by_positions(project: Project, value: Instance, attr: str, holder: Class) -> bool:
    """Whether workers look up named fields of `self.attr[number]` for each number of a list that belongs to the item,
    and whose numbers count the entries of `self.attr`."""
    code = project.item_code
    for run, items in code.items(value, attr, holder, "any"):
        for lists in {name for item in items for name in _lists_of(run, item)}:
            if code.reads_fields(run, items) and any(
                _counts(project, kept, attr) for kept in project.datasets.kept(value) if kept.attr == lists
            ):
                return True
    return False


def _lists_of(run: ItemRun, item: Expr) -> Iterator[str]:
    """The attribute whose entry for the item, or a part of it, a loop iterates, where an entry is looked up by the
    loop's variable: `for number in self.windows[index][:4]`. The loop may hand it to a function that looks it up."""
    key = item.index if isinstance(item, Subscript) else None
    taken = set[int]()
    while isinstance(key, Name) and key.id in run.handed and id(run) not in taken:
        taken.add(id(run))
        run, key = run.handed[key.id]
    if not isinstance(key, Name):
        return
    for target, iterable in run.loops:
        for iterated in _iterated(run, key, target, iterable):
            attribute = iterated.value if isinstance(iterated, Subscript) and run.derived(iterated, run.index) else None
            if isinstance(attribute, Attribute) and attribute.value == Name(run.receiver):
                yield attribute.attr


def _iterated(run: ItemRun, key: Name, target: Expr, iterable: Expr) -> list[Expr]:
    """What a loop that binds a name to its elements iterates, without slices of it, and by its own name."""
    if isinstance(iterable, CallRef) and last_name(run.file.calls[iterable.index].func) == "enumerate":
        parts = target.elements if isinstance(target, Tuple) else ()
        target = parts[1] if len(parts) == 2 else Opaque()
        args = run.file.calls[iterable.index].args
        iterable = args[0].value if args else iterable
    if target != key:
        return []
    found = [_without_slices(iterable)]
    if isinstance(found[0], Name):
        found = [
            _without_slices(event.value)
            for event in run.events
            if event.kind == "assign" and event.target == found[0] and event.value is not None
        ]
    return found


def _without_slices(expr: Expr) -> Expr:
    while isinstance(expr, Subscript) and isinstance(expr.index, Slice):
        expr = expr.value
    return expr


def _counts(project: Project, kept: Kept, attr: str) -> bool:
    """Whether what an attribute keeps is made, there or in a function that returns it, of the numbers below
    `len(self.attr)`."""
    written = kept.store.value
    if written is None:
        return False
    if any(_is_count(part, kept.file, attr, frozenset()) for part in walk(written, kept.file)):
        return True
    if not isinstance(written, CallRef):
        return False
    world = project.world
    for target in world.calls.targets(kept.site.file, written.index, kept.site.frame):
        function, frame = target.function, target.frame
        params = function.file.scopes[function.scope].params if frame is not None else ()
        given = {
            param.name
            for param in params
            if frame is not None
            and (actual := world.parameters.bound(function, param.name, frame).actual) is not None
            and isinstance(actual.expr, Attribute)
            and actual.expr.attr == attr
        }
        names = _sizes(function, attr, given)
        if any(_is_count(CallRef(call), function.file, attr, names) for call in function.file.calls_of(function.scope)):
            return True
    return False


def _sizes(function: Function, attr: str, given: Set[str]) -> Set[str]:
    """The names in a function for an attribute, those that it is `given` under, and those of its length."""
    names = set(given)
    for event in function.file.scopes[function.scope].events_of("assign"):
        made = event.value
        if isinstance(event.target, Name) and isinstance(made, CallRef):
            call = function.file.calls[made.index]
            if call.func == Name("len") and any(_is_of(one.value, attr, given) for one in call.args):
                names.add(event.target.id)
    return names


def _is_count(expr: Expr, file: SourceFile, attr: str, names: Set[str]) -> bool:
    if not isinstance(expr, CallRef) or last_name(file.calls[expr.index].func) not in _COUNTING:
        return False
    return any(_is_of(part, attr, names) for one in file.calls[expr.index].args for part in walk(one.value, file))


def _is_of(expr: Expr, attr: str, names: Set[str]) -> bool:
    return (isinstance(expr, Attribute) and expr.attr == attr) or (isinstance(expr, Name) and expr.id in names)
