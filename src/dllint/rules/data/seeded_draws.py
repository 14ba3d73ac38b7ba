"""Whether the workers of a loader may draw from the global generators that their `worker_init_fn` seeds."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, List, Name, Starred, Tuple
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import NONE, UNKNOWN, Class, Display, External, Function, Instance, Partial, Site, Value
from dllint.libraries.index import COMPOSITIONS, GENERATORS, SEEDERS, UNDRAWING, canonical
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.rules.data.declared_versions import DeclaredVersions
from dllint.rules.data.samplers import DRAWING

if TYPE_CHECKING:
    from dllint.project.model import Project

_FAMILIES = {"numpy.random.": "numpy", "random.": "random", "torch.rand": "torch"}
"""Beginnings of the names of functions, and the generator that they draw from."""
_OF_PACKAGES = {"torchvision": "torch"}
"""Packages that draw in objects and functions of any name, with their generator."""
_OF_PYTHON = frozenset({"torchvision.transforms.RandomChoice", "torchvision.transforms.RandomOrder"})
"""Classes of these whose objects draw from Python's generator in any version (torchvision/transforms/transforms.py)."""
_LAMBDA = "torchvision.transforms.Lambda"
_CALLING = _OF_PYTHON | {_LAMBDA, "torchvision.transforms.RandomApply"}
"""Classes whose objects call what they are given."""
_FIXED = tuple(f"torchvision.{name}." for name in ("transforms.functional", "transforms.v2.functional", "io", "utils"))
"""Modules of these whose functions do what their arguments say."""
_DRAWING_NOTHING = frozenset(
    (
        *("numpy", "torch", "scipy", "pandas", "einops", "tqdm", "yaml", "ujson", "orjson", "msgpack", "lxml"),
        *(
            "PIL",
            "accimage",
            "cv2",
            "imageio",
            "tifffile",
            "turbojpeg",
            "nibabel",
            "pydicom",
            "SimpleITK",
            "pycocotools",
        ),
        *("soundfile", "librosa", "resampy", "audioread", "decord", "av", "sentencepiece"),
        *("h5py", "lmdb", "zarr", "tables", "netCDF4", "xarray", "pyarrow", "rasterio"),
    )
)
"""Other packages whose functions draw only where their names say so."""
_DRAWS = DRAWING | {"beta", "poisson", "rvs", "normal_", "uniform_", "random_", "bernoulli_", "dropout"}
"""Names of functions and methods that draw random numbers, also into a tensor or by a distribution."""


def may_draw(project: Project, loader: Loader, families: Iterable[str]) -> bool:
    """Whether a function that the workers run may draw from one of the generators: one that is not known may."""
    draws = _Draws(project, loader, frozenset(families))
    runs = [run for run in project.worker_runs(loader) if run.entry != "worker_init_fn"]
    return not runs or any(draws.calls(run, index) for run in runs for index in run.file.calls_of(run.scope))


