"""TOML and JSON of a repository as plain data, in bounded time and memory.

The parsers themselves are not bounded: a dotted key of 80 KB costs tomllib gigabytes, and a number of a million
digits takes minutes. A document that meets a limit counts as malformed.
"""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

DEEPEST_KEY = 64
"""Number of parts of a dotted TOML key. Parsing takes time and memory quadratic in it."""
LONGEST_NUMBER = 400
"""Characters of a number; the largest float has 309 digits."""

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{DEEPEST_KEY}}}")
_LONG_NUMBER = re.compile(rf"[0-9_]{{{LONGEST_NUMBER}}}")


class Malformed(ValueError):
    """A document that cannot be parsed, or exceeds a limit; the message is one line."""


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    Raises:
        ValueError: it is malformed or exceeds a limit.
        RecursionError: it is nested too deeply.
    """
    if _LONG_KEY.search(text):
        raise Malformed(f"a key has more than {DEEPEST_KEY} parts")
    if _LONG_NUMBER.search(text):
        raise Malformed(f"a number has more than {LONGEST_NUMBER} digits")
    return tomllib.loads(text)


def parse_json(text: str) -> Any:
    """Parse a JSON document.

    Raises:
        ValueError: it is malformed or exceeds a limit.
        RecursionError: it is nested too deeply.
    """
    import json

    return json.loads(text, parse_int=_whole)


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise Malformed(f"a number has more than {LONGEST_NUMBER} digits")
    return int(digits)
