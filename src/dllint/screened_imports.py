"""The files that a file may import, by its bytes: nothing is parsed for them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dllint.modules import ModuleIndex

_IMPORT = re.compile(
    # Each run of blanks must match in one way only, or a line of blanks takes quadratic time.
    rb"(?:^|[;:])[ \t\f]*(?:from(?:[ \t]*(\.+))?[ \t]*(?:(\w[\w.]*)[ \t]+)?import\b[ \t]*(?:\(([^)]*)\)?|([^\r\n#;]*))"
    rb"|import[ \t]+([^\r\n#;(]+))",
    re.MULTILINE,
)
EXECUTED = re.compile(rb"exec\(\s*f?['\"]from ")
"""An import that is put together as a text."""
_DYNAMIC = re.compile(rb"(?:import_module|__import__)\([ \t\r\n]*['\"]([\w.]+)['\"]")
PREFIX = re.compile(rb"['\"]((?:[A-Za-z_]\w*\.)+\w*)(?:['\"]|((?:\{|%s)[^'\"]*))")
"""Start of a module name completed at run time ("models." + name, f"data.{name}"), and the text from the first hole."""
HOLE = re.compile(rb"\{[^{}]*\}?")
_COMMENT = re.compile(rb"#[^\r\n]*")
# What does not end is read to the next assignment only, or many of them would take quadratic time.
_BASES = re.compile(rb"^_base_[ \t]*=[ \t]*(?:[\[(]([^\])=]*)[\])]|(['\"][^'\"\r\n]*['\"]))", re.MULTILINE)
_QUOTED = re.compile(rb"['\"]([^'\"\r\n]+\.py)['\"]")


class Import(NamedTuple):
    """`from module import names`, or `import module` with no names; `level` counts leading dots."""

    module: str
    level: int
    names: tuple[str, ...]


def imports(data: bytes) -> list[Import]:
    """Return the imports of a file at any depth; they may include text that only looks like an import."""
    if b"\\" in data:
        data = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    text = data if b"\r" not in data else data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found = []
    for dots, module, bracketed, plain, modules in _IMPORT.findall(text):
        if modules:
            found += [Import(name, 0, ()) for name in _names(modules)]
        elif dots or module:
            names = _names(_COMMENT.sub(b"", bracketed) if bracketed else plain)
            found.append(Import(module.decode("utf-8", "replace"), len(dots), names))
    if b"import_module" in text or b"__import__" in text:
        found += [Import(name.decode("utf-8", "replace"), 0, ()) for name in _DYNAMIC.findall(text)]
    return found


def bases(data: bytes) -> list[str]:
    """Return the configurations that `_base_ = ["../base/data.py"]` of mmengine names, relative to the file."""
    if b"_base_" not in data:
        return []
    listed = (one for found in _BASES.findall(data) for one in found)
    return [text.decode("utf-8", "replace") for one in listed for text in _QUOTED.findall(_COMMENT.sub(b"", one))]


def _names(listed: bytes) -> tuple[str, ...]:
    parts = (part.split() for part in listed.decode("utf-8", "replace").split(","))
    return tuple(part[0] for part in parts if part)


def files_imported(path: str, data: bytes, index: ModuleIndex, statements: Iterable[Import]) -> set[str]:
    """Return the files that may run when a file is imported. `statements` are its imports."""
    folder = os.path.dirname(path)
    found = {os.path.normpath(os.path.join(folder, base)) for base in bases(data)}
    for module, level, names in statements:
        found.update(index.resolve(path, module, level))
        found.update(() if level else index.inside_packages(path, module))
        for name in names:
            if name != "*":
                found.update(index.resolve(path, f"{module}.{name}" if module else name, level))
    if b"import_module(" in data or b"__import__(" in data:
        for prefix, rest in PREFIX.findall(data):
            for run in index.beginning(path, prefix.decode(), HOLE.sub(b"", rest).count(b".")).values():
                found.update(run)
    found.discard(path)
    return found


def named_like_their_class(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that define a class of their own name, each with it: `exec(f"from {name} import {name}")` may
    import any of them."""
    stems = {path: os.path.basename(path).removesuffix(".py").encode() for path in files}
    return {path: stem for path, stem in stems.items() if b"class " + stem in files[path]}
