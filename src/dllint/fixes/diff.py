"""Unified diffs between a source text and its fixed version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher, unified_diff

from dllint.finding import TextEdit
from dllint.fixes.sources import Sources, read
from dllint.fixes.text import LINE_END, apply_changes, lines_of

_LONGEST_COMPARED = 2000


def file_diff(path: str, old: str, new: str) -> str:
    """Return a unified diff for `patch -p0` and `git apply -p0`; "" if nothing changed.

    Lines end only in "\\n" here, as for these tools: a carriage return is part of its line.
    """
    lines = unified_diff(_patch_lines(old), _patch_lines(new), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def edits_diff(edits: Iterable[TextEdit], sources: Sources) -> list[tuple[str, list[str]]]:
    """Return the path and a short diff of each file that the edits change.

    Raises:
        Unresolvable: a source is missing, or two edits overlap.
    """
    by_path: dict[str, list[TextEdit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    return [(path, _diff_around(read(sources, path), group)) for path, group in by_path.items()]


def _diff_around(text: str, edits: list[TextEdit]) -> list[str]:
    """Return the short diff of a text and its edited version. Only lines around the edits are compared: a report has a
    diff for each fix, and files may be long."""
    lines = lines_of(text)
    changes = [lines.change(edit) for edit in edits]
    start = lines.start(min(change.start for change in changes))
    # An insertion may begin with the same lines that follow it, so the window includes as many lines as are added.
    added = sum(len(LINE_END.findall(change.content)) for change in changes) + 1
    last = min(lines.line(max(change.end for change in changes)) + added, len(lines.starts))
    end = lines.end(lines.starts[last - 1])
    moved = [change._replace(start=change.start - start, end=change.end - start) for change in changes]
    return short_diff(text[start:end], apply_changes(text[start:end], moved))


def short_diff(old: str, new: str) -> list[str]:
    """Return the changed lines, each after "- " or "+ ", with "..." between separate places; without line ends."""
    before, after = _split(old), _split(new)
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    return list(_changed_lines(before[head : len(before) - tail], after[head : len(after) - tail]))


def _split(text: str) -> list[str]:
    # A regular expression is ten times slower on long lines.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


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
