"""Command line options: what the attributes of a parsed namespace can be."""

from __future__ import annotations

from collections.abc import Mapping

from dllint.facts.nodes import CallRef, Constant, List, Name, Tuple
from dllint.facts.schema import Argument, Call, Expr
from dllint.inference.entries import OPAQUE, Found
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import NONE, UNKNOWN, Const, Parsed, Site, Value, Values, const
from dllint.libraries.facets import Library
from dllint.linking.source import SourceFile, last_name

ADDS_CLASS = "add_arguments"
"""The method of simple-parsing's parser that adds one option per field of a class."""
LIBRARY = Library(aliases={"simple_parsing.ArgumentParser": "argparse.ArgumentParser"})


class Parsers:
    """The project's `add_argument` calls, indexed by destination."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._options: dict[str, list[tuple[SourceFile, int]]] | None = None
        self._defaults: dict[str, list[tuple[SourceFile, int]]] | None = None
        self._closed: set[str] | None = None

    def nearest(self, value: Parsed, dest: str) -> list[tuple[SourceFile, int]]:
        """Return the `add_argument` calls that fill the attribute `dest` of the namespace that one program parsed."""
        return self._nearest(value, self.options(dest))

    def options(self, dest: str) -> list[tuple[SourceFile, int]]:
        """Return the `add_argument` calls of all programs that fill the attribute `dest`."""
        if self._options is None:
            self._options = {}
            for file, index in (*self.world.called("add_argument"), *self.world.called(ADDS_CLASS)):
                name = _destination(file.calls[index])
                if name:
                    self._options.setdefault(name, []).append((file, index))
        return self._options.get(dest, [])

    def chooses(self, dest: str) -> bool:
        """Whether an option that fills the attribute `dest` accepts only the choices that its declaration lists."""
        if self._closed is None:
            self.options("")
            self._closed = {
                name
                for name, declared in (self._options or {}).items()
                if any(_choices(file.calls[index]) is not None for file, index in declared)
            }
        return dest in self._closed

    def lookup(self, value: Parsed, dest: str) -> Found:
        """Look up the possible values of an attribute: its default or choices, and unknown since the command line may
        set anything. What only `set_defaults` gives, such as the function of a subcommand, no command line sets."""
        found: list[Value] = list(self._set_defaults(value, dest))
        fixed_line = self._parses_nothing(value, dest)
        for file, index in self._nearest(value, self.options(dest)):
            call = file.calls[index]
            site = self.world.call_site(file, index, None)
            if last_name(call.func) == ADDS_CLASS:
                found += self.world.values.evaluate(CallRef(index), site)
                continue
            by_name = {argument.keyword: argument for argument in call.args if argument.keyword}
            action = _given(by_name, "action")
            kind = action.value if isinstance(action, Constant) else "store"
            if fixed_line and kind in ("store", "store_true", "store_false", "store_const"):
                found += self._untouched(by_name, str(kind), site)
                continue
            if kind in ("store_true", "store_false"):
                found += [const(kind == "store_false"), const(kind == "store_true")]
                continue
            default = _given(by_name, "default")
            found += self.world.values.evaluate(default, site) if default is not None else (NONE,)
            if kind == "store_const":
                fixed = _given(by_name, "const")
                found += self.world.values.evaluate(fixed, site) if fixed is not None else (NONE,)
                continue
            choices = _choices(call)
            if choices is None and _given(by_name, "type") == Name("bool"):
                # bool makes True of every text but the empty one: `--shuffle False` (argparse documentation, "type").
                found.append(const(True))
            elif choices is None:
                found.append(UNKNOWN)
            else:
                for element in choices:
                    found += self.world.values.evaluate(element, site)
        if not found:
            return OPAQUE
        return Found(tuple(dict.fromkeys(found)), False)

    def _set_defaults(self, value: Parsed, dest: str) -> Values:
        """Return what `set_defaults(dest=…)` and `set_defaults(**mapping)` give an attribute."""
        if self._defaults is None:
            self._defaults = {}
            for file, index in self.world.called("set_defaults"):
                for keyword in {one.keyword for one in file.calls[index].args if one.keyword}:
                    self._defaults.setdefault(keyword, []).append((file, index))
        found: list[Values] = []
        given = [*self._defaults.get(dest, ()), *self._defaults.get("**", ())]
        for file, index in self._nearest(value, given) if given else ():
            site = self.world.call_site(file, index, None)
            for argument in file.calls[index].args:
                if argument.keyword == dest:
                    found.append(self.world.values.evaluate(argument.value, site))
                elif argument.keyword == "**":
                    for mapping in self.world.values.evaluate(argument.value, site):
                        entry = self.world.mappings.in_value(mapping, dest)
                        found.append(entry.values if entry is not None else ())
        return union(found)

    def _parses_nothing(self, value: Parsed, dest: str) -> bool:
        """Whether the program parses an empty list instead of its command line, `parse_args([])`, and changes no
        default."""
        args = value.file.calls[value.call].args
        line = args[0].value if len(args) == 1 and args[0].keyword in (None, "args") else None
        empty = (isinstance(line, (List, Tuple)) and not line.elements) or line == Constant("")
        return empty and not any(
            argument.keyword in (dest, "**")
            for file, index in self.world.called("set_defaults")
            for argument in file.calls[index].args
        )

    def _untouched(self, by_name: Mapping[str, Argument], kind: str, site: Site) -> Values:
        """Return the value of an option that no command line sets."""
        default = _given(by_name, "default")
        if default is None:
            return (const(kind == "store_false") if kind.startswith("store_") and kind != "store_const" else NONE,)
        values = self.world.values.evaluate(default, site)
        # A text is converted by the option's type.
        converted = "type" in by_name and any(isinstance(one, Const) and one.kind == "str" for one in values)
        return (UNKNOWN,) if converted else values

    def default(self, value: Parsed, dest: str) -> Const | None:
        """Return the default of an option; None unless it is one constant."""
        changed = self._set_defaults(value, dest)
        if changed:
            return changed[0] if len(changed) == 1 and isinstance(changed[0], Const) else None
        for file, index in self._nearest(value, self.options(dest)):
            for argument in file.calls[index].args:
                if argument.keyword == "default":
                    values = self.world.values.evaluate(argument.value, self.world.call_site(file, index, None))
                    if len(values) == 1 and isinstance(values[0], Const):
                        return values[0]
        return None

    def _nearest(self, value: Parsed, options: list[tuple[SourceFile, int]]) -> list[tuple[SourceFile, int]]:
        """Narrow options that have one name in several programs to those of the file that parses; if it has none, to
        those of the files that it imports."""
        same = [option for option in options if option[0] is value.file]
        if same or len(options) < 2:
            return same or options
        around = self.world.import_graph.import_closure([value.file.path])
        return [option for option in options if option[0].path in around] or options


def _choices(call: Call) -> tuple[Expr, ...] | None:
    """Return the values that an option accepts; None if its declaration does not list them."""
    given = next((one.value for one in call.args if one.keyword == "choices"), None)
    return tuple(given.elements) if isinstance(given, (List, Tuple)) else None


def _given(by_name: Mapping[str, Argument], keyword: str) -> Expr | None:
    """Return the value of an argument."""
    argument = by_name.get(keyword)
    return None if argument is None else argument.value


def _destination(call: Call) -> str:
    for argument in call.args:
        if argument.keyword == "dest" and isinstance(argument.value, Constant):
            return str(argument.value.value)
    if last_name(call.func) == ADDS_CLASS:
        names = [one.value for one in call.args if one.keyword is None]
        return str(names[1].value) if len(names) > 1 and isinstance(names[1], Constant) else ""
    flags = [
        a.value.value
        for a in call.args
        if a.keyword is None and isinstance(a.value, Constant) and isinstance(a.value.value, str)
    ]
    long = [flag for flag in flags if flag.startswith("--")] or flags
    return long[0].lstrip("-").replace("-", "_") if long else ""
