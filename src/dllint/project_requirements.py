"""What a project declares that it needs: the versions of packages and of Python, from its requirements files, package
metadata, conda environments, installation notes and scripts.

Each declaration keeps its file and whether the package is always needed. What only an extra or a tool of the developers
needs is no requirement of the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from dllint.documents import parse_toml
from dllint.python_versions import poetry_specifier
from dllint.reading import SETTINGS_BYTES, CannotRead, read, walk
from dllint.readme_versions import named_versions, speaks_of_versions, tells_how_to_install

Kind = Literal["metadata", "list", "environment", "script", "command", "words"]
"""Where a declaration stands: metadata of the package, a list for pip, a conda environment or image, an installation
script, or a command or the words of a README."""

_PIP_LIST = re.compile(r"(?:requirements?|environment|env|conda)(?P<of>[\w.-]*)\.(?:txt|in)\Z")
_TOOLS = re.compile(r"dev|test|doc|rtd|lint|ci(?![a-z])|build|optional|extra|example|tool")
_SCRIPT = re.compile(
    r"(?:[\w.-]*[_.-])?(?:install|set_?up|env|environment|init|requirements?)(?:[_.-][\w.-]*)?\.(?:ba)?sh\Z"
)
_YAML = re.compile(r"[\w.-]+\.ya?ml\Z")
_CONDA = re.compile(r"^dependencies:[ \t]*\n((?:[ \t#-].*\n|\n)*)", re.MULTILINE)
_FOLDERS = ("", "requirements", "conda", "dependencies", "docker", "environment", "environments", "installation")
_DOCUMENTS = ("docs", "doc", "documentation", "readme")
"""The folders of documents. Only the installation notes in them are read."""
_BESIDE = re.compile(
    r"(?:tests?|docs?|examples?|tools?|tutorials?|third[-_]?party|3rd[-_]?party|vendor|external)s?\Z", re.I
)
_MOST_FOLDERS = 32
_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_LINE = re.compile(
    rf"(?:[\w./-]+::)?(?P<name>{_NAME})(?:\[[^\]]*\])?\s*(?P<versions>(?:[=<>!~^][^;#'\"@]*|\d[\w.*=]*)?)"
    r"(?:;(?P<marker>[^#]*))?"
)
_LISTED = re.compile(r"install_requires\s*=\s*\[(.*?)\]", re.DOTALL)
_REQUIRES = re.compile(r"python_requires\s*=\s*['\"]([^'\"]+)['\"]")
_REQUIRES_LINE = re.compile(r"^python_requires\s*=\s*(.+)$", re.MULTILINE)
_LISTED_LINES = re.compile(r"^install_requires\s*=((?:.*)(?:\n[ \t]+.*)*)", re.MULTILINE)
_TEXT = re.compile(r"(['\"])((?:(?!\1).)*)\1")
_EXPLICIT = re.compile(r"^@EXPLICIT\s*$", re.MULTILINE)
_ARCHIVES = (".conda", ".tar.bz2")
_COMMENT = re.compile(r"^\s*#.*$|\s#.*$", re.MULTILINE)
_IMAGE = re.compile(r"^FROM\s+(?:--\S+\s+)?(\S+)", re.MULTILINE | re.IGNORECASE)
_TAGGED = re.compile(r"(?:[\w./-]*/)?(?P<name>python|pytorch/pytorch):(?P<version>\d+(?:\.\d+)*)(?=[\W_]|\Z)")
_PLAIN = re.compile(r"\d+(?:\.\d+)*")


class Declared(NamedTuple):
    """A package that a file declares.

    Attributes:
        package: its name in lower case with hyphens, as on PyPI; conda's "pytorch" is "torch".
        versions: a specifier (PEP 440), "" for any version.
        marker: the condition (PEP 508) under which it is needed, "" for none.
        kind: the kind of the file.
        path: the file.
    """

    package: str
    versions: str
    marker: str
    kind: Kind
    path: str


def declared(root: str) -> list[Declared]:
    """Return the packages that the files at the top of a project declare, "python" among them, in the order of the
    files' names. Words count for a package that nothing else declares."""
    found = [one for folder in (*_FOLDERS, *_DOCUMENTS) for one in _in_folder(root, folder)]
    firm = {one.package for one in found if one.kind != "words"}
    return [one for one in found if one.kind != "words" or one.package not in firm]


def folders_of(root: str) -> list[str]:
    """Return the folders at the top of a repository that may be projects of their own, at most as many as are looked
    at. Tests, examples and the code of others are none."""
    _, folders, _ = next(walk(root), ("", [], []))
    named = [one for one in sorted(folders) if one[0] not in "._" and not _BESIDE.match(one)]
    return [path for one in named[:_MOST_FOLDERS] if not os.path.islink(path := os.path.join(root, one))]


def _in_folder(root: str, within: str) -> Iterator[Declared]:
    folder = os.path.join(root, within)
    _, folders, names = next(walk(folder), ("", [], []))
    for name in sorted((*folders, *names)):
        reader = _reader(name, within)
        if reader is None:
            continue
        path = os.path.join(folder, name)
        try:
            text = read(path, SETTINGS_BYTES, within=root or None, cut=True).decode("utf-8-sig", "replace")
        except CannotRead:
            continue
        yield from reader(text, path)


def _reader(name: str, folder: str) -> Any:
    if folder in _DOCUMENTS:
        return _notes if tells_how_to_install(name, True) else None
    listed = _PIP_LIST.match(name)
    if listed is not None or (folder == "requirements" and name.endswith((".txt", ".in"))):
        tools = _TOOLS.search(listed["of"] if listed is not None else name)
        return None if tools else _listed
    if _YAML.match(name):
        return _conda
    if name == "Dockerfile":
        return _image
    if folder:
        return None
    if _SCRIPT.match(name):
        return _commands
    if name.endswith(".txt") and not tells_how_to_install(name, False):
        return _explicit
    return _notes if tells_how_to_install(name, False) else _READERS.get(name)


