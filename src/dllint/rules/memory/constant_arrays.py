"""Arrays of a dataset that each item uses as a whole: constants of a calculation, such as means or a camera's matrix,
which are small beside the data."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, BinOp, CallRef, Dict, List, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Class, External, Instance
from dllint.libraries.index import SIZE_KEEPING, canonical
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.item_code import ItemCode
from dllint.project.item_run import ItemRun

_OF_NUMBERS = frozenset({"randint", "range", "arange", "randperm", "zeros", "ones", "empty", "eye"})
"""Names of functions that take numbers and no arrays."""
_CALCULATING = ("numpy.", "torch.", "scipy.", "cv2.", "math.")
_PICKING = frozenset({"take", "take_along_axis", "index_select", "gather", "choose", "compress", "extract"})
"""Functions of these libraries that take an index."""
_REDUCING = frozenset({"dot", "matmul", "mean", "sum", "std", "max", "min", "norm"})
"""Methods of arrays and tensors that use all elements, and return no array of the same ones."""
_CONVERTING = frozenset(
    {"array", "asarray", "as_tensor", "from_numpy", "tensor", "Tensor", "FloatTensor", "LongTensor"}
)
"""Functions whose result has the same elements."""


def is_constant(code: ItemCode, value: Instance, attr: str, holder: Class) -> bool:
    """Whether workers use `self.attr` only as a whole, as a number, or as a part of a calculation, and never look up an
    element of it."""
    mentions = whole = 0
    for run in code.runs(value, holder):
        mentions += sum(run.is_attribute(expr, attr) for expr in run.expressions)
        whole += sum(run.is_attribute(expr, attr) for expr in _used_whole(code, run))
        if any(run.is_attribute(part, attr) for base in _picked_from(run) for part in walk(base, run.file)):
            return False
    return 0 < mentions == whole and not any(
        not _draws_number(run, expr) for run, found in code.items(value, attr, holder, "any") for expr in found
    )


def _picked_from(run: ItemRun) -> Iterator[Expr]:
    """What the element of an item is looked up in: `self.rows / 255` of `(self.rows / 255)[index]`, also by a name."""
    bases = {one.value for one in run.expressions if isinstance(one, Subscript) and run.picks(one.index)}
    yield from bases
    yield from (event.value for event in run.events if event.target in bases and event.value is not None)


def _draws_number(run: ItemRun, expr: Expr) -> bool:
    """Whether what looks like a lookup takes a number: `np.random.randint(self.count)`."""
    return isinstance(expr, CallRef) and last_name(run.file.calls[expr.index].func) in _OF_NUMBERS


def _used_whole(code: ItemCode, run: ItemRun) -> Iterator[Expr]:
    """The operands and arguments that a function uses whole, and what it hands out as a part of an item."""
    for expr in run.expressions:
        match expr:
            case BinOp(left=left, right=right):
                yield from (_converted(side, run.file) for side in (left, right))
            case Tuple(elements) | List(elements):
                yield from (_converted(one, run.file) for one in elements)
            case Dict(items):
                yield from (_converted(one, run.file) for _, one in items)
    for event in run.events:
        # What a name stands for may be looked up by that name, which `items` follows.
        if event.kind in ("return", "assign") and event.value is not None:
            yield event.value
    for index in run.file.calls_of(run.scope):
        call = run.file.calls[index]
        if isinstance(call.func, Attribute) and call.func.attr in _REDUCING:
            yield _converted(call.func.value, run.file)
        if last_name(call.func) in _OF_NUMBERS or _calculates(code, run, index):
            yield from (_converted(argument.value, run.file) for argument in call.args)


def _converted(expr: Expr, file: SourceFile) -> Expr:
    """What an operand is made of: `self.mean` of `torch.from_numpy(self.mean.astype(np.float32))`."""
    while True:
        call = file.calls[expr.index] if isinstance(expr, CallRef) else None
        if isinstance(expr, Attribute) and expr.attr in SIZE_KEEPING:
            expr = expr.value
        elif call is not None and last_name(call.func) in _CONVERTING and call.args:
            expr = call.args[0].value
        elif call is not None and isinstance(call.func, Attribute) and call.func.attr in SIZE_KEEPING:
            expr = call.func.value
        else:
            return expr


def _calculates(code: ItemCode, run: ItemRun, index: int) -> bool:
    func = run.file.calls[index].func
    if last_name(func) in _PICKING | _CONVERTING:
        return False
    values = code.world.values.evaluate(func, code.world.call_site(run.file, index, run.run.frame))
    names = [canonical(one.name) for one in values if isinstance(one, External)]
    return bool(names) and len(names) == len(values) and all(name.startswith(_CALCULATING) for name in names)
