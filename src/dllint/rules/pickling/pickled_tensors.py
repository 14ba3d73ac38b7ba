"""Tensors whose storage is created while an object is pickled for a worker, and freed before the worker receives it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, Comprehension, Dict, List, Set, Starred, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Class, External, Function, Instance, Site
from dllint.project.loaders import Loader
from dllint.rules.pickling.refusals import PICKLING_METHODS
from dllint.rules.pickling.sent_to_workers import Sent
from dllint.rules.pickling.unpicklable_values import place_of, sent_pieces
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

GENERATOR = "torch.Generator"
"""Pickling one stores its state in a new tensor (torch 2.13, measured)."""


@dataclass(frozen=True)
class MadeTensor(Sent):
    """A tensor that pickling creates. `method` is "__getstate__" or another pickling method, "" for a generator."""

    method: str


def made_while_pickling(project: Project, loader: Loader) -> Iterator[MadeTensor]:
    """Generators that a loader's datasets and callables hold, and tensors that their pickling methods create."""
    seen: set[tuple[str, Span]] = set()
    classes: dict[Class, str] = {}
    for dataset in project.dataset_objects(loader):
        if isinstance(dataset.of, Class):
            classes.setdefault(dataset.of, dataset.of.name)
    for holder, piece in sent_pieces(project, loader):
        value = piece.value
        if not isinstance(value, Instance):
            continue
        if isinstance(value.of, Class):
            classes.setdefault(value.of, value.of.name)
        elif value.of.name == GENERATOR:
            file, span, statement = place_of(piece)
            if file is not None and span is not None and (file.path, span) not in seen:
                seen.add((file.path, span))
                yield MadeTensor("DLL206", file, span, statement, holder, piece.kept, "")
    for cls, name in classes.items():
        method = next(
            (found for one in PICKLING_METHODS if (found := project.world.hierarchy.method(cls, one)) is not None), None
        )
        if method is not None:
            for span, statement in _made_in(project, cls, method):
                yield MadeTensor("DLL206", method.file, span, statement, name, None, method.name)


def _made_in(project: Project, cls: Class, method: Function) -> Iterator[tuple[Span, Span]]:
    """The calls in a pickling method whose tensors become part of its result, each with its statement."""
    file, scope = method.file, method.scope
    seen: set[Span] = set()
    for event in file.scopes[scope].events:
        if event.value is None or not (
            event.kind == "return" or (event.kind == "assign" and isinstance(event.target, Subscript))
        ):
            continue
        at = event.span.start
        site = Site(file, scope, event.region, at, project.world.receiver_frame(Instance(cls)))
        for leaf in _leaves(event.value):
            for value in project.world.values.evaluate(leaf, site):
                if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is not file:
                    continue
                call = file.calls[value.call] if value.call >= 0 else None
                if call is None or call.scope != scope or call.span in seen or "().numpy" in value.of.name:
                    continue
                if project.tensors.owns_storage(value):
                    seen.add(call.span)
                    yield call.span, call.statement


def _leaves(expr: Expr) -> Iterator[Expr]:
    """An expression, or the parts of a display, a dict, a comprehension or a union of dicts."""
    if isinstance(expr, (List, Tuple, Set)):
        for element in expr.elements:
            yield from _leaves(element.value if isinstance(element, Starred) else element)
    elif isinstance(expr, Dict):
        for _, value in expr.items:
            yield from _leaves(value)
    elif isinstance(expr, Comprehension):
        yield from _leaves(expr.element)
    elif isinstance(expr, BinOp) and expr.op == "|":
        yield from _leaves(expr.left)
        yield from _leaves(expr.right)
    else:
        yield expr
