"""Where objects flow: what an object is stored in, taken from and handed to, itself or inside another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint import linter
from dllint.config import Settings
from dllint.inference.flows import INSIDE, ITSELF, Flows, meets
from dllint.linking.source import SourceFile

PROGRAM = """
def start():
    thing = make()
    {}


def keep(kept):
    pass
"""


def reached(tmp_path: Path, line: str) -> dict[str, int]:
    """The names that what `make()` returns can reach, each with its states."""
    (tmp_path / "main.py").write_text(PROGRAM.format(line.replace("\n", "\n    ")))
    project = linter.link(
        str(tmp_path / "main.py"), Settings(root=str(tmp_path)), linter.Execution(cache=False)
    ).project
    (file,) = project.world.files.values()
    assert isinstance(file, SourceFile)
    (call,) = (index for index, call in enumerate(file.calls) if call.func.parts() == ["name", "make"])
    places = Flows(project.world).reached(("call", file.path, call))
    return {str(place[3]): states for place, states in places.items() if place[0] == "name"}


@pytest.mark.parametrize(
    ("line", "name", "states"),
    [
        ("other = thing", "other", ITSELF),
        ("other = thing.path", "other", 0),
        ("other = thing['path']", "other", 0),
        ("other = thing.__dict__", "other", ITSELF),
        ("other = vars(thing)", "other", ITSELF),
        ("other = [thing]", "other", INSIDE),
        ("other = [thing][0]", "other", ITSELF | INSIDE),
        ("other = {'a': {'b': thing}}", "other", INSIDE),
        ("rows = [thing]\nother = rows[0]", "other", ITSELF | INSIDE),
        ("rows = [thing]\nfor other in rows:\n    pass", "other", ITSELF | INSIDE),
        ("rows = []\nrows.append(thing)", "rows", INSIDE),
        ("rows = {}\nrows['a'] = thing", "rows", INSIDE),
        ("other = getattr(thing, 'path')", "other", 0),
        ("other = getattr(thing, 'path', thing)", "other", ITSELF | INSIDE),
        ("other = thing.get('path')", "other", 0),
        ("other = thing if thing.path else None", "other", ITSELF),
        ("keep(thing)", "kept", ITSELF),
        ("keep(thing.path)", "kept", 0),
        ("keep(*[thing])", "kept", ITSELF | INSIDE),
        ("keep(kept={'a': thing})", "kept", INSIDE),
    ],
)
def test_an_object_is_at_a_place_or_inside_what_is_there(tmp_path: Path, line: str, name: str, states: int) -> None:
    assert reached(tmp_path, line).get(name, 0) == states


def test_a_mutation_concerns_an_object_that_its_base_may_be() -> None:
    out = 0b1100
    assert meets(INSIDE, out)
    assert not meets(ITSELF, out)
