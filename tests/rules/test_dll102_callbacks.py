"""DLL102: functions that are passed to functions of libraries, which call them or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import multiprocessing

import {imports}
from vendor import model, o, registry

def f(*args):
    process = multiprocessing.get_context("spawn").Process(target=print)
    process.start()

{statement}
"""
IMPORTS = (
    "atexit, collections, contextlib, functools, gc, itertools, json, numba, numpy, operator, os, re, signal, sys, "
    "timeit, torch, types, unittest.mock, weakref"
)
CALLING = [
    "functools.reduce(f, [1])",
    "json.dumps({}, default=f)",
    "list(itertools.starmap(f, [(1,)]))",
    "max([1], key=f)",
    "re.sub('a', f, 'b')",
    "sorted([1], key=f)",
    "timeit.timeit(f)",
]
KEEPING = [
    "atexit.register(f)",
    "collections.OrderedDict(a=f)",
    "contextlib.contextmanager(f)",
    "contextlib.nullcontext(f)",
    "dict.fromkeys('ab', f)",
    "dict.update({}, a=f)",
    "functools.total_ordering(f)",
    "gc.callbacks.append(f)",
    "itertools.repeat(f)",
    "list.append([], f)",
    "object.__setattr__(o, 'a', f)",
    "operator.eq(f, f)",
    "operator.setitem({}, 'a', f)",
    "os.register_at_fork(before=f)",
    "signal.signal(2, f)",
    "weakref.finalize(o, f)",
    "rows = []\nrows.append(f)",
    "sys.getsizeof(f)",
    "sys.modules.setdefault('a', f)",
    "types.MethodType(f, o)",
    "unittest.mock.patch('a.b', f)",
    # Of other packages
    "fast = numba.njit(f)",
    "fast = numpy.vectorize(f)",
    "fast = torch.compile(f)",
    "fast = torch.jit.script(f)",
    "model.register_forward_hook(f)",
    "glfw.set_key_callback(model, f)",
    "model.install_crash_handler(f)",
    "registry.register(f)",
    "registry.add_handler('end', f)",
]


def _program(statement: str) -> str:
    return PROGRAM.format(imports=IMPORTS, statement=statement)


@pytest.mark.parametrize("statement", CALLING)
def test_called_at_once(told: Callable[..., Any], statement: str) -> None:
    assert [one.code for one in told({"main.py": _program(statement)}, select=["DLL102"])] == ["DLL102"]


@pytest.mark.parametrize("statement", KEEPING)
def test_kept(told: Callable[..., Any], statement: str) -> None:
    assert told({"main.py": _program(statement)}, select=["DLL102"]) == ()
