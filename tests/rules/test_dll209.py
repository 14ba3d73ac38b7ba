"""DLL209: what processes and pools get that cannot be pickled, and what they can get."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

SELECT = {"select": ["DLL209"]}

HEAD = """\
import functools
import multiprocessing
import threading
import torch.multiprocessing as tmp

def work(rank, given=None):
    print(given)

SPAWN = multiprocessing.get_context("spawn")
"""
GUARD = '\nif __name__ == "__main__":\n    main()\n'

MADE = """
class Trainer:
    def __init__(self, rank, count):
        self.open()
        self.run(count)

    def open(self):
        self.log = open("a")  # MARK

    def run(self, count):
        print(self.log, count)

"""

FOUND: dict[str, dict[str, str]] = {
    "an object whose method the processes run": {
        "demo.py": HEAD
        + MADE.replace("MARK", "DLL209")
        + "def main():\n    SPAWN.Process(target=Trainer(0, 2).run, args=(2,)).start()\n"
        + GUARD
    },
    "a private method": {
        "demo.py": HEAD
        + """
class Reader:
    def read(self):
        SPAWN.Process(target=self.__work, args=(1,)).start()  # DLL209
        multiprocessing.Pool(2).map(self.__work, [1, 2])  # DLL209
        task = self.__work
        SPAWN.Process(target=task, args=(1,)).start()  # DLL209
        options = {"target": self.__work, "args": (1,)}
        SPAWN.Process(**options).start()  # DLL209
        multiprocessing.Pool(2).map(functools.partial(self.__work, 1), [1, 2])  # DLL209

    def __work(self, number, more=0):
        print(number)

class Below(Reader):
    pass

"""
        + "def main():\n    Below().read()\n"
        + GUARD
    },
    "a lambda in args": {
        "demo.py": HEAD + "def main():\n    SPAWN.Process(target=work, args=(0, lambda: 1)).start()  # DLL209\n" + GUARD
    },
    "an alias, and kwargs": {
        "demo.py": HEAD
        + "from multiprocessing import get_context as context\n"
        + "def main():\n    lock = threading.Lock()  # DLL209\n"
        + '    context("forkserver").Process(target=work, args=(0,), kwargs={"given": lock}).start()\n'
        + GUARD
    },
    "torch's spawn, and a list": {
        "demo.py": HEAD
        + "def main():\n    logs = [open('a'), 1]  # DLL209\n    tmp.spawn(work, args=(logs,), nprocs=2)\n"
        + GUARD
    },
    "a partial": {
        "demo.py": HEAD
        + "def main():\n    given = functools.partial(work, given=lambda: 1)  # DLL209\n"
        + "    SPAWN.Process(target=work, args=(0, given)).start()\n"
        + GUARD
    },
    "a local function for a pool that forks": {
        "demo.py": HEAD
        + "def main():\n    def scale(x):  # DLL209\n        return x\n\n"
        + '    with multiprocessing.get_context("fork").Pool(2) as pool:\n        pool.apply(work, (0, scale))\n'
        + GUARD
    },
    "a task of an executor": {
        "demo.py": HEAD
        + "from concurrent.futures import ProcessPoolExecutor\n"
        + "def main():\n    with ProcessPoolExecutor(2) as pool:\n"
        + "        pool.submit(work, 0, lambda: 1)  # DLL209\n"
        + GUARD
    },
    "a subclass of Process": {
        "demo.py": HEAD
        + "class Reader(SPAWN.Process):\n    def __init__(self, path):\n        super().__init__()\n"
        + "        self.file = open(path)  # DLL209\n\n    def run(self):\n        print(self.file.read())\n\n"
        + 'def main():\n    Reader("a").start()\n'
        + GUARD
    },
    "an object of another file, through a wrapper": {
        "jobs.py": "import threading\n\nclass Job:\n    def __init__(self):\n"
        "        self.lock = threading.Lock()  # DLL209\n\n    def run(self, rank):\n        pass\n",
        "demo.py": HEAD
        + "from jobs import Job\n\ndef launch(target, count):\n    for rank in range(count):\n"
        + "        SPAWN.Process(target=target, args=(rank,)).start()\n\n"
        + "def main():\n    launch(Job().run, 2)\n"
        + GUARD,
    },
}

SILENT: dict[str, dict[str, str]] = {
    "methods that are not private, or not bound": {
        "demo.py": HEAD
        + """
