"""The values of settings: what each must be, and what it becomes."""

from __future__ import annotations

import re

from dllint.python_versions import KNOWN, allowed_by

PYTHONS = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))
PLATFORMS = ("linux", "macos", "windows")
OLDEST_PYTHON = KNOWN[0]


class ConfigError(ValueError):
    """An invalid option or configuration. The message is one line with the place and the problem."""


def string(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where} must be a string, not {kind(value)}")
    return value


def directory(value: object, where: str) -> str:
    text = string(value, where)
    if not text or "\0" in text:
        raise ConfigError(f"{where} must name a directory")
    return text


def strings(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f"{where} must be a list of strings, not {kind(value)}")
    return tuple(value)


def codes(value: object, where: str) -> tuple[str, ...]:
    return tuple("DLL" if one == "ALL" else one for one in strings(value, where))


def boolean(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{where} must be true or false, not {kind(value)}")
    return value


def codes_by_pattern(value: object, where: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be a table of lists, not {kind(value)}")
    return {pattern: codes(given, f'{where} "{pattern}"') for pattern, given in value.items()}


def platforms(value: object, where: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else strings(value, where)
    for name in names:
        if name not in PLATFORMS:
            raise ConfigError(f'{where}: there is no platform "{name}", only {", ".join(PLATFORMS)}')
    if not names:
        raise ConfigError(f"{where} names no platform")
    return tuple(dict.fromkeys(names))


def pythons(value: object, where: str) -> tuple[tuple[int, int], ...]:
    """Return the minor versions that a version ("3.11") or a specifier (">=3.10,<3.15") allows.

    A minor version is allowed if one of its patch releases is.
    """
    text = string(value, where).strip()
    if re.fullmatch(r"3\.[0-9]{1,2}", text):
        if not OLDEST_PYTHON <= (3, int(text[2:])) <= PYTHONS[-1]:
            raise ConfigError(f"{where}: {text} is no Python from 3.{OLDEST_PYTHON[1]} to 3.{PYTHONS[-1][1]}")
        return ((3, int(text[2:])),)
    try:
        found = allowed_by(text)
    except ValueError:
        raise ConfigError(f'{where}: "{text}" is no version like "3.11" and no specifier like ">=3.10,<3.15"') from None
    if not found:
        raise ConfigError(f'{where}: "{text}" allows no Python from 3.{OLDEST_PYTHON[1]} to 3.{PYTHONS[-1][1]}')
    return found


def judged(pythons: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the versions to judge a program under: older ones than 3.10 only if no newer one is allowed."""
    return tuple(one for one in pythons if one >= PYTHONS[0]) or pythons


def kind(value: object) -> str:
    names = {bool: "a boolean", str: "a string", int: "a whole number", float: "a number", list: "a list"}
    return names.get(type(value), "a table" if isinstance(value, dict) else type(value).__name__)
