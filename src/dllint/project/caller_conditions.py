"""Conditions over the parameters of a function, rewritten in terms of its caller's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name
from dllint.inference.values import Frame, Function
from dllint.linking.conditions import Atom, render
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

_NAME = re.compile(r"[A-Za-z_]\w*")


def restated(world: World, atoms: Iterable[Atom], file: SourceFile, scope: int, frame: Frame | None) -> Iterator[Atom]:
    """The conditions on unmodified parameters whose argument in this activation is a name or an attribute of the
    caller."""
    if frame is None or frame.actuals is None or file.scopes[scope].kind != "function":
        return
    function = Function(file, scope)
    for atom in atoms:
        names = list(dict.fromkeys(_NAME.findall(atom.text)))
        if atom.scope != (file.path, scope) or not names or not atom.text.startswith(names[0]):
            continue
        name = names[0]
        if any(binding.kind != "param" for binding in file.bindings(scope).get(name, ())):
            continue
        found = world.parameters.bound(function, name, frame)
        actual = found.actual
        if found.case != "actual" or actual is None or actual.expr is None or actual.site is None:
            continue
        if isinstance(actual.expr, (Name, Attribute)):
            text = render(actual.expr, actual.site.file, 200).removeprefix("self.") + atom.text[len(name) :]
            yield Atom(text, atom.equals, atom.holds, (actual.site.file.path, actual.site.scope))