class Reader:
    def read(self):
        SPAWN.Process(target=self._work, args=(1,)).start()
        SPAWN.Process(target=self.__call__, args=(1,)).start()
        multiprocessing.get_context("fork").Process(target=self.__work, args=(1,)).start()

    def _work(self, number):
        self.__work(number)

    def __call__(self, number):
        self.__work(number)

    def __work(self, number):
        print(number)

class Found:
    def read(self):
        SPAWN.Process(target=self.__work, args=(1,)).start()

    def __work(self, number):
        print(number)

    def __reduce__(self):
        return Found, ()

"""
        + "def main():\n    Reader().read()\n    Found().read()\n"
        + GUARD
    },
    "objects that each process makes for itself": {
        "demo.py": HEAD + MADE + "def main():\n    tmp.spawn(Trainer, args=(2,), nprocs=2)\n" + GUARD
    },
    "an object that a process makes for itself": {
        "demo.py": HEAD + MADE + "def main():\n    SPAWN.Process(target=Trainer, args=(0, 2)).start()\n" + GUARD
    },
    "numbers and paths": {
        "demo.py": HEAD + "def main():\n    SPAWN.Process(target=work, args=(0, 'a')).start()\n" + GUARD
    },
    "a function of the module": {
        "demo.py": HEAD + "def main():\n    SPAWN.Process(target=work, args=(0, work)).start()\n" + GUARD
    },
    "fork": {
        "demo.py": HEAD
        + "def main():\n"
        + '    multiprocessing.get_context("fork").Process(target=work, args=(0, lambda: 1)).start()\n'
        + GUARD
    },
    "threads": {
        "demo.py": HEAD
        + "from concurrent.futures import ThreadPoolExecutor\n"
        + "def main():\n    threading.Thread(target=work, args=(0, lambda: 1)).start()\n"
        + "    with ThreadPoolExecutor(2) as pool:\n        pool.submit(work, 0, lambda: 1)\n"
        + GUARD
    },
    "a context that the program chooses for both": {
        "demo.py": """\
from torch import multiprocessing as mp

try:
    mp = mp.get_context("spawn")
except RuntimeError:
    pass

def work(queue):
    queue.put(1)

def main():
    queue = mp.Queue()
    mp.Process(target=work, args=(queue,)).start()
"""
        + GUARD
    },
    "a queue of the default context in a process that was spawned": {
        "demo.py": HEAD
        + "def child(rank):\n    queue = multiprocessing.Queue()\n"
        + "    multiprocessing.Process(target=work, args=(rank, queue)).start()\n\n"
        + "def main():\n    tmp.spawn(child, nprocs=2)\n"
        + GUARD
    },
    "an object that pickles itself": {
        "demo.py": HEAD
        + "class Wrapped:\n    def __init__(self, function):\n        self.function = function\n\n"
        + "    def __getstate__(self):\n        return {}\n\n"
        + "def main():\n    SPAWN.Process(target=work, args=(0, Wrapped(lambda: 1))).start()\n"
        + GUARD
    },
    "cloudpickle": {
        "demo.py": "import cloudpickle\n"
        + HEAD
        + "def main():\n    SPAWN.Process(target=work, args=(0, lambda: 1)).start()\n"
        + GUARD
    },
    "what the process makes itself": {
        "demo.py": HEAD
        + "class Job:\n    def __init__(self):\n        self.lock = None\n\n"
        + "    def run(self):\n        self.lock = threading.Lock()\n\n"
        + "def main():\n    SPAWN.Process(target=Job().run).start()\n"
        + GUARD
    },
    "a callback of a pool": {
        "demo.py": HEAD
        + "def main():\n    with multiprocessing.Pool(2) as pool:\n"
        + "        pool.apply_async(work, (0, 1), callback=lambda one: print(one))\n"
        + GUARD
    },
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(files: dict[str, str], findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_silent(files: dict[str, str], findings: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == set()


def test_what_only_a_default_pickles_is_a_warning(told: Callable[..., Any]) -> None:
    source = HEAD + "def main():\n    multiprocessing.Process(target=work, args=(0, lambda: 1)).start()\n" + GUARD
    [finding] = told({"demo.py": source}, **SELECT)
    assert (finding.severity, finding.start_methods) == ("warning", ("forkserver",))
    assert not told({"demo.py": source}, **SELECT, target_python="3.12")


def test_what_an_object_keeps_of_one_module_is_one_cause(told: Callable[..., Any]) -> None:
    source = """\
