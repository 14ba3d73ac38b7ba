"""Answers the analysis engine's questions about libraries, from the tables of all library modules."""

from __future__ import annotations

import builtins as python
import sys
from collections.abc import Collection, Iterable, Iterator

from dllint.facts.nodes import Name
from dllint.facts.schema import Expr
from dllint.inference.entries import Found
from dllint.inference.interface import Engine, Handler
from dllint.inference.values import (
    Actuals,
    Class,
    Data,
    External,
    Frame,
    Function,
    Instance,
    Parsed,
    Site,
    Value,
    Values,
)
from dllint.libraries import (
    absl,
    builtins,
    callbacks,
    click,
    concurrent_futures,
    contents,
    field_defaults,
    hooks,
    hydra,
    index,
    named_tuples,
    paths,
    ray,
    registries,
    replaced_fields,
    texts,
    without_results,
)
from dllint.libraries.annotations import HELD
from dllint.libraries.argparse import Parsers
from dllint.libraries.configurable import from_configuration
from dllint.libraries.dynamic_lookup import IMPORTING, first_argument, in_dictionary
from dllint.libraries.field_dicts import FieldDicts
from dllint.libraries.filled_classes import COMMAND_LINES, RESTORING, FilledClasses
from dllint.libraries.given_back import GivenBack
from dllint.libraries.index import (
    COMPOSITIONS,
    GIVES_ARGUMENT,
    GIVES_ARGUMENTS,
    ITERATES,
    KNOWN_PARTS,
    LAUNCHERS,
    LOADERS,
    NEW_STORAGE,
    RUN_TIME_CLASSES,
    SPLITS_ARGUMENTS,
)
from dllint.libraries.inherited_attributes import InheritedAttributes
from dllint.libraries.mmengine_runner import BASES, Configurations, of_base
from dllint.libraries.named_objects import LOCATING, NamedObjects
from dllint.libraries.records import FRAME, OPAQUE, RECORDS, ROWS, form
from dllint.libraries.registries import Registries
from dllint.libraries.torch import WITHOUT_STATE
from dllint.libraries.yaml_json import DataFiles
from dllint.linking.source import SourceFile

_CARRYING = frozenset(
    {
        *(
            "torch",
            "torchdata",
            "torchvision",
            "torch_geometric",
            "dgl",
            "lightning",
            "pytorch_lightning",
            "accelerate",
        ),
        *(
            "numpy",
            "pandas",
            "datasets",
            "tqdm",
            "joblib",
            "ray",
            "dask",
            "cloudpickle",
            "dill",
            "more_itertools",
            "toolz",
        ),
        *("hydra", "omegaconf", "mmcv", "mmengine", "gym", "gymnasium", "attr", "easydict", "munch", "yacs", "addict"),
    }
)
"""Packages whose objects may hold those of a project: containers, loaders, what was pickled, results of functions."""

_DICT = Name("dict")


