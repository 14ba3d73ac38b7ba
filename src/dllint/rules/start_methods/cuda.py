"""CUDA: the calls that use it, in the worker's code and in the process that starts the worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Compare, Constant, Name
from dllint.facts.schema import Argument, Expr
from dllint.inference import limits
from dllint.inference.values import (
    NONE,
    Class,
    Const,
    External,
    Frame,
    Function,
    Instance,
    Pattern,
    Site,
    Value,
    Values,
)
from dllint.libraries.facets import CudaApi
from dllint.libraries.index import CUDA_CALLS, CUDA_CONTEXTS, CUDA_DEVICE_ARGUMENTS, TENSOR_MAKERS, canonical
from dllint.libraries.torch.cuda import (
    ASKS,
    ASKS_DRIVER,
    CHECKS_BFLOAT16,
    CUDA_SWITCHES,
    CUDA_TENSORS,
    LAYERS,
    MAKES_BESIDE,
    MAKES_ON_DEFAULT,
    NOTHING,
    PLACES,
    USES,
    USES_DRIVER,
    WITH_ARGUMENTS,
)
from dllint.linking.conditions import render, tested_at
from dllint.linking.source import SourceFile, last_name
from dllint.rules.start_methods.backends import INIT_PROCESS_GROUP, backends
from dllint.rules.start_methods.cuda_conditions import OTHER_DEVICES, forgiven, joined
from dllint.rules.start_methods.device_choice import DeviceChoice, asks_the_machine, needs_tensor_on_gpu
from dllint.rules.start_methods.moved_modules import MovedModules

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.loaders import Loader

_ON_DEVICE = ("cuda", "to", "pin_memory", "type", "backward", "init_process_group", *sorted(MAKES_BESIDE))
_FLAGS = ("cuda", "gpu", "device")


class Cuda:
    """Finds the calls that use or initialize CUDA, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        world = self.world = project.world
        listed = (
            *(*CUDA_CALLS, *CUDA_CONTEXTS, *CUDA_DEVICE_ARGUMENTS, *CUDA_SWITCHES, *TENSOR_MAKERS),
            *world.settings.cuda_calls,
        )
        plain = {*_ON_DEVICE, *(name.rsplit(".", 1)[-1] for name in listed)}
        self.choice = DeviceChoice(world)
        self.modules = MovedModules(self)
        self._may_use: dict[tuple[SourceFile, int, Frame | None], bool] = {}
        self._names = plain.union(*(world.aliases(name) for name in sorted(plain)))

    def used_by_workers(self, loader: Loader) -> bool:
        """Whether code that the workers run moves data to CUDA or queries it, under any condition."""
        return any(self.may_use(run.file, run.scope, run.frame) for run in self.project.worker_runs(loader))

    def used_in(self, file: SourceFile) -> bool:
        """Whether any code of a file uses CUDA, under any condition."""
        return any(self.judge(file, index, None).fails for index in range(len(file.calls)))

    def calls(self, file: SourceFile, scope: int, frame: Frame | None) -> Iterator[tuple[int, CudaApi]]:
        """The calls directly in a scope that use or initialize CUDA, in source order."""
        for index in file.calls_of(scope):
            api = self.judge(file, index, frame)
            if (api.poisons or api.fails) and self.wanted(file, index, frame):
                yield index, api

    def uses(
        self, file: SourceFile, scope: int, frame: Frame | None, default: bool = False
    ) -> Iterator[tuple[int, CudaApi]]:
        """The calls of a scope that fail in a process whose parent has CUDA initialized.

        `default`: CUDA is the default device there, so that calls without a device use it as well.
        """
        for index in file.calls_of(scope):
            api = self.judge(file, index, frame)
            if default and not api.fails and self.on_default_device(file, index, frame):
                api = PLACES
            harmless = not api.fails or forgiven(file, file.calls[index].region, index, not api.places)
            if not harmless and self.wanted(file, index, frame):
                yield index, api

    def all_uses(
        self, file: SourceFile, scope: int, frame: Frame | None, default: bool
    ) -> Iterator[tuple[int, CudaApi]]:
        """The same, and after them those that fail because a module is on the GPU."""
        yield from self.uses(file, scope, frame, default)
        for index in file.calls_of(scope):
            if self.runs_module(file, index, frame) and self.wanted(file, index, frame):
                yield index, USES

    def runs_module(self, file: SourceFile, index: int, frame: Frame | None) -> bool:
        """Whether a call fails in a forked process only because a module is on the GPU."""
        return not self.judge(file, index, frame).fails and self.modules.used_by(file, index, frame) is not None

    def is_certain(self, file: SourceFile, index: int, frame: Frame | None) -> bool:
        """Whether a call uses CUDA on every machine with a GPU, so that no option or caller can select the CPU."""
        call = file.calls[index]
        for region in file.regions(call.region):
            entry = file.facts.regions[region]
            if entry.kind == "if" and entry.expr is not None:
                text = render(entry.expr, file, 200).lower()
                at = tested_at(entry, call.statement.start)
                site = Site(file, call.scope, entry.parent, at, frame)
                if not any(flag in text for flag in _FLAGS) or asks_the_machine(entry.expr, site):
                    continue
                values = self.world.values.evaluate(entry.expr, site)
                if not values or any(self._truth(value) is not entry.holds for value in values):
                    return False
        if self.runs_module(file, index, frame):
            mover = self.modules.used_by(file, index, frame)
            return mover is not None and self.is_certain(*mover, None)
        site = self.world.call_site(file, index, frame)
        devices = [one.value for one in call.args if one.keyword in (None, "device")]
        return not any(self.is_cuda(one, site) and self.choice.is_open(one, site) for one in devices)

    def may_use(self, file: SourceFile, scope: int, frame: Frame | None) -> bool:
        """Whether a scope uses CUDA under any condition, also an unknown one."""
        key = (file, scope, frame)
        found = self._may_use.get(key)
        if found is None:
            calls = file.calls_of(scope)
            found = any(self.judge(file, index, frame).fails for index in calls)
            found = found or any(self.modules.used_by(file, index, frame) is not None for index in calls)
            self._may_use[key] = found
        return found

    def judge(self, file: SourceFile, index: int, frame: Frame | None) -> CudaApi:
        """The effect of a call on CUDA, whatever its conditions."""
        call = file.calls[index]
        func = call.func
        if not isinstance(func, (Name, Attribute)) or not self._may_matter(func, call.args):
            return NOTHING
        site = self.world.call_site(file, index, frame)
        values = self.world.values.evaluate(func, site)
        if any(self._configured(value) for value in values):
            return PLACES
        if any(isinstance(value, (Function, Class)) for value in values):
            return NOTHING
        for value in values:
            if isinstance(value, External):
                found = self._listed(canonical(value.name), index, call.args, site)
                if found is not None:
                    return found
        return self._method(func.attr, call.args, site) if isinstance(func, Attribute) else NOTHING

    def _may_matter(self, func: Expr, args: list[Argument]) -> bool:
        """Whether a call may concern CUDA, judged without evaluating anything."""
        name = last_name(func)
        if name in self._names or name.endswith("Tensor"):
            return True
        return any(argument.keyword in ("device", "pin_memory") for argument in args)

    def _method(self, name: str, args: list[Argument], site: Site) -> CudaApi:
        """The effect of a method whose object is not known."""
        if name == "cuda":
            return PLACES
        if name == "pin_memory":
            return USES_DRIVER
        if name == "backward":
            return ASKS_DRIVER
        if name == "type":
            given = _argument(args, "dtype")
            return PLACES if given is not None and self._is_cuda_type(given, site) else NOTHING
        device = _argument(args, "device", 0 if name == "to" else -1) if name in ("to", *MAKES_BESIDE) else None
        return PLACES if device is not None and self.is_cuda(device, site) else NOTHING

    def _is_cuda_type(self, expr: Expr, site: Site) -> bool:
        """Whether a tensor type is one of the GPU: `torch.cuda.FloatTensor`, or its name."""
        values = self.world.values.evaluate(expr, site)
        names = [one.name if isinstance(one, External) else getattr(one, "value", None) for one in values]
        return bool(names) and all(isinstance(name, str) and CUDA_TENSORS.match(name) for name in names)

    def _configured(self, value: object) -> bool:
        calls = self.world.settings.cuda_calls
        if not calls:
            return False
        if isinstance(value, External):
            return value.name in calls or canonical(value.name) in calls
        if isinstance(value, (Function, Class)):
            module = self.world.index.module_name(value.file.path)
            return f"{module}.{value.file.qualified_name(value.scope)}" in calls
        return False

    def _listed(self, name: str, index: int, args: list[Argument], site: Site) -> CudaApi | None:
        if name in CUDA_SWITCHES and not self._is_on(args, *CUDA_SWITCHES[name], site):
            return NOTHING
        if name in CHECKS_BFLOAT16 and self._is_bfloat16(args, site):
            return USES
        found = CUDA_CALLS.get(name)
        if name in CUDA_CONTEXTS:
            found = CUDA_CONTEXTS[name] if _is_entered(site.file, index) else NOTHING
        if found is not None:
            keyword, given_api = WITH_ARGUMENTS.get(name, ("", found))
            given_too = any(one.keyword == keyword for one in args) if keyword else bool(args)
            return given_api if given_too and found is not NOTHING else found
        if CUDA_TENSORS.match(name):
            return PLACES
        if name == INIT_PROCESS_GROUP:
            return self._process_group(args, site)
        if name in CUDA_DEVICE_ARGUMENTS:
            known = CUDA_DEVICE_ARGUMENTS[name]
            given = _argument(args, known.keyword, known.position)
            return known.api if (self.is_cuda(given, site) if given is not None else known.default) else NOTHING
        if name in TENSOR_MAKERS or _is_layer(name):
            given = _argument(args, "device", -1)
            if given is not None and self.is_cuda(given, site):
                return PLACES
            return USES_DRIVER if self._is_on(args, "pin_memory", -1, False, site) else NOTHING
        return ASKS if name in CUDA_SWITCHES else None

    def _is_on(self, args: list[Argument], keyword: str, position: int, default: bool, site: Site) -> bool:
        """Whether an argument turns a call's effect on; its default also where its value is not known."""
        given = _argument(args, keyword, position)
        found = None if given is None else self.world.values.truth(self.world.values.evaluate(given, site))
        return default if found is None else found

    def _is_bfloat16(self, args: list[Argument], site: Site) -> bool:
        given = _argument(args, "dtype", -1)
        return given is not None and External("torch.bfloat16") in self.world.values.evaluate(given, site)

    def _process_group(self, args: list[Argument], site: Site) -> CudaApi:
        """The effect of making a process group: NCCL asks the driver for the devices, Gloo does not."""
        given = _argument(args, "backend")
        if given is None:
            return ASKS_DRIVER if not any(one.keyword in ("*", "**") for one in args) else NOTHING
        named = [
            name for value in self.world.values.evaluate(given, site) for name in backends(self.world, value) or [""]
        ]
        return ASKS_DRIVER if named and all("nccl" in name.lower() for name in named) else NOTHING

    def on_default_device(self, file: SourceFile, index: int, frame: Frame | None) -> bool:
        """Whether a call creates its tensors on the default device."""
        call = file.calls[index]
        if not isinstance(call.func, (Name, Attribute)) or any(one.keyword in ("device", "**") for one in call.args):
            return False
        values = self.world.values.evaluate(call.func, self.world.call_site(file, index, frame))
        names = [canonical(value.name) for value in values if isinstance(value, External)]
        return bool(names) and all(name in MAKES_ON_DEFAULT for name in names)

    # Devices

    def is_cuda(self, expr: Expr, site: Site) -> bool:
        """Whether a device is CUDA, always or wherever CUDA is available (`"cuda" if torch.cuda.is_available() else
        "cpu"`).

        If one function creates a CPU device and another a CUDA device, they belong to different objects and do not
        count.
        """
        values = self.world.values.evaluate(expr, site)
        kinds = set(self._kinds(values, 0))
        return "cuda" in kinds and "unknown" not in kinds and ("cpu" not in kinds or self._one_choice(values))

    def names_cpu(self, expr: Expr, site: Site) -> bool:
        """Whether a device is, or may be, the CPU alone."""
        return "cpu" in self._kinds(self.world.values.evaluate(expr, site), 0)

    def _one_choice(self, values: Values) -> bool:
        """Whether the devices are created in one function, or each of them may be CUDA."""
        made = [value for value in values if isinstance(value, Instance) and value.file is not None]
        places = {(one.file.path, one.file.calls[one.call].scope) for one in made if one.file is not None}
        return len(places) < 2 or all("cuda" in set(self._kinds((one,), 0)) for one in made)

    def _kinds(self, values: Values, depth: int) -> Iterator[str]:
        for value in values:
            if isinstance(value, Const) and isinstance(value.value, str):
                kind = value.value.partition(":")[0]
                yield kind if kind in ("cuda", *OTHER_DEVICES) else "unknown"
            elif isinstance(value, Const) and value.value is None:
                yield "none"
            elif _is_index(value) or (isinstance(value, Pattern) and value.prefix.startswith("cuda")):
                yield "cuda"
            elif (
                isinstance(value, Instance)
                and value.of == External("torch.device")
                and not limits.DEVICE_DEPTH.reached(depth)
            ):
                yield from self._named_by(value, depth)
            else:
                yield "unknown"

    def _named_by(self, value: Instance, depth: int) -> Iterator[str]:
        assert value.file is not None
        actuals = self.world.made_with(value)
        named = actuals.positional[0] if actuals.positional else actuals.keywords.get("type")
        if named is None or named.expr is None or named.site is None:
            yield "unknown"
        else:
            yield from self._kinds(self.world.values.evaluate(named.expr, named.site), depth + 1)

    def wanted(self, file: SourceFile, index: int, frame: Frame | None) -> bool:
        """Whether the conditions around a call can be true in a process without CUDA. An unknown flag about CUDA counts
        as possible."""
        call = file.calls[index]
        if call.region and self.world.impossible(self.world.call_site(file, index, frame)):
            return False
        for region in file.regions(call.region):
            entry = file.facts.regions[region]
            if entry.kind != "if" or entry.expr is None:
                continue
            at = tested_at(entry, call.statement.start)
            site = Site(file, call.scope, entry.parent, at, frame)
            if not all(self._may_be(test, entry.holds, site) for test in joined(entry.expr, entry.holds)):
                return False
        return True

    def _may_be(self, test: Expr, holds: bool, site: Site) -> bool:
        """Whether a condition can have this result in a process without CUDA."""
        if needs_tensor_on_gpu(self.world, test, holds, site):
            return False
        text = render(test, site.file, 200).lower()
        if not any(flag in text for flag in _FLAGS) or "is_available" in text:
            return not holds or self._made(test, site)
        return self._can_be(self.world.values.evaluate(test, site), holds, site)

    def _made(self, test: Expr, site: Site) -> bool:
        """Whether the object of a test (`if stream is not None`) can exist: streams and events are created only if
        the device is CUDA."""
        asked = test.left if isinstance(test, Compare) and test.comparisons == (("is not", Constant(None)),) else test
        if not isinstance(asked, (Name, Attribute)):
            return True
        values = self.world.values.evaluate(asked, site)
        made = [value for value in values if isinstance(value, Instance) and _of_cuda(value)]
        return NONE not in values or len(made) + 1 < len(values) or any(self._has_been_made(value) for value in made)

    def _has_been_made(self, value: Instance) -> bool:
        return value.file is None or value.call < 0 or self.wanted(value.file, value.call, value.frame)

    def _can_be(self, values: Values, holds: bool, site: Site) -> bool:
        """Whether a test can have this result. If one activation represents many, the arguments of a single call
        prove nothing."""
        quantifier = all if site.frame is not None and self.world.forgets(site.frame) else any
        return quantifier(self._truth(value) is holds for value in values)

    def _truth(self, value: Value) -> bool | None:
        """Whether a test holds on a machine with a GPU. The answer that the constructor or the module received stays
        true in forked workers, where asking again says no."""
        if isinstance(value, Instance) and value.of == External("torch.cuda.is_available") and value.file is not None:
            asked = value.file.calls[value.call].scope if value.call >= 0 else -1
            if asked == 0 or (asked > 0 and value.file.scopes[asked].name == "__init__"):
                return True
        return self.world.values.truth((value,))


def _of_cuda(value: Instance) -> bool:
    return isinstance(value.of, External) and canonical(value.of.name).startswith("torch.cuda.")


def _is_index(value: Value) -> bool:
    """Whether a value is the index of a GPU."""
    return isinstance(value, Const) and type(value.value) is int


def _argument(args: list[Argument], keyword: str, position: int = 0) -> Expr | None:
    """An argument by its keyword or its position, which is -1 if it has none."""
    for argument in args:
        if argument.keyword == keyword:
            return argument.value
    before = args[: position + 1]
    if 0 <= position < len(args) and all(argument.keyword is None for argument in before):
        return before[-1].value
    return None


def _is_layer(name: str) -> bool:
    return name.startswith(LAYERS) and name.rsplit(".", 1)[-1][:1].isupper()


def _is_entered(file: SourceFile, index: int) -> bool:
    """Whether a `with` enters the context manager that a call makes."""
    events = file.scopes[file.calls[index].scope].events_of("with")
    return any(event.value == CallRef(index) for event in events)
