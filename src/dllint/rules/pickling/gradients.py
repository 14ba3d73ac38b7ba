"""Items that carry gradients: computed by a model, or from a tensor with `requires_grad=True`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Dict, List, Name, Subscript, Tuple
from dllint.facts.schema import Event, Expr
from dllint.inference import limits
from dllint.inference.values import Class, Const, External, Frame, Function, Instance, Site, Value, Values
from dllint.libraries.contents import held_by
from dllint.libraries.index import WRAPPERS, canonical
from dllint.libraries.torch.tensors import GRAPH_KEEPING
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_LAYERS = re.compile(
    r"torch\.nn\.(modules\.\w+\.)?(Linear|Bilinear|Lazy\w+|Conv\w+|Embedding|EmbeddingBag|LSTM|GRU|RNN|\w+Cell|Transformer\w*"
    r"|MultiheadAttention|BatchNorm\dd|LayerNorm|GroupNorm|PReLU)\Z"
)
"""Layers whose weights are trained by default (torch.nn)."""
_MODELS = re.compile(r"torchvision\.models\.([\w.]*\.)?[a-z]\w*\Z|transformers\.\w*Model\w*\.from_pretrained\Z")
_KEEPING = GRAPH_KEEPING | {"permute", "transpose", "norm", "t"}
"""Methods whose result carries the gradients of the tensor."""
_GIVING_BACK = tuple(f"().{name}" for name in ("eval", "train", "to", "cuda", "cpu", "float", "half"))
"""Methods of a module that return the module itself (torch/nn/modules/module.py)."""
_PARTS = frozenset({"last_hidden_state", "pooler_output", "logits", "T"})
_STOPPING = frozenset({"no_grad", "inference_mode", "set_grad_enabled", "requires_grad_", "detach", "freeze"})


class Gradients:
    """Finds the items that carry gradients, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def items(self, value: Instance) -> Iterator[tuple[SourceFile, Event, str]]:
        """The `return` statements of a dataset's `__getitem__` whose item carries gradients, each with a description
        of their source."""
        method = self.world.hierarchy.method(value.of, "__getitem__") if isinstance(value.of, Class) else None
        if method is None or self._stopped(method):
            return
        frame = self.world.receiver_frame(value)
        for event in method.file.scopes[method.scope].events_of("return"):
            for leaf in _leaves(event.value):
                found = self._carried(leaf, self._site(method, event, frame), 0)
                if found:
                    yield method.file, event, found
                    break

    def given(self, loader: Loader) -> Iterator[tuple[SourceFile, Span, Span, str]]:
        """The tensors that carry gradients and that a loader's TensorDataset is made of, each with its statement."""
        todo = [*loader.datasets()]
        for value in todo:
            if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is None:
                continue
            name = canonical(value.of.name)
            if name in WRAPPERS:
                todo += [one for one in held_by(self.world, value) if one not in todo]
            elif name == "torch.utils.data.TensorDataset" and value.call >= 0:
                call = value.file.calls[value.call]
                site = self.world.call_site(value.file, value.call, value.frame)
                for argument in call.args:
                    found = "" if argument.keyword else self._carried(argument.value, site, 0)
                    if found:
                        yield value.file, argument.value_span, call.statement, found

    @staticmethod
    def _site(function: Function, event: Event, frame: Frame | None) -> Site:
        return Site(function.file, function.scope, event.region, event.span.start, frame)

    def _stopped(self, function: Function) -> bool:
        """Whether a function or its decorators control gradients. A `with torch.no_grad()` around a part of it
        counts as around all of it."""
        file, entry = function.file, function.file.scopes[function.scope]
        parts = [part for one in entry.decorators for part in walk(one.expr, file)]
        names = {last_name(part) for part in parts if isinstance(part, (Name, Attribute))}
        names |= {last_name(file.calls[index].func) for index in file.calls_of(function.scope)}
        return bool(names & (_STOPPING - {"detach"}))

    def _carried(self, expr: Expr, site: Site, depth: int) -> str:
        """A description of what in an expression provably carries gradients; "" if nothing does."""
        if limits.ARRAY_DEPTH.exceeded(depth):
            return ""
        if isinstance(expr, BinOp):
            return self._carried(expr.left, site, depth + 1) or self._carried(expr.right, site, depth + 1)
        if isinstance(expr, Subscript):
            return self._carried(expr.value, site, depth + 1)
        if isinstance(expr, Attribute) and expr.attr in _PARTS:
            return self._carried(expr.value, site, depth + 1)
        if isinstance(expr, Name):
            bound = self._latest(expr.id, site)
            if bound is not None:
                return self._carried(*bound, depth + 1)
        if isinstance(expr, CallRef):
            return self._of_call(expr, site, depth)
        return self._made(expr, site)

    def _of_call(self, expr: CallRef, site: Site, depth: int) -> str:
        func = site.file.calls[expr.index].func
        if isinstance(func, Attribute) and func.attr in _KEEPING:
            return self._carried(func.value, site, depth + 1)
        values = self.world.values.evaluate(func, site)
        if values and all(self._is_trained(value, 0) for value in values):
            return f"what the model `{_named(func)}` computes"
        return self._made(expr, site)

    def _made(self, expr: Expr, site: Site) -> str:
        """The description of `torch.zeros(3, requires_grad=True)` and of parameters, created here or kept on the
        dataset."""
        values = self.world.values.evaluate(expr, site)
        found = [value for value in values if isinstance(value, Instance) and isinstance(value.of, External)]
        if not found or len(found) < len(values):
            return ""
        for value in found:
            assert isinstance(value.of, External)
            if value.of.name == "torch.nn.Parameter":
                given = self.world.made_with(value).keywords.get("requires_grad")
                if given is None and value.call >= 0:
                    continue
                return ""
            if not value.of.name.startswith("torch.") or "()" in value.of.name or value.file is None or value.call < 0:
                return ""
            flag = self.project.evaluate_argument(value.file, value.call, -1, "requires_grad", value.frame)
            if not flag or not all(isinstance(one, Const) and one.value is True for one in flag):
                return ""
        return "a tensor made with `requires_grad=True`"

    def _latest(self, name: str, site: Site) -> tuple[Expr, Site] | None:
        """The expression that the last assignment before a place binds a local variable to, if it provably runs."""
        above = [
            binding
            for binding in site.file.bindings(site.scope).get(name, ())
            if binding.event is not None and binding.event.span.start < site.at
        ]
        if not above or above[-1].kind != "value" or above[-1].expr is None:
            return None
        event = above[-1].event
        assert event is not None
        if not site.file.encloses(event.region, site.region):
            return None
        at = event.span.start
        return above[-1].expr, Site(site.file, site.scope, event.region, at, site.frame)

    def _is_trained(self, value: Value, depth: int) -> bool:
        """Whether an object is a model with weights that require gradients."""
        if not isinstance(value, Instance) or limits.PIECE_DEPTH.exceeded(depth):
            return False
        if isinstance(value.of, External):
            same = self._same_module(value)
            if same:
                return all(self._is_trained(one, depth + 1) for one in same)
            return bool(_LAYERS.match(value.of.name) or _MODELS.match(value.of.name))
        names = self.world.hierarchy.externals(value.of)
        forward = self.world.hierarchy.method(value.of, "forward")
        if "torch.nn.Module" not in names or forward is None or self._stopped(forward):
            return False
        if any(last_name(forward.file.calls[index].func) == "detach" for index in forward.file.calls_of(forward.scope)):
            return False
        return any(
            self._is_trained(part, depth + 1)
            for owner in self.world.hierarchy.line(value.of)
            if isinstance(owner, Class)
            for attr in self.world.stores.own_stores(owner)
            for part in self.world.objects.attribute(value, attr)
        )

    def _same_module(self, value: Instance) -> Values:
        """The module that `module.eval()` or `module.to(device)` returns; empty for other values."""
        assert isinstance(value.of, External)
        if value.file is None or value.call < 0 or not value.of.name.endswith(_GIVING_BACK):
            return ()
        func = value.file.calls[value.call].func
        if not isinstance(func, Attribute):
            return ()
        return self.world.values.evaluate(func.value, self.world.call_site(value.file, value.call, value.frame))

    def turned_off(self, file: SourceFile) -> bool:
        """Whether code in the same program as a file turns gradients off other than by a `with` block, or freezes
        weights."""
        for name in ("requires_grad_", "set_grad_enabled", "freeze"):
            for other, _ in self.world.called(name):
                if self.project.import_graph.together((file.path,), (other.path,)):
                    return True
        return any(
            self.project.import_graph.together((file.path,), (other.path,))
            for other, _ in self.world.stores.outside_stores("requires_grad")
        )


def _leaves(expr: Expr | None) -> Iterator[Expr]:
    """An item, or the elements that it is composed of."""
    if isinstance(expr, (List, Tuple)):
        for element in expr.elements:
            yield from _leaves(element)
    elif isinstance(expr, Dict):
        for _, value in expr.items:
            yield from _leaves(value)
    elif expr is not None:
        yield expr


def _named(func: Expr) -> str:
    return last_name(func) if isinstance(func, (Name, Attribute)) else "model"
