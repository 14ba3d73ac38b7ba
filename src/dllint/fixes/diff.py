"""Diffs of fixed texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher, unified_diff

from dllint.finding import Fix, TextEdit
from dllint.fixes.sources import Sources, texts_after
from dllint.fixes.text import LINE_END

_LONGEST_COMPARED = 2000


def file_diff(path: str, old: str, new: str) -> str:
    """A unified diff that `patch -p0` and `git apply -p0` take; empty when nothing changed.

    Lines end in "\\n" only here, as these tools see it: a carriage return is a part of its line.
    """
    lines = unified_diff(_patch_lines(old), _patch_lines(new), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def fix_diff(fix: Fix, sources: Sources) -> list[tuple[str, list[str]]]:
    """For each file that a fix changes its path and a short diff.

    Raises:
        Unresolvable: as `resolve`.
    """
    from dllint.fixes.resolve import resolve

    return edits_diff(resolve(fix, sources), sources)


def edits_diff(edits: Iterable[TextEdit], sources: Sources) -> list[tuple[str, list[str]]]:
    """The same of edits that are known.

    Raises:
        Unresolvable: a source is not there, or two edits overlap.
    """
    texts = texts_after(edits, sources)
    return [(path, short_diff(old, new)) for path, (old, new) in texts.items()]


def short_diff(old: str, new: str) -> list[str]:
    """The lines that change, each after "- " or "+ ", with "..." between places that are apart; no line ends."""
    before, after = LINE_END.split(old), LINE_END.split(new)
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    return list(_changed_lines(before[head : len(before) - tail], after[head : len(after) - tail]))


def _changed_lines(before: list[str], after: list[str]) -> Iterator[str]:
    first = True
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) > _LONGEST_COMPARED)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        if not first:
            yield "..."
        first = False
        yield from (f"- {line}" for line in before[i:j])
        yield from (f"+ {line}" for line in after[k:m])


def _patch_lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
