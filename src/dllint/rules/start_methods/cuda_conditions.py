"""What stands around a call that uses CUDA: tests, and a `try` that catches its failure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dllint.facts.nodes import BoolOp, CallRef, Name, Tuple
from dllint.facts.schema import Expr
from dllint.linking.conditions import Atom, render
from dllint.linking.source import SourceFile, last_name

_CATCHING = ("RuntimeError", "Exception", "BaseException")
_DEVICE = re.compile(r"device|accelerator|cuda|gpu", re.IGNORECASE)
_DOTTED = re.compile(r"[\w.]+")
_FLAG = re.compile(
    r"(?:(?:use|with|on|has|have|is|enable|try|run)_?)*(?:cuda|gpu)(?:_(?:available|enabled))?", re.IGNORECASE
)
_COUNT = re.compile(
    r"(?:^|[._])(?:gpus(?:_per_node)?|(?:n|num|number_of)_?gpus?(?:_per_node)?|gpu_count|device_count\(\))$"
)
_AGAINST = re.compile(
    r"(?:no|not|without|disable|disabled)_?(?:cuda|gpu)|(?:use_|on_|force_)?cpu(?:_only)?", re.IGNORECASE
)
_ASKED_FOR_GPU = re.compile(r"""\.startswith\(['"](?:cuda|gpu)|^['"](?:cuda|gpu)['"] in |\bcuda\.is_available\(\)$""")
_ONE_OF = re.compile(r"(.+) in [(\[{](.+)[)\]}]")
_WORD = re.compile(r"['\"](\w+)['\"]")
OTHER_DEVICES = ("cpu", "mps", "xpu", "meta", "hpu", "npu", "mlu", "musa", "xla", "mtia")
"""The devices of `torch.device` that are none of CUDA."""


def joined(test: Expr, holds: bool) -> tuple[Expr, ...]:
    """The tests that all have the result `holds` if a test has it: `a and b` is true if both are."""
    return test.values if isinstance(test, BoolOp) and (test.op == "and") is holds else (test,)


def forgiven(file: SourceFile, region: int, index: int, queries: bool) -> bool:
    """Whether a `try` directly around a call catches its failure and continues, and nothing is lost: the result is
    unused, or the call only `queries` the GPU and the rest of the `try` only keeps what it told."""
    entry = file.facts.regions[region]
    events = file.scopes[file.calls[index].scope].events
    if entry.kind != "try" or not (
        any(event.kind == "expr" and event.value == CallRef(index) for event in events)
        or (queries and _only_kept(file, region, index))
    ):
        return False
    for number in range(region + 1, len(file.facts.regions)):
        other = file.facts.regions[number]
        if other.parent != entry.parent:
            continue
        if other.kind != "handler":
            return False
        kinds = () if other.expr is None else other.expr.elements if isinstance(other.expr, Tuple) else (other.expr,)
        if not kinds or any(last_name(kind) in _CATCHING for kind in kinds):
            return not any(event.kind == "raise" and event.region == number for event in events)
    return False


def _only_kept(file: SourceFile, region: int, index: int) -> bool:
    """Whether a `try` from a call on does nothing but keep or return the answers of such calls."""
    call = file.calls[index]
    for event in file.scopes[call.scope].events:
        if event.span.start < call.statement.start or not file.encloses(region, event.region):
            continue
        kept = event.kind == "return" or (event.kind == "assign" and isinstance(event.target, Name))
        if event.region != region or not kept:
            return False
    return not any(
        file.encloses(region, other.region)
        and other.statement.start >= call.statement.start
        and "cuda" not in render(other.func, file)
        for other in map(file.calls.__getitem__, file.calls_of(call.scope))
    )


def without_gpu(conditions: Iterable[Atom]) -> bool:
    """Whether a program does not use CUDA under these conditions: `args.device == "cpu"`, `not use_cuda`,
    `args.no_cuda`, `torch.cuda.device_count() == 0`."""
    return any(map(_without_gpu, conditions))


def _without_gpu(atom: Atom) -> bool:
    text, holds = atom.text, atom.holds
    if atom.equals:
        value = atom.equals.strip("'")
        if value == "0":
            return holds and _COUNT.search(text) is not None
        names = OTHER_DEVICES if holds else ("cuda", "gpu")
        return value in names and _DEVICE.search(text) is not None
    if _DOTTED.fullmatch(text):
        name = text.rpartition(".")[2]
        return holds if _AGAINST.fullmatch(name) else not holds and _FLAG.fullmatch(name) is not None
    among = _ONE_OF.fullmatch(text) if holds else None
    if among is not None:
        names = tuple(_WORD.findall(among[2]))
        return bool(names) and _DEVICE.search(among[1]) is not None and set(names) <= set(OTHER_DEVICES)
    return not holds and _ASKED_FOR_GPU.search(text) is not None
