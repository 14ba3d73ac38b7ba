"""Plain lists of records that are given to a loader as its dataset: `DataLoader(json.load(file), num_workers=4)`."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.schema import Argument
from dllint.inference.values import Class, Display, External, Instance, Unknown, Value
from dllint.libraries.contents import held_by
from dllint.libraries.index import READERS, canonical
from dllint.libraries.records import OPAQUE, RECORDS, ROWS, TABLE
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.memory.collated_fields import takes_fields
from dllint.rules.memory.objects_from_files import Records
from dllint.rules.memory.readings import Reading

_SUBSETS = frozenset({"torch.utils.data.Subset", "torch.utils.data.random_split"})
"""Functions and classes whose result has items of what they are given."""


def dataset_argument(loader: Loader) -> Argument | None:
    """The argument of a loader's own call that is its dataset; None if the call unpacks it, or passes none."""
    call = loader.file.calls[loader.call]
    named = next((one for one in call.args if one.keyword == loader.api.dataset), None)
    first = call.args[loader.names_object : 1 + loader.names_object]
    return named or next((one for one in first if one.keyword is None), None)


def shuffles(loader: Loader) -> bool:
    """Whether a loader shuffles, or a sampler chooses its items: then it reads the data of a training."""
    given = (loader.argument(name) for name in ("sampler", "batch_sampler"))
    return loader.flag("shuffle") is True or any(isinstance(value, Instance) for one in given for value in one.values)


def records_given(project: Project, loader: Loader) -> Reading | None:
    """The reading of records that a loader gets as its dataset, in a list or dict, or in a subset of one; None for any
    other dataset.

    A library's dataset that keeps records counts as one: `DataLoader(CocoDetection(root, names))`.
    Lines of a file are none: what the workers do with a line is not known, and most such lists are lists of paths.
    """
    argument = dataset_argument(loader)
    if argument is None or not loader.api.dataset:
        return None
    records = project.ask(Records)
    served = tuple(unwrapped(project, project.served(loader)))
    for value in served:
        if project.collected.many((value,)) is not None:
            return None
        held = records.collection(value) if isinstance(value, (Display, Instance)) else None
        reading = held.reading if held is not None else None
        if reading is None and isinstance(value, Unknown):
            reading = records.trace(argument.value, loader.site)
        if reading is not None and reading.level > 0 and any(_is_own_dataset(project, one) for one in served):
            continue
        if reading is not None and reading.kind in (RECORDS, ROWS, TABLE) and not _is_row(reading):
            return reading
        if reading is not None and reading.kind == OPAQUE and takes_fields(project, loader):
            return reading
    return None


def _is_own_dataset(project: Project, value: Value) -> bool:
    """Whether a value is an object of a dataset class of the project. Where a loader gets such objects, a part of a
    record results from merging branches: a function returns a dataset in one of them and a list of datasets in
    another, and each caller takes the one that it asked for apart."""
    return isinstance(value, Instance) and isinstance(value.of, Class) and project.datasets.derives(value.of)


def _is_row(reading: Reading) -> bool:
    """Whether a reading is one row. A loader's dataset is none: `load_dataset(path)[name]` with an unknown name is a
    part of the file, which stays there."""
    return reading.kind == ROWS and reading.level > 0


def constructing_base(project: Project, value: Instance) -> tuple[SourceFile, int, str] | None:
    """The call that gives a dataset of the project its records where its class extends a library's dataset that keeps
    them, and the last name of that: `super().__init__(root, names)`, or the call of the class without a constructor.
    None if it extends no such dataset."""
    if not isinstance(value.of, Class):
        return None
    hierarchy = project.world.hierarchy
    base = next((one for one in hierarchy.externals(value.of) if READERS.get(canonical(one)) == TABLE), None)
    if base is None:
        return None
    name = base.rpartition(".")[2]
    init = hierarchy.method(value.of, "__init__")
    if init is None:
        return (value.file, value.call, name) if value.file is not None and value.call >= 0 else None
    for index in init.file.calls_of(init.scope):
        if last_name(init.file.calls[index].func) == "__init__":
            return init.file, index, name
    return None


def unwrapped(project: Project, values: tuple[Value, ...]) -> Iterator[Value]:
    """Values, with what a subset takes its items from in place of the subset."""
    for value in values:
        of = value.of.name if isinstance(value, Instance) and isinstance(value.of, External) else ""
        if canonical(of).partition("[")[0] in _SUBSETS and isinstance(value, Instance):
            yield from held_by(project.world, value)
        else:
            yield value
