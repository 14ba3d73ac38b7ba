"""Conditions that mean the same in all methods of an object, so that branches of two methods can exclude each other."""

from __future__ import annotations

import re

from dllint.facts.nodes import Attribute, Name
from dllint.linking.conditions import Atom, path_atoms
from dllint.linking.derivations import stores_in_functions, stores_of_methods
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile

_ROOT = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*(?:\.\w+)?")
"""A name in the text of a condition, with the first attribute that is read of it."""
_WORDS = frozenset({"and", "or", "not", "in", "is", "None", "True", "False", "len", "bool", "isinstance"})
_OWN = "self."


def object_conditions(file: SourceFile, scope: int, region: int) -> list[Atom]:
    """Return the conditions on a path in a method that can be compared with those in other methods of the same object.

    They read attributes of the object, parameters that the method only stores in attributes, and names of the module
    that no function of it changes: `opt.sp` in `if opt.sp:`.
    """
    found = path_atoms(file, scope, region)
    if not found:
        return []
    params = file.scopes[scope].params
    tests = (file.facts.regions[one].expr for one in file.regions(region))
    read = {
        part.attr
        for test in tests
        if test is not None
        for part in walk(test, file)
        if isinstance(part, Attribute) and params and part.value == Name(params[0].name)
    }
    kept = _kept_parameters(file, scope)
    return [known for atom in found if (known := _comparable(atom, read, kept, file, scope)) is not None]


def of_module(atom: Atom) -> bool:
    """Whether one of `object_conditions` reads names of the module, and so means the same for all objects."""
    return bool(atom.scope[0])


def _comparable(atom: Atom, read: set[str], kept: dict[str, str], file: SourceFile, scope: int) -> Atom | None:
    text = atom.text
    shared = False
    for root in dict.fromkeys(_ROOT.findall(text)):
        name, _, attr = root.partition(".")
        if name in _WORDS or name in read or root.startswith(_OWN):
            continue
        if name in kept:
            text = re.sub(rf"(?<![\w.]){name}\b", kept[name], text)
        elif _is_unchanged(file, scope, name, attr):
            shared = True
        else:
            return None
    return atom._replace(text=text.replace(_OWN, ""), scope=(file.path, 0) if shared else ("", 0))


def _kept_parameters(file: SourceFile, scope: int) -> dict[str, str]:
    """Return the parameters that a method stores unchanged in attributes which nothing else in the class sets."""
    owner = file.method_of(scope)
    params = file.scopes[scope].params
    if owner is None or not params:
        return {}
    found: dict[str, str] = {}
    for param in params[1:]:
        if len(file.bindings(scope).get(param.name, ())) != 1:
            continue
        for store in file.stores(scope):
            if store.value != Name(param.name) or store.event.region or not isinstance(store.key, str):
                continue
            set_in_class = file.named(stores_of_methods, owner).get(store.key, ())
            if store.base == Name(params[0].name) and len(set_in_class) == 1:
                found[param.name] = store.key
    return found


def _is_unchanged(file: SourceFile, scope: int, name: str, attr: str) -> bool:
    """Whether a name is one of the module, and no function of the module sets it or its attribute."""
    while scope > 0:
        if file.scopes[scope].kind != "class" and name in file.bindings(scope):
            return False
        scope = file.scopes[scope].parent
    if name not in file.bindings(0) or file.bindings_within(0, name):
        return False
    return not attr or not any(one.base == Name(name) for one in file.named(stores_in_functions).get(attr, ()))