import multiprocessing as mp

def scaled(factor):
    def fn(row):
        return factor * row
    return fn

def shifted(by):
    def fn(row):
        return by + row
    return fn

class Model:
    def __init__(self):
        self.scale = scaled(2)
        self.shift = shifted(3)

def work(model):
    print(model)

def main():
    mp.get_context("spawn").Process(target=work, args=(Model(),)).start()
"""
    (finding,) = told({"train.py": source}, select=["DLL209"])

    either = [place.span.line for place in finding.related if "either" in place.message]
    assert sorted([finding.span.line, *either]) == [4, 9]


CHOSEN = """\
import multiprocessing

made = []


def work(given):
    print(given)


def start(name=None):
    context = multiprocessing.get_context(name)
    made.append(context.Array("d", 3))
    process = context.Process(target=work, args=(made[-1],))
    process.start()


def first():
    start("fork")


def second():
    start()


if __name__ == "__main__":
    first()
    second()
"""


def test_the_context_of_a_process_and_of_its_argument_are_chosen_together(findings: Callable[..., Any]) -> None:
    assert findings({"workers.py": CHOSEN}, select=["DLL209"]) == set()


HEAD_OF_READERS = """\
from multiprocessing import Process, get_context
from torch.multiprocessing import Process as TorchProcess

def work(reader, rank):
    print(rank)

class Reader:
    def _read(self, rank=0):
        print(rank)

"""
TAIL_OF_READERS = '\nif __name__ == "__main__":\n    Reader().start()\n'


def reader(body: str, init: str = "self.processes = []", head: str = "") -> dict[str, str]:
    """A class whose method `start` starts processes."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    methods = (
        f"    def __init__(self, count=4):\n        self.count = count\n        {init}\n\n    def start(self):\n{lines}"
    )
    return {"demo.py": HEAD_OF_READERS + head + methods + TAIL_OF_READERS}


LATER: dict[str, dict[str, str]] = {
    "kept after each start": reader(
        "for rank in range(self.count):\n    process = Process(target=self._read, args=(rank,))  # DLL209\n"
        "    process.start()\n    self.processes.append(process)"
    ),
    "kept before each start": reader(
        "for rank in range(self.count):\n    self.processes.append(TorchProcess(target=self._read))  # DLL209\n"
        "    self.processes[-1].start()"
    ),
    "made in a comprehension, then started": reader(
        "self.processes = [Process(target=self._read) for _ in range(self.count)]  # DLL209\n"
        "for process in self.processes:\n    process.start()"
    ),
    "an object among the arguments": reader(
        "for rank in range(self.count):\n    process = Process(target=work, args=(self, rank))  # DLL209\n"
        "    process.start()\n    self.processes.append(process)"
    ),
    "one after the other": reader(
        "self.one = Process(target=self._read)\nself.one.start()\n"
        "self.other = Process(target=self._read)  # DLL209\nself.other.start()"
    ),
    "joined in between": reader(
        "for rank in range(self.count):\n    process = Process(target=self._read)  # DLL209\n"
        "    process.start()\n    process.join()\n    self.processes.append(process)"
    ),
}

