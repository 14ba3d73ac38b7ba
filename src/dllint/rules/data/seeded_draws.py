"""Whether the workers of a loader may draw from the global generators that their `worker_init_fn` seeds."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name
from dllint.inference.values import Class, External, Function, Instance, Partial, Value
from dllint.libraries.index import GENERATORS, SEEDERS, canonical
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun
from dllint.rules.data.samplers import DRAWING

if TYPE_CHECKING:
    from dllint.project.model import Project

_FAMILIES = {"numpy.random.": "numpy", "random.": "random", "torch.rand": "torch"}
"""Beginnings of the names of functions, and the generator that they draw from."""
_OF_PACKAGES = {"torchvision": ("torch", "random")}
"""Packages that draw in objects and functions of any name, with their generators."""
_DRAWING_NOTHING = frozenset(
    (
        *("numpy", "torch", "scipy", "pandas", "einops", "tqdm", "yaml", "ujson", "orjson", "msgpack", "lxml"),
        *("PIL", "cv2", "imageio", "tifffile", "turbojpeg", "nibabel", "pydicom", "SimpleITK", "pycocotools"),
        *("soundfile", "librosa", "resampy", "audioread", "decord", "av", "sentencepiece"),
        *("h5py", "lmdb", "zarr", "tables", "netCDF4", "xarray", "pyarrow", "rasterio"),
    )
)
"""Other packages whose functions draw only where their names say so."""
_DRAWS = DRAWING | {"beta", "poisson", "rvs", "normal_", "uniform_", "random_", "bernoulli_", "dropout"}
"""Names of functions and methods that draw random numbers, also into a tensor or by a distribution."""


def may_draw(project: Project, loader: Loader, families: Iterable[str]) -> bool:
    """Whether a function that the workers run may draw from one of the generators: one that is not known may."""
    wanted = frozenset(families)
    runs = [run for run in project.worker_runs(loader) if run.entry != "worker_init_fn"]
    return not runs or any(
        _draws(project, run, index, wanted) for run in runs for index in run.file.calls_of(run.scope)
    )


def _draws(project: Project, run: WorkerRun, index: int, wanted: frozenset[str]) -> bool:
    func = run.file.calls[index].func
    values = project.world.values.evaluate(func, project.world.call_site(run.file, index, run.frame))
    unclear = [one for one in values if not _is_known(one)]
    if unclear and isinstance(func, Attribute) and not (isinstance(func.value, Name) and func.value.id == "self"):
        return func.attr in _DRAWS
    return bool(unclear) or any(_of_external(one, wanted) for one in values)


def _is_known(value: Value) -> bool:
    if isinstance(value, Partial):
        return _is_known(value.plain)
    of = value.of if isinstance(value, Instance) else value
    return isinstance(of, (Class, External, Function))


def _of_external(value: Value, wanted: frozenset[str]) -> bool:
    """Whether a function or an object of a library may draw from one of the generators."""
    if isinstance(value, Partial):
        value = value.plain
    of = value.of if isinstance(value, Instance) else value
    if not isinstance(of, External):
        return False
    name = canonical(of.name)
    if name in SEEDERS or name in GENERATORS or name.endswith(("get_state", "set_state", "getstate", "setstate")):
        return False
    family = next((one for beginning, one in _FAMILIES.items() if name.startswith(beginning)), None)
    if family is not None:
        return family in wanted
    package = name.partition(".")[0].removesuffix("()")
    if package in _OF_PACKAGES:
        return not wanted.isdisjoint(_OF_PACKAGES[package])
    of_python = package in sys.stdlib_module_names or hasattr(builtins, package) or "." not in name
    harmless = of_python or package in _DRAWING_NOTHING
    return name.rpartition(".")[2].removesuffix("()") in _DRAWS if harmless else True
