"""Objects whose fields a library fills from a command line or a file: `HfArgumentParser((Model, Data))`.

The value of such a field is its default, or anything the user sets. See the documentation of transformers
(`HfArgumentParser`), trl (`TrlParser`), simple-parsing, tyro, draccus, pyrallis, jsonargparse, dacite, cattrs,
OmegaConf ("Structured configs") and pydantic ("Models").
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dllint.facts.nodes import Attribute, Tuple
from dllint.inference.arguments import Held
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    UNKNOWN,
    Actual,
    Actuals,
    Class,
    Display,
    External,
    Frame,
    Instance,
    Site,
    Value,
    Values,
    Written,
)
from dllint.libraries.argparse import ADDS_CLASS
from dllint.libraries.index import NETWORKS, canonical
from dllint.linking.source import SourceFile, last_name


class _Filling(NamedTuple):
    """Where a call that builds objects takes their class.

    Attributes:
        position: the position of the argument; -1 if the class is the receiver of the method.
        keyword: its name.
        parser: whether the parser was constructed with the classes, any number of them, and the call returns a tuple of
            objects.
    """

    position: int = 0
    keyword: str = ""
    parser: bool = False


_OF_PARSER = _Filling(0, "dataclass_types", parser=True)
_OF_CLASS = _Filling(-1)
_FILLING: dict[str, _Filling] = {
    **{
        f"transformers.HfArgumentParser().parse_{what}": _OF_PARSER
        for what in ("args_into_dataclasses", "args_and_config", "json_file", "yaml_file", "dict")
    },
    "simple_parsing.parse": _Filling(0, "config_class"),
    f"argparse.ArgumentParser().{ADDS_CLASS}": _Filling(0, "dataclass"),
    "tyro.cli": _Filling(0, "f"),
    "draccus.parse": _Filling(0, "config_class"),
    "pyrallis.parse": _Filling(0, "config_class"),
    "jsonargparse.CLI": _Filling(0, "components"),
    "jsonargparse.auto_cli": _Filling(0, "components"),
    "dacite.from_dict": _Filling(0, "data_class"),
    "cattrs.structure": _Filling(1, "cl"),
    "omegaconf.OmegaConf.structured": _Filling(0, "obj"),
    **{
        f"{package}.{base}.{method}": _OF_CLASS
        for package, base in (
            ("pydantic", "BaseModel"),
            ("pydantic", "BaseSettings"),
            ("pydantic_settings", "BaseSettings"),
        )
        for method in (
            *("model_validate", "model_validate_json", "parse_obj", "parse_raw", "parse_file"),
            "model_construct",
        )
    },
}
"""Calls that instantiate classes of the project and fill their fields with what they read."""
COMMAND_LINES = frozenset({"fire.Fire", "jsonargparse.CLI", "jsonargparse.auto_cli", "tyro.cli"})
"""Functions that call the functions and classes passed to them, with arguments from the command line."""
RESTORING = frozenset({"from_pretrained", "load_from_checkpoint", "from_config", "from_dict", "from_argparse_args"})
"""Class methods of any library that construct an object of the class on which they are called, with arguments from a
file or a configuration: of transformers, diffusers and huggingface_hub, of Lightning."""
_RESTORED = _Filling(-1, "cls")
_LAST_NAMES = RESTORING | {name.rpartition(".")[2] for name in _FILLING}
FILLS_OPTIONS = frozenset(name.rpartition(".")[2] for name, row in _FILLING.items() if row.parser)
"""The last names of calls that can build the options of a trainer."""


class FilledClasses:
    """The results of calls that instantiate classes and fill their fields."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self.results = dict.fromkeys(_FILLING, self.made)
        self._tuples: dict[tuple[str, int, Frame | None], Tuple] = {}

    def fills(self, file: SourceFile, index: int) -> bool:
        """Whether a call fills the fields of the objects it returns."""
        return self._filling(file, index, self.world.call_site(file, index, None)) is not None

    def built(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """Return the classes of the project whose constructors a class method such as `from_argparse_args` calls."""
        site = self.world.call_site(file, index, frame)
        if last_name(file.callee(index)) not in RESTORING or self._filling(file, index, site) is not _RESTORED:
            return ()
        return tuple(one for one in self._classes(_RESTORED, file, index, site) if isinstance(one, Class))

    def configured(self, actuals: Actuals, file: SourceFile, index: int) -> Actuals:
        """Return the constructors' arguments: unknown values for any keyword, or the attributes of a namespace."""
        row = self._filling(file, index, self.world.call_site(file, index, None))
        if row is None:
            return actuals
        options = last_name(file.callee(index)) == "from_argparse_args" and actuals.positional[:1]
        mappings = options or [Actual(None, None, None)]
        return Actuals(keywords=actuals.keywords if row is _RESTORED else {}, mappings=[*mappings])

    def _filling(self, file: SourceFile, index: int, site: Site) -> _Filling | None:
        if last_name(file.callee(index)) not in _LAST_NAMES:
            return None
        call = file.calls[index]
        callees = self.world.values.evaluate(call.func, site)
        found = (_FILLING.get(canonical(one.name)) for one in callees if isinstance(one, External))
        row = next((row for row in found if row is not None), None)
        outside = [canonical(one.name) for one in callees if isinstance(one, External)]
        # Of a network, more is known by the method that loads its weights.
        if row is None and last_name(call.func) in RESTORING and outside and not any(map(NETWORKS.match, outside)):
            own = any(isinstance(one, Class) for one in self._classes(_RESTORED, file, index, site))
            return _RESTORED if own else None
        return row

    def made(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        row = self._filling(file, index, site)
        if row is None:
            return None
        if row.parser:
            return self._several(file, index, site)
        found = self._filled(self._classes(row, file, index, site), file, index, site.frame)
        return found if any(isinstance(one, Instance) for one in found) else None

    def _classes(self, row: _Filling, file: SourceFile, index: int, site: Site) -> Values:
        """Return the classes that the call takes."""
        call = file.calls[index]
        if row.position < 0:
            return self.world.values.evaluate(call.func.value, site) if isinstance(call.func, Attribute) else ()
        plain = [one.value for one in call.args if one.keyword is None]
        named = [one.value for one in call.args if one.keyword == row.keyword]
        given = plain[row.position : row.position + 1] or named
        return self.world.values.evaluate(given[0], site) if given else ()

    def _several(self, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return a tuple with one object per class that the parser was constructed with."""
        func = file.calls[index].func
        parsers = self.world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()
        parts: list[Values] = []
        for parser in parsers:
            if isinstance(parser, Instance) and parser.file is not None and parser.call >= 0:
                made = self.world.made_with(parser)
                given = [
                    *made.positional[:1],
                    *(made.keywords[name] for name in ("dataclass_types",) if name in made.keywords),
                ]
                parts += [part for one in given[:1] for part in self._listed(self.world.values.passed(one))]
        if not parts:
            return None
        key = (file.path, index, site.frame)
        if key not in self._tuples:
            objects = (self._filled(part, file, index, site.frame) for part in parts)
            elements: list[Any] = [Held(one[0] if len(one) == 1 else UNKNOWN) for one in objects]
            self._tuples[key] = Tuple(tuple(elements))
        return (Display("tuple", Written(self._tuples[key], site)),)

    def _listed(self, given: Values) -> list[Values]:
        """Return the classes that a parser is constructed with, one by one."""
        if any(isinstance(one, Display) for one in given):
            slots = self.world.mappings.slots(given[0]) if isinstance(given[0], Display) and len(given) == 1 else None
            return [self.world.values.evaluate(expr, site) for expr, site in slots or ()]
        return [given]

    def _filled(self, classes: Values, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """Return one object per class; unknown for anything that is not a class."""
        return union([tuple(self._object(one, file, index, frame) for one in classes)]) or (UNKNOWN,)

    @staticmethod
    def _object(cls: Value, file: SourceFile, index: int, frame: Frame | None) -> Value:
        return Instance(cls, file, index, frame) if isinstance(cls, (Class, External)) else UNKNOWN
