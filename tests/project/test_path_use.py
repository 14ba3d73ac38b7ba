"""Which calls are given the path of a file."""

from __future__ import annotations

from pathlib import Path

from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.project import Project
from dllint.project.path_use import takes_path

TEXT = """\
from elsewhere import store

class Client:
    def get(self, filepath, key):
        return filepath

class Table:
    def get(self, row):
        return row

def use(x):
    open(x)
    Client().get(x, "lq")
    Table().get(x)
    store.get(x)
    open("a").read(4)
"""


def test_a_method_of_the_project_named_get_takes_a_path_if_it_asks_for_one(tmp_path: Path) -> None:
    world = Project.load({"use.py": extract(TEXT)}, Settings(root=str(tmp_path))).world
    file = world.files["use.py"]
    calls = {(call.span.line, call.span.column): index for index, call in enumerate(file.calls)}
    outer = [min(place for place in calls if place[0] == line) for line in range(12, 17)]

    assert [takes_path(world, file, calls[place]) for place in outer] == [True, True, False, True, False]
