"""Modules that the program has put on the GPU: their device is CUDA, and no forked process can run them."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Call, Expr
from dllint.inference import limits
from dllint.inference.names import CONSTRUCTORS
from dllint.inference.origins import Origins
from dllint.inference.values import NONE, Class, External, Frame, Function, Instance, Site, Value
from dllint.libraries.facets import CudaApi
from dllint.libraries.index import canonical
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

Mover = tuple[SourceFile, int]
"""The call that has put a module on the GPU."""

_MOVING = ("cuda", "to")
_KEEPING = frozenset({"eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "share_memory"})
"""Methods of modules that return the module itself."""
_WRAPPING = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "torch.compile"})
_RUNNING = frozenset(
    {
        *("forward", "encode", "generate", "embed", "encode_image", "encode_text", "get_image_features"),
        *("get_text_features", "extract_features", "forward_features"),
    }
)
"""Methods by which models of libraries compute."""
_WITHOUT_WEIGHTS = ("torchvision.transforms.", "albumentations.", "numpy.", "random.", "PIL.")
"""The beginnings of names of objects that workers call in most projects, and that have no device."""
_MODULES = ("torch.nn.", "lightning.", "transformers.")


class Calls(Protocol):
    """What is known of single calls: `dllint.rules.start_methods.cuda.Cuda`."""

    @property
    def world(self) -> World: ...
    def judge(self, file: SourceFile, index: int, frame: Frame | None) -> CudaApi: ...
    def wanted(self, file: SourceFile, index: int, frame: Frame | None) -> bool: ...
    def names_cpu(self, expr: Expr, site: Site) -> bool: ...


class MovedModules:
    """Finds the modules on the GPU, in one project."""

    def __init__(self, cuda: Calls) -> None:
        self.cuda = cuda
        self.world = cuda.world
        self.origins = Origins(cuda.world)

    def used_by(self, file: SourceFile, index: int, frame: Frame | None) -> Mover | None:
        """What has put the module on the GPU that a call runs, or whose device it moves something to."""
        call, site = file.calls[index], self.world.call_site(file, index, frame)
        if not isinstance(call.func, (Name, Attribute)):
            return None
        device = _device_of(call)
        if device is not None:
            return self._of_device(device, site, 0)
        found = self._of(call.func, site, 0)
        if found is not None or not isinstance(call.func, Attribute) or call.func.attr not in _RUNNING:
            return found
        # What methods of the project do is judged by their own calls.
        called = self.world.values.evaluate(call.func, site)
        return None if any(isinstance(one, Function) for one in called) else self._of(call.func.value, site, 0)

    def _of(self, expr: Expr, site: Site, depth: int) -> Mover | None:
        """What has put the module on the GPU that an expression stands for, or the one that it is a part of; None if
        it may be on the CPU."""
        if limits.DEVICE_DEPTH.exceeded(depth):
            return None
        values = [one for one in self.world.values.evaluate(expr, site) if one != NONE]
        found = [self._mover(one, depth) for one in values]
        if found and all(found):
            return found[0]
        if isinstance(expr, Attribute) and values and all(map(self._is_module, values)):
            return self._of(expr.value, site, depth + 1)
        return None

    def _mover(self, value: Value, depth: int) -> Mover | None:
        if not isinstance(value, Instance) or limits.DEVICE_DEPTH.exceeded(depth):
            return None
        if isinstance(value.of, External) and value.file is not None and value.call >= 0:
            file, call = value.file, value.file.calls[value.call]
            site = self.world.call_site(file, value.call, value.frame)
            name = canonical(value.of.name)
            method = name.rpartition("().")[2]
            if method != name and isinstance(call.func, Attribute) and call.func.attr == method:
                if method in _MOVING and self._moves(file, value.call, value.frame):
                    return file, value.call
                return self._of(call.func.value, site, depth + 1) if method in _KEEPING else None
            if name in _WRAPPING and call.args:
                return self._of(call.args[0].value, site, depth + 1)
        if isinstance(value.of, Class) and not self._is_module(value):
            return None
        if isinstance(value.of, External) and value.of.name.startswith(_WITHOUT_WEIGHTS):
            return None
        return self._moved.get(_key(value)) or self._moved.get(value.of)

    def _is_module(self, value: Value) -> bool:
        if not isinstance(value, Instance):
            return False
        if isinstance(value.of, Class):
            return any(canonical(one).startswith(_MODULES) for one in self.world.hierarchy.externals(value.of))
        return isinstance(value.of, External) and canonical(value.of.name).startswith("torch.nn.")

    def _moves(self, file: SourceFile, index: int, frame: Frame | None) -> bool:
        return self.cuda.judge(file, index, frame).places and self.cuda.wanted(file, index, frame)

    @cached_property
    def _moved(self) -> dict[Hashable, Mover]:
        """The modules that a call moves to the GPU in place, unless another moves them back. A class stands for its
        objects where its constructor moves them."""
        found: dict[Hashable, Mover] = {}
        back: set[Hashable] = set()
        for file in self.world.files.values():
            for index, call in enumerate(file.calls):
                func = call.func
                if not isinstance(func, Attribute) or func.attr not in (*_MOVING, "cpu"):
                    continue
                moves = func.attr != "cpu" and self._moves(file, index, None)
                if not moves and func.attr == "cuda":
                    continue
                site = self.world.call_site(file, index, None)
                if not moves and func.attr == "to" and not self._names_cpu(call, site):
                    continue
                for value in self.world.values.evaluate(func.value, site):
                    if not isinstance(value, Instance) or not self._in_place(value, file, index):
                        continue
                    key: Hashable = _key(value)
                    if value.call < 0 and file.scopes[call.scope].name in CONSTRUCTORS:
                        key = value.of
                    elif value.call < 0:
                        continue
                    if moves:
                        found.setdefault(key, (file, index))
                    else:
                        back.add(key)
        return {key: mover for key, mover in found.items() if key not in back}

    def _in_place(self, value: Instance, file: SourceFile, index: int) -> bool:
        """Whether `to()` moves an object itself. It returns a copy of a tensor, and an object of a library may be one
        where the program uses what the call returns."""
        return isinstance(value.of, Class) or self._is_module(value) or index in file.discarded

    def _names_cpu(self, call: Call, site: Site) -> bool:
        device = _device_of(call)
        return device is not None and self.cuda.names_cpu(device, site)

    def _of_device(self, expr: Expr, site: Site, depth: int) -> Mover | None:
        """What has put the module on the GPU whose device an expression is: `model.device`,
        `next(model.parameters()).device`."""
        if limits.DEVICE_DEPTH.exceeded(depth):
            return None
        if isinstance(expr, Attribute) and expr.attr == "device":
            owner = _owner_of_parameters(site.file, expr.value) if isinstance(expr.value, CallRef) else expr.value
            found = self._of(owner, site, 0) if owner is not None else None
            if found is not None or isinstance(expr.value, CallRef):
                return found
        if not isinstance(expr, (Name, Attribute)):
            return None
        steps = [self._of_device(one.expr, one.site, depth + 1) for one in self.origins.expressions(expr, site)]
        return steps[0] if steps and all(steps) else None


def _key(value: Instance) -> Hashable:
    return value.of, value.file, value.call


def _device_of(call: Call) -> Expr | None:
    """The device that a call names: of `x.to(device)`, `torch.zeros(3, device=device)`."""
    named = next((one.value for one in call.args if one.keyword == "device"), None)
    if named is None and isinstance(call.func, Attribute) and call.func.attr == "to" and call.args:
        return call.args[0].value if call.args[0].keyword is None else None
    return named


def _owner_of_parameters(file: SourceFile, expr: CallRef) -> Expr | None:
    """The module `m` of `next(m.parameters())`."""
    call = file.calls[expr.index]
    if call.func != Name("next") or not call.args or not isinstance(call.args[0].value, CallRef):
        return None
    func = file.calls[call.args[0].value.index].func
    return func.value if isinstance(func, Attribute) and func.attr == "parameters" else None
