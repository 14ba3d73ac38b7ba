"""Which functions of libraries call the functions passed to them, and when."""

from __future__ import annotations

import builtins
import sys

_BUILTINS = frozenset(
    {"all", "any", "filter", "iter", "list.sort", "map", "max", "min", "next", "open", "sorted", "sum"}
)
"""Builtins that call the functions passed to them, or go through what calls them."""

_MODULES = frozenset(
    {
        *("argparse", "asyncio", "bdb", "bisect", "cProfile", "code", "concurrent", "contextvars", "ctypes", "curses"),
        *("doctest", "ftplib", "heapq", "http", "json", "multiprocessing", "optparse", "pdb", "profile", "re", "runpy"),
        *("sched", "shutil", "socketserver", "sqlite3", "tarfile", "threading", "timeit", "tkinter", "trace", "urllib"),
        *("wsgiref", "xmlrpc"),
    }
)
"""Modules of the standard library whose functions call those passed to them. Source: their documentation."""

_STANDARD = frozenset(
    {
        *(
            "atexit.register",
            "collections.defaultdict",
            "functools.reduce",
            "os.fwalk",
            "os.register_at_fork",
            "os.walk",
        ),
        *(f"itertools.{one}" for one in ("accumulate", "dropwhile", "filterfalse", "groupby", "starmap", "takewhile")),
        *(f"contextlib.ExitStack().{one}" for one in ("callback", "push")),
    }
)
"""The functions of other modules of the standard library that do. Source: their documentation."""

_AT_ONCE = frozenset({"absl.app.run", "typer.run", "trio.run", "anyio.run"})
"""Functions of other packages that call what they are given at once. Source: their documentation."""

_ON_EVENTS = frozenset(
    {
        *("atexit.register", "os.register_at_fork", "signal.signal", "sys.settrace", "threading.settrace"),
        *("sys.setprofile", "threading.setprofile", "weakref.finalize"),
    }
)
"""Functions of the standard library that keep a function for an event later."""
_WRAPPERS = (
    *("numpy.vectorize", "numpy.frompyfunc", "numba.", "triton.", "joblib.delayed", "dask.delayed", "functorch."),
    *("torch.compile", "torch.jit.script", "torch.jit.ignore", "torch.vmap", "torch.func.", "torch.library."),
    *("torch._dynamo.", "torch.fx.wrap", "torch.amp.custom_", "torch.cuda.amp.custom_"),
    *("jax.jit", "jax.vmap", "jax.pmap", "jax.grad", "jax.value_and_grad", "jax.checkpoint", "jax.custom_"),
    *("tensorflow.function", "pytest.fixture", "pytest.mark.", "wrapt.", "tenacity.", "cachetools.", "beartype."),
)
"""Beginnings of the names of functions of other packages whose result calls what they are given. Source: their
documentation."""
_SUBSCRIBING = ("register", "add_", "on_", "subscribe", "unregister", "remove_")
"""Beginnings of the names of functions that keep a callback for an event: `model.register_forward_hook(f)`."""
_TAKING_CALLBACKS = ("callback", "_hook", "_handler", "_listener", "_observer")
"""Ends of such names: `glfw.set_key_callback(window, f)`."""


def calls_back(name: str) -> bool:
    """Whether a function may call the functions passed to it, now or later: those of unknown packages may."""
    root = name.partition(".")[0].removesuffix("()")
    if hasattr(builtins, root):
        return name in _BUILTINS or name == "list().sort"
    if root in sys.stdlib_module_names:
        # Parsers of subcommands, too: argparse.ArgumentParser().add_subparsers().add_parser().set_defaults
        keeps = root == "argparse" and name.endswith(".set_defaults")
        return not keeps and (root in _MODULES or name in _STANDARD or name in _ON_EVENTS)
    return True


def surely_calls(name: str) -> bool:
    """Whether a function that may call those passed to it is known to."""
    root = name.partition(".")[0].removesuffix("()")
    return name in _AT_ONCE or root in sys.stdlib_module_names or hasattr(builtins, root)


def calls_later(name: str) -> bool:
    """Whether a function keeps what it is given for an event, or returns a function that calls it."""
    known = name in _ON_EVENTS or name.startswith(_WRAPPERS)
    last = name.rpartition(".")[2]
    return known or last.startswith(_SUBSCRIBING) or last.endswith(_TAKING_CALLBACKS)
