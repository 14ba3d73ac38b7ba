"""The samplers of a loader: objects of torch's classes, with their constructor arguments."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.schema import Param
from dllint.inference.values import Class, Const, External, Frame, Instance, Value, Values
from dllint.libraries.index import canonical
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


def samplers(project: Project, loader: Loader, kind: str, frame: Frame | None = None) -> Iterator[Instance]:
    """The samplers of the torch class `kind` that a loader receives, also inside a batch sampler, except those in
    unreachable branches."""
    values = [*loader.argument("sampler", frame).values]
    for value in loader.argument("batch_sampler", frame).values:
        if isinstance(value, Instance) and is_a(project, value, _BATCHES):
            values += argument(project, value, _BATCHES, "sampler") or ()
    for value in dict.fromkeys(values):
        if not isinstance(value, Instance) or value.file is None or value.call < 0 or not is_a(project, value, kind):
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
