"""Given this code, what `dllint trace` says about it."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dllint import cli, linter
from dllint.config import Settings
from dllint.linter import Execution
from dllint.tracing import Argument, LoaderTrace, Trace, parse_place, trace_file, trace_line

TRAIN = """\
import argparse

import torch.multiprocessing as mp
from data import Faces, build

def main(rank, options):
    loader = build(Faces("/faces"), options)
    for batch in loader:
        pass

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    mp.spawn(main, args=(options,), nprocs=2)
"""
DATA = """\
from torch.utils.data import DataLoader, Dataset

class Faces(Dataset):
    def __init__(self, top):
        self.top = top
        self.lock = open(top)
        self.transform = lambda image: image / 255

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["lock"]
        return state

    def __getitem__(self, index):
        return index

def build(faces, options):
    return DataLoader(faces, num_workers=options.workers, pin_memory=True)
"""

Follow = Callable[..., Trace]


@pytest.fixture
def follow(tmp_path: Path) -> Follow:
    """Traces FILE or FILE:LINE among files that are given by name."""
    (tmp_path / ".git").mkdir()

    def follow(place: str, sources: dict[str, str]) -> Trace:
        for name, text in sources.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        name, line = parse_place(place, False)
        path = str(tmp_path / name)
        project = linter.link(path, Settings(root=str(tmp_path)), Execution(jobs=1, cache=False)).project
        if line is None:
            return trace_file(project, path)
        found = trace_line(project, path, line)
        assert found is not None
        return found

    return follow


@pytest.fixture
def faces(follow: Follow) -> LoaderTrace:
    trace = follow("data.py:18", {"train.py": TRAIN, "data.py": DATA})
    assert len(trace.loaders) == 1
    return trace.loaders[0]


def argument(loader: LoaderTrace, name: str) -> Argument:
    return next(one for one in loader.arguments if one.name == name)


def sources(follow: Follow, code: str, name: str = "num_workers", **files: str) -> list[tuple[str, str, str, int]]:
    """Text, how, file and line of what an argument of the one loader in `code` comes to."""
    trace = follow(
        "train.py", {"train.py": "from torch.utils.data import DataLoader\n" + textwrap.dedent(code), **files}
    )
    return [
        (one.text if one.known else "?", one.how, Path(one.path).name, one.span.line)
        for one in argument(trace.loaders[0], name).sources
    ]


def hops(chain: Any) -> list[tuple[str, int, str]]:
    return [(Path(one.path).name, one.span.line, one.message) for one in chain]


def test_the_chain_from_a_launcher_in_another_file(faces: LoaderTrace) -> None:
    spawn = faces.in_force[0]
    assert (spawn.method, spawn.source, spawn.others) == ("spawn", "inherited", 0)
    assert hops(spawn.chain) == [
        ("train.py", 15, "mp.spawn(…) starts main by spawn"),
        ("train.py", 7, "calls build"),
    ]
    assert [(one.method, one.source) for one in faces.in_force[1:]] == [("fork", "default"), ("forkserver", "default")]
    assert faces.way_in is None


def test_the_default_of_a_command_line_option_may_be_changed(faces: LoaderTrace) -> None:
    workers = argument(faces, "num_workers")
    assert workers.written == "options.workers"
    (source,) = workers.sources
    assert (source.text, source.how, Path(source.path).name, source.span.line) == (
        "4",
        "default of --workers",
        "train.py",
        13,
    )
    assert source.caveat == "the command line may change it"


def test_arguments_that_are_not_given_are_named(faces: LoaderTrace) -> None:
    absent = [one.name for one in faces.arguments if not one.given]
    assert absent == [
        "multiprocessing_context",
        "collate_fn",
        "worker_init_fn",
        "persistent_workers",
        "prefetch_factor",
    ]


def test_a_dataset_with_what_it_keeps_and_leaves_out(faces: LoaderTrace) -> None:
    (dataset,) = faces.datasets
    assert (dataset.name, dataset.project) == ("Faces", True)
    assert dataset.place is not None
    assert (Path(dataset.place.path).name, dataset.place.span.line) == ("train.py", 7)
    assert [(one.name, one.text, one.place.span.line, one.note, one.constant, one.dropped) for one in dataset.kept] == [
        ("top", "'/faces'", 5, "", True, False),
        ("lock", "what open(…) gives", 6, "", False, True),
        ("transform", "lambda", 7, "a lambda cannot be pickled", False, False),
    ]


def test_the_shortest_chain_is_shown_and_the_others_are_counted(follow: Follow) -> None:
    code = """\
    import torch.multiprocessing as mp
    from torch.utils.data import DataLoader

    def build(dataset):
        return DataLoader(dataset, num_workers=2)

    def detour(dataset):
        return build(dataset)

    def main(rank, dataset):
        build(dataset)
        detour(dataset)

    mp.spawn(main, args=([1],))
    """
    spawn = follow("train.py:5", {"train.py": code}).loaders[0].in_force[0]
    assert [line for _, line, _ in hops(spawn.chain)] == [14, 11]
    assert spawn.others == 1


def test_a_launch_under_a_condition_that_excludes_the_loader(follow: Follow) -> None:
    code = """\
    import sys
    import torch.multiprocessing as mp
    from torch.utils.data import DataLoader

    def main(rank, cfg):
        if cfg.dist:
            DataLoader([1], num_workers=2)
        else:
            DataLoader([2], num_workers=2)

    def run(cfg):
        if cfg.dist:
            mp.spawn(main, args=(cfg,))
        else:
            main(0, cfg)

    run(object())
    """
    here = follow("train.py:9", {"train.py": code}).loaders[0]
    assert [one.source for one in here.in_force] == ["default", "default"]
    (excluded,) = here.excluded
    assert excluded.method == "spawn"
    assert "it needs a condition that is false here: `not cfg.dist`" in excluded.reason
    assert [line for _, line, _ in hops(excluded.chain)] == [17, 13]
    assert here.way_in is not None and here.way_in.function == "<module>"
    assert [line for _, line, _ in hops(here.way_in.hops)] == [17, 15]


def test_a_function_that_nothing_is_known_to_call(follow: Follow) -> None:
    code = """\
    from torch.utils.data import DataLoader

    def build(dataset, workers):
        return DataLoader(dataset, num_workers=workers)
    """
    trace = follow("data.py:4", {"data.py": code})
    assert trace.way_in is not None
    assert (Path(trace.way_in.path).name, trace.way_in.function, trace.way_in.hops) == ("data.py", "build", ())
    (source,) = argument(trace.loaders[0], "num_workers").sources
    assert not source.known
    assert source.text == "`workers` is a parameter of build, and no call of it was found"


def test_no_workers_is_a_verdict(follow: Follow) -> None:
    code = "from torch.utils.data import DataLoader\nNONE = 0\nDataLoader([1], num_workers=NONE)\n"
    (loader,) = follow("train.py", {"train.py": code}).loaders
    assert loader.workers == "none"
    assert loader.verdict.startswith("the worker count is provably 0")
    assert loader.in_force == ()


def test_a_class_that_gives_batches_itself_is_a_verdict(follow: Follow) -> None:
    code = """\
    from torch.utils.data import DataLoader
    class Loader(DataLoader):
        def __iter__(self):
            yield from self.dataset
    Loader([1], num_workers=2)
    """
    (loader,) = follow("train.py", {"train.py": code}).loaders
    assert loader.workers == "none"
    assert loader.verdict.startswith("its class gives batches itself: no worker starts")
    assert loader.in_force == ()


def test_the_start_method_of_the_loaders_own_context(follow: Follow) -> None:
    code = """\
    from torch.utils.data import DataLoader
    DataLoader([1], num_workers=1, multiprocessing_context="forkserver")
    """
    (one,) = follow("train.py", {"train.py": code}).loaders[0].in_force
    assert (one.method, one.source, one.workers) == ("forkserver", "explicit", "1")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("DataLoader([], num_workers=3)", [("3", "", "train.py", 2)], id="literal"),
        pytest.param("N = 3\nDataLoader([], num_workers=N)", [("3", "", "train.py", 2)], id="constant"),
        pytest.param(
            "from settings import N\nDataLoader([], num_workers=N)", [("5", "", "settings.py", 1)], id="import"
        ),
        pytest.param(
            "import settings\nDataLoader([], num_workers=settings.N)", [("5", "", "settings.py", 1)], id="module"
        ),
        pytest.param("kw = dict(num_workers=2)\nDataLoader([], **kw)", [("2", "", "train.py", 2)], id="keyword dict"),
        pytest.param(
            "kw = {}\nkw['num_workers'] = 2\nDataLoader([], **kw)", [("2", "", "train.py", 3)], id="changed dict"
        ),
        pytest.param(
            "def build(n=6):\n    DataLoader([], num_workers=n)\nbuild()",
            [("6", "default of `n` of build", "train.py", 2)],
            id="default of a parameter",
        ),
        pytest.param(
            "def build(**kw):\n    DataLoader([], **kw)\nbuild(num_workers=7)",
            [("7", "", "train.py", 4)],
            id="handed on",
        ),
        pytest.param(
            "class Run:\n    def __init__(self):\n        self.n = 8\n"
            "    def go(self):\n        DataLoader([], num_workers=self.n)\n",
            [("8", "", "train.py", 4)],
            id="attribute",
        ),
        pytest.param(
            "def count():\n    return 9\nDataLoader([], num_workers=count())", [("9", "", "train.py", 3)], id="returned"
        ),
        pytest.param(
            "import os\nDataLoader([], num_workers=2 if os.getpid() else 4)",
            [("2", "", "train.py", 3), ("4", "", "train.py", 3)],
            id="one of two",
        ),
        pytest.param(
            "from functools import partial\nmake = partial(DataLoader, num_workers=1)\nmake([])",
            [("1", "", "train.py", 3)],
            id="partial",
        ),
        pytest.param(
            "class Own(DataLoader):\n    def __init__(self, data, n):\n"
            "        super().__init__(data, num_workers=n)\nOwn([], 3)",
            [("3", "", "train.py", 5)],
            id="own class",
        ),
        pytest.param(
            "import json\ncfg = json.load(open('run.json'))\nDataLoader([], num_workers=cfg['n'])",
            [("2", "`n`", "run.json", 1)],
            id="configuration file",
        ),
    ],
)
def test_where_a_worker_count_comes_from(follow: Follow, code: str, expected: list[tuple[str, str, str, int]]) -> None:
    assert sources(follow, code, **{"settings.py": "N = 5\n", "run.json": '{"n": 2}'}) == expected


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def run(**kw):\n    DataLoader([], **kw)", "no call of run is known, which takes it by `**`"),
        ("import os\nDataLoader([], num_workers=os.getpid() % N)", "`N` is known only when the program runs"),
        (
            "def run(cfg):\n    DataLoader([], num_workers=cfg.n)",
            "`cfg` is a parameter of run, and no call of it was found",
        ),
    ],
)
def test_why_a_worker_count_is_not_known(follow: Follow, code: str, reason: str) -> None:
    trace = follow("train.py", {"train.py": f"from torch.utils.data import DataLoader\n{code}\n"})
    assert reason in [one.text for one in argument(trace.loaders[0], "num_workers").sources if not one.known]


def test_callables_are_named_with_their_kind_and_place(follow: Follow) -> None:
    code = """\
    def seed(worker):
        pass

    def build():
        def merge(items):
            return items
        return DataLoader([], collate_fn=merge, worker_init_fn=seed)
    """
    assert sources(follow, code, "collate_fn") == [("local function merge", "", "train.py", 6)]
    assert sources(follow, code, "worker_init_fn") == [("function seed", "", "train.py", 2)]


def test_launches_of_a_file(follow: Follow) -> None:
    code = """\
    import torch.multiprocessing as mp

    def main(rank):
        pass

    def start(what):
        mp.set_start_method("forkserver")
        mp.spawn(main)
        mp.Process(target=what).start()
    """
    launches = follow("train.py", {"train.py": code}).launches
    assert [(one.place.span.line, one.call, one.methods, one.runs, one.note) for one in launches] == [
        (7, "mp.set_start_method", ("forkserver",), ("the rest of the program",), ""),
        (8, "mp.spawn", ("spawn",), ("main",), ""),
        (9, "mp.Process", (), (), "what it starts is unknown"),
    ]


def test_a_launcher_that_could_not_be_followed_is_a_doubt_elsewhere(follow: Follow) -> None:
    start = "import data\nimport multiprocessing as mp\n\ndef start(what):\n    mp.Process(target=what).start()\n"
    trace = follow(
        "data.py:4",
        {
            "start.py": start,
            "data.py": "from torch.utils.data import DataLoader\n\ndef build():\n    DataLoader([], num_workers=2)\n",
        },
    )
    assert hops(trace.doubts) == [("start.py", 5, "what mp.Process(…) starts is not known")]


@pytest.mark.parametrize(
    ("line", "statement", "function"),
    [
        (1, 1, "<module>"),
        (3, 4, "f"),
        (4, 4, "f"),
        (6, 5, "f"),
        (9, 9, "<module>"),
        (12, 9, "<module>"),
    ],
    ids=["first", "decorator follows", "def is inside", "inside brackets", "after", "past the last"],
)
def test_the_statement_of_a_line(follow: Follow, line: int, statement: int, function: str) -> None:
    code = "import os\n\n\ndef f():\n    return (\n        os\n    )\n\nf()\n\n\n#\n"
    trace = follow(f"train.py:{line}", {"train.py": code})
    assert trace.statement is not None
    assert (trace.statement.line, trace.function) == (statement, function)


def test_start_methods_where_there_is_no_loader(follow: Follow) -> None:
    trace = follow("train.py:8", {"train.py": TRAIN, "data.py": DATA})
    assert not trace.loaders
    assert trace.function == "main"
    assert (trace.in_force[0].method, trace.in_force[0].source) == ("spawn", "inherited")


def test_a_file_that_a_check_need_not_parse(follow: Follow) -> None:
    """Nothing in the middle speaks of loaders or processes, and the chain passes through."""
    trace = follow(
        "inner.py:2",
        {
            "start.py": "import multiprocessing as mp\nimport middle\n"
            "mp.get_context('spawn').Process(target=middle.run).start()\n",
            "middle.py": "import inner\n\ndef run():\n    inner.work()\n",
            "inner.py": "def work():\n    print()\n",
        },
    )
    assert [line for _, line, _ in hops(trace.in_force[0].chain)] == [3, 4]


@pytest.mark.parametrize(
    ("text", "exists", "expected"),
    [
        ("train.py", True, ("train.py", None)),
        ("train.py:12", False, ("train.py", 12)),
        ("train.py:12:5", False, ("train.py", 12)),
        ("odd:12", True, ("odd:12", None)),
        ("C:\\run\\train.py", False, ("C:\\run\\train.py", None)),
        ("C:\\run\\train.py:3", False, ("C:\\run\\train.py", 3)),
        ("train.py:x", False, ("train.py:x", None)),
        (":3", False, (":3", None)),
    ],
)
def test_file_and_line(text: str, exists: bool, expected: tuple[str, int | None]) -> None:
    assert parse_place(text, exists) == expected


# The command


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs `dllint trace` beside train.py and data.py: exit code, stdout, stderr."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "data.py").write_text(DATA, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as left:
            cli.main(["trace", "--no-cache", *arguments])
        printed = capsys.readouterr()
        return left.value.code, printed.out, printed.err

    return run


TEXT = """\
data.py:18 DataLoader in build: it starts workers
  Start methods of its workers
    spawn, inherited from a launcher
      train.py:15  mp.spawn(…) starts main by spawn
      train.py:7   calls build
    fork, the default on Linux up to Python 3.13, where no launcher leads here
    forkserver, the default on Linux from Python 3.14, where no launcher leads here
  Arguments
    dataset = faces: Faces (made at train.py:7)
    num_workers = options.workers: 4 (default of --workers at train.py:13; the command line may change it)
    pin_memory = True (data.py:18)
    not given: multiprocessing_context, collate_fn, worker_init_fn, persistent_workers, prefetch_factor
  Dataset Faces made at train.py:7
    keeps lock = what open(…) gives (data.py:6), dropped when pickled
    keeps transform = lambda (data.py:7): a lambda cannot be pickled
    keeps constants: top
