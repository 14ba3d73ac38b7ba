"""Configuration files of the project: JSON, YAML and TOML that the code loads by a path that is known."""

from __future__ import annotations

import os
from typing import Any

from dllint.documents import parse_json, parse_toml
from dllint.inference.entries import ABSENT, OPAQUE, Found
from dllint.inference.interface import Engine, Handler
from dllint.inference.values import UNKNOWN, Const, Data, Site, Value, Values, constant
from dllint.libraries.dynamic_lookup import first_argument
from dllint.linking.source import SourceFile
from dllint.reading import CONFIG_BYTES, CannotRead, read

_PARSERS = (
    *("json.load", "json.loads", "tomllib.load", "tomllib.loads", "tomli.load", "toml.load"),
    *("yaml.load", "yaml.safe_load", "yaml.full_load"),
)
SUFFIXES = (".json", ".toml", ".yaml", ".yml")


def _content(path: str, text: str) -> Any:
    """The content of a file.

    Raises:
        ValueError: it is malformed.
    """
    if path.endswith(".toml"):
        return parse_toml(text)
    if path.endswith(".json"):
        return parse_json(text)
    from dllint.yaml_loader import parse_yaml

    return parse_yaml(text)


class DataFiles:
    """Reads configuration files once."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._loaded: dict[str, Any] = {}
        self.results: dict[str, Handler] = {
            **dict.fromkeys(("open", "omegaconf.OmegaConf.load"), self._open),
            **dict.fromkeys(_PARSERS, self._parse),
        }

    def _open(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """What `open(path)` gives: the file itself where it is a configuration file of the project."""
        found: list[Value] = []
        for value in first_argument(world, file, index, site) or ():
            if isinstance(value, Const) and isinstance(value.value, str) and value.value.endswith(SUFFIXES):
                path = self._find(file.path, value.value)
                if path is not None:
                    found.append(Data(path, ()))
        return tuple(found) or None

    @staticmethod
    def _parse(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """What a parser makes of an opened file."""
        found = first_argument(world, file, index, site) or ()
        return tuple(value for value in found if isinstance(value, Data)) or None

    def lookup(self, value: Data, key: object) -> Found:
        node = self._node(value)
        if isinstance(node, dict) and isinstance(key, str):
            if key not in node:
                return ABSENT
            return Found((self._value(node[key], value, key),), False)
        if isinstance(node, list) and isinstance(key, int) and -len(node) <= key < len(node):
            return Found((self._value(node[key], value, key),), False)
        return OPAQUE

    def _value(self, node: object, parent: Data, key: str | int) -> Value:
        if isinstance(node, (dict, list)):
            return Data(parent.path, (*parent.pointer, key))
        if node is None or isinstance(node, (bool, int, float, str)):
            return constant(node)
        return UNKNOWN

    def _node(self, value: Data) -> Any:
        node = self._load(value.path)
        for step in value.pointer:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return None
        return node

    def _load(self, path: str) -> Any:
        if path not in self._loaded:
            try:
                data = read(path, CONFIG_BYTES, within=self.world.settings.root or None)
                self._loaded[path] = _content(path, data.decode("utf-8-sig"))
            except (CannotRead, ValueError, RecursionError):
                self._loaded[path] = None
        return self._loaded[path]

    def _find(self, importer: str, name: str) -> str | None:
        """The file meant by a relative path: beside the program, or at the top of the project."""
        if os.path.isabs(name):
            return None
        for base in (os.path.dirname(importer), self.world.settings.root):
            path = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(path):
                return path
        return None
