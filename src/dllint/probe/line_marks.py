"""Markers in the code of Python 3.10 and 3.11 that show which lines of the check's findings are executed.

Those interpreters have no `sys.monitoring`, and tracing slows down the whole program. Instead, each file with findings
gets a marker before each statement in question when it is compiled, which asks whether the statement has been executed
before: 3 ns on Python 3.11. Positions stay those of the source. The file that Python was started with is compiled
before dllint can intervene: its functions are replaced in the constants of its code object as soon as it imports
something, and its top-level statements stay unmarked. So do methods named `forward`, which torch.compile may trace, and
functions that Numba compiles. All unmarked lines are recorded as blind.
"""

from __future__ import annotations

import os
import sys

from dllint.probe import recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any

_NAME = "__dllint_{:08x}{:08x}_{}__"
"""The builtin that a marker reads, by checksums of the path and the text of its file, and a number. A function that was
pickled by value runs in processes with other files, or with another state of its file: its lines are not theirs."""
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

_exchanged: set[str] = set()


_known: set[str] = set()
"""The files with markers."""


class _Mark:
    """What a marker reads before its statement is executed for the first time."""

    __slots__ = ("lines", "name", "path")

    def __init__(self, name: str, path: str, lines: list[int]) -> None:
        self.name, self.path, self.lines = name, path, lines

    def __call__(self) -> None:
        import builtins

        setattr(builtins, self.name, None)
        for line in self.lines:
            recorder.record("line", path=self.path, line=line)


def watch(lines_of: Callable[[str], set[int]]) -> None:
    """Mark each file that is imported from now on; `lines_of` returns the lines in question of a file."""
    loader: Any = sys.modules["_frozen_importlib_external"].SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if wanted := lines_of(path):
            try:
                return _marked(self.get_data(path), path, wanted)
            except Exception:
                # Leave errors in the file to Python's own import.
                recorder.record("blind", path=os.path.realpath(path), lines=sorted(wanted))
        code: CodeType | None = original(self, fullname)
        return code

    loader.get_code = get_code


def exchange(frame: FrameType | None, lines_of: Callable[[str], set[int]]) -> None:
    """Replace the functions of the file whose top level executes an import, if that file was not imported itself."""
    while frame is not None and frame.f_code.co_filename.startswith(("<frozen importlib", __file__)):
        frame = frame.f_back
    if frame is None or frame.f_code.co_name != "<module>" or frame.f_code.co_filename in _exchanged:
        return
    code = frame.f_code
    _exchanged.add(code.co_filename)
    wanted = lines_of(code.co_filename)
    if wanted and frame.f_globals.get("__spec__") is None:
        recorder.guarded(_exchange, code, frame.f_lineno, wanted)


def tell_unmarked(lines_of: Callable[[str], set[int]]) -> None:
    """Record the files in question that were loaded in another way, as far as `sys.modules` shows them."""
    known = _known | {os.path.realpath(path) for path in _exchanged}
    for module in list(sys.modules.values()):
        path = module.__dict__.get("__file__") if isinstance(module, type(sys)) else None
        if not isinstance(path, str) or not path.endswith(".py") or os.path.realpath(path) in known:
            continue
        if wanted := lines_of(path):
            recorder.record("blind", path=os.path.realpath(path), lines=sorted(wanted))


def _exchange(code: CodeType, reached: int, wanted: set[int]) -> None:
    path = os.path.realpath(code.co_filename)
    old = _functions(code)
    # Closing brackets, for example, are lines of no code: their statement has others.
    blind = wanted.intersection({*_lines_in(code), *(line for _, _, line in code.co_lines() if line)})
    with open(code.co_filename, "rb") as file:
        new = _functions(_marked(file.read(), code.co_filename, wanted))
    alike = [_named(one) for _, one in old] == [_named(one) for _, one in new]
    for (index, was), (_, marked) in zip(old, new, strict=False):
        # A definition above the line being executed may already have created its function.
        covered = wanted.intersection(_lines_in(was))
        if alike and covered and was.co_firstlineno > reached:
            _set(code.co_consts, index, marked)
            blind -= covered
    if blind:
        recorder.record("blind", path=path, lines=sorted(blind))


