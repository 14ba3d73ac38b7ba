"""Provenance of container entries: dicts, keyword arguments, options, configuration files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dllint.facts.nodes import CallRef, Constant, Dict
from dllint.facts.schema import Expr
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.origins.sources import Given, Here, Source, Step, either, known, line_at, unknown
from dllint.inference.values import (
    UNKNOWN,
    Actual,
    Actuals,
    Class,
    Const,
    Data,
    Display,
    Instance,
    Keywords,
    Mapping,
    Parsed,
    Site,
    Unknown,
    Value,
    const,
)
from dllint.span import WHOLE_FILE

Steps = Iterator[Step | Source]


class Containers:
    """Computes one step of provenance through a lookup by key."""

    def __init__(self, world: Engine, why_not: Callable[[Expr, Site, Here], Source]) -> None:
        """Store `why_not`, which returns the reason why the contents of an object are unknown."""
        self.world = world
        self._why_not = why_not

    def under(self, expr: Expr, site: Site, key: object, here: Here) -> Steps:
        """Yield the origins of the value of `expr` under the key, mutations in the same function first."""
        values = self.world.values.evaluate(expr, site)
        for change, where, sure in self.world.mappings.local_changes(expr, site, key, values):
            found = list(self._changed(change, where, key))
            yield from found
            if found and change.kind == "set" and sure:
                return
        for value in values:
            if isinstance(value, Unknown):
                yield self._why_not(expr, site, here)
            else:
                yield from self.contained(value, key, here, (site.file.path, site.scope))

    def _changed(self, change: Change, where: Site, key: object) -> Iterator[Step]:
        here = Here(change.file, line_at(change.at))
        if change.value is None:
            return
        if change.kind == "merge":
            yield Step(change.value, where, here, key)
        elif change.kind in ("set", "default") and self._names(change.key, where, key):
            yield Step(change.value, where, here)

    def _names(self, written: Expr | str | None, where: Site, key: object) -> bool:
        if written is None or isinstance(written, str):
            return written == key
        return any(isinstance(one, Const) and one.value == key for one in self.world.values.evaluate(written, where))

    def contained(self, value: Value, key: object, here: Here, reader: tuple[str, int] | None = None) -> Steps:
        """Yield the origins of a value's entry under the key. `reader` is the function whose mutations are already
        followed."""
        if isinstance(value, Parsed) and isinstance(key, str):
            yield from self._option(value, key, here)
        elif isinstance(value, Mapping):
            yield from self._in_mapping(value, key, reader)
        elif isinstance(value, Keywords):
            yield from self._in_keywords(value, key, here)
        elif isinstance(value, Data):
            pointer = ".".join(map(str, (*value.pointer, key)))
            found = self.world.knowledge.in_data(value, key)
            for one in found.values:
                if isinstance(one, Unknown):
                    reason = "option" if found.named else "lacking"
                    yield Source(UNKNOWN, value.file, WHOLE_FILE, reason=(reason, pointer))
                else:
                    yield Source(one, value.file, WHOLE_FILE, Given("entry", (pointer,), value.file, WHOLE_FILE))
        elif isinstance(value, Instance) and isinstance(value.of, Class) and value.file is not None and value.call >= 0:
            yield from self._given_to(self.world.made_with(value), key)
        elif isinstance(value, Unknown):
            yield unknown(here, "container", str(key))
        elif (element := self._element(value, key)) is not None:
            yield element
        else:
            for one in self.world.mappings.item(value, const(key)):
                yield either(one, here, "under", str(key))

    def _element(self, value: Value, key: object) -> Step | None:
        """Return an element of a list or tuple without mutations."""
        slots = self.world.mappings.slots(value) if isinstance(value, Display) and isinstance(key, int) else None
        if slots is None or not isinstance(key, int) or not 0 <= key < len(slots):
            return None
        expr, site = slots[key]
        return Step(expr, site, Here(site.file, line_at(site.at)))

    def _in_mapping(self, value: Mapping, key: object, reader: tuple[str, int] | None) -> Steps:
        expr, site = value.written.expr, value.written.site
        for change, where in self.world.mappings.changes_of(value):
            if (change.file.path, change.scope) != reader:
                yield from self._changed(change, where, key)
        here = Here(site.file, line_at(site.at))
        if isinstance(expr, Dict):
            for name, entry in reversed(expr.items):
                if name is None:
                    yield Step(entry, site, here, key)
                    found = self.world.mappings.lookup(entry, site, key)
                    if found is not None and not found.absent:
                        return
                elif self._names(name, site, key):
                    yield Step(entry, site, here)
                    if isinstance(name, Constant):
                        return
        elif isinstance(expr, CallRef):
            yield from self._given_to(self.world.actuals(site.file, expr.index, site.frame), key)

    def _in_keywords(self, value: Keywords, key: object, here: Here) -> Steps:
        function = value.function
        frames = [value.frame] if value.frame is not None else []
        frames = frames or [caller.frame for caller in self.world.calls.callers(function)]
        if not frames:
            header = Here(function.file, function.file.scopes[function.scope].header)
            yield unknown(header, "no keywords", function.file.qualified_name(function.scope))
        for frame in frames:
            if frame.actuals is not None:
                yield from self.in_actuals(frame.actuals, key)
            else:
                yield unknown(here, "keywords", function.name)

    def _given_to(self, actuals: Actuals, key: object) -> Steps:
        """Yield the origins of an entry of an object constructed like a dict: from keyword arguments, or from another
        mapping."""
        return self.in_actuals(Actuals([], actuals.keywords, [], actuals.positional + actuals.mappings), key)

    def in_actuals(self, actuals: Actuals, key: object) -> Steps:
        """Yield the origins of a keyword argument, or of an entry of an unpacked mapping."""
        if isinstance(key, str) and key in actuals.keywords:
            yield from written(actuals.keywords[key])
            return
        for mapping in actuals.mappings:
            yield from written(mapping, key)
        if actuals.under is not None:
            yield from self.in_actuals(actuals.under, key)

    def _option(self, value: Parsed, name: str, here: Here) -> Steps:
        options = self.world.knowledge.options(value, name)
        if not options:
            yield unknown(here, "undeclared", name)
        for file, index in options:
            call = file.calls[index]
            given = {argument.keyword: argument.value for argument in call.args if argument.keyword}
            flags = [
                str(one.value.value) for one in call.args if one.keyword is None and isinstance(one.value, Constant)
            ]
            flag = next((one for one in flags if one.startswith("--")), flags[0] if flags else name)
            there, site = Here(file, call.span), self.world.call_site(file, index, None)
            told, default = given.get("action"), given.get("default")
            action = told.value if isinstance(told, Constant) else ""
            if action in ("store_true", "store_false"):
                yield known(const(action == "store_true"), there.by("with", flag))
                if default is None:
                    yield known(const(action == "store_false"), there.by("without", flag))
                    continue
            elif action == "store_const" and "const" in given:
                yield Step(given["const"], site, there.by("with", flag))
            how = "without" if action in ("store_true", "store_false") else "option"
            yield Step(default or Constant(None), site, there.by(how, flag))


def written(actual: Actual, key: object = None) -> Iterator[Step]:
    """Yield the expression of an argument, or its entry under a key."""
    if actual.expr is not None and actual.site is not None:
        yield Step(actual.expr, actual.site, Here(actual.site.file, actual.span or line_at(actual.site.at)), key)
