"""Resolution of dotted module names to paths, by the layout of the files alone.

Any directory without an `__init__.py` may be on `sys.path` (the top of a checkout, a `src/` layout, the folder of a
script that is started there), so absolute imports are matched against every such directory, the importer's own first.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator

INSTALLED = frozenset(
    {"torch", "torchvision", "torchaudio", "numpy", "cv2", "lmdb", "h5py", "PIL", "pandas", "scipy", "lightning"}
    | {"pytorch_lightning", "transformers", "accelerate", "monai", "dgl", "torch_geometric", "webdataset"}
)
"""Packages that a single project file of the same name (`models/torch.py`) hardly ever shadows."""


class ModuleIndex:
    """The modules that a set of paths defines. Paths are returned exactly as they were passed in."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._path: dict[str, str] = {}
        self._by_suffix: dict[str, list[tuple[str, str]]] = {}
        self._root: dict[str, str] = {}
        self._resolved: dict[tuple[str, str, int], list[str]] = {}
        self._names: list[str] | None = None
        for path in sorted(paths):
            plain = path.replace("\\", "/")
            if plain.endswith(".py"):
                self._path[plain] = path
        for plain in self._path:
            package = plain.endswith("/__init__.py")
            parts = (plain[: -len("/__init__.py")] if package else plain[: -len(".py")]).split("/")
            name = ""
            for at in range(len(parts) - 1, -1, -1):
                if not parts[at].isidentifier():
                    break
                name = f"{parts[at]}.{name}" if name else parts[at]
                self._by_suffix.setdefault(name, []).append(("/".join(parts[:at]), plain))

    def resolve(self, importer: str, module: str, level: int = 0) -> list[str]:
        """Return the files that run when `importer` imports `module`: the packages' `__init__.py`, then the module.

        `level` counts the leading dots; with dots and an empty `module` it is the package itself. Empty if no file of
        the index is that module (an installed package, an attribute, a package without `__init__.py`).
        """
        key = (importer, module, level)
        found = self._resolved.get(key)
        if found is None:
            found = self._resolved[key] = self._find(importer, module, level)
        return found

    def _find(self, importer: str, module: str, level: int) -> list[str]:
        plain = importer.replace("\\", "/")
        # Files that notebook cells write have paths below the notebook's own.
        directory = plain if plain.lower().endswith(".ipynb") else _parent(plain)
        if level:
            for _ in range(level - 1):
                directory = _parent(directory)
            found = self._at(directory, module)
            return (
                [self._path[name] for name in self._packages(directory, module)] + [self._path[found]] if found else []
            )
        roots = self._roots_of(plain, directory, module)
        if not roots:
            return []
        root, found = roots
        return [self._path[name] for name in self._packages(root, module)] + [self._path[found]]

    def inside_packages(self, importer: str, module: str) -> list[str]:
        """Return the files that may be `module` if a directory on `sys.path` is a package itself, nearest first: many
        programs have an `__init__.py` beside their scripts, or put the folder of a package there.

        What is found need not be meant: an installed package can have the same name. The caller checks what the file
        defines. Empty if `resolve` finds the module, or if the standard library or a package known by its name has it.
        """
        top, _, rest = module.partition(".")
        if top in sys.stdlib_module_names or top in INSTALLED or rest or self.resolve(importer, module):
            return []
        plain = importer.replace("\\", "/")
        directory = _parent(plain)

        def distance(place: tuple[str, str]) -> tuple[int, int, str]:
            near = _shared(place[0], directory)
            return -near, place[0].count("/") + 1 - near, place[1]

        return [self._path[path] for _, path in sorted(self._by_suffix.get(module, ()), key=distance) if path != plain]

    def beginning(self, importer: str, prefix: str, dots: int = 0) -> dict[str, list[str]]:
        """Return the modules of a package whose dotted name is `prefix` ("models.", "data.aligned_") followed by text
        with `dots` dots, each with the files that importing it runs; empty if the prefix names no package."""
        if "." not in prefix:
            return {}
        return {
            name: files
            for name in self._beginning(prefix)
            if name.count(".", len(prefix)) == dots and (files := self.resolve(importer, name))
        }

    def _beginning(self, prefix: str) -> Iterator[str]:
        """Yield all dotted names that begin with a prefix, sorted."""
        if self._names is None:
            self._names = sorted(self._by_suffix)
        for number in range(bisect_left(self._names, prefix), len(self._names)):
            if not self._names[number].startswith(prefix):
                return
            yield self._names[number]

    def module_name(self, path: str) -> str:
        """Return the dotted name of a file, relative to the nearest directory that is not a package."""
        plain = path.replace("\\", "/")
        root = self._root_of(_parent(plain))
        inner = plain[len(root) :].lstrip("/")
        for ending in ("/__init__.py", ".py"):
            if inner.endswith(ending):
                inner = inner[: -len(ending)]
                break
        return inner.replace("/", ".")

    def root_of(self, path: str) -> str:
        """Return the nearest directory above a file that is not a package: the one below which imports find it."""
        return self._root_of(_parent(path.replace("\\", "/")))

    def is_in_package(self, path: str) -> bool:
        """Whether the file's directory contains an `__init__.py`."""
        return _join(_parent(path.replace("\\", "/")), "__init__.py") in self._path

    def _at(self, directory: str, module: str) -> str | None:
        base = _join(directory, module.replace(".", "/"))
        package = _join(base, "__init__.py")
        if package in self._path:
            return package
        return base + ".py" if module and base + ".py" in self._path else None

    def _packages(self, directory: str, module: str) -> list[str]:
        """Return the `__init__.py` files of the packages between `directory` and `module`."""
        found = []
        for part in module.split(".")[:-1]:
            directory = _join(directory, part)
            if _join(directory, "__init__.py") in self._path:
                found.append(_join(directory, "__init__.py"))
        return found

    def _root_of(self, directory: str) -> str:
        known = self._root.get(directory)
        if known is None:
            if directory and directory != "/" and _join(directory, "__init__.py") in self._path:
                known = self._root_of(_parent(directory))
            else:
                known = directory
            self._root[directory] = known
        return known

    def _roots_of(self, importer: str, directory: str, module: str) -> tuple[str, str] | None:
        """Return the nearest root under which `module` exists, and the module's file; `None` if there is none."""
        own = self._root_of(directory)
        top, _, rest = module.partition(".")
        shadowing = top in sys.stdlib_module_names
        best: tuple[tuple[int, int, int, str, bool], str, str] | None = None
        for root, path in self._by_suffix.get(module, ()):
            if path == importer and module != self.module_name(importer):
                continue
            if shadowing and not (root == directory == own):
                continue
            if top in INSTALLED and not (rest or path.endswith("/__init__.py")):
                continue
            if root == own:
                rank = 0
            elif root == directory:
                rank = 1
            elif (
                self._root_of(root) == root
                or (rest and encloses(root, directory))
                or (path.endswith("/__init__.py") and encloses(_parent(path), directory))
            ):
                # A script inside a package may be run directly, which makes its folder a root. What imports the package
                # around itself by name counts on such a script.
                rank = 2
            elif rest:
                rank = 3
            else:
                continue
            near = _shared(root, directory)
            key = (
                rank,
                -near,
                root.count("/") + 1 - near,
                path.removesuffix(".py").removesuffix("/__init__"),
                not path.endswith("/__init__.py"),
            )
            if best is None or key < best[0]:
                best = (key, root, path)
        return best and (best[1], best[2])


def _parent(path: str) -> str:
    head, slash, _ = path.rpartition("/")
    return head or ("/" if slash else "")


def _join(directory: str, name: str) -> str:
    if not directory or not name:
        return directory or name
    return directory + name if directory == "/" else f"{directory}/{name}"


def encloses(root: str, directory: str) -> bool:
    """Whether `directory` is `root` or lies below it."""
    return root in ("", "/", directory) or directory.startswith(f"{root}/")


def _shared(one: str, other: str) -> int:
    """Return the number of leading directories that two paths have in common."""
    if not one:
        return 0
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