def _listed(text: str, path: str) -> Iterator[Declared]:
    yield from _explicit(text, path) if _EXPLICIT.search(text) else _pip_list(text, path)


def _pip_list(text: str, path: str) -> Iterator[Declared]:
    return _lines(text.replace("\\\n", " ").splitlines(), "list", path)


def _explicit(text: str, path: str) -> Iterator[Declared]:
    # `conda list --explicit > spec-file.txt`: the archives of an environment under any name. Each is called by name,
    # version and build (conda's documentation, "Package naming conventions").
    for line in text.splitlines() if _EXPLICIT.search(text) else ():
        archive = line.strip().partition("#")[0].rpartition("/")[2]
        kind = next((one for one in _ARCHIVES if archive.endswith(one)), None)
        parts = archive.removesuffix(kind).rsplit("-", 2) if kind is not None else []
        if len(parts) == 3 and _PLAIN.match(parts[1]):
            yield Declared(_normal(parts[0]), f"=={parts[1]}", "", "environment", path)


def _conda(text: str, path: str) -> Iterator[Declared]:
    # `conda env export > project.yml`: an environment under any name
    found = _CONDA.search(text.replace("\r", "") + "\n")
    if found is not None:
        yield from _lines(found[1].splitlines(), "environment", path)


def _image(text: str, path: str) -> Iterator[Declared]:
    installed = list(_installed(text, "environment", path))
    yield from installed
    for image in _IMAGE.findall(text):
        found = _TAGGED.match(image)
        package = "" if found is None else "python" if found["name"] == "python" else "torch"
        # What the image brings is replaced by what is installed in it.
        if found is not None and all(one.package != package for one in installed):
            yield Declared(package, f"=={found['version']}.*", "", "environment", path)


def _notes(text: str, path: str) -> Iterator[Declared]:
    for one in named_versions(text):
        if one.said and not speaks_of_versions(os.path.basename(path)):
            continue
        yield from _lines((one.requirement,), "words" if one.said else "command", path)


def _commands(text: str, path: str) -> Iterator[Declared]:
    return _installed(text, "script", path)


def _installed(text: str, kind: Kind, path: str) -> Iterator[Declared]:
    """Yield what the commands of a script install."""
    for one in named_versions(_COMMENT.sub("", text)):
        if not one.said:
            yield from _lines((one.requirement,), kind, path)


def _setup(text: str, path: str) -> Iterator[Declared]:
    text = _COMMENT.sub("", text)
    for versions in _REQUIRES.findall(text):
        yield Declared("python", versions, "", "metadata", path)
    for listed in _LISTED.findall(text):
        yield from _lines((one for _, one in _TEXT.findall(listed)), "metadata", path)


def _setup_options(text: str, path: str) -> Iterator[Declared]:
    for versions in _REQUIRES_LINE.findall(text):
        yield Declared("python", versions.strip(), "", "metadata", path)
    for listed in _LISTED_LINES.findall(text):
        yield from _lines(listed.splitlines(), "metadata", path)


def _pyproject(text: str, path: str) -> Iterator[Declared]:
    try:
        document = parse_toml(text)
    except (ValueError, RecursionError):
        return
    project = _table(document, "project")
    requires = project.get("requires-python")
    if isinstance(requires, str):
        yield Declared("python", requires, "", "metadata", path)
    listed = project.get("dependencies")
    if isinstance(listed, list):
        yield from _lines((one for one in listed if isinstance(one, str)), "metadata", path)
    for name, wanted in _table(_table(_table(document, "tool"), "poetry"), "dependencies").items():
        given = wanted.get("version") if isinstance(wanted, dict) else wanted
        optional = isinstance(wanted, dict) and wanted.get("optional")
        if isinstance(given, str) and not optional:
            yield Declared(_normal(name), "" if given == "*" else poetry_specifier(given), "", "metadata", path)


def _lines(lines: Iterable[str], kind: Kind, path: str) -> Iterator[Declared]:
    for line in lines:
        line = line.strip().removeprefix("- ").strip()
        if line[:1] in ("'", '"'):
            line = line[1 : line.rfind(line[0])]
        found = _LINE.match(line)
        if found is not None:
            versions = _specifier(found["versions"].strip())
            yield Declared(_normal(found["name"]), versions, (found["marker"] or "").strip(), kind, path)


def _specifier(text: str) -> str:
    """Return a requirement of pip or conda as a specifier. An equals sign of conda, like a version without a sign,
    stands for all releases that begin so; what follows a second one is a build."""
    if text[:1].isdigit() or (text.startswith("=") and not text.startswith("==")):
        found = _PLAIN.match(text.lstrip("= "))
        return f"=={found[0]}.*" if found is not None else ""
    # Options of pip follow, "--hash=…", "-f …", or more packages, as in a command.
    text = re.split(r"\s+(?=-|[A-Za-z])", text, maxsplit=1)[0].strip()
    # The part behind "+" names a build of the same release, and "=py38_0" a build of conda.
    return re.sub(r"(?<=\d)=[^=,]*|\+[\w.]+", "", text)


def _normal(name: str) -> str:
    name = re.sub(r"[-_.]+", "-", name).lower()
    return "torch" if name in ("pytorch", "pytorch-cpu", "pytorch-gpu") else name


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = document.get(key)
    return table if isinstance(table, dict) else {}


_READERS = {"setup.py": _setup, "setup.cfg": _setup_options, "pyproject.toml": _pyproject}