NOT_LATER: dict[str, dict[str, str]] = {
    "one process": reader("self.one = Process(target=self._read)\nself.one.start()"),
    "a loop that runs once": reader(
        "for rank in range(1):\n    process = Process(target=self._read)\n    process.start()\n"
        "    self.processes.append(process)"
    ),
    "a list of the function": reader(
        "processes = []\nfor rank in range(self.count):\n    process = Process(target=self._read)\n"
        "    process.start()\n    processes.append(process)"
    ),
    "a list that is stored when all run": reader(
        "processes = []\nfor rank in range(self.count):\n    process = Process(target=self._read)\n"
        "    process.start()\n    processes.append(process)\nself.processes = processes"
    ),
    "a function that is not given the object": reader(
        "for rank in range(self.count):\n    process = Process(target=work, args=(None, rank))\n"
        "    process.start()\n    self.processes.append(process)"
    ),
    "the same attribute again": reader(
        "for rank in range(self.count):\n    self.one = Process(target=self._read)\n"
        "    self.one.start()\n    self.one.join()"
    ),
    "the other is not started": reader(
        "self.other = Process(target=self._read)\nself.one = Process(target=self._read)\nself.one.start()"
    ),
    "left out by __getstate__": reader(
        "for rank in range(self.count):\n    process = Process(target=self._read)\n"
        "    process.start()\n    self.processes.append(process)",
        head="    def __getstate__(self):\n        return {'count': self.count}\n\n",
    ),
    "forked": reader(
        "for rank in range(self.count):\n    process = get_context('fork').Process(target=self._read)\n"
        "    process.start()\n    self.processes.append(process)"
    ),
}


