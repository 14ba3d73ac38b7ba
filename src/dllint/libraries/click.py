"""Commands of click and typer: the values that the command line passes to the parameters of a function, and the
commands that run after the function of their group."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, Constant
from dllint.facts.schema import Call, Expr
from dllint.inference.interface import Engine
from dllint.inference.values import NONE, UNKNOWN, Function, Site, Value, Values, const
from dllint.linking.source import SourceFile, last_name

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


def run_after(world: Engine, function: Function) -> Iterator[Function]:
    """Yield the commands that run after a function: those of the group whose function it is, as both packages run that
    first."""
    todo = list(_groups_of(world, function))
    seen: set[Value] = set()
    while todo:
        group = todo.pop()
        if group in seen:
            continue
        seen.add(group)
        for command in _commands(world, group):
            yield command
            todo += _groups_of(world, command)
        for name in ("add_command", "add_typer"):
            for one in _added(world, group, name):
                todo.append(one)
                if isinstance(one, Function):
                    yield one


def _groups_of(world: Engine, function: Function) -> Iterator[Value]:
    """Yield the groups whose function it is: itself under `@click.group()`, the object under `@app.callback()`."""
    file, scope = function.file, function.file.scopes[function.scope]
    for func, site in _decorators(world, file, function.scope) if scope.decorators else ():
        if last_name(func) == "group":
            yield function
        elif last_name(func) == "callback" and isinstance(func, Attribute):
            yield from world.values.evaluate(func.value, site)


def _commands(world: Engine, group: Value) -> Iterator[Function]:
    """Yield the functions that decorators make commands, or groups inside, of a group."""
    for file in world.files.values():
        if not PACKAGES & file.imported_packages():
            continue
        for number, scope in enumerate(file.scopes):
            for func, site in _decorators(world, file, number) if scope.decorators else ():
                if not isinstance(func, Attribute) or func.attr not in ("command", "group"):
                    continue
                if group in world.values.evaluate(func.value, site):
                    yield Function(file, number)


def _added(world: Engine, group: Value, method: str) -> Iterator[Value]:
    """Yield the commands and groups that calls of a method add to a group."""
    for file, index in world.called(method):
        call, site = file.calls[index], world.call_site(file, index, None)
        given = next((one.value for one in call.args if one.keyword in (None, "cmd", "typer_instance")), None)
        to = world.values.evaluate(call.func.value, site) if isinstance(call.func, Attribute) else ()
        if given is not None and group in to:
            yield from world.values.evaluate(given, site)


def _decorators(world: Engine, file: SourceFile, number: int) -> Iterator[tuple[Expr, Site]]:
    """Yield the functions that decorate a function, as written, with or without a call."""
    scope = file.scopes[number]
    site = Site(file, max(scope.parent, 0), scope.region, (scope.span.line, scope.span.column), None)
    for decorator in scope.decorators:
        yield (file.calls[decorator.expr.index].func if isinstance(decorator.expr, CallRef) else decorator.expr), site