def _functions(code: CodeType) -> list[tuple[int, CodeType]]:
    return [(index, one) for index, one in enumerate(code.co_consts) if isinstance(one, type(code))]


def _named(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _lines_in(code: CodeType) -> Iterator[int]:
    """Yield the lines that a code object executes, except its first line, which belongs to the enclosing code."""
    for _, _, line in code.co_lines():
        if line is not None and line != code.co_firstlineno:
            yield line
    for _, inner in _functions(code):
        yield from _lines_in(inner)


def _set(constants: tuple[object, ...], index: int, value: object) -> None:
    """Overwrite an item of a tuple in memory, without Python's knowledge (PyTupleObject,
    Include/cpython/tupleobject.h)."""
    import ctypes

    # The tuple's reference to the old value is not released: something may be executing it.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    place = id(constants) + tuple.__basicsize__ + index * ctypes.sizeof(ctypes.c_void_p)
    ctypes.c_void_p.from_address(place).value = id(value)


# --- Marks


def _marked(source: bytes, path: str, wanted: set[int]) -> CodeType:
    import ast
    import builtins
    import zlib

    tree = ast.parse(source, path)
    real = os.path.realpath(path)
    of_path, of_text = zlib.crc32(os.fsencode(real)), zlib.crc32(source)
    marks: dict[str, _Mark] = {}
    blind: set[int] = set()

    def mark_before(statement: ast.stmt, lines: list[int]) -> ast.stmt:
        """Return the marker; it tolerates a missing name, because code may be pickled and run elsewhere."""
        name = _NAME.format(of_path, of_text, len(marks))
        marks[name] = _Mark(name, real, lines)
        mark = ast.parse(f"try:\n if {name}: {name}()\nexcept NameError:\n pass").body[0]
        for node in ast.walk(mark):
            if hasattr(node, "lineno"):
                ast.copy_location(node, statement)
        return mark

    _mark(tree, mark_before, wanted, blind)
    if blind:
        recorder.record("blind", path=real, lines=sorted(blind))
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    _known.add(real)
    # A file may be loaded twice, as `__main__` and under its own name.
    builtins.__dict__.update({name: mark for name, mark in marks.items() if not hasattr(builtins, name)})
    return code


def _mark(
    node: ast.AST, mark_before: Callable[[ast.stmt, list[int]], ast.stmt], wanted: set[int], blind: set[int]
) -> None:
    """Put markers before the statements inside a node; lines that stay without one are added to `blind`."""
    import ast

    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_compiled(node):
        blind.update(wanted.intersection(range(node.lineno, (node.end_lineno or node.lineno) + 1)))
        return
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue
        filled: list[ast.AST] = []
        for index, inner in enumerate(block):
            _mark(inner, mark_before, wanted, blind)
            found = wanted.intersection(_header(inner)) if isinstance(inner, ast.stmt) else ()
            if found and not _stays_first(inner, index, node):
                filled.append(mark_before(inner, sorted(found)))
            filled.append(inner)
        block[:] = filled


def _is_compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the bytecode of a function is read by a compiler, which a marker could stop: torch.compile, Numba's."""
    import ast

    if function.name == "forward":
        return True
    called = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    names = [getattr(one, "attr", getattr(one, "id", "")) for one in called]
    return any(name.endswith(("jit", "vectorize")) for name in names)


def _header(statement: ast.stmt) -> Iterable[int]:
    """Return the lines of a statement, except those of the statements inside it."""
    first = min((one.lineno for one in getattr(statement, "decorator_list", ())), default=statement.lineno)
    inner = [one for name in _BLOCKS for one in getattr(statement, name, ())]
    if not inner:
        return range(first, (statement.end_lineno or first) + 1)
    below = [one.lineno for one in inner if hasattr(one, "lineno")]
    return range(first, max(min(below, default=first), statement.lineno + 1))


def _stays_first(statement: ast.AST, index: int, holder: ast.AST) -> bool:
    """Whether nothing may precede a statement: docstrings and imports from `__future__`."""
    import ast

    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    documented = isinstance(holder, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    return documented and not index and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
