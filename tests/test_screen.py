"""Given these files, those are worth parsing."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable

import pytest

from dllint import screen
from dllint.libraries.index import WORDS
from dllint.modules import ModuleIndex
from dllint.screen import select
from dllint.screened_imports import imports


def selected(**files: str) -> set[str]:
    """The chosen ones of files, all without `.py`."""
    texts = {f"{name}.py": text.encode() for name, text in files.items()}
    return {path.removesuffix(".py") for path in select(texts, ModuleIndex(texts), WORDS).paths}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import a", [("a", 0, ())]),
        ("import a.b as c, d", [("a.b", 0, ()), ("d", 0, ())]),
        ("from a.b import c as d, e", [("a.b", 0, ("c", "e"))]),
        ("from . import a", [("", 1, ("a",))]),
        ("from ..a.b import *", [("a.b", 2, ("*",))]),
        ("from.a import(b)", [("a", 1, ("b",))]),
        ("from a import (\n    b,  # one, two\n    c as d,\n)\n", [("a", 0, ("b", "c"))]),
        ("from a import b, \\\n    c\nimport d", [("a", 0, ("b", "c")), ("d", 0, ())]),
        ("from a \\\r\n  import b\r\nimport c\r\n", [("a", 0, ("b",)), ("c", 0, ())]),
        ("def f():\n    import a\n    from b import c", [("a", 0, ()), ("b", 0, ("c",))]),
        ("try: import a\nexcept E: import b", [("a", 0, ()), ("b", 0, ())]),
        ("x = 1; import a; from b import c", [("a", 0, ()), ("b", 0, ("c",))]),
        ("import a  # import b", [("a", 0, ())]),
        ("x = importlib.import_module('a.b')", [("a.b", 0, ())]),
        ("important = 1\nfrom_ = 2\nyield_from = x", []),
        ("raise E from x\n", []),
        ("from a import (b", [("a", 0, ("b",))]),
    ],
)
def test_imports(code: str, expected: list[tuple[str, int, tuple[str, ...]]]) -> None:
    assert [tuple(one) for one in imports(code.encode())] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("DataLoader(ds)", True),
        ("class A(Dataset): pass", True),
        ("def __getitem__(self, i): pass", True),
        ("make(rows, pin_memory=True, workers=2)", True),
        ("torch.zeros(3, pin_memory=True)", False),
        ("import ray\n\n@ray.remote\ndef f(): pass", True),
        ("def f():\n    from ray import remote", True),
        ("remote = git.remote('origin')", False),
        ("import accelerate\naccelerate.notebook_launcher(f)", True),
        ("house.notebook_launcher(f)", False),
        ("house.Trainer(net)", True),
        ("nn.DataParallel(net)", True),
        ("import torch.multiprocessing as mp", True),
        ("mp.spawn(main)", True),
        ("os.environ['OPENCV_OPENMP_NUM_THREADS'] = '1'", True),
        ("import cv2", True),
        ("class Net(nn.Module):\n    def forward(self, x): return x", False),
        ("", False),
    ],
)
def test_what_can_matter_by_itself(code: str, expected: bool) -> None:
    assert bool(selected(train=code)) is expected


def test_nothing_matters_where_nothing_is_loaded_or_launched() -> None:
    assert selected(model="import layers", layers="x = lambda: 1") == set()


def test_files_on_the_way_from_launcher_to_loader_are_read() -> None:
    assert selected(
        main="import trainer\nmp.spawn(trainer.run)",
        trainer="from engine import build",
        engine="import data",
        data="DataLoader(x)",
        model="import layers",
        layers="",
    ) == {"main", "trainer", "engine", "data"}


def test_packages_on_the_way_are_read() -> None:
    assert selected(
        main="from pkg import make\nmp.spawn(f)",
        **{"pkg/__init__": "from .data import make", "pkg/data": "DataLoader(x)", "pkg/other": ""},
    ) == {"main", "pkg/__init__", "pkg/data"}


def test_what_a_file_that_matters_imports_is_read_at_any_distance() -> None:
    assert selected(
        data="import record\nclass A(Dataset): pass",
        record="from layers import Layer",
        layers="class Layer: pass" + " " * 9000,
        show="import layers",
    ) == {"data", "record", "layers"}


def test_files_above_are_read_for_what_a_dataset_could_be_given() -> None:
    assert selected(
        data="class A(Dataset): pass",
        train="import data\nd = data.A(lambda x: x)",
        local="import data\ndef make(n):\n    def scale(x): return n * x\n    return data.A(scale)",
        keeper="import data\nclass Meter(data.A):\n    def add(self, b): self.rows.append(b.detach().cpu())",
        report="import data\nclass Report(data.A): pass",
    ) == {"data", "train", "local", "keeper"}


def test_files_that_change_a_setting_of_another_are_read() -> None:
    assert selected(
        train="import settings\nDataLoader([], num_workers=settings.N)",
        settings="N = 0",
        fast="import settings\ndef fast():\n    settings.N = 8",
        show="import settings\nclass Show: n = settings.N",
    ) == {"train", "settings", "fast"}


def test_what_a_package_passes_on_is_read() -> None:
    assert selected(
        **{
            "train": "import kit\nDataLoader([], **kit.Options(n=3))",
            "kit/__init__": "from .options import Options",
            "kit/options": "class Options(dict):\n    pass",
        }
    ) == {"train", "kit/__init__", "kit/options"}


@pytest.mark.parametrize("text", ["'from ' + n + ' import ' + n", 'f"from {n} import {n}"'])
def test_what_a_text_imports_is_read(text: str) -> None:
    files = {
        "main": f"from torch.utils.data import DataLoader\nexec({text})\nDataLoader(eval(n)())",
        "data/Faces/Faces": "class Faces:\n    pass",
        "data/Faces/tools": "class Tools:\n    pass",
    }
    assert selected(**files) == {"main", "data/Faces/Faces"}
    assert selected(**files | {"main": files["main"].replace("exec(", "print(")}) == {"main"}


def test_opencv_alone_is_read() -> None:
    assert selected(show="import cv2", other="") == {"show"}


def test_circular_imports_end() -> None:
    assert selected(a="import b\nmp.spawn(f)", b="import a, c", c="import b\nDataLoader(x)") == {"a", "b", "c"}


def test_names_of_the_configuration_make_files_matter() -> None:
    files = {
        "house.py": b"import kernels\n\ndef begin(task):\n    kernels.launch_all(task)\n",
        "train.py": b"from house import begin\n\nbegin(print)\n",
    }

    assert select(files, ModuleIndex(files), WORDS).paths == set()
    assert select(files, ModuleIndex(files), WORDS.with_names(["kernels.launch_all"], [])).paths == {
        "house.py",
        "train.py",
    }
    assert select(files, ModuleIndex(files), WORDS.with_names([], ["house.begin"])).paths == set(files)


def test_a_package_that_one_file_imports_counts_in_all() -> None:
    assert selected(tools="from ray import remote", train="from tools import remote\n\n@remote\ndef f(): pass") == {
        "tools",
        "train",
    }


def test_a_configured_launcher_counts_without_its_package() -> None:
    files = {"train.py": b"from house import remote\nremote(print)\n"}

    assert select(files, ModuleIndex(files), WORDS).paths == set()
    assert select(files, ModuleIndex(files), WORDS.with_names(["house.remote"], [])).paths == {"train.py"}


def test_beyond_the_limit_the_files_nearest_to_loaders_and_launches_are_read() -> None:
    files = {
        "main.py": b"import trainer, steps\nmp.spawn(trainer.run)",
        "trainer.py": b"from data import build" + b" " * 50,
        "steps.py": b"import more" + b" " * 50,
        "more.py": b"import data" + b" " * 50,
        "data.py": b"import main\nDataLoader(x)",
    }
    index = ModuleIndex(files)

    assert select(files, index, WORDS)[:2] == (set(files), 0)
    assert select(files, index, WORDS, most=300)[:2] == (set(files), 0)
    assert select(files, index, WORDS, most=100)[:2] == ({"main.py", "trainer.py", "data.py"}, 2)
    assert select(files, index, WORDS, most=0)[:2] == ({"main.py", "data.py"}, 3)


LINES = [
    b"import torch",
    b"from data import build",
    b"from helpers import *",
    b"import settings, models.nets",
    b"importlib.import_module('models.' + name)",
    b"loader = DataLoader(rows)",
    b"def build(rows):",
    b"class Rows(Dataset):",
    b"    def __getitem__(self, index):",
    b"        return helpers.crop(self.rows[index])",
    b"    return evaluate(loader)",
    b"    def inner():",
    b"DEBUG = True",
    b"settings.DEBUG = False",
    b"mp.spawn(run, nprocs=2)",
    b"run()",
    b"if __name__ == '__main__':",
    b"key = lambda row: row[0]",
    b"for batch in loader:",
    b"    self.kept.append(batch.detach())",
    b"x = torch.zeros(3)",
    b"# a comment",
    b"    another = 1",
    b"    crop = getattr(helpers, 'bu' + 'ild_')",
]


@pytest.mark.parametrize("seed", range(4))
def test_files_that_look_alike_to_the_screen_are_selected_alike(seed: int) -> None:
    chance = random.Random(seed)
    paths = ["main.py", "data.py", "helpers.py", "settings.py", "models/nets.py", "models/__init__.py"]
    files = {path: b"\n".join(chance.choices(LINES, k=8)) for path in paths}
    index = ModuleIndex(files)
    alike = 0
    for _ in range(500):
        before = select(files, index, WORDS)
        path = chance.choice(paths)
        lines = files[path].split(b"\n")
        at = chance.randrange(len(lines))
        lines[at : at + chance.randrange(2)] = chance.choices(LINES, k=chance.randrange(2))
        old, files[path] = files[path], b"\n".join(lines)
        if screen.selected_alike(old, files[path], WORDS, before.packages, before.names):
            alike += 1
            assert select(files, index, WORDS) == before
    assert alike > 50


def test_words_are_the_same_after_a_round_trip() -> None:
    words = WORDS.with_names(["tools.start"], ["tools.Rows"])
    assert words.beside and words.packages
    assert screen.Words.from_json(json.loads(json.dumps(words.to_json()))) == words


def test_a_long_file_is_searched_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = "".join(f"value{number} = {number}\n" for number in range(3000))
    files = {
        "data.py": f"def build(rows):\r\n    return DataLoader(rows)\n{rest}def other():\n    pass\n".encode(),
        "train.py": b"from data import build\nbuild([])\n",
        "tools.py": b"from data import other\nother()\n",
    }
    asked: list[bytes] = []
    plain = screen._holds

    def counted(data: bytes, words: Iterable[bytes]) -> bool:
        asked.append(data)
        return plain(data, words)

    monkeypatch.setattr(screen, "_holds", counted)
    assert select(files, ModuleIndex(files), WORDS).paths == {"data.py", "train.py"}
    assert len(asked) < 100


def test_a_file_that_changes_its_variables_before_another_one_starts_processes() -> None:
    pools = "import multiprocessing\n\ndef run(task, rows):\n    multiprocessing.Pool(2).map(task, rows)\n"
    changing = "import pools\n\ndef main(path):\n    global root\n    root = path\n    pools.run(task, [1])\n"
    other = "import pools\n\ndef main():\n    pools.run(task, [1])\n"

    assert selected(pools=pools, changing=changing, other=other) == {"pools", "changing"}
