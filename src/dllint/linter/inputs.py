"""Turn paths into the input of the analysis: bytes, source texts, facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from dllint import files, notebooks, screen, suppressions
from dllint.cache_directory import default_directory
from dllint.config import Settings
from dllint.files import Unreadable
from dllint.linter.report import Execution
from dllint.modules import ModuleIndex
from dllint.notebooks import CellText, NotANotebook
from dllint.screen import Known, Selection, Words
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.facts.schema import FileFacts
    from dllint.linter.memory import Memory
    from dllint.linter.rereading import ReadByAnalysis

EDITED_FILES = 20
"""Maximum number of edited files to parse to see whether their facts changed; with more, the project is analysed."""


@dataclass
class Run:
    """The state of a running check."""

    settings: Settings
    asked: set[str]
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)
    notebooks: dict[str, CellText] = field(default_factory=dict)
    selection: Selection = field(default_factory=lambda: Selection(set()))
    to_parse: dict[str, str] | None = None
    reads: ReadByAnalysis | None = None
    postponed: int = 0


def cache_directory(settings: Settings) -> str:
    """Return the directory of the cache."""
    return settings.cache_dir or default_directory()


def read(
    run: Run,
    paths: Iterable[str],
    unsaved: Mapping[str, str | bytes],
    edited: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Store the contents of files in the run, or the reasons why they cannot be read."""
    for path in sorted(paths):
        try:
            given = unsaved[path] if path in unsaved else files.read(path)
        except files.CannotRead as error:
            run.unreadable[path] = Unreadable("read", {"reason": error.reason})
            continue
        if notebooks.is_notebook(path):
            _read_notebook(run, path, given if isinstance(given, bytes) else given.encode("utf-8", "replace"), edited)
            continue
        given = edited.get(path, given)
        if isinstance(given, str):
            run.texts[path] = given
            given = given.encode("utf-8", "replace")
        run.contents[path] = given


def _read_notebook(run: Run, path: str, data: bytes, edited: Mapping[str, str]) -> None:
    """Store the texts of a notebook in the run: that of its cells, and those of the files that its cells write."""
    try:
        notebook = notebooks.read(path, data)
    except NotANotebook as error:
        run.unreadable[path] = Unreadable("main", {"reason": error.reason}, Span(error.line, 1, error.line, 1))
        return
    if not notebook.texts and path in run.asked:
        run.notes.append(f"{path}: not checked: its language is {notebook.language!r}, not Python")
        run.asked.discard(path)
    for name, cells in notebook.texts.items():
        run.notebooks[name] = cells
        run.texts[name] = edited.get(name, cells.text)
        run.contents[name] = run.texts[name].encode("utf-8", "replace")
        if path in run.asked:
            run.asked.add(name)


def decode(run: Run, paths: Iterable[str]) -> None:
    for path in paths:
        if path in run.texts:
            continue
        try:
            run.texts[path] = files.decode(run.contents[path])
        except files.Undecodable as error:
            span = Span(error.line, 1, error.line, 1)
            if error.message.startswith("invalid "):
                what, _, reason = error.message.removeprefix("invalid ").partition(": ")
                run.unreadable[path] = Unreadable("decode", {"encoding": what, "reason": reason}, span)
            else:
                run.unreadable[path] = Unreadable("main", {"reason": error.message}, span)


def screened(run: Run, known: Known | None = None) -> Selection:
    """Return the files that can matter; `known` is what the screen found earlier."""
    from dllint.inference import limits

    words = words_of(run.settings)
    return screen.select(run.contents, ModuleIndex(run.contents), words, known, limits.CONNECTING_BYTES.most)


def words_of(settings: Settings) -> Words:
    """Return the words by which the files of a project are selected."""
    from dllint.libraries.index import WORDS

    loading = (*settings.loaders, *settings.datasets, *settings.mmap_stores, *settings.openers, *settings.unpicklable)
    return WORDS.with_names(settings.launchers, (*loading, *settings.cuda_calls))


def texts_to_parse(run: Run, everything: bool = False, memory: Memory | None = None) -> Mapping[str, str]:
    """Return the texts of the files that can matter, or of all files, and of those that may not be valid Python."""
    from dllint.facts.parse import is_plainly_valid

    valid = memory.valid if memory is not None else {}

    def is_valid(text: str) -> bool:
        if text not in valid:
            valid[text] = is_plainly_valid(text)
        return valid[text]

    if run.to_parse is None:
        known = memory.screened if memory is not None else None
        selected = Selection(set(run.contents)) if everything else screened(run, known)
        run.selection, mattering = selected, selected.paths
        given = [path for path in run.texts if path not in mattering]
        decode(run, mattering)
        run.to_parse = {path: text for path, text in run.texts.items() if path in mattering}
        run.to_parse |= {path: run.texts[path] for path in given if not is_valid(run.texts[path])}
        for path in run.asked & run.contents.keys() - run.texts.keys():
            decode(run, [path])
            text = run.texts.get(path)
            if text is None:
                continue
            if not is_valid(text):
                run.to_parse[path] = text
            elif memory is None and not suppressions.could_suppress(text):
                # Nothing reads it again. In a large project most texts are of this kind.
                del run.texts[path]
    return run.to_parse


def facts_of(run: Run, execution: Execution, everything: bool = False) -> Mapping[str, FileFacts]:
    """Return the facts of the files that can matter, or of all files."""
    from dllint.facts.cache import Cache
    from dllint.facts.parse import parse_all
    from dllint.linter.memory import Input

    directory, memory = cache_directory(run.settings) if execution.cache else None, execution.memory
    cache = Cache(directory) if memory is None else memory.cache(directory)
    parsed = parse_all(texts_to_parse(run, everything, memory), cache, execution.jobs, execution.progress)
    run.unreadable.update(parsed.unreadable)
    if memory is not None:
        texts = texts_to_parse(run)
        memory.note(Input(run.contents, frozenset(run.selection.paths)), {*run.texts.values()}, {*texts.values()})
    return parsed.facts


def file_of(run: Run, path: str) -> str:
    """Return the file on disk that a text belongs to."""
    cells = run.notebooks.get(path)
    return path if cells is None else cells.notebook
