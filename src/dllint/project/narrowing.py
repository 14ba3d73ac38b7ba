"""What tests by `callable` leave of the values of a name or attribute."""

from __future__ import annotations

from dllint.facts.schema import Expr
from dllint.project.abstract import Class, Function, Partial, Site, Values
from dllint.project.source import SourceFile


def not_functions(values: Values) -> Values:
    """The values without functions, classes and partials."""
    return tuple(value for value in values if not isinstance(value, (Class, Function, Partial)))


def tests_callable(expr: Expr | None, file: SourceFile) -> Expr | None:
    """What an expression asks `callable` about: the argument in `callable(rows)`."""
    if expr is None or expr[0] != "call" or file.calls[expr[1]].func != ["name", "callable"]:
        return None
    args = file.calls[expr[1]].args
    return args[0].value if len(args) == 1 and args[0].keyword is None else None


def called_before(expr: Expr, site: Site) -> bool:
    """Whether the function has replaced what `expr` names by its result, wherever it was a function:
    `if callable(rows): rows = rows()`."""
    file = site.file
    if site.at == (0, 0) or not file.facts.called.get("callable"):
        return False
    around = set(file.regions(site.region))
    for event in file.scopes[site.scope].events:
        if (event.span.line, event.span.column) >= site.at:
            return False
        if event.kind == "assign" and event.target == expr and event.value is not None and event.value[0] == "call":
            for index in file.regions(event.region):
                entry = file.facts.regions[index]
                if entry.kind == "if" and entry.holds and tests_callable(entry.expr, file) == expr:
                    return index not in around and file.encloses(entry.parent, site.region)
    return False