"""
SUMMARY = """\
data.py:18 DataLoader in build: it starts workers
  spawn, inherited from a launcher: train.py:15 → train.py:7 → data.py:18
  fork, the default on Linux up to Python 3.13
  forkserver, the default on Linux from Python 3.14
  dataset = faces: Faces (made at train.py:7)
  num_workers = options.workers: 4 (default of --workers at train.py:13; the command line may change it)

1 loader, 0 launches. `dllint trace data.py:LINE` shows all about one place.
"""


def test_the_text_of_a_line(run: Callable[..., Any]) -> None:
    assert run("data.py:18") == (0, TEXT, "")


def test_the_text_of_a_file(run: Callable[..., Any]) -> None:
    assert run("data.py") == (0, SUMMARY, "")


def test_colours_change_nothing_else(run: Callable[..., Any]) -> None:
    _, out, _ = run("data.py:18", "--color", "always")
    assert "\x1b[1mdata.py:18\x1b[0m" in out
    plain = out
    for code in ("\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"):
        plain = plain.replace(code, "")
    assert plain == TEXT


def test_a_blank_line_says_which_statement_was_taken(run: Callable[..., Any]) -> None:
    code, out, _ = run("data.py:2")
    assert code == 0
    assert out.startswith("Line 2 holds no statement; the nearest one is at line 3.\n")


def test_limits_that_were_met_stand_at_the_end(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linter, "limits_met", lambda project: {"call-depth": 2})
    assert run("data.py:18")[1] == TEXT + (
        "\nLimits of the analysis that were met\n"
        "  the limit on call-depth was met 2 times; what lies beyond it counts as unknown\n"
    )
    assert json.loads(run("data.py:18", "--output-format", "json")[1])["limits"] == {"call-depth": 2}


def test_json(run: Callable[..., Any]) -> None:
    code, out, _ = run("data.py:18", "--output-format", "json")
    assert code == 0
    trace = json.loads(out)
    assert set(trace) == {
        "filename",
        "line",
        "statement",
        "function",
        "start_methods",
        "excluded",
        "way_in",
        "loaders",
        "launches",
        "doubts",
        "limits",
    }
    (loader,) = trace["loaders"]
    assert loader["workers"] == "some"
    spawn = loader["start_methods"][0]
    assert (spawn["method"], spawn["source"], spawn["targets"], spawn["other_chains"]) == (
        "spawn",
        "inherited",
        None,
        0,
    )
    assert [hop["location"]["row"] for hop in spawn["chain"]] == [15, 7]
    workers = next(one for one in loader["arguments"] if one["name"] == "num_workers")
    assert workers["given"] and workers["written"] == "options.workers"
    assert workers["values"][0]["text"] == "4"
    assert workers["values"][0]["location"] == {"row": 13, "column": 5}
    assert [one["dropped"] for one in loader["datasets"][0]["kept"]] == [False, True, False]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("missing.py", "error: missing.py: no such file\n"),
        ("missing.py:3", "error: missing.py: no such file\n"),
        ("train.py:99", "error: train.py has 15 lines, and no line 99\n"),
        ("train.py:0", "error: train.py has 15 lines, and no line 0\n"),
        (".", "error: .: is a directory; name a file, or a line of one as FILE:LINE\n"),
        ("broken.py:1", "error: broken.py:1: cannot be read: "),
        ("empty.py:1", "error: empty.py holds no statement\n"),
    ],
)
def test_bad_input_is_one_line(run: Callable[..., Any], tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "empty.py").write_text("# nothing\n", encoding="utf-8")
    code, out, err = run(place)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(message)


def test_a_file_that_could_not_be_read_is_a_doubt(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("from torch.utils.data import DataLoader\ndef f(:\n", encoding="utf-8")
    _, out, _ = run("data.py:18")
    assert "Calls that could not be followed and may lead here\n  broken.py:2  not read: " in out


def test_a_project_that_nothing_marks(run: Callable[..., Any], tmp_path: Path) -> None:
    """The launcher is one directory up, beside the requirements."""
    (tmp_path / ".git").rmdir()
    (tmp_path / "requirements.txt").write_text("torch\n", encoding="utf-8")
    (tmp_path / "parts").mkdir()
    (tmp_path / "data.py").rename(tmp_path / "parts" / "data.py")
    (tmp_path / "train.py").write_text(TRAIN.replace("from data", "from parts.data"), encoding="utf-8")
    _, out, _ = run("parts/data.py:18")
    assert "spawn, inherited from a launcher\n      train.py:15" in out


def test_questions_that_nest_deeper_than_python_allows_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["from torch.utils.data import DataLoader", "def workers0(): return 3"]
    lines += [f"def workers{n}(): return workers{n - 1}() + 0" for n in range(1, 200)]
    lines += ["def build(data):", "    return DataLoader(data, num_workers=workers60())"]
    (tmp_path / "train.py").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    # An interpreter's own is 1,000; pytest has used some of them.
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(450)
    try:
        with pytest.raises(SystemExit) as ended:
            cli.main(["trace", f"train.py:{len(lines)}"])
    finally:
        sys.setrecursionlimit(frames)
    assert ended.value.code == 0
    assert f"train.py:{len(lines)} DataLoader in build" in capsys.readouterr().out