class _Draws:
    """What the workers of one loader may draw from the wanted generators."""

    def __init__(self, project: Project, loader: Loader, wanted: frozenset[str]) -> None:
        self.project = project
        self.loader = loader
        self.wanted = wanted

    @cached_property
    def _draws_from_python(self) -> bool:
        """Whether the project runs a torchvision before 0.8, whose transforms draw from Python's generator
        (docs.pytorch.org/vision/0.9/transforms.html)."""
        versions = self.project.ask(DeclaredVersions)
        return bool(versions.below("torchvision", (0, 8)) or versions.below("torch", (1, 7)))

    def calls(self, run: WorkerRun, index: int) -> bool:
        """Whether a call in worker code may draw, other than in code that is a run of its own."""
        func = run.file.calls[index].func
        world = self.project.world
        values = world.values.evaluate(func, world.call_site(run.file, index, run.frame))
        # What is None is not called.
        unclear = [one for one in values if one != NONE and not _is_known(one)]
        if unclear and isinstance(func, Attribute) and not (isinstance(func.value, Name) and func.value.id == "self"):
            return func.attr in _DRAWS
        return bool(unclear) or any(self._of_external(one, 0) for one in values)

    def _of_external(self, value: Value, depth: int) -> bool:
        """Whether a function or an object of a library may draw."""
        if isinstance(value, Partial):
            value = value.plain
        of = value.of if isinstance(value, Instance) else value
        if not isinstance(of, External):
            return False
        name = canonical(of.name)
        if isinstance(value, Instance) and (name in COMPOSITIONS or name in _CALLING):
            if limits.EXTERNAL_DEPTH.exceeded(depth) or any(self._part(one, depth + 1) for one in self._parts(value)):
                return True
            if name in COMPOSITIONS or name == _LAMBDA:
                return False
        if name in SEEDERS or name in GENERATORS or name.endswith(("get_state", "set_state", "getstate", "setstate")):
            return False
        if (f"{name}()" if isinstance(value, Instance) else name.removesuffix(".__call__")) in UNDRAWING:
            return False
        family = next((one for beginning, one in _FAMILIES.items() if name.startswith(beginning)), None)
        if family is not None:
            return family in self.wanted
        package = name.partition(".")[0].removesuffix("()")
        if package in _OF_PACKAGES and not name.startswith(_FIXED) and not _is_of_result(name):
            constructs = isinstance(value, External) and name.rpartition(".")[2][:1].isupper()
            families = {_OF_PACKAGES[package]} if name.removesuffix("()") not in _OF_PYTHON else {"random"}
            if self._draws_from_python:
                families.add("random")
            return not constructs and not self.wanted.isdisjoint(families)
        of_python = package in sys.stdlib_module_names or hasattr(builtins, package) or "." not in name
        harmless = of_python or package in _DRAWING_NOTHING or package in _OF_PACKAGES
        return name.rpartition(".")[2].removesuffix("()") in _DRAWS if harmless else True

    def _parts(self, composed: Instance) -> Iterator[Value]:
        """What a composition calls, with an unknown value if more may be among it."""
        world = self.project.world
        actuals = world.made_with(composed)
        for given in (*actuals.positional, *actuals.keywords.values(), *actuals.stars, *actuals.mappings):
            for one in world.values.passed(given) or (UNKNOWN,):
                if not isinstance(one, Display):
                    yield one
                    continue
                for expr, site in self._elements(one):
                    yield from (world.values.evaluate(expr, site) if expr is not None else ()) or (UNKNOWN,)

    def _elements(self, listed: Display) -> Iterator[tuple[Expr | None, Site]]:
        """The elements of a list, also those that the program adds; None for others that there may be."""
        expr, site = listed.written.expr, listed.written.site
        known = isinstance(expr, (List, Tuple)) and listed.made is None and not listed.parts
        for element in expr.elements if isinstance(expr, (List, Tuple)) and known else (None,):
            yield None if isinstance(element, Starred) else element, site
        for change, where in self.project.world.mappings.changes_of(listed):
            if change.kind not in ("remove", "discard", "clear", "reverse", "sort"):
                yield change.value if change.kind == "add" else None, where

    def _part(self, value: Value, depth: int) -> bool:
        """Whether what a composition calls may draw: code of the project is known if it is among what workers run."""
        if isinstance(value, Partial):
            value = value.plain
        if isinstance(value, Instance) and isinstance(value.of, Class):
            method = self.project.world.hierarchy.method(value.of, "__call__")
            return method is None or not self.project.runs_in_worker(self.loader, method.file, method.scope)
        if isinstance(value, Function):
            return not self.project.runs_in_worker(self.loader, value.file, value.scope)
        return not _is_known(value) or self._of_external(value, depth)


def _is_of_result(name: str) -> bool:
    """Whether a name is that of a method of what a function or an object returns, and not of the object:
    `transforms.ToTensor()(image).squeeze`, `functional.to_tensor(image).squeeze`."""
    called, _, rest = name.partition("()")
    return "." in (rest.partition("()")[2] if called.rpartition(".")[2][:1].isupper() else rest)


def _is_known(value: Value) -> bool:
    if isinstance(value, Partial):
        return _is_known(value.plain)
    of = value.of if isinstance(value, Instance) else value
    return isinstance(of, (Class, External, Function))