@pytest.mark.parametrize("files", LATER.values(), ids=LATER)
def test_processes_that_the_object_started_before(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("files", NOT_LATER.values(), ids=NOT_LATER)
def test_no_process_was_started_before(findings: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, **SELECT) == set()


@pytest.mark.parametrize(("count", "severity"), [("4", "error"), ("int(input())", "warning")])
def test_it_is_an_error_if_there_are_surely_several(told: Callable[..., Any], count: str, severity: str) -> None:
    files = reader(
        f"for rank in range({count}):\n    process = get_context('spawn').Process(target=self._read)\n"
        "    process.start()\n    self.processes.append(process)"
    )
    (finding,) = told(files, **SELECT)

    assert (finding.severity, finding.values["holder"]) == (severity, "Reader.processes")


KEEPS_A_WRITER = """
    import torch.multiprocessing as mp
    from torch.utils.tensorboard import SummaryWriter

    class Learner:
        def __init__(self, config):
            self.distributed = config.distributed
            {}

        def log(self):
            self.writer = SummaryWriter()

        def train(self):
            mp.spawn(self.work, nprocs=2)

        def work(self, rank):
            self.writer.flush()

    def main(config):
        Learner(config).train()
    """


@pytest.mark.parametrize(
    ("setting", "severity"),
    [
        ("self.writer = SummaryWriter()", "error"),
        ("self.log()", "error"),
        ("self.writer = None; self.log()", "error"),
        ("if not self.distributed: self.writer = SummaryWriter()", "warning"),
        ("if not self.distributed: self.log()", "warning"),
        ("self.writer = SummaryWriter() if config.log else print", "warning"),
    ],
)
def test_what_only_some_runs_keep_is_no_error(told: Callable[..., Any], setting: str, severity: str) -> None:
    (finding,) = told({"main.py": dedent(KEEPS_A_WRITER).format(setting)}, **SELECT)

    assert (finding.severity, finding.values["holder"]) == (severity, "Learner.writer")


def test_a_generated_constructor_in_another_file(findings: Callable[..., Any]) -> None:
    row = (
        "from dataclasses import dataclass\nfrom torch.utils.data import Dataset\n\n"
        "@dataclass\nclass Row:\n    name: str\n    scale: object\n"
    )
    main = (
        "import multiprocessing\nfrom row import Row\n\ndef work(one):\n    print(one.name)\n\n"
        "def launch(names):\n"
        '    context = multiprocessing.get_context("spawn")\n'
        "    for name in names:\n        if name:\n"
        "            one = Row(name, lambda x: x)\n"
        "            context.Process(target=work, args=(one,)).start()\n"
    )

    assert findings({"row.py": row, "main.py": main}, select=["DLL209"]) == {("main.py", 11, "DLL209")}


def test_a_plain_class_in_another_file(findings: Callable[..., Any]) -> None:
    row = "class Row:\n    def __init__(self, name, scale):\n        self.scale = scale\n"
    main = (
        "import multiprocessing\nimport threading\nfrom row import Row\n\ndef work(one):\n    print(one.name)\n\n"
        "def launch():\n"
        '    context = multiprocessing.get_context("spawn")\n'
        "    one = Row(1, threading.Lock())\n"
        "    context.Process(target=work, args=(one,)).start()\n"
    )

    assert findings({"row.py": row, "main.py": main}, select=["DLL209"]) == {("main.py", 10, "DLL209")}


def test_a_start_method_that_the_program_never_sets(findings: Callable[..., Any]) -> None:
    options = (
        "import argparse\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--threads", default=False, action="store_true")\noptions = parser.parse_args()\n'
    )
    reader = (
        "import cv2\nimport torch.multiprocessing as mp\nfrom options import options\n\n"
        "class Reader:\n    def __init__(self, path):\n        self.stream = cv2.VideoCapture(path)\n\n"
        "    def start(self):\n        if not options.threads:\n            mp.Process(target=self.read).start()\n\n"
        "    def read(self):\n        print(self.stream)\n"
    )
    main = (
        "import torch\nfrom options import options\nfrom reader import Reader\n\n"
        "options.threads = True\nif not options.threads:\n"
        '    torch.multiprocessing.set_start_method("forkserver", force=True)\n\n'
        'if __name__ == "__main__":\n    Reader("a").start()\n'
    )
    files = {"options.py": options, "reader.py": reader, "main.py": main}

    assert findings(files, select=["DLL209"], target_python="3.11") == set()
    set_first = {**files, "main.py": main.replace("options.threads = True\n", "")}
    assert findings(set_first, select=["DLL209"], target_python="3.11") == {("reader.py", 7, "DLL209")}

    guard = 'if __name__ == "__main__":\n'
    in_guard = (
        "import torch\nfrom options import options\nfrom reader import Reader\n\n" + guard + "    args = options\n"
        "    args.threads = True\n    if not args.threads:\n"
        '        torch.multiprocessing.set_start_method("forkserver", force=True)\n    Reader("a").start()\n'
    )
    assert findings({**files, "main.py": in_guard}, select=["DLL209"], target_python="3.11") == set()
    too_late = in_guard.replace("    args.threads = True\n", "") + "    args.threads = True\n"
    assert findings({**files, "main.py": too_late}, select=["DLL209"], target_python="3.11") == {
        ("reader.py", 7, "DLL209")
    }
    by_other = in_guard.replace("    if not", "    ask(args)\n    if not").replace(
        guard, "def ask(options):\n    options.threads = bool(input())\n\n" + guard
    )
    assert findings({**files, "main.py": by_other}, select=["DLL209"], target_python="3.11") == {
        ("reader.py", 7, "DLL209")
    }


def test_what_a_partial_of_the_target_binds_is_told_once(findings: Callable[..., Any]) -> None:
    text = (
        "from functools import partial\nfrom multiprocessing import Pool\n\n"
        "def work(step, row):\n    return step(row)\n\n"
        "def main():\n    with Pool(4) as pool:\n        pool.map(partial(work, lambda row: row + 1), [1, 2])\n"
        "        pool.apply(work, (lambda row: row + 1, 1))\n"
    )
    assert findings({"main.py": text + GUARD}, select=["DLL207", "DLL209"]) == {
        ("main.py", 9, "DLL207"),
        ("main.py", 10, "DLL209"),
    }
