"""Call a function with a module as soon as the program has imported it, before other code sees the module."""

from __future__ import annotations

import sys

from dllint.probe import lines, recorder, sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    Hook = Callable[[ModuleType], None]

_hooks: dict[str, list[Hook]] = {}


def when(name: str, hook: Hook) -> None:
    """Call `hook` with the module `name` when it is imported; immediately if it already is."""
    module = sys.modules.get(name)
    if module is not None:
        _call(name, hook, module)
    else:
        _hooks.setdefault(name, []).append(hook)


def _call(name: str, hook: Hook, module: ModuleType) -> None:
    try:
        hook(module)
    except Exception as error:
        recorder.trouble(f"hook of {name}", error)


class Finder:
    """The first finder of sys.meta_path: it delegates to the others, and calls the hooks once the module has run."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        lines.importing()
        if name not in _hooks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                _extend(name, spec)
                return spec
        return None


def _extend(name: str, spec: ModuleSpec) -> None:
    loader = spec.loader
    original = getattr(loader, "exec_module", None)
    if loader is None or original is None:
        return

    def exec_module(module: ModuleType) -> None:
        with sites.transparent:
            original(module)
        loader.__dict__.pop("exec_module", None)
        for hook in _hooks.pop(name, ()):
            with sites.hidden:
                _call(name, hook, module)

    try:
        loader.exec_module = exec_module  # type: ignore[method-assign]
    except AttributeError:
        return
