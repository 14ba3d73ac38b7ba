"""The versions of Python and torch that a README or the installation notes of a project name: in a command that
installs them, or in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

_GUIDES = re.compile(
    r"(?:install(?:ation|ing)?|get(?:ting)?[_-]?started|setup(?=\.))(?:[_-]en)?(?:\.(?:md|rst|txt))?\Z", re.IGNORECASE
)
_READMES = re.compile(r"readme(?:[_-]en)?(?:\.(?:md|rst|txt))?\Z", re.IGNORECASE)
_CONTINUED = re.compile(r"\\\r?\n")
_COMMAND = re.compile(r"\b(?:pip3?|conda|mamba)\s{1,8}(?:-\S{1,60}\s{1,8}){0,8}(?:install|create)\s([^\n`&|;#]*)")
_WHEEL = re.compile(r"torch-(\d+(?:\.\d+)+)[-+%.]")
"""The file of a wheel, at the end of its address."""
_SAID = re.compile(
    r"(?<![\w.-])(?P<name>(?:py)?torch|python)\b(?:\]\([^)\s]{0,200}\))?"
    r"(?P<between>(?:[^.\n]{0,40}\btested\s(?:with|on|under|using)\b)?"
    r"(?:[^\w\n]|_|v(?=\d)|\b(?:versions?|install(?:ed|ation)?)\b){0,16})"
    r"(?<![\d.])(?P<version>\d+\.\d+(?:\.\d+)*)",
    re.IGNORECASE,
)
_MORE_BEFORE = re.compile(r"least|above|newer|later|higher|greater|since|minimum|support|[>≥~]", re.IGNORECASE)
_MORE_AFTER = re.compile(
    r"\+(?![A-Za-z])|\s+\+(?!\s*[A-Za-z])|"
    r"\s*(?:\.x|[-~–/,|]\s*v?\d|to\s+v?\d|is not|"
    r"[^.;]*\b(?:newer|later|higher|above|greater|upwards?|onwards?|more recent)\b)",
    re.IGNORECASE,
)
"""What leaves other versions than the one named: "1.4+", "1.4 or later", "1.4 to 1.9"."""
_UP_TO = re.compile(r"\s*(?:[-~–/,|&]|to\b|and\b|or\b)\s*v?(\d+\.\d+(?:\.\d+)*)(?!\.?\d)", re.IGNORECASE)
"""The next of several versions that are named one by one or as a range: "1.4, 1.5", "1.4 to 1.9"."""
_LESS = re.compile(r"<\s*=|≤|<")
_NEEDED = re.compile(r"compatib|requir|need|test|works?\b|install|\A\W*\Z", re.IGNORECASE)
_CASE = re.compile(r"\b(?:for|if|when|under|not?|users?)\b|n't", re.IGNORECASE)
"""The rest of a sentence tells what to do with such a version: "for PyTorch < 1.0, build …"."""

_NEAR = 20
"""How many characters around a version may speak of it."""


class Named(NamedTuple):
    """A package with its version, "==1.4.0", as written; `said` if in words, not in a command."""

    requirement: str
    said: bool


def tells_how_to_install(name: str, among_documents: bool) -> bool:
    """Whether a file of this name tells how to install a project. A README among the documents is about these."""
    return _GUIDES.match(name) is not None or (not among_documents and _READMES.match(name) is not None)


def speaks_of_versions(name: str) -> bool:
    """Whether the words of such a file say what a project needs. An introduction speaks of more, such as what has been
    measured once."""
    return re.match(r"get|setup", name, re.IGNORECASE) is None


def named_versions(text: str) -> Iterator[Named]:
    """Return what the commands of a text install in a certain version, and the versions of Python and torch that its
    sentences name. Words that leave other versions, "1.4 or later", name a bound."""
    parts = _COMMAND.split(_CONTINUED.sub(" ", text))
    for word in (word for words in parts[1::2] for word in words.split()):
        wheel = _WHEEL.match(word.rpartition("/")[2]) if "/" in word and word.endswith(".whl") else None
        if wheel is not None or "=" in word or ">" in word or "<" in word:
            yield Named(f"torch=={wheel[1]}" if wheel is not None else word, False)
    text = unquote(" ".join(parts[::2]))
    for found in _SAID.finditer(text):
        before = text[max(0, found.start() - _NEAR) : found.start()].rpartition("\n")[2]
        after = text[found.end() : found.end() + 2 * _NEAR].partition("\n")[0]
        less = _LESS.search(found["between"])
        if less is not None and ">" not in found["between"]:
            if _NEEDED.search(before) and not _CASE.search(f"{before}|{re.split('[.;]', after, maxsplit=1)[0]}"):
                yield Named(f"{found['name']}{'<' if less[0] == '<' else '<='}{found['version']}", True)
            continue
        last, left = _last_of(found["version"], after)
        if last != found["version"] and not (_MORE_BEFORE.search(before) or _MORE_AFTER.match(left)):
            # Of several versions of Python that are named, the newest may be that of the day.
            bound = f">={found['version']}" if found["name"].lower() == "python" else f"<={last}"
            yield Named(f"{found['name']}{bound}", True)
            continue
        more = _MORE_BEFORE.search(before) or _MORE_BEFORE.search(found["between"]) or _MORE_AFTER.match(after)
        yield Named(f"{found['name']}{'>=' if more else '=='}{found['version']}{'' if more else '.*'}", True)


def _last_of(version: str, after: str) -> tuple[str, str]:
    """The newest of the versions that are named together, and what stands behind them."""
    named = [version]
    while (found := _UP_TO.match(after)) is not None:
        named.append(found[1])
        after = after[found.end() :]
    return max(named, key=lambda one: tuple(map(int, one.split(".")))), after
