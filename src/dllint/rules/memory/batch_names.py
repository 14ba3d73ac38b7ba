"""What is known of the local names in the body of a loop over batches: which hold a batch or a part of one, and which
hold tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, IfExp, Name, Opaque, Subscript, Tuple
from dllint.facts.schema import Call, Expr
from dllint.inference.values import Const, External, Frame, Instance
from dllint.libraries.index import ATTRIBUTES, METHODS
from dllint.linking.expressions import walk
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World

TENSOR_ONLY = frozenset(
    {*METHODS, *ATTRIBUTES, "size", "shape", "dtype", "device", "dim", "ndim", "cuda", "numel", "nelement", "is_cuda"}
) - {"data", "copy", "real", "imag", "split", "index_select", "sort", "max", "min", "sum", "repeat", "to"}
"""Attributes that only tensors have."""
JOINING = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack"})


class Names:
    """The names in the body of a loop over batches, or of a function that receives a batch.

    Attributes:
        region: the loop's region; None for the whole function.
        whole: names of batches; `parts` those of parts of one.
        positions: the names of what a batch has at one position or under one key, or of rows of it, each with that.
        tensors: names of parts that provably are tensors.
        arrays: names of parts that are arrays of NumPy.
        reshaped: names of parts that may have fewer axes than they came with.
        entries: names of entries of a batch, each with the entry: `labels = batch["labels"]`.
        counters: names of numbers that loops count.
        filled: the names of dicts and lists that the body makes itself, each with the parts of the batch that it puts
            there: `row = {}`, then `row["x"] = x`.
        replaced: the keys of a batch under which the body stores something else: `batch["x"] = batch["x"].cuda()`.
        dimensions: how many dimensions, besides that of the batch, what a batch has at a position or under a key surely
            has.
        on_cpu: whether something was moved to a device that is the CPU unless an option selects another.
    """

    def __init__(
        self, world: World, file: SourceFile, scope: int, region: int | None = None, frame: Frame | None = None
    ) -> None:
        self.world = world
        self.file = file
        self.scope = scope
        self.region = region
        self.frame = frame
        self.whole: set[str] = set()
        self.parts: set[str] = set()
        self.positions: dict[str, int | str] = {}
        self.tensors: set[str] = set()
        self.arrays: set[str] = set()
        self.reshaped: set[str] = set()
        self.entries: dict[str, Expr] = {}
        self.counters: set[str] = set()
        self.filled: dict[str, list[Expr]] = {}
        self.replaced: dict[str, set[object]] = {}
        self.dimensions: Callable[[int | str | None], int] = lambda position: 0
        self.on_cpu = False
        self._used: dict[Expr, bool] = {}

    def is_tensor(self, name: str) -> bool:
        """Whether the function uses the value of a name as a tensor."""
        return name in self.tensors or self._is_used_as_tensor(Name(name))

    def _is_used_as_tensor(self, named: Expr) -> bool:
        known = self._used.get(named)
        if known is None:
            given = self._calls_by_argument.get(named, ())
            known = self._used[named] = named in self._with_tensor_parts or any(map(self._is_torch, given))
        return known

    @cached_property
    def _calls_by_argument(self) -> dict[Expr, list[int]]:
        """The calls of the function, by what they are given."""
        found: dict[Expr, list[int]] = {}
        for index in self.file.calls_of(self.scope):
            for argument in self.file.calls[index].args:
                found.setdefault(argument.value, []).append(index)
        return found

    @cached_property
    def _with_tensor_parts(self) -> set[Expr]:
        """What the function reads an attribute of that only tensors have, or takes a part of along axes: `boxes[:, 0]`;
        a list has none."""
        found: set[Expr] = set()
        for index in self.file.calls_of(self.scope):
            func = self.file.calls[index].func
            if isinstance(func, Attribute) and func.attr in TENSOR_ONLY | {"to"}:
                found.add(func.value)
        for event in self.file.scopes[self.scope].events:
            for part in walk(event.value, self.file) if event.value is not None else ():
                match part:
                    case Attribute(value, attr) if attr in TENSOR_ONLY:
                        found.add(value)
                    case Subscript(value, Tuple()):
                        found.add(value)
        return found

    @cached_property
    def axes(self) -> dict[Expr, int]:
        """How many axes the function shows of what it takes parts of: `boxes[:, 0]` and `boxes.shape[1]` show two."""
        found: dict[Expr, int] = {}
        for expr, *_ in expressions(self.file, self.scope):
            for part in walk(expr, self.file):
                match part:
                    case Subscript(Attribute(value, "shape"), Constant(int() as axis)):
                        count = axis + 1
                    case Subscript(value, Tuple(elements)):
                        count = sum(not isinstance(one, Opaque) and one != Constant(None) for one in elements)
                    case _:
                        continue
                found[value] = max(count, found.get(value, 0))
        return found

    @cached_property
    def numbered(self) -> set[Expr]:
        """The names of what the function takes parts of by numbers: `batch[0]`."""
        return {
            part.value
            for expr, *_ in expressions(self.file, self.scope)
            for part in walk(expr, self.file)
            if isinstance(part, Subscript) and isinstance(part.value, Name)
            if isinstance(part.index, Constant) and isinstance(part.index.value, int)
        }

    def _joined(self, container: Expr) -> bool:
        """Whether the function joins the elements of a list by torch, which requires tensors. For an attribute,
        whether any method of its class does."""
        owner = self.file.method_of(self.scope) if isinstance(container, Attribute) else None
        return any(
            any(argument.value == container for argument in call.args) and self._is_torch(index)
            for name in JOINING
            for index in self.file.facts.called.get(name, ())
            if (call := self.file.calls[index]).scope == self.scope
            or (owner is not None and self.file.method_of(call.scope) == owner)
        )

    def _is_torch(self, index: int) -> bool:
        site = self.world.call_site(self.file, index, None)
        for value in self.world.values.evaluate(self.file.calls[index].func, site):
            of = value.of if isinstance(value, Instance) else value
            if isinstance(of, External) and of.name.startswith("torch.") and not of.name.startswith("torch.utils"):
                return True
        return False

    def _is_cpu(self, device: Expr, index: int) -> bool:
        """Whether a device is the CPU, possibly only by default of a command-line option."""
        if device == Constant("cpu"):
            return True
        site = self.world.call_site(self.file, index, self.frame)
        for value in self.world.values.evaluate(device, site):
            if isinstance(value, Const) and value.value == "cpu":
                self.on_cpu = True
            elif isinstance(value, Instance) and value.of == External("torch.device") and value.file is not None:
                call = value.file.calls[value.call]
                plain = [one.value for one in call.args] == [Constant("cpu")]
                self.on_cpu |= plain and not _asks_for_cuda(value.file, call)
        return self.on_cpu


def _asks_for_cuda(file: SourceFile, call: Call) -> bool:
    """Whether a device is created only if CUDA is not available, or by a conditional expression."""
    tests = [file.facts.regions[one].expr for one in file.regions(call.region)]
    written = [event.value for event in file.scopes[call.scope].events if event.span == call.statement]
    if any(isinstance(part, IfExp) for expr in written if expr is not None for part in walk(expr, file)):
        return True
    return any(
        isinstance(part, CallRef) and last_name(file.calls[part.index].func) == "is_available"
        for expr in tests
        if expr is not None
        for part in walk(expr, file)
    )
