"""Registries: what `@REGISTRY.register()` put in, and `REGISTRY.get(name)` may take out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.project.abstract import Class, Function, Instance, Site, Value, Values

if TYPE_CHECKING:
    from dllint.project.world import World

LOOKUPS = frozenset({"get", "__getitem__"})
BUILDERS = frozenset({"build", "create"})


class Registries:
    """Objects whose `register…` methods decorate definitions of the project."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._entries: dict[Value, dict[Value, None]] | None = None

    def entries(self, registry: Value) -> Values:
        """The classes and functions that decorators put into a registry; none where it is no registry."""
        if self._entries is None:
            self._entries = {}
            for file in self.world.files.values():
                for index, scope in enumerate(file.scopes):
                    for decorator in scope.decorators:
                        func = decorator.expr
                        if func[0] == "call":
                            func = file.calls[func[1]].func
                        if (
                            func[0] != "attr"
                            or not func[2].startswith("register")
                            or func[1][0] not in ("name", "attr")
                        ):
                            continue
                        site = Site(file, max(scope.parent, 0), scope.region, (0, 0), None)
                        for value in self.world.values.evaluate(func[1], site):
                            if isinstance(value, Instance) and value.call >= 0:
                                defined = Class(file, index) if scope.kind == "class" else Function(file, index)
                                self._entries.setdefault(value, {})[defined] = None
        return tuple(self._entries.get(registry, ()))