class Libraries:
    """Answers about all libraries, for one project."""

    dict_classes = builtins.DICT_CLASSES
    same_items = builtins.SAME_ITEMS
    builtins = builtins.BUILTINS
    new_storage = NEW_STORAGE
    without_state = WITHOUT_STATE
    compositions = COMPOSITIONS
    known_parts = KNOWN_PARTS
    run_time_classes = RUN_TIME_CLASSES
    namespaces = frozenset({BASES})
    instantiating = hydra.LAST_NAMES | registries.BUILDING | RESTORING
    command_lines = COMMAND_LINES
    iterates = ITERATES

    def __init__(self, world: Engine) -> None:
        self.world = world
        self.parsers = Parsers(world)
        self.data = DataFiles(world)
        self.named = NamedObjects(world, self.data.files)
        self.registries = Registries(world)
        self.instantiation = hydra.Instantiation(world, self.named)
        self.filled = FilledClasses(world)
        self.flags = absl.Flags(world)
        self.configurations = Configurations(world)
        self.inherited = InheritedAttributes(world)
        self.given_back = GivenBack()
        self.results: dict[str, Handler] = {
            **builtins.RESULTS,
            **paths.RESULTS,
            **texts.RESULTS,
            **without_results.RESULTS,
            **hydra.RESULTS,
            **ray.RESULTS,
            **concurrent_futures.RESULTS,
            **field_defaults.RESULTS,
            **named_tuples.RESULTS,
            **replaced_fields.RESULTS,
            **FieldDicts().results,
            **dict.fromkeys(GIVES_ARGUMENT, first_argument),
            **dict.fromkeys(LOCATING, self.named.located),
            **dict.fromkeys(GIVES_ARGUMENTS, self.given_back.arguments),
            **dict.fromkeys(SPLITS_ARGUMENTS, self.given_back.parts),
            **self.data.results,
            **self.filled.results,
        }

    def handler(self, name: str) -> Handler | None:
        found = self.results.get(index.canonical(name))
        if found is None and name.rpartition(".")[2] in RESTORING:
            return self.filled.made
        if found is None and "()." in name:
            base, _, method = name.partition("().")
            known = index.RETURNS_ITSELF.get(index.canonical(base), frozenset()) | index.subset_methods(base)
            return builtins.receiver if method in known else None
        return found

    def gives_subsets(self, value: Instance) -> bool:
        if isinstance(value.of, External):
            return bool(index.subset_methods(value.of.name))
        named = any(map(index.subset_methods, self.world.hierarchy.externals(value.of)))
        return named and self.world.hierarchy.method(value.of, "__getitem__") is None

    def is_record(self, name: str) -> bool:
        return index.canonical(name) in index.RECORD_MAKERS

    def joins(self, value: Instance) -> bool:
        # torch/utils/data/dataset.py: `+` makes a ConcatDataset, or a ChainDataset of iterable ones.
        if isinstance(value.of, External):
            return index.canonical(value.of.name) in index.WRAPPERS or index.is_dataset_base(value.of.name)
        return any(map(index.is_dataset_base, self.world.hierarchy.externals(value.of)))

    @staticmethod
    def canonical(name: str) -> str:
        return index.canonical(name)

    @staticmethod
    def reads(name: str) -> bool:
        found = form(index.canonical(name))
        return found is not None and found[0] in (RECORDS, OPAQUE, ROWS)

    @staticmethod
    def is_table(name: str) -> bool:
        found = form(index.canonical(name))
        return found is not None and found[0] == FRAME

    @staticmethod
    def arguments_kept(name: str) -> Collection[tuple[str, int]]:
        return index.ARGUMENTS_KEPT.get(name, ())

    def in_dictionary(self, base: Expr, index: Expr, site: Site) -> Values | None:
        return in_dictionary(self.world, base, index, site)

    def in_namespace(self, name: str, attr: str, site: Site) -> Values | None:
        return of_base(self.world, name, attr, site)

    @staticmethod
    def ends_chain(base: str) -> bool:
        return index.canonical(base) in index.WRAPPERS

    @staticmethod
    def run_by(base: str, method: str) -> tuple[str, ...]:
        return index.methods_run(base).get(method, ())

    @staticmethod
    def exports(module: str, name: str) -> bool:
        return index.exports(module, name)

    def is_launcher(self, name: str) -> bool:
        return index.canonical(name) in LAUNCHERS or name in self.world.settings.launchers

    def is_loader_name(self, name: str) -> bool:
        return index.canonical(name) in LOADERS or name in self.world.settings.loaders

    def held_by(self, value: Instance) -> Values:
        later = isinstance(value.of, External) and value.of.name == hydra.LAZY_CALL
        return () if later else contents.held_by(self.world, value)

    def calls_back(self, name: str) -> bool:
        keeps = name in hydra.INSTANTIATING or name == hydra.LAZY_CALL or self.is_launcher(name) or self.passes_on(name)
        return not keeps and callbacks.calls_back(name)

    @staticmethod
    def surely_calls(name: str) -> bool:
        return callbacks.surely_calls(name)

    def hands_out(self, name: str) -> bool:
        root = name.partition(".")[0]
        return root in _CARRYING or root in sys.stdlib_module_names or hasattr(python, root) or self.passes_on(name)

    def passes_on(self, name: str) -> bool:
        return self.is_loader_name(name)

    @staticmethod
    def calls_forward(bases: Iterable[str]) -> bool:
        return any(name.startswith(("torch.nn.", "lightning")) or name.endswith("Module") for name in bases)

    @staticmethod
    def hook_callers(name: str) -> Iterable[str]:
        return sorted(hooks.ENTRIES.get(name, ()))

    def called_hooks(
        self, name: str, file: SourceFile, index: int, frame: Frame | None
    ) -> Iterator[tuple[Function, Frame]]:
        return hooks.called_hooks(self.world, name, file, index, frame)

    def parameter(self, function: Function, name: str, frame: Frame | None = None) -> Values | None:
        if frame is not None:
            return from_configuration(self.world, function, name, frame) or None
        found = click.from_command_line(self.world, function, name)
        return hydra.from_command_line(self.world, function, name) if found is None else found

    def in_parsed(self, value: Parsed, key: str) -> Found:
        return self.parsers.lookup(value, key)

    def options(self, value: Parsed, dest: str) -> list[tuple[SourceFile, int]]:
        return self.parsers.nearest(value, dest)

    def chooses(self, dest: str) -> bool:
        return self.parsers.chooses(dest)

    def in_data(self, value: Data, key: object) -> Found:
        return self.data.lookup(value, key)

    def configures(self, key: str) -> bool:
        return self.data.files.have_key(key)

    def attribute(self, value: Instance, name: str) -> Values:
        if name == "value" and (held := self.flags.held(value)):
            return held
        if isinstance(value.of, Class):
            return self.inherited.find(value, name)
        if value.of.name in IMPORTING:
            return self.named.defined(name)
        if f"{index.canonical(value.of.name).rstrip('[]')}().{name}" in index.MAPS_ITSELF:
            return (value,)
        if (part := f"{index.canonical(value.of.name)}().{name}") in HELD:
            return (Instance(External(part), value.file, value.call, value.frame),)
        return self.inherited.find(value, name)

    def member(self, owner: External | Class | Function, name: str) -> Values:
        if isinstance(owner, External):
            return self.flags.value(name) if owner.name == absl.FLAGS else ()
        return (ray.REMOTE[name],) if name in ray.REMOTE else ()

    def configured_classes(self, keys: tuple[str, ...] = ()) -> Values:
        return self.named.configured(keys)

    def entries(self, registry: Value) -> Values:
        return self.registries.entries(registry)

    def looked_up(self, index: int, here: Site) -> Values:
        return self.registries.looked_up(index, here)

    def built(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        found = self.registries.built(file, index, frame)
        found = found or self.instantiation.built(file, index, frame)
        return found or self.filled.built(file, index, frame)

    def configured(self, actuals: Actuals, file: SourceFile, index: int, frame: Frame | None) -> Actuals:
        if file.calls[index].func == _DICT:
            return self.configurations.inherited(actuals, file, index)
        if self.registries.built(file, index, frame):
            return registries.configured(actuals, file, index)
        if self.instantiation.instantiates(file, index):
            return self.instantiation.configured(actuals, file, index)
        filled = self.filled.configured(actuals, file, index)
        if filled is not actuals:
            return filled
        site = self.world.call_site(file, index, frame)
        return replaced_fields.configured(self.world, actuals, file, index, site)

    def fills(self, file: SourceFile, index: int) -> bool:
        return self.filled.fills(file, index)

    def described(self, values: Values) -> Values:
        return self.configurations.described(values)

    def parts(self, value: Value) -> Values:
        return self.configurations.parts(value)

    def described_loaders(self) -> Iterator[tuple[SourceFile, int, str]]:
        return self.configurations.loaders()

    def setting(self, key: str) -> frozenset[object]:
        return self.configurations.setting(key)

    def made_of(self, values: Values, file: SourceFile) -> Values:
        return self.instantiation.objects(values, file)
