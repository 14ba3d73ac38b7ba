"""The provenance of a loader's arguments, and the attributes that its datasets keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dllint.finding import Place
from dllint.inference.origins import Origins
from dllint.inference.origins.sources import Source, defined_at
from dllint.inference.origins.words import described
from dllint.inference.values import UNKNOWN, Actual, Class, Const, External, Function, Instance, Unknown, Value
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.span import Span

ALWAYS = (
    "dataset",
    "num_workers",
    "multiprocessing_context",
    "collate_fn",
    "worker_init_fn",
    "persistent_workers",
    "prefetch_factor",
    "pin_memory",
)
"""Arguments that determine what workers do: shown even if they are not given."""
OTHERS = ("sampler", "batch_sampler", "batch_size", "shuffle", "drop_last", "timeout", "generator", "in_order")


@dataclass(frozen=True)
class Argument:
    """An argument of a loader, by torch's name.

    Attributes:
        given: whether the call, or a mapping that it unpacks, may pass it.
        written: the expression at the call; "" if it is not written there.
        place: the place of the expression; `None` if there is none.
        sources: the possible values, each with its origin, and reasons for unknown values.
    """

    name: str
    given: bool
    written: str
    place: Place | None
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class KeptTrace:
    """An attribute of a dataset when workers start. `note` says why it cannot be pickled, `constant` whether it is
    always a constant, `dropped` whether `__getstate__` or `__reduce__` omits it."""

    name: str
    text: str
    place: Place
    note: str = ""
    constant: bool = False
    dropped: bool = False


@dataclass(frozen=True)
class DatasetTrace:
    """A dataset that a loader reads from. `place` is where it is created; `None` if unknown."""

    name: str
    place: Place | None
    project: bool
    kept: tuple[KeptTrace, ...] = ()


def arguments(project: Project, loader: Loader) -> Iterator[Argument]:
    """Yield the arguments in a fixed order; those of `OTHERS` only if they are given."""
    for name in (*ALWAYS, *OTHERS):
        one = _argument(project, loader, name)
        if one.given or name in ALWAYS:
            yield one


def _argument(project: Project, loader: Loader, name: str) -> Argument:
    asked = loader.api.dataset if name == "dataset" else name
    found = loader.argument(asked)
    if not found.values:
        return Argument(name, False, "", None, ())
    actual, mappings = _given(loader, loader.api.names.get(asked, asked))
    provenance = Origins(project.world)
    sources: list[Source] = []
    if actual is not None:
        sources = provenance.of_actual(actual)
    for mapping in mappings if actual is None else ():
        sources += provenance.of_actual(mapping, loader.api.names.get(asked, asked))
    call = loader.file.calls[loader.call]
    place, written = None, ""
    if actual is not None and actual.site is not None:
        span = actual.span or call.span
        written = render(actual.expr, actual.site.file)
        place = Place(actual.site.file.path, span, f"{name} is given here")
    fallback = place or Place(loader.file.path, call.span, "")
    kept = _agreeing(found.values, sources, fallback, mappings, loader)
    return Argument(name, True, written, place, tuple(kept))


def _agreeing(
    values: tuple[Value, ...], sources: list[Source], fallback: Place, mappings: list[Actual], loader: Loader
) -> Iterator[Source]:
    """Yield the sources that agree with the values by which rules judge, and those values that have no source."""
    texts = dict.fromkeys(described(value) for value in values if not isinstance(value, Unknown))
    for source in sources:
        if source.known and source.text in texts:
            yield source
    explained = {source.text for source in sources if source.known}
    for value in values:
        text = described(value)
        if not isinstance(value, Unknown) and text not in explained:
            explained.add(text)
            made = defined_at(value) or (fallback.path, fallback.span)
            yield Source(value, *made)
    if not any(isinstance(value, Unknown) for value in values):
        return
    reasons = [source for source in sources if not source.known]
    if reasons or any(source.caveat for source in sources):
        yield from reasons
    elif mappings:
        text = ", ".join(f"**{render(one.expr, loader.file)}" for one in mappings)
        where = mappings[0].site.file.path if mappings[0].site is not None else fallback.path
        yield Source(UNKNOWN, where, mappings[0].span or fallback.span, reason=("unpacking", text))
    else:
        yield Source(UNKNOWN, fallback.path, fallback.span, reason=("run time",))


def _given(loader: Loader, name: str) -> tuple[Actual | None, list[Actual]]:
    """Return the argument as written at the call (or in a partial, or where a loader class of the project passes it to
    its base class), and the unpacked mappings that may contain it."""
    reached = loader.reaching()
    if reached is None:
        return None, []
    api, actuals = reached
    if name in actuals.keywords:
        return actuals.keywords[name], []
    if name in api.params and api.params.index(name) < len(actuals.positional):
        return actuals.positional[api.params.index(name)], []
    return None, [*actuals.mappings, *(actuals.under.mappings if actuals.under is not None else ())]


# Datasets


def datasets(project: Project, loader: Loader) -> Iterator[DatasetTrace]:
    """Yield the datasets that the loader reads from: the project's with their kept attributes, others by name."""
    objects = project.dataset_objects(loader)
    seen: set[tuple[str, str, Span | None]] = set()
    for value in (*loader.datasets(), *objects):
        if not isinstance(value, Instance):
            continue
        made = defined_at(value)
        name = described(value)
        key = (name, made[0] if made else "", made[1] if made else None)
        if key in seen:
            continue
        seen.add(key)
        place = Place(*made, "made here") if made else None
        if isinstance(value.of, Class):
            yield DatasetTrace(name, place, True, tuple(_kept(project, value)))
        elif isinstance(value.of, External):
            yield DatasetTrace(name, place, False)


def _kept(project: Project, dataset: Instance) -> Iterator[KeptTrace]:
    dropped = project.datasets.dropped(dataset)
    inside: dict[str, list[str]] = {}
    for piece in project.datasets.pieces(dataset):
        if isinstance(piece.value, Function) and piece.kept is not None:
            note = _pickling(piece.value)
            if note:
                inside.setdefault(piece.kept.attr, []).append(f"{piece.path}: {note}" if "." in piece.path else note)
    seen: set[tuple[str, str, Span]] = set()
    for kept in project.datasets.kept(dataset):
        texts = dict.fromkeys(described(one) for one in kept.values)
        text = " or ".join(texts) or "not known"
        key = (kept.attr, text, kept.span)
        if key in seen:
            continue
        seen.add(key)
        note = "; ".join(dict.fromkeys(inside.get(kept.attr, ())))
        place = Place(kept.file.path, kept.span, f"sets {kept.attr}")
        constant = bool(kept.values) and all(isinstance(one, Const) for one in kept.values)
        yield KeptTrace(kept.attr, text, place, "" if kept.attr in dropped else note, constant, kept.attr in dropped)


def _pickling(value: Function) -> str:
    """Return why the function cannot be pickled by name, "" if it can."""
    what = described(value)
    if what == "lambda":
        return "a lambda cannot be pickled"
    return "a local function cannot be pickled" if what.startswith("local function") else ""
