"""The project's configuration files: JSON, YAML and TOML that the code loads from a known path."""

from __future__ import annotations

import os
import re
from typing import Any

from dllint.documents import parse_json, parse_toml
from dllint.facts.nodes import Attribute
from dllint.inference import limits
from dllint.inference.entries import ABSENT, OPAQUE, Found
from dllint.inference.interface import Engine, Handler
from dllint.inference.values import CHOSEN, UNKNOWN, Data, Site, Values, constant
from dllint.inference.values.configuration import COMPOSED
from dllint.libraries.configuration_files import SUFFIXES, ConfigurationFiles, read
from dllint.libraries.dynamic_lookup import first_argument
from dllint.libraries.paths import project_file, written_path
from dllint.linking.source import SourceFile

_PARSERS = (
    *("json.load", "json.loads", "tomllib.load", "tomllib.loads", "tomli.load", "toml.load"),
    *("yaml.load", "yaml.safe_load", "yaml.full_load"),
)


_COMMENT = re.compile(r'("(?:[^"\\]|\\(?:.|\Z))*(?:"|\Z))|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)', re.DOTALL)
"""Matches a JSON string, which stays, or a comment, which is removed before parsing."""


def _content(path: str, text: str) -> Any:
    """Parse the content of a file.

    Raises:
        ValueError: it is malformed.
    """
    if path.endswith(".toml"):
        return parse_toml(text)
    if path.endswith(".json"):
        try:
            return parse_json(text)
        except ValueError:
            return parse_json(_COMMENT.sub(lambda found: found[1] or "", text))
    from dllint.yaml_loader import parse_yaml

    return parse_yaml(text)


def _at(node: Any, pointer: tuple[str | int, ...]) -> Any:
    """Return the node at a pointer; None if there is none."""
    for step in pointer:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return None
    return node


_INTERPOLATED = re.compile(r"\$\{\s*(?P<dots>\.*)(?P<name>[A-Za-z_]\w*(?:\.\w+)*)\s*\}")
"""An interpolation of another entry; those with a colon call a resolver."""


class DataFiles:
    """Configuration files, each parsed once."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self.files = ConfigurationFiles(world.settings.root)
        self._loaded: dict[str, Any] = {}
        self._interpolating = 0
        self.results: dict[str, Handler] = {
            **dict.fromkeys(("open", "omegaconf.OmegaConf.load"), self._open),
            **dict.fromkeys(_PARSERS, self._parse),
            "open().read": self._read,
            **dict.fromkeys(
                (f"pathlib.Path().{name}" for name in ("open", "read_text", "read_bytes")), self._read_path
            ),
        }

    def _open(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the value of `open(path)`: the parsed file if it is a configuration file of the project."""
        return self._at_paths(world, file, first_argument(world, file, index, site) or ())

    @staticmethod
    def _at_paths(world: Engine, file: SourceFile, values: Values) -> Values | None:
        named = [value for value in values if (written_path(value) or "").endswith(SUFFIXES)]
        found = (project_file(world, file.path, value) for value in named)
        return tuple(Data(path, ()) for path in found if path is not None) or None

    @staticmethod
    def _read(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the value of `stream.read()`: the file's data, which a parser returns later."""
        func = file.calls[index].func
        found = world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()
        return tuple(value for value in found if isinstance(value, Data)) or None

    def _read_path(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the value of `Path("options.json").read_text()` and `Path("options.json").open()`."""
        func = file.calls[index].func
        return self._at_paths(
            world, file, world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()
        )

    @staticmethod
    def _parse(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the value of a parser's call on an opened file."""
        given = first_argument(world, file, index, site) or ()
        found = tuple(value for value in given if isinstance(value, Data))
        # What the user's own configuration is laid over may have other entries.
        return (*found, UNKNOWN) if found and world.mappings.is_overlaid(file, index) else found or None

    def lookup(self, value: Data, key: object) -> Found:
        if value.composed:
            return self._composed(value, key)
        node = self._node(value)
        if isinstance(node, dict) and isinstance(key, str):
            if key not in node:
                return ABSENT
            return Found(self._values(node[key], value, key), False)
        if isinstance(node, list) and isinstance(key, int) and -len(node) <= key < len(node):
            return Found(self._values(node[key], value, key), False)
        return OPAQUE

    def _composed(self, value: Data, key: object) -> Found:
        """Look up a key in a configuration that hydra composes: the values in the main file and the files of all
        groups, which the command line may replace."""
        nodes = self._parts(value) if isinstance(key, str) else ()
        given = [node[key] for node in nodes if isinstance(node, dict) and key in node]
        found = dict.fromkeys(one for node in given for one in self._values(node, value, str(key)))
        if not found:
            return OPAQUE
        if not all(isinstance(one, Data) for one in found):
            found[CHOSEN if len(found) > 1 or value.path.endswith("//") else UNKNOWN] = None
        return Found(tuple(found), False)

    def _parts(self, value: Data) -> list[Any]:
        """Return the nodes that hydra merges at a place: of the main file, or of any at the top of the directory if the
        command line chooses it, and of the files of groups.

        `data/images.yaml` is at `data` unless its `@package` header moves it to the top level (hydra documentation,
        "Packages")."""
        top, _, main = value.path.removeprefix(COMPOSED).rpartition("//")
        pointer = value.pointer
        found = [_at(self._load(os.path.join(top, main)), pointer)] if main else []
        for path, data in self.files.below(top):
            package = tuple(os.path.relpath(os.path.dirname(path), top).replace(os.sep, "/").split("/"))
            if package == (os.curdir,):
                found += [] if main else [_at(self._load(path), pointer)]
                continue
            if b"@package _global_" in data[:200]:
                found.append(_at(self._load(path), pointer))
            elif pointer[: len(package)] == package:
                found.append(_at(self._load(path), pointer[len(package) :]))
            elif package[: len(pointer)] == pointer:
                found.append({package[len(pointer)]: {}})
        return found

    def _values(self, node: object, parent: Data, key: str | int) -> Values:
        """The values of an entry: of `${train.workers}` those of the entry that it names, from the top of the
        configuration, or with leading dots from where it stands (OmegaConf documentation, "Variable interpolation")."""
        if isinstance(node, (dict, list)):
            return (Data(parent.path, (*parent.pointer, key)),)
        if isinstance(node, str) and "${" in node:
            named = _INTERPOLATED.fullmatch(node)
            if named is None or limits.INTERPOLATIONS.exceeded(self._interpolating):
                return (UNKNOWN,)
            self._interpolating += 1
            try:
                return self._named(parent, len(named["dots"]), named["name"].split(".")) or (UNKNOWN,)
            finally:
                self._interpolating -= 1
        if node is None or isinstance(node, (bool, int, float, str)):
            return (constant(node),)
        return (UNKNOWN,)

    def _named(self, parent: Data, dots: int, keys: list[str]) -> Values:
        if dots > len(parent.pointer) + 1:
            return ()
        pointer = parent.pointer[: len(parent.pointer) + 1 - dots] if dots else ()
        values: Values = (Data(parent.path, pointer),)
        for key in keys:
            inside = (one for value in values if isinstance(value, Data) for one in self.lookup(value, key).values)
            values = tuple(dict.fromkeys(inside))
        return values

    def _node(self, value: Data) -> Any:
        return _at(self._load(value.path), value.pointer)

    def _load(self, path: str) -> Any:
        if path not in self._loaded:
            data = read(path, within=self.world.settings.root)
            try:
                self._loaded[path] = _content(path, data.decode("utf-8-sig")) if data is not None else None
            except (ValueError, RecursionError):
                self._loaded[path] = None
        return self._loaded[path]
