"""What one check leaves in memory for the next ones of the same process, as in an editor: only what changed is parsed
and screened again. All of it depends on the texts alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.cache import Cache, KeptInMemory
from dllint.screen import Known

if TYPE_CHECKING:
    from dllint.linter.rereading import ReadByAnalysis


class Input(NamedTuple):
    """What a check read: the contents of all files of the project by path, the paths of those that can matter, and what
    the analysis read of these."""

    contents: Mapping[str, bytes]
    mattering: frozenset[str]
    reads: ReadByAnalysis | None = None


@dataclass
class Memory:
    """What the last check read, and found in it.

    Attributes:
        input: the files.
        screened: what the screen found in contents.
        valid: texts that were not parsed, and whether Python accepts them.
        caches: the facts by cache directory.
    """

    input: Input = field(default_factory=lambda: Input({}, frozenset()))
    screened: Known = field(default_factory=dict)
    valid: dict[str, bool] = field(default_factory=dict)
    caches: dict[str | None, KeptInMemory] = field(default_factory=dict)

    def cache(self, directory: str | None) -> Cache:
        """Return the cache of a directory, with the facts of the last check in memory."""
        found = self.caches.get(directory)
        if found is None:
            self.caches.clear()
            found = self.caches[directory] = KeptInMemory(directory)
        return found

    def note(self, read: Input, texts: Collection[str], parsed: Collection[str]) -> None:
        """Keep the input of a check, and forget what only earlier ones read.

        Args:
            read: the files.
            texts: those that were decoded.
            parsed: those of them whose facts the check used.
        """
        self.input = read
        current = {*read.contents.values()}
        for key in [key for key in self.screened if key[1] not in current]:
            del self.screened[key]
        for text in [text for text in self.valid if text not in texts]:
            del self.valid[text]
        for cache in self.caches.values():
            cache.forget_all_but(parsed)
