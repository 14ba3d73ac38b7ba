"""Flags of absl, which the command line sets (abseil.io/docs/python/guides/flags)."""

from __future__ import annotations

from dllint.facts.nodes import Constant
from dllint.inference.interface import Engine
from dllint.inference.values import NONE, UNKNOWN, External, Instance, Values, const
from dllint.linking.source import SourceFile

FLAGS = "absl.flags.FLAGS"
_DEFINING = "absl.flags.DEFINE_"
_BOOLEAN = frozenset({f"{_DEFINING}bool", f"{_DEFINING}boolean"})
_KINDS = ("integer", "float", "string", "enum", "bool", "boolean", "list", "multi_integer", "multi_string")


class Flags:
    """The absl flags that the project defines, indexed by name."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._defined: dict[str, list[tuple[SourceFile, int]]] | None = None

    def value(self, name: str) -> Values:
        """Return the possible values of `FLAGS.name`; empty if no flag has that name."""
        if self._defined is None:
            self._defined = {}
            for kind in _KINDS:
                for file, index in self.world.called(f"DEFINE_{kind}"):
                    args = file.calls[index].args
                    if args and isinstance(args[0].value, Constant) and args[0].keyword in (None, "name"):
                        self._defined.setdefault(str(args[0].value.value), []).append((file, index))
        found = [one for file, index in self._defined.get(name, ()) for one in self._given(file, index)]
        return tuple(dict.fromkeys(found))

    def held(self, value: Instance) -> Values:
        """Return the possible values of `holder.value`, where `holder` is what `DEFINE_…(…)` returned."""
        if not value.of.name.startswith(_DEFINING) or value.file is None or value.call < 0:
            return ()
        return self._given(value.file, value.call)

    def _given(self, file: SourceFile, index: int) -> Values:
        """Return the flag's default, and unknown since the command line may replace it; both truth values for a boolean
        flag."""
        call = file.calls[index]
        site = self.world.call_site(file, index, None)
        callees = self.world.values.evaluate(call.func, site)
        names = [one.name for one in callees if isinstance(one, External) and one.name.startswith(_DEFINING)]
        if not names:
            return ()
        if names[0] in _BOOLEAN:
            return (const(False), const(True))
        plain = [one.value for one in call.args if one.keyword is None]
        named = [one.value for one in call.args if one.keyword == "default"]
        default = next(iter(plain[1:2] or named), None)
        values = self.world.values.evaluate(default, site) if default is not None else (NONE,)
        return tuple(dict.fromkeys((*values, UNKNOWN)))
