"""The samplers of a loader: objects of torch's classes, with their constructor arguments, and of the project's."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Param
from dllint.inference.values import Class, Const, External, Function, Instance, Value, Values
from dllint.libraries.index import canonical
from dllint.linking.expressions import walk
from dllint.linking.source import last_name
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.span import WHOLE_FILE

DISTRIBUTED = "torch.utils.data.DistributedSampler"
RANDOM = "torch.utils.data.RandomSampler"
SUBSET = "torch.utils.data.SubsetRandomSampler"
WEIGHTED = "torch.utils.data.WeightedRandomSampler"
_BATCHES = "torch.utils.data.BatchSampler"
_PARAMETERS = {
    DISTRIBUTED: ("dataset", "num_replicas", "rank", "shuffle", "seed", "drop_last"),
    RANDOM: ("data_source", "replacement", "num_samples", "generator"),
    SUBSET: ("indices", "generator"),
    WEIGHTED: ("weights", "num_samples", "replacement", "generator"),
    _BATCHES: ("sampler", "batch_size", "drop_last"),
}


_SEEDING = frozenset({"manual_seed", "seed", "Random", "RandomState", "default_rng"})
"""Last names of the functions and classes that take the seed of a generator."""
CHOOSING = frozenset({"randperm", "permutation", "shuffle", "sample", "choice", "choices", "multinomial"})
"""Last names of functions that choose an order, or some of several things, at random."""
DRAWING = CHOOSING | {
    *("random", "rand", "randn", "randint", "randrange", "random_sample", "uniform", "normal", "integers", "gauss"),
    *("bernoulli", "binomial", "rand_like", "randn_like", "randint_like", "standard_normal"),
}
"""Last names of functions and methods that draw random numbers."""


def samplers(project: Project, loader: Loader, kind: str) -> Iterator[Instance]:
    """The samplers of the torch class `kind` that a loader receives, also inside a batch sampler, except those in
    unreachable branches."""
    return (value for value in _made(project, loader) if is_a(project, value, kind))


def _made(project: Project, loader: Loader) -> Iterator[Instance]:
    """The samplers and batch samplers that a loader receives, and the samplers inside the latter."""
    values = [*loader.argument("sampler").values]
    for value in loader.argument("batch_sampler").values:
        values.append(value)
        if isinstance(value, Instance) and is_a(project, value, _BATCHES):
            values += argument(project, value, _BATCHES, "sampler") or ()
    for value in dict.fromkeys(values):
        if not isinstance(value, Instance) or value.file is None or value.call < 0:
            continue
        if not project.world.unreached(project.world.call_site(value.file, value.call, value.frame)):
            yield value


def argument(project: Project, value: Instance, kind: str, name: str) -> Values | None:
    """The values of a sampler's constructor argument; None if it is not given."""
    params = [Param(one, "normal", None, None, WHOLE_FILE) for one in _PARAMETERS[kind]]
    found = project.world.parameters.given(project.world.made_with(value), params, name, 0)
    return None if found.absent and not found.values else found.values


def shuffles(project: Project, sampler: Instance) -> bool:
    """Whether a distributed sampler shuffles, which it does by default."""
    given = argument(project, sampler, DISTRIBUTED, "shuffle")
    return given is None or any(isinstance(one, Const) and one.value for one in given)


def may_shuffle(project: Project, sampler: Instance) -> bool:
    """Whether a distributed sampler shuffles, or an entry of a file says whether it does."""
    given = argument(project, sampler, DISTRIBUTED, "shuffle") or ()
    return shuffles(project, sampler) or any(isinstance(one, Instance) for one in given)


def is_a(project: Project, value: Value, kind: str) -> bool:
    """Whether a value is an object of the torch class `kind`, or of a subclass in the project that overrides neither
    `__init__`, `__iter__` nor `set_epoch`."""
    if not isinstance(value, Instance):
        return False
    if isinstance(value.of, External):
        return canonical(value.of.name) == kind
    hierarchy = project.world.hierarchy
    return (
        isinstance(value.of, Class)
        and any(canonical(one) == kind for one in hierarchy.externals(value.of))
        and all(hierarchy.method(value.of, method) is None for method in ("__init__", "__iter__", "set_epoch"))
    )


def seeded_samplers(project: Project, loader: Loader) -> Iterator[Instance]:
    """The samplers and batch samplers of a loader that are objects of the project's classes and shuffle by a generator
    that their epoch seeds."""
    return (value for value in _made(project, loader) if _seeded_by_epoch(project, value))


def _seeded_by_epoch(project: Project, value: Instance) -> bool:
    """Whether `__iter__` seeds a generator with an attribute that `set_epoch` alone sets."""
    hierarchy = project.world.hierarchy
    order = hierarchy.method(value.of, "__iter__") if isinstance(value.of, Class) else None
    if order is None or not isinstance(value.of, Class) or not order.file.scopes[order.scope].params:
        return False
    own = Name(order.file.scopes[order.scope].params[0].name)
    reached = [index for index in order.file.calls_of(order.scope) if _reaches(project, value, order, index)]
    if not any(last_name(order.file.calls[index].func) in CHOOSING | {"permuted"} for index in reached):
        return False
    return any(
        isinstance(part, Attribute) and part.value == own and _is_epoch(project, value.of, part.attr)
        for index in reached
        if last_name(order.file.calls[index].func) in _SEEDING
        for given in order.file.calls[index].args
        for part in walk(given.value, order.file)
    )


def _is_epoch(project: Project, cls: Class, attribute: str) -> bool:
    """Whether only the constructor and `set_epoch` set an attribute of a class, and the latter does."""
    hierarchy = project.world.hierarchy
    setting = hierarchy.method(cls, "set_epoch")
    if setting is None:
        # torch/utils/data/distributed.py
        inherited = any(canonical(one) == DISTRIBUTED for one in hierarchy.externals(cls))
        return inherited and attribute == "epoch" and not any(_setting(hierarchy.line(cls), attribute))
    setters = {*_setting(hierarchy.line(cls), attribute)}
    return setting.name in setters and setters <= {"__init__", setting.name}


def _setting(line: tuple[object, ...], attribute: str) -> Iterator[str]:
    """Yield the names of the methods that set an attribute of their object."""
    for cls in line:
        if isinstance(cls, Class):
            for scope in cls.file.children.get(cls.scope, ()):
                params = cls.file.scopes[scope].params
                own = params[0].name if params else ""
                if any(one.base == Name(own) and one.key == attribute for one in cls.file.stores(scope)):
                    yield cls.file.scopes[scope].name


def _reaches(project: Project, value: Instance, order: Function, index: int) -> bool:
    """Whether `__iter__` reaches a call: it is in no branch, or in one that a true attribute leads to."""
    file, call = order.file, order.file.calls[index]
    own = Name(file.scopes[order.scope].params[0].name)
    for number in file.regions(call.region):
        region = file.facts.regions[number]
        if region.kind in ("for", "while", "with"):
            continue
        test = region.expr
        if region.kind != "if" or not region.holds or not isinstance(test, Attribute) or test.value != own:
            return False
        given = project.world.values.attribute(value, test.attr)
        if not any(isinstance(one, Const) and one.value for one in given):
            return False
    return True
