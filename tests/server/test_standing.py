"""Given a checked project and an edit, what is said without a new check is what a new check would say."""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("lsprotocol")

from dllint.commands.settings import Choice
from dllint.config import Settings
from dllint.facts.parse import is_plainly_valid
from dllint.inference.interruption import Interrupted, Stop
from dllint.linter.memory import Memory
from dllint.server.analysis import Result, analyse
from dllint.server.editing import OpenFile, Piece
from dllint.server.standing import Standing

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
HAZARD = """\
from torch.utils.data import DataLoader


def load():
    return DataLoader(
        [], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows
    )


load()
"""


class Project:
    """A project whose files are all open, as it was checked."""

    def __init__(self, root: Path) -> None:
        self.settings: Settings = replace(Choice().load([str(root)]), root=str(root), cache_dir=str(root / ".cache"))
        self.texts = {str(path): path.read_text() for path in sorted(root.rglob("*.py"))}
        self.memory = Memory()
        self.check()

    def check(self) -> Result:
        """Check with what earlier checks left in memory."""
        result = analyse(self.settings, self.opened(), Stop(), lambda done, total: None, self.memory)
        opened = {one.path: one for one in self.opened()}
        self.standing = Standing(self.settings, opened, result, self.memory, self.memory.input)
        return result

    def opened(self) -> list[OpenFile]:
        return [OpenFile(path, (Piece(Path(path).as_uri(), 1, text),)) for path, text in self.texts.items()]

    def checked(self) -> Result:
        """What a check finds that knows nothing of earlier ones."""
        return analyse(self.settings, self.opened(), Stop(), lambda done, total: None)

    def followed(self, path: Path, text: str) -> Result | None:
        self.texts[str(path)] = text
        found = self.standing.followed(self.opened())
        if found is None:
            return None
        self.standing, shown = found
        return shown


@pytest.fixture
def hazard(tmp_path: Path) -> Project:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (tmp_path / "train.py").write_text(HAZARD)
    (tmp_path / "other.py").write_text(HAZARD.replace("list", "tuple"))
    return Project(tmp_path)


def edited(chance: random.Random, text: str) -> str:
    """The text with a comment or blanks more or less, somewhere."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    new = {
        "blank line": [*lines[:at], "", *lines[at:]],
        "comment": [*lines[:at], "# as in train.py:3", *lines[at:]],
        "behind": [*lines[:at], lines[at] + "  # and more", *lines[at + 1 :]],
        "without": [*lines[:at], *lines[at + (not lines[at].strip()) :]],
    }
    return "\n".join(chance.choice(list(new.values())))


@pytest.mark.parametrize("name", ["forkserver-supervisor", "local-callables"])
def test_after_a_comment_or_a_blank_line_everything_is_where_a_check_would_find_it(name: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / name, tmp_path, dirs_exist_ok=True)
    project = Project(tmp_path)
    chance = random.Random(name)
    followed = 0
    for _ in range(8):
        path = chance.choice(list(project.texts))
        shown = project.followed(Path(path), edited(chance, project.texts[path]))
        fresh = project.checked()
        if shown is None:
            project.standing = Standing(project.settings, {one.path: one for one in project.opened()}, fresh)
            continue
        followed += 1
        assert shown == fresh
        assert shown.raw.findings
    assert followed >= 6


BLOCKS = """\
class Block:
    def __init__(self, width, depth=3):
        self.width, self.depth = width, depth

    def area(self, scale=2):
        return self.width * self.depth * scale


def stack(count, width=8):
    return [Block(width) for _ in range(count)]
"""
LAUNCHER = """

def _launched(rank):
    print(rank)


if __name__ == "__main__":
    import torch.multiprocessing as mp

    mp.spawn(_launched, nprocs=2)
