"""Commands of click and typer: the values that the command line passes to the parameters of a function."""

from __future__ import annotations

from dllint.facts.nodes import CallRef, Constant
from dllint.facts.schema import Call
from dllint.inference.interface import Engine
from dllint.inference.values import NONE, UNKNOWN, Function, Site, Values, const
from dllint.linking.source import last_name

COMMANDS = frozenset({"command", "callback", "group"})
OPTIONS = frozenset({"option", "argument"})
PACKAGES = frozenset({"click", "typer", "rich_click", "asyncclick"})


def from_command_line(world: Engine, function: Function, name: str) -> Values | None:
    """Return the possible values of a command's parameter: its default, and unknown since the command line may replace
    it. None if the function is not a command."""
    file, scope = function.file, function.file.scopes[function.scope]
    if not scope.decorators or not PACKAGES & file.imported_packages():
        return None
    site = Site(file, max(scope.parent, 0), scope.region, scope.span.start, None)
    command = False
    for decorator in scope.decorators:
        call = file.calls[decorator.expr.index] if isinstance(decorator.expr, CallRef) else None
        last = last_name(call.func if call is not None else decorator.expr)
        if call is not None and last in OPTIONS and _destination(call) == name:
            return _given(world, call, site)
        command = command or last in COMMANDS
    if not command:
        return None
    default = next((param.default for param in scope.params if param.name == name), None)
    values = world.values.evaluate(default, site) if default is not None else ()
    return tuple(dict.fromkeys((*values, UNKNOWN)))


def _given(world: Engine, call: Call, site: Site) -> Values:
    by_name = {argument.keyword: argument.value for argument in call.args if argument.keyword}
    default = by_name.get("default")
    values = world.values.evaluate(default, site) if default is not None else (NONE,)
    if by_name.get("is_flag") == Constant(True) or "/" in _flags(call)[0]:
        return (const(False), const(True))
    return tuple(dict.fromkeys((*values, UNKNOWN)))


def _flags(call: Call) -> list[str]:
    return [str(a.value.value) for a in call.args if a.keyword is None and isinstance(a.value, Constant)] or [""]


def _destination(call: Call) -> str:
    """Return the name of the parameter that an option fills: a name without dashes, else the longest flag (click's
    documentation, "Parameter names")."""
    flags = _flags(call)
    plain = [flag for flag in flags if not flag.startswith("-")]
    chosen = plain[0] if plain else max(flags, key=lambda flag: flag.startswith("--"))
    return chosen.split("/")[0].lstrip("-").replace("-", "_").lower()
