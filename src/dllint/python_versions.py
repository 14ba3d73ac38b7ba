"""Python versions that a project allows, in Poetry's notation."""

from __future__ import annotations

import re

_PART = re.compile(r"(?P<operator>\^|~(?!=)|)\s*(?P<version>\d+(?:\.\d+)*)(?P<any>\.\*)?")


def poetry_specifier(constraint: str) -> str:
    """Translate a constraint such as "^3.9" or "~3.10.2", for `python` in `[tool.poetry.dependencies]`
    (python-poetry.org, "Dependency specification"), to a version specifier (PEP 440). Unknown notation is returned
    unchanged."""
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
    # An exact version of the language includes each of its patch releases.
    return f"=={version}.*"