"""


def changed(chance: random.Random, text: str) -> str:
    """The text with another meaning: a function renamed or deleted, another default or number, a launcher more."""
    functions = list(re.finditer(r"^( *)def (\w+)\(.*\n(?:(?:\1 +.*)?\n)*", text, re.MULTILINE))
    numbers = list(re.finditer(r"\b\d+\b", text))
    kind = chance.choice(["rename", "delete", "number", "launcher", "add", "body"])
    if kind in ("rename", "delete", "body") and functions:
        function = chance.choice(functions)
        if kind == "rename":
            return re.sub(rf"\b{function[2]}\b", chance.choice([f"{function[2]}_too", "renamed"]), text)
        if kind == "body":
            header = function[0].split("\n")[0]
            return text.replace(header, f"{header}\n{function[1]}    print({chance.randrange(9)})", 1)
        return text.replace(function[0], "", 1)
    if kind == "number" and numbers:
        number = chance.choice(numbers)
        return f"{text[: number.start()]}{chance.randrange(5)}{text[number.end() :]}"
    if kind == "launcher":
        return text + LAUNCHER
    return text + f"\n\ndef added_{chance.randrange(9)}(rows, number=4):\n    return rows[number]\n"


@pytest.mark.parametrize(
    "name",
    ["launch-wrapper", "re-exports", "config-branches", "pickled-to-workers", "late-start-method", "worker-data"],
)
def test_after_any_edit_the_findings_are_those_of_a_cold_check(name: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / name, tmp_path, dirs_exist_ok=True)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "blocks.py").write_text(BLOCKS)
    (tmp_path / "models" / "deep.py").write_text(
        "from models.blocks import stack\n\n\ndef deep():\n    return stack(9)\n"
    )
    project = Project(tmp_path)
    chance = random.Random(name)
    kept = 0
    for number in range(16):
        path = chance.choice(list(project.texts))
        if number % 2:
            path = str(tmp_path / "models" / "blocks.py")
        text = changed(chance, project.texts[path])
        if not is_plainly_valid(text):
            continue
        shown = project.followed(Path(path), text)
        kept += shown is not None
        assert (shown or project.check()) == project.checked()
    assert kept


def test_an_edit_of_a_file_that_cannot_matter_needs_no_check(hazard: Project, tmp_path: Path) -> None:
    path = tmp_path / "blocks.py"
    path.write_text(BLOCKS)
    project = Project(tmp_path)
    for new in (
        BLOCKS.replace("depth=3", "depth=4"),
        BLOCKS.replace("return self.width", "print(scale)\n        return self.width"),
        BLOCKS.replace("def stack", "def stacked"),
        BLOCKS + "\n\ndef more():\n    return Block(1)\n",
    ):
        shown = project.followed(path, new)
        assert shown is not None and shown == project.checked()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return [", "from torch.utils.data import DataLoader\n    return ["),
        ("class", "import train\n\n\nclass"),
        ("def stack", "def load"),
        ("class", "# dllint: ignore-file[DLL2]\nclass"),
    ],
)
def test_a_file_that_may_matter_now_is_checked(hazard: Project, tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "blocks.py"
    path.write_text(BLOCKS)
    (tmp_path / "train.py").write_text(HAZARD + "import torch.multiprocessing as mp\n\nmp.spawn(load, nprocs=2)\n")
    project = Project(tmp_path)
    shown = project.followed(path, BLOCKS.replace(old, new, 1))
    assert shown is None or shown == project.checked()
    if "import train" not in new:
        assert shown is None


def test_what_a_check_leaves_in_memory_is_that_of_the_last_one(hazard: Project, tmp_path: Path) -> None:
    path = str(tmp_path / "train.py")
    for number in range(3, 9):
        hazard.texts[path] = HAZARD.replace("=2", f"={number}")
        hazard.check()
    (cache,) = hazard.memory.caches.values()
    assert len(cache._facts) == 2
    assert {key[1] for key in hazard.memory.screened} == {*hazard.memory.input.contents.values()}


def test_lines_in_the_words_of_other_files_move_too(hazard: Project, tmp_path: Path) -> None:
    shown = hazard.followed(tmp_path / "train.py", "# one\n# two\n" + HAZARD)
    assert shown is not None
    other, ours = shown.raw.findings
    assert "other.py:5" in other.text and "train.py:7" in ours.text
    assert (other.span.line, ours.span.line) == (6, 8)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[], num", "[1], num"),
        ("num_workers=2", "num_workers=4"),
        ("lambda rows: rows", "list"),
        ("    return", "    print()\n    return"),
        ("rows\n", "rows  # dllint: ignore[DLL204]\n"),
        ("[], num", "[],\n        num"),
        ("\n\nload()", "\n\nif True:\n    load()"),
    ],
)
def test_an_edit_that_can_change_a_finding_needs_a_check(hazard: Project, tmp_path: Path, old: str, new: str) -> None:
    assert old in HAZARD
    assert hazard.followed(tmp_path / "train.py", HAZARD.replace(old, new)) is None


def test_a_suppression_moves_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    silenced = HAZARD.replace("rows\n", "rows  # dllint: ignore[DLL204] known\n")
    path = tmp_path / "train.py"
    path.write_text(silenced)
    project = Project(tmp_path)
    assert project.standing.result.raw.findings == ()
    shown = project.followed(path, "\n" + silenced)
    assert shown is not None and shown.raw.findings == ()
    assert project.followed(path, silenced.replace("  # dllint: ignore[DLL204] known", "")) is None


def test_while_a_file_does_not_parse_the_others_keep_their_findings(hazard: Project, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    shown = hazard.followed(path, HAZARD + "print(")
    assert shown is not None
    assert [(Path(one.path).name, one.code) for one in shown.raw.findings] == [
        ("other.py", "DLL204"),
        ("train.py", "DLL001"),
    ]
    assert not any(place == str(path) for place, _ in shown.lenses)
    shown = hazard.followed(path, "# whole again\n" + HAZARD)
    assert shown == hazard.checked()


def test_a_check_that_nobody_waits_for_ends(hazard: Project) -> None:
    stop = Stop(wanted=True)
    with pytest.raises(Interrupted):
        analyse(hazard.settings, hazard.opened(), stop, lambda done, total: None)
    stop = Stop()

    def read(done: int, total: int) -> None:
        stop.wanted = done == total

    with pytest.raises(Interrupted):
        analyse(hazard.settings, hazard.opened(), stop, read)
    assert hazard.checked().raw.findings == hazard.standing.result.raw.findings
