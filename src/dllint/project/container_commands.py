"""The Python programs that the command line of a container runs."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from dllint.inference import limits
from dllint.reading import SETTINGS_BYTES, CannotRead, is_file, read

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash"})
_STARTERS = re.compile(r"python[\d.]*|torchrun|accelerate|deepspeed|ipython[\d.]*")
_PREFIXES = frozenset({"exec", "env", "time", "nohup", "sudo"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NO_WORKERS = re.compile(r"-{0,2}[\w.\-]*workers?(?:=0)?")
_BETWEEN = frozenset(";&|")


class Commands:
    """Resolves command lines to the files of one project.

    Args:
        root: the directory of the project, which the paths in a container end like.
        files: the paths of its Python files that are analyzed.
    """

    def __init__(self, root: str, files: Collection[str]) -> None:
        self.root = root
        self.files = files
        self._parsed: dict[str, list[list[str]]] = {}
        self._scripts: dict[tuple[str, str], str | None] = {}

    def programs(self, command: str | Sequence[str], folder: str) -> list[str]:
        """The files that a command runs with Python, without those that it gives zero workers.

        Args:
            command: as a shell would read it, or its arguments.
            folder: the directory of the file that has the command.
        """
        found: dict[str, None] = {}
        first = [*simple_commands(command)] if isinstance(command, str) else [[*command]]
        todo = [(words, folder) for words in first]
        scripts: set[str] = set()
        for words, beside in todo:
            words = _without_prefixes(words)
            called = _called_by_shell(words)
            if called is not None:
                todo += [(one, beside) for one in simple_commands(called)]
            elif (script := self._script(words, beside)) is not None:
                if script not in scripts:
                    scripts.add(script)
                    todo += [(one, os.path.dirname(script)) for one in self._commands(script)]
            elif (path := self._program(words, beside)) is not None and not _asks_for_none(words):
                found[path] = None
        return list(found)

    def _script(self, words: list[str], folder: str) -> str | None:
        """The shell script of the project that a command runs."""
        if words and posixpath.basename(words[0]) in _SHELLS:
            words = [word for word in words[1:] if not word.startswith(("-", "+"))]
        if not words or not words[0].endswith(".sh"):
            return None
        key = (words[0], folder)
        if key not in self._scripts:
            self._scripts[key] = next(filter(is_file, self._places(*key)), None)
        return self._scripts[key]

    def _commands(self, script: str) -> list[list[str]]:
        found = self._parsed.get(script)
        if found is None:
            try:
                text = read(script, SETTINGS_BYTES, within=self.root or None).decode("utf-8", "replace")
            except CannotRead:
                text = ""
            found = self._parsed[script] = list(simple_commands(text))
        return found

    def _program(self, words: list[str], folder: str) -> str | None:
        """The file of the project that Python runs, by its path or as a module."""
        if not any(word.endswith(".py") or word == "-m" for word in words):
            return None
        starters = (_STARTERS.fullmatch(posixpath.basename(word)) for word in words)
        if not words[0].endswith(".py") and not any(starters):
            return None
        for number, word in enumerate(words):
            if word.endswith(".py"):
                return self._file(word, folder)
            if word == "-m" and number + 1 < len(words):
                inside = words[number + 1].replace(".", "/")
                found = self._file(f"{inside}.py", folder) or self._file(f"{inside}/__main__.py", folder)
                if found is not None:
                    return found
        return None

    def _file(self, name: str, folder: str) -> str | None:
        found = next((path for path in self._places(name, folder) if path in self.files or is_file(path)), None)
        if found is not None:
            return found
        ending = os.sep + posixpath.normpath(name).lstrip("/")
        inside = [path for path in self._by_name.get(posixpath.basename(name), ()) if path.endswith(ending)]
        return inside[0] if len(inside) == 1 else None

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(os.path.basename(path), []).append(path)
        return found

    def _places(self, name: str, folder: str) -> Iterator[str]:
        """Where a path inside a container may be in the project: a copy of it, or of one of its directories."""
        parts = [part for part in posixpath.normpath(name).split("/") if part not in ("", ".", "..")]
        for start in range(len(parts) if name.startswith(("/", "$")) else 1):
            for base in (folder, self.root):
                yield os.path.join(base, *parts[start:])


def simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the commands of a shell script as words; what cannot be parsed is left out."""
    yield from (words for _, words in numbered_commands(text))


def numbered_commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the same commands, each with the number of the line that it begins on."""
    lines = _continued(text)
    tries = start = 0
    while start < len(lines):
        words, end = words_of(lines[start][1]), start + 1
        while words is None and end < len(lines) and not limits.QUOTED_LINES.reached(tries):
            tries, end = tries + 1, end + 1
            words = words_of("\n".join(line for _, line in lines[start:end]))
        yield from ((lines[start][0], command) for command in _separated(words or []))
        start = end if words is not None else start + 1


def _continued(text: str) -> list[tuple[int, str]]:
    """The lines, each with its number; one that ends with a backslash goes on in the next."""
    found: list[tuple[int, list[str]]] = []
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        if not goes_on:
            found.append((number, []))
        goes_on = line.endswith("\\")
        found[-1][1].append(line[:-1] if goes_on else line)
    return [(number, " ".join(parts)) for number, parts in found]


def _separated(words: list[str]) -> Iterator[list[str]]:
    command: list[str] = []
    for word in [*words, ";"]:
        if word and set(word) <= _BETWEEN:
            if command:
                yield command
            command = []
        else:
            command.append(word)


def words_of(line: str) -> list[str] | None:
    """Split a line as a shell does, also at `;`, `&` and `|`; None if a quotation does not end in it."""
    parts = shlex.shlex(line, posix=True, punctuation_chars="".join(sorted(_BETWEEN)))
    parts.whitespace_split = True
    try:
        return list(parts)
    except ValueError:
        return None


def _without_prefixes(words: list[str]) -> list[str]:
    """A command without what stands before the program: `LEVEL=1 exec python`."""
    start = 0
    while start < len(words) and (_ASSIGNMENT.match(words[start]) or words[start] in _PREFIXES):
        start += 1
    return words[start:]


def _called_by_shell(words: list[str]) -> str | None:
    """The text that a shell is told to run: `bash -ec "python train.py"`."""
    if words and posixpath.basename(words[0]) in _SHELLS:
        for number, word in enumerate(words[1:], 1):
            if word.startswith("-") and not word.startswith("--") and "c" in word:
                return " ".join(words[number + 1 : number + 2])
            if not word.startswith(("-", "+")):
                break
    return None


def _asks_for_none(words: list[str]) -> bool:
    """Whether the arguments of a program ask for zero workers: `--num_workers 0`, `loader.num_workers=0`."""
    for number, word in enumerate(words):
        if _NO_WORKERS.fullmatch(word) and (word.endswith("=0") or words[number + 1 : number + 2] == ["0"]):
            return True
    return False
