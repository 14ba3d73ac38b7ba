"""Keep a shortened run from overwriting results: its saves go to the scratch directory, and are read back from there.

Redirected are `torch.save`, safetensors, files opened for writing under the name of a checkpoint (as Lightning, fsspec
and torch.distributed.checkpoint write them), and files copied or renamed to such a name. The scratch directory holds
them under their absolute path, so that every process of the run finds what another one saved. Reading, looking up,
copying, renaming and removing such a file act on the redirected one if there is one; a checkpoint that existed before
the run is neither replaced nor removed.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import shutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from dllint.probe import imports, plan, recorder, sites

SUFFIXES = (".pt", ".pth", ".ckpt", ".safetensors", ".distcp", ".pth.tar", ".pt.tar", ".ptl", ".onnx")
"""Suffixes of checkpoints: PyTorch, Lightning, safetensors, torch.distributed.checkpoint and exported models."""

_exists = os.path.lexists
_open, _stat, _replace, _remove = io.open, os.stat, os.replace, os.remove
_WRITING = frozenset("wax+")

_redirected = False
"""Whether this process has redirected anything: only then are reads of other names than a checkpoint's looked up."""


def is_checkpoint(path: str) -> bool:
    return path.lower().endswith(SUFFIXES)


def place_of(path: Any) -> str | None:
    """Return the absolute path of a file name; `None` for descriptors and open files."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    try:
        return os.path.abspath(os.fsdecode(path))
    except (OSError, TypeError, ValueError):
        return None


def mirror(place: str) -> str:
    """Return the path of a redirected file."""
    return os.path.join(plan.directory, plan.SAVES, os.path.splitdrive(place)[1].lstrip(os.sep))


def inside(place: str) -> bool:
    """Whether a path is in the scratch directory, or is not an ordinary file."""
    return place.startswith((plan.directory + os.sep, "/dev/", "/proc/", "/sys/"))


def to_write(path: Any, api: str, depth: int = 2) -> Any:
    """Record a write to `path`, and return the path in the scratch directory to write to instead.

    If the directory does not exist, `path` is returned, so that the write fails as it would without dllint.
    """
    global _redirected
    place = place_of(path)
    if recorder.silent or place is None or inside(place):
        return path
    parent = os.path.dirname(place)
    if not os.path.isdir(parent) and not os.path.isdir(mirror(parent)):
        return path
    target = mirror(place)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
    except OSError as error:
        recorder.trouble("saves", error)
    _redirected = True
    recorder.guarded(_told, api, place, target, sys._getframe(depth))
    return target


def _told(api: str, place: str, target: str, frame: Any) -> None:
    recorder.record("save", api=api, path=place, to=target, site=sites.caller(frame))


def to_read(path: Any, name_decides: bool = False) -> Any:
    """Return the path to read from: the redirected file if there is one, else `path`."""
    if isinstance(path, int) or recorder.silent:
        return path
    place = place_of(path)
    if place is None or (name_decides and not _redirected and not is_checkpoint(place)):
        return path
    target = mirror(place)
    return target if _exists(target) else path


def hook(module: ModuleType) -> None:
    """Replace the functions that write and read results, once `torch.serialization` has been imported."""
    module.save = _saving(module.save, "torch.save", 1)  # type: ignore[attr-defined]
    module.load = _reading(module.load, 0)  # type: ignore[attr-defined]
    _hook_files()
    imports.when("torch.jit._serialization", _hook_scripts)
    imports.when("safetensors", _hook_safetensors)
    for name in ("safetensors.torch", "safetensors.numpy"):
        imports.when(name, _hook_safetensors_files)
    imports.when("transformers.trainer", _keep_checkpoints)


def _saving(original: Callable[..., Any], api: str, position: int, keyword: str = "f") -> Callable[..., Any]:
    @functools.wraps(original)
    def save(*args: Any, **kwargs: Any) -> Any:
        if len(args) > position:
            args = (*args[:position], to_write(args[position], api), *args[position + 1 :])
        elif keyword in kwargs:
            kwargs[keyword] = to_write(kwargs[keyword], api)
        with sites.transparent:
            return original(*args, **kwargs)

    return save


def _reading(original: Callable[..., Any], position: int, keyword: str = "f") -> Callable[..., Any]:
    @functools.wraps(original)
    def load(*args: Any, **kwargs: Any) -> Any:
        if len(args) > position:
            args = (*args[:position], to_read(args[position]), *args[position + 1 :])
        elif keyword in kwargs:
            kwargs[keyword] = to_read(kwargs[keyword])
        with sites.transparent:
            return original(*args, **kwargs)

    return load


def _hook_scripts(module: Any) -> None:
    module.save = _saving(module.save, "torch.jit.save", 1)
    module.load = _reading(module.load, 0)


def _hook_safetensors(module: Any) -> None:
    original = module.safe_open

    @functools.wraps(original, updated=())
    def safe_open(filename: Any, *args: Any, **kwargs: Any) -> Any:
        with sites.transparent:
            return original(to_read(filename), *args, **kwargs)

    module.safe_open = safe_open


def _hook_safetensors_files(module: Any) -> None:
    module.save_file = _saving(module.save_file, f"{module.__name__}.save_file", 1, "filename")
    module.load_file = _reading(module.load_file, 0, "filename")


def _keep_checkpoints(module: Any) -> None:
    """Disable the removal of older checkpoints by Transformers' trainer: valuable ones may be among them."""

    def _rotate_checkpoints(self: Any, *args: Any, **kwargs: Any) -> None:
        place = place_of(getattr(getattr(self, "args", None), "output_dir", "")) or ""
        recorder.record("save", api="transformers.Trainer._rotate_checkpoints", path=place, to=plan.directory)

    if hasattr(module.Trainer, "_rotate_checkpoints"):
        module.Trainer._rotate_checkpoints = _rotate_checkpoints


