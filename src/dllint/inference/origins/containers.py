"""Where what a container holds under a key comes from: dicts, keyword arguments, options, configuration files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from dllint.facts.nodes import Constant
from dllint.facts.schema import Expr
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.origins.sources import Here, Source, described, either, line_at, unknown
from dllint.inference.values import (
    UNKNOWN,
    Actual,
    Actuals,
    Class,
    Const,
    Data,
    Instance,
    Keywords,
    Mapping,
    Parsed,
    Site,
    Unknown,
    Value,
)
from dllint.span import WHOLE_FILE


class Following(Protocol):
    """What follows an expression to its sources."""

    world: Engine

    def follow(self, expr: Expr | None, site: Site, here: Here, left: int) -> Iterable[Source]: ...
    def actual(self, actual: Actual, left: int) -> Iterator[Source]: ...
    def unknown_base(self, base: Expr, site: Site, here: Here, left: int) -> Iterator[Source]: ...


class Containers:
    """Lookup by key, with places. `left` is the number of steps that may still be followed."""

    def __init__(self, origins: Following) -> None:
        self._origins = origins
        self.world = origins.world

    def key(self, expr: Expr, site: Site, key: object, here: Here, left: int) -> Iterator[Source]:
        """What `expr` holds under the key, changes in the same function first."""
        if left <= 0:
            return
        for change, where, sure in self.world.mappings.local_changes(expr, site, key):
            found = list(self._changed(change, where, key, left - 1))
            yield from found
            if found and change.kind == "set" and sure:
                return
        for value in self.world.values.evaluate(expr, site) or (UNKNOWN,):
            if isinstance(value, Unknown):
                yield from self._origins.unknown_base(expr, site, here, left - 1)
            else:
                yield from self.contained(value, key, here, left - 1, (site.file.path, site.scope))

    def _changed(self, change: Change, where: Site, key: object, left: int) -> Iterator[Source]:
        here = Here(change.file, line_at(change.at))
        if change.kind == "merge" and change.value is not None:
            yield from self.key(change.value, where, key, here, left)
        elif change.kind in ("set", "default") and self._names(change.key, where, key):
            yield from self._origins.follow(change.value, where, here, left)

    def _names(self, written: Expr | str | None, where: Site, key: object) -> bool:
        if written is None or isinstance(written, str):
            return written == key
        return any(isinstance(one, Const) and one.value == key for one in self.world.values.evaluate(written, where))

    def contained(
        self, value: Value, key: object, here: Here, left: int, reader: tuple[str, int] | None = None
    ) -> Iterator[Source]:
        if isinstance(value, Parsed) and isinstance(key, str):
            yield from self._option(value, key, here, left)
        elif isinstance(value, Mapping):
            yield from self._in_mapping(value, key, left, reader)
        elif isinstance(value, Keywords):
            yield from self._in_keywords(value, key, here, left)
        elif isinstance(value, Data):
            found = self.world.knowledge.in_data(value, key)
            pointer = ".".join(map(str, (*value.pointer, key)))
            for one in found.values:
                known = not isinstance(one, Unknown)
                text = described(one) if known else f"`{pointer}` is not in this file"
                yield Source(text, f"`{pointer}`" if known else "", value.path, WHOLE_FILE, known=known)
        elif isinstance(value, Instance) and isinstance(value.of, Class) and value.file is not None and value.call >= 0:
            actuals = self.world.made_with(value)
            yield from self.in_actuals(
                Actuals([], actuals.keywords, [], actuals.mappings + actuals.positional), key, left
            )
        elif isinstance(value, Unknown):
            yield unknown(here, f"what holds `{key}` is not known")
        else:
            for one in self.world.mappings.item(value, Const(key, type(key).__name__)):
                yield either(one, here, f"what is under `{key}` is known only when the program runs")

    def _in_mapping(self, value: Mapping, key: object, left: int, reader: tuple[str, int] | None) -> Iterator[Source]:
        expr, site = value.written.expr, value.written.site
        for change, where in self.world.mappings.changes_of(value):
            if (change.file.path, change.scope) != reader:
                yield from self._changed(change, where, key, left - 1)
        if expr[0] == "dict":
            for name, entry in expr[1]:
                if name is None:
                    yield from self.key(entry, site, key, Here(site.file, line_at(site.at)), left - 1)
                elif self._names(name, site, key):
                    yield from self._origins.follow(entry, site, Here(site.file, line_at(site.at)), left - 1)
        elif expr[0] == "call":
            actuals = self.world.actuals(site.file, expr[1], site.frame)
            yield from self.in_actuals(
                Actuals([], actuals.keywords, [], actuals.mappings + actuals.positional), key, left
            )

    def _in_keywords(self, value: Keywords, key: object, here: Here, left: int) -> Iterator[Source]:
        function = value.function
        frames = [value.frame] if value.frame is not None else []
        frames = frames or [caller.frame for caller in self.world.calls.callers(function)]
        if not frames:
            name = function.file.qualified_name(function.scope)
            why = f"no call of {name} is known, which takes it by `**`"
            yield Source(why, "", function.file.path, function.file.scopes[function.scope].header, known=False)
        for frame in frames:
            if frame.actuals is not None:
                yield from self.in_actuals(frame.actuals, key, left)
            else:
                yield unknown(here, f"what fills `**` of {function.name} is not known")

    def in_actuals(self, actuals: Actuals, key: object, left: int) -> Iterator[Source]:
        if isinstance(key, str) and key in actuals.keywords:
            yield from self._origins.actual(actuals.keywords[key], left - 1)
            return
        for mapping in actuals.mappings:
            if mapping.expr is not None and mapping.site is not None:
                here = Here(mapping.site.file, mapping.span or line_at(mapping.site.at))
                yield from self.key(mapping.expr, mapping.site, key, here, left - 1)
        if actuals.under is not None:
            yield from self.in_actuals(actuals.under, key, left)

    def _option(self, value: Parsed, name: str, here: Here, left: int) -> Iterator[Source]:
        options = self.world.knowledge.options(value, name)
        if not options:
            yield unknown(here, f"no command line option that is known fills `{name}`")
        for file, index in options:
            call = file.calls[index]
            given = {argument.keyword: argument.value for argument in call.args if argument.keyword}
            flags = [one.value[1] for one in call.args if one.keyword is None and one.value[0] == "const"]
            flag = next((one for one in flags if str(one).startswith("--")), flags[0] if flags else name)
            action = given.get("action", Constant("store"))[-1]
            if action in ("store_true", "store_false"):
                yield Source(repr(action == "store_false"), f"without {flag}", file.path, call.span)
                yield Source(repr(action == "store_true"), f"with {flag}", file.path, call.span)
                continue
            there = Here(file, call.span, f"default of {flag}", "the command line may change it")
            yield from self._origins.follow(
                given.get("default", Constant(None)), self.world.call_site(file, index, None), there, left
            )
