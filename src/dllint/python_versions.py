"""Which Pythons a project allows, in the words of Poetry."""

from __future__ import annotations

import re

_PART = re.compile(r"(?P<operator>\^|~(?!=)|)\s*(?P<version>\d+(?:\.\d+)*)(?P<any>\.\*)?")


def poetry_specifier(constraint: str) -> str:
    """The version specifier (PEP 440) of a constraint such as "^3.9" or "~3.10.2", for `python` in
    `[tool.poetry.dependencies]` (python-poetry.org, "Dependency specification"). What it does not know stays as it is.
    """
    return ",".join(_translated(part.strip()) for part in constraint.split(","))


def _translated(part: str) -> str:
    found = _PART.fullmatch(part)
    if found is None:
        return part
    version = found["version"]
    numbers = [int(one) for one in version.split(".")]
    if found["operator"] == "^":
        return f">={version},<{numbers[0] + 1}"
    if found["operator"] == "~":
        above = [*numbers[:1], numbers[1] + 1] if len(numbers) > 1 else [numbers[0] + 1]
        return f">={version},<{'.'.join(map(str, above))}"
    # An exact version: of the language, each of its patch releases.
    return f"=={version}.*"