def _hook_files() -> None:
    """Replace the functions that open, look up, copy, rename and remove files."""
    builtins.open = io.open = _opening()
    for name, made in (
        ("stat", _looking()),
        ("rename", _renaming("rename")),
        ("replace", _renaming("replace")),
        ("remove", _removing("remove")),
        ("unlink", _removing("unlink")),
        ("link", _linking("link")),
        ("symlink", _linking("symlink")),
    ):
        for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if getattr(os, name) in able:
                able.add(made)
        setattr(os, name, made)
    shutil.rmtree = _removing_trees(shutil.rmtree)
    shutil.copyfile = _copying(shutil.copyfile)
    shutil.copymode = _copying_metadata(shutil.copymode)
    shutil.copystat = _copying_metadata(shutil.copystat)
    if sys.version_info < (3, 11):
        _hook_old_paths()


def _hook_old_paths() -> None:
    """Update pathlib, which keeps its own references to these functions up to Python 3.10."""
    import pathlib

    accessor: Any = getattr(pathlib, "_NormalAccessor", None)
    for name in ("stat", "open", "unlink", "rename", "replace"):
        if hasattr(accessor, name):
            setattr(accessor, name, staticmethod(getattr(io if name == "open" else os, name)))


def _opening() -> Any:
    @functools.wraps(_open)
    def open(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
        target = file
        if isinstance(mode, str) and not isinstance(file, int):
            target = to_read(file, True) if _WRITING.isdisjoint(mode) else _to_open(file, mode)
        with sites.transparent:
            return _open(target, mode, *args, **kwargs)

    return open


def _to_open(file: Any, mode: str) -> Any:
    """Return the path to open for writing: for a checkpoint, the redirected one."""
    place = place_of(file)
    if place is None or not is_checkpoint(place) or recorder.silent or ("x" in mode and _exists(place)):
        return file
    target = to_write(file, "open", 3)
    if "w" not in mode and "x" not in mode and target != file and not _exists(target) and _exists(place):
        _copied(place, target)
    return target


def _copied(place: str, target: str) -> None:
    """Copy a file that will be modified in part."""
    with _open(place, "rb") as source, _open(target, "wb") as sink:
        shutil.copyfileobj(source, sink)


def _looking() -> Any:
    @functools.wraps(_stat)
    def stat(path: Any, *args: Any, **kwargs: Any) -> Any:
        if not _redirected and not (isinstance(path, str) and is_checkpoint(path)):
            return _stat(path, *args, **kwargs)
        if kwargs.get("dir_fd") is None:
            path = to_read(path, True)
        with sites.transparent:
            return _stat(path, *args, **kwargs)

    return stat


def _to_rename(src: Any, dst: Any, api: str) -> tuple[Any, Any]:
    """Return source and target of a rename: a redirected file stays redirected, a new checkpoint is redirected."""
    source, place = to_read(src, True), place_of(dst)
    becomes = place is not None and (is_checkpoint(place) or is_checkpoint(place_of(src) or ""))
    redirected = place is not None and not inside(place) and (source is not src or becomes)
    if not redirected or os.path.isdir(source) or not _exists(source):
        return src, dst
    return source, to_write(dst, api, 3)


def _renaming(name: str) -> Any:
    original = getattr(os, name)

    @functools.wraps(original)
    def rename(src: Any, dst: Any, **kwargs: Any) -> Any:
        source, target = src, dst
        if all(one is None for one in kwargs.values()):
            source, target = _to_rename(src, dst, f"os.{name}")
            if target is not dst and source is src and is_checkpoint(place_of(src) or ""):
                # An existing checkpoint stays; the program gets a copy under the new name.
                return _copied(source, target)
        try:
            return original(source, target, **kwargs)
        except OSError as error:
            if target is dst or not _exists(source) or os.path.isdir(source):
                sites.unseen(error)
                raise
        _copied(source, target)
        return _remove(source)

    return rename


def _linking(name: str) -> Any:
    original = getattr(os, name)

    @functools.wraps(original)
    def link(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        place = place_of(dst)
        plain = not recorder.silent and all(value is None for key, value in kwargs.items() if key.endswith("dir_fd"))
        if plain and place is not None and not inside(place):
            # A symbolic link's target is relative to the directory of the link, and the redirected link is elsewhere.
            start = os.path.dirname(place) if name == "symlink" else os.curdir
            meant = os.path.abspath(os.path.join(start, os.fsdecode(src)))
            source = to_read(meant, True)
            if source != meant or is_checkpoint(place):
                src, dst = source, to_write(dst, f"os.{name}")
                # A program that checks for a link before replacing it calls lstat, which does not see the redirected
                # one.
                if dst == mirror(place) and _exists(dst):
                    _remove(dst)
        with sites.transparent:
            return original(src, dst, *args, **kwargs)

    return link


def _removing(name: str) -> Any:
    original = getattr(os, name)

    @functools.wraps(original)
    def remove(path: Any, **kwargs: Any) -> Any:
        place = place_of(path)
        if kwargs.get("dir_fd") is not None or recorder.silent or place is None or inside(place):
            return original(path, **kwargs)
        if _redirected or is_checkpoint(place):
            target = mirror(place)
            if _exists(target):
                return original(target)
            if is_checkpoint(place) and _exists(place):
                recorder.guarded(_told, f"os.{name}", place, "", sys._getframe(1))
                return None
        with sites.transparent:
            return original(path, **kwargs)

    return remove


def _removing_trees(original: Any) -> Any:
    @functools.wraps(original)
    def rmtree(path: Any, *args: Any, **kwargs: Any) -> Any:
        place = place_of(path)
        if place is not None and not recorder.silent and not inside(place):
            original(mirror(place), ignore_errors=True)
            if any(is_checkpoint(file) for _, _, files in os.walk(place) for file in files):
                recorder.guarded(_told, "shutil.rmtree", place, "", sys._getframe(1))
                return None
        with sites.transparent:
            return original(path, *args, **kwargs)

    return rmtree


def _copying(original: Any) -> Any:
    @functools.wraps(original)
    def copyfile(src: Any, dst: Any, **kwargs: Any) -> Any:
        source, place = to_read(src, True), place_of(dst)
        if source is not src and place is not None and not is_checkpoint(place):
            original(source, to_write(dst, "shutil.copyfile"), **kwargs)
            return dst
        with sites.transparent:
            return original(src, dst, **kwargs)

    return copyfile


def _copying_metadata(original: Any) -> Any:
    """Copy mode and times to the redirected file if there is one, for `shutil.copy` and `shutil.copy2`."""

    @functools.wraps(original)
    def copy(src: Any, dst: Any, **kwargs: Any) -> Any:
        with sites.transparent:
            return original(to_read(src, True), to_read(dst, True), **kwargs)

    return copy
