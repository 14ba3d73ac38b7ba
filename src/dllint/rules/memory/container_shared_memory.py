"""DLL311: workers run in a container with 64 MiB of shared memory, which their batches have to pass through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.storage_limits import prefetched
from dllint.evidence.wording import counted, mebibytes
from dllint.finding import Finding, Place
from dllint.inference.values import External, Instance
from dllint.project import Project
from dllint.project.containers import Container, Containers
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL311"
_SIZE = 64 << 20
"""Bytes."""
_OF_LARGE_ITEMS = frozenset(
    {"cv2", "PIL", "torchvision", "torchaudio", "soundfile", "librosa", "imageio", "skimage", "nibabel", "SimpleITK"}
    | {"pydicom", "rasterio", "h5py", "tifffile", "decord", "av", "zarr", "lmdb"}
)
"""Packages whose functions read images, sounds and other arrays; a batch of texts fits in 64 MiB."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    if not any(project.regimes(loader) for loader in project.loaders):
        return
    causes: Causes[tuple[Container, Loader]] = Causes()
    containers = project.ask(Containers)
    for container, programs in containers.small:
        for loader in project.loaders:
            if any(containers.makes(program, loader) for program in programs):
                causes.add((container, loader), container, (loader.file.path, loader.call))
    for group in causes:
        yield _finding(project, group)


def _finding(project: Project, group: list[tuple[Container, Loader]]) -> Finding:
    loaders = list({(loader.file.path, loader.call): loader for _, loader in group}.values())
    containers = list(dict.fromkeys(container for container, _ in group))
    certain = [one for one in loaders if _has_large_items(project, one) and not one.workers().off]
    loader, container = (certain or loaders)[0], containers[0]
    places = [Place(one.path, one.span, f"{one.name} has 64 MiB of shared memory") for one in containers]
    places += [project.loader_place(one) for one in loaders if one is not loader]
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        "main",
        {
            "container": project.line_shown(container.path, container.span),
            "name": container.name,
            "remedy": "main" if container.kind == "docker" else container.kind,
        },
        severity=None if certain else "info",
        related=tuple(places),
        statement=loader.file.calls[loader.call].statement,
    )


def _has_large_items(project: Project, loader: Loader) -> bool:
    """Whether an item is seen to be read as an image, a sound or another array."""
    for value in project.served(loader):
        if isinstance(value, Instance) and isinstance(value.of, External) and _is_large(value.of.name):
            return True
    return any(
        _is_large(project.external_name(run.file, index) or "")
        for run in project.worker_runs(loader)
        for index in run.file.calls_of(run.scope)
    )


def _is_large(name: str) -> bool:
    return name.partition(".")[0] in _OF_LARGE_ITEMS


def judge(case: Case) -> Judgement:
    """Do the batches that wait take more than the container has?"""
    if case.failure is not None:
        return case.confirmed(case.failure)
    size, run = max(((_needed(run), run) for run in case.runs), key=lambda one: one[0], default=(0, None))
    if run is None or not size:
        return case.inconclusive("the run did not measure a batch")
    text = f"batches take up to {mebibytes(size)} of shared memory with {counted(run.count, 'worker')}"
    return case.confirmed(text) if size > _SIZE else case.refuted(text)


def _needed(run: LoaderRun) -> int:
    """The bytes of shared memory that batches take at most; an epoch of few batches has no more than these."""
    whole = [epoch.batches if epoch.natural else epoch.total for epoch in run.epochs]
    size = run.first_batch.shm if run.first_batch is not None else 0
    return min([prefetched(run, run.count), *(batches * size for batches in whole if batches is not None)])
