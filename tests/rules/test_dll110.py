"""DLL110: names that only the main guard sets, in processes that skip it, and where nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL110"]}
HEAD = """\
import functools
import multiprocessing
import torch.multiprocessing as tmp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return {item}
"""
LOADER = 'DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")'


def program(item: str, guarded: str, before: str = "", loader: str = LOADER) -> dict[str, str]:
    lines = "".join(f"    {line}\n" for line in (*guarded.splitlines(), f"loader = {loader}", "print(list(loader))"))
    main = f'if __name__ == "__main__":\n{lines}'
    return {"train.py": f"{HEAD.format(item=item)}\n{before}\n{main}"}


FOUND: dict[str, dict[str, str]] = {
    "a number": program("index * scale  # DLL110", "scale = 3"),
    "declared global at the top level": program("index * scale  # DLL110", "global scale\nscale = 3"),
    "a default that the guard replaces": program("index * scale", "scale = 3  # DLL110", before="scale = 1\n"),
    "the target of a loop": program("index * last  # DLL110", "for last in range(3):\n    print(last)"),
    "a function": program("index * scaled(index)  # DLL110", "def scaled(index):\n    return index"),
    "an import": program("math.sqrt(index)  # DLL110", "import math"),
    "in a helper": program(
        "helper(index)", "scale = 3", before="def helper(index):\n    return index * scale  # DLL110\n"
    ),
    "in a collate function": program(
        "index",
        "scale = 3",
        before="def collate(rows):\n    return [row * scale for row in rows]  # DLL110\n",
        loader=LOADER.replace(")", ", collate_fn=collate)").replace("Rows(, collate_fn=collate)", "Rows()"),
    ),
    "in a subclass": program(
        "index",
        "scale = 3",
        before="class More(Rows):\n    def __getitem__(self, index):\n        return index * scale  # DLL110\n",
        loader=LOADER.replace("Rows()", "More()"),
    ),
    "a guard the other way round": {
        "train.py": HEAD.format(item="index * scale  # DLL110")
        + f'\nif "__main__" == __name__:\n    scale = 3\n    print(list({LOADER}))\n'
    },
    "options in a dict, in another file": {
        "loading.py": "from torch.utils.data import DataLoader\n\nOPTIONS = dict(num_workers=2, "
        'multiprocessing_context="forkserver")\n\ndef load(rows):\n    return DataLoader(rows, **OPTIONS)\n',
        "train.py": HEAD.format(item="index * scale  # DLL110")
        + '\nfrom loading import load\n\nif __name__ == "__main__":\n    scale = 3\n    print(list(load(Rows())))\n',
    },
    "beside the names of another package": program(
        "index * scale  # DLL110", "scale = 3", before="from elsewhere.utils import *\n"
    ),
    "beside the names of another file": {
        **program("index * scale  # DLL110", "scale = 3", before="from settings import *\n"),
        "settings.py": "import torch.utils.data\n_scale = 4\n",
    },
    "a name that another file does not export": {
        **program("index * scale  # DLL110", "scale = 3", before="from settings import *\n"),
        "settings.py": "import torch.utils.data\n__all__ = ['size']\nsize = 3\nscale = 4\n",
    },
}

SILENT: dict[str, dict[str, str]] = {
    "fork": program("index * scale", "scale = 3", loader=LOADER.replace("spawn", "fork")),
    "no workers": program("index * scale", "scale = 3", loader="DataLoader(Rows())"),
    "a repeated import": program("math.sqrt(index)", "import math", before="import math\n"),
    "the same constant": program("index * scale", "scale = 1", before="scale = 1\n"),
    "the same name of a local variable": program(
        "helper(index)", "scale = 3", before="scale = 1\ndef helper(index):\n    scale = index\n    return scale\n"
    ),
    "a local name": program("helper(index)", "scale = 3", before="def helper(scale):\n    return scale\n"),
    "set by every worker": program(
        "index * scale",
        "pass",
        before="def init(worker):\n    global scale\n    scale = 3\n",
        loader=LOADER.replace("Rows(), ", "Rows(), worker_init_fn=init, "),
    ),
    "a name that may be missing": program(
        "helper(index)",
        "scale = 3",
        before="def helper(index):\n    try:\n        return scale\n    except NameError:\n        return 1\n",
    ),
    "read by the main process": program("index", "scale = 3\nreport()", before="def report():\n    print(scale)\n"),
    "a name of Python": program("index * max(index, 1)", "max = max"),
    "a name of another file": {
        **program("index * scale", "scale = 3", before="from settings import *\n"),
        "settings.py": "scale = 4\n",
    },
    "a name of another file of another": {
        **program("index * scale", "scale = 3", before="from settings import *\n"),
        "settings.py": "from numbers_of import *\n",
        "numbers_of.py": "scale = 4\n",
    },
    "another program's guard": {
        "data.py": HEAD.format(item="index * scale") + '\nif __name__ == "__main__":\n    scale = 3\n',
        "train.py": "from torch.utils.data import DataLoader\nfrom data import Rows\n\n"
        f'if __name__ == "__main__":\n    print(list({LOADER}))\n',
    },
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(files: dict[str, str], findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_silent(files: dict[str, str], findings: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == set()


@pytest.mark.parametrize(
    ("context", "target", "severity"),
    [
        ("spawn", ">=3.10", ["error"]),
        ("None", ">=3.10", ["warning"]),
        ("None", "3.12", []),
        ("None", "3.14", ["error"]),
    ],
)
def test_severity(context: str, target: str, severity: list[str], told: Callable[..., Any]) -> None:
    loader = LOADER.replace('"spawn"', f'"{context}"' if context != "None" else "None")
    found = told(program("index * scale", "scale = 3", loader=loader), **SELECT, target_python=target)
    assert [one.severity for one in found] == severity


@pytest.mark.parametrize(
    ("package", "settings", "severity"),
    [
        ("elsewhere", "", "warning"),
        ("settings", "import torch.utils.data\n", "error"),
        ("settings", "import torch.utils.data\nfrom elsewhere import *\n", "warning"),
    ],
)
def test_severity_where_names_are_imported_by_a_star(
    package: str, settings: str, severity: str, told: Callable[..., Any]
) -> None:
    files = program("index * scale", "scale = 3", before=f"from {package} import *\n")
    [finding] = told({**files, "settings.py": settings}, **SELECT)
    assert finding.severity == severity


def test_all_names_of_a_program_are_one_finding(told: Callable[..., Any]) -> None:
    [finding] = told(program("index * scale + shift", "scale = 3\nshift = 4"), **SELECT)
    assert {place.message for place in finding.related} >= {
        "only the main program sets `scale`",
        "only the main program sets `shift`",
    }


CHANGED = """\
import settings
from torch.utils.data import DataLoader, Dataset

SIZE = None

def configure(size):
    global SIZE
    SIZE = size

def scaled(index):
    return index * READ

class Rows(Dataset):
    def __init__(self):
        self.size = SIZE

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return scaled(index)

def main():
    CHANGE
    for batch in DataLoader(Rows(), num_workers=2OPTIONS):
        print(batch)

if __name__ == "__main__":
    main()
"""
SPAWN = ', multiprocessing_context="spawn"'


def assert_changed(told: Any, place: tuple[str, int], relative: Callable[[str], str]) -> None:
    (found,) = told
    assert (relative(found.path), found.span.line, found.severity) == (*place, "warning")
    assert "see the first value of" in found.text


def changing(read: str, change: str, options: str = "", more: str = "") -> dict[str, str]:
    text = CHANGED.replace("READ", read).replace("CHANGE", change).replace("OPTIONS", options)
    return {
        "train.py": text + more,
        "settings.py": "size = 1\n\ndef choose(value):\n    global size\n    size = value\n",
    }


@pytest.mark.parametrize(
    ("files", "place"),
    [
        pytest.param(changing("SIZE", "configure(3)"), ("train.py", 8), id="global"),
        pytest.param(changing("SIZE", "configure(3)", SPAWN), ("train.py", 8), id="under spawn"),
        pytest.param(changing("settings.size", "settings.size = 3"), ("train.py", 24), id="a module's attribute"),
        pytest.param(changing("settings.size", "settings.choose(3)"), ("settings.py", 5), id="by the module"),
        pytest.param(changing("SIZE", "globals()['SIZE'] = 3"), ("train.py", 24), id="among the globals"),
        pytest.param(
            changing("settings.size", "pass", more="    settings.size = 2\n    main()\n"),
            ("train.py", 30),
            id="below the guard",
        ),
    ],
)
def test_a_variable_that_the_main_program_changes(
    files: dict[str, str], place: tuple[str, int], told: Callable[..., Any], relative: Callable[[str], str]
) -> None:
    assert_changed(told(files, **SELECT), place, relative)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(changing("SIZE", "pass"), id="nobody changes it"),
        pytest.param(
            {
                path: text.replace("class Rows", "configure(3)\n\nclass Rows")
                for path, text in changing("SIZE", "pass").items()
            },
            id="while it is imported",
        ),
        pytest.param(changing("SIZE", "configure(3)", ", worker_init_fn=configure"), id="workers change it, too"),
        pytest.param(changing("len(str(index))", "configure(3)"), id="workers read something else"),
        pytest.param(changing("self.size", "configure(3)"), id="the dataset keeps it"),
        pytest.param(changing("SIZE", "configure(3)", ', multiprocessing_context="fork"'), id="forked"),
    ],
)
def test_a_variable_that_workers_have(files: dict[str, str], told: Callable[..., Any]) -> None:
    assert not told(files, **SELECT)


DEFAULTS = """\
from yacs.config import CfgNode as CN

__C = CN()
cfg = __C
__C.SIZE = 1
__C.DATA = CN()
__C.DATA.SCALE = 1
__C.DATA["SHIFT"] = 2

def load(path):
    __C.merge_from_file(path)

def fill(entries):
    for key, value in entries.items():
        if isinstance(value, dict):
            merge(value, __C[key])
        else:
            __C[key] = value

def merge(one, other):
    for key, value in one.items():
        other[key] = value
"""
EASY = DEFAULTS.replace("from yacs.config import CfgNode as CN", "from easydict import EasyDict as CN")
PLAIN = """\
cfg = {'size': 1, 'other': 2}

def load(path):
    cfg.update(path)

def choose(size):
    cfg['size'] = size
"""
CACHE = """\
cfg = {}

def choose(size):
    cfg[size] = size

def found(size):
    if size not in cfg:
        cfg[size] = size
    return cfg[size]
"""


def filling(read: str, change: str, defaults: str = DEFAULTS, options: str = "") -> dict[str, str]:
    files = changing(read, change, options)
    files["train.py"] = "import defaults\nfrom defaults import cfg, cfg as options\n" + files["train.py"]
    return {**files, "defaults.py": defaults}


@pytest.mark.parametrize(
    ("files", "place"),
    [
        pytest.param(filling("cfg.SIZE", "cfg.merge_from_file('a')"), ("train.py", 26), id="a file"),
        pytest.param(filling("cfg.DATA.SCALE", "options.merge_from_list([])"), ("train.py", 26), id="another name"),
        pytest.param(filling("defaults.cfg.DATA['SHIFT']", "defaults.load('a')"), ("defaults.py", 11), id="a module's"),
        pytest.param(filling("cfg.DATA.SCALE", "cfg.DATA.SCALE = 3", options=SPAWN), ("train.py", 26), id="an entry"),
        pytest.param(filling("cfg.SIZE", "defaults.fill({})", EASY), ("defaults.py", 18), id="entry by entry"),
        pytest.param(filling("cfg['size']", "defaults.choose(3)", PLAIN), ("defaults.py", 7), id="a plain dict"),
        pytest.param(filling("cfg.SIZE", "if cfg.merge_from_file('a'): pass"), ("train.py", 26), id="in a condition"),
        pytest.param(filling("cfg.SIZE", "while cfg.merge_from_list([]): pass"), ("train.py", 26), id="in a loop"),
    ],
)
def test_a_configuration_that_the_main_program_fills(
    files: dict[str, str], place: tuple[str, int], told: Callable[..., Any], relative: Callable[[str], str]
) -> None:
    assert_changed(told(files, **SELECT), place, relative)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(filling("cfg.SIZE", "pass"), id="nobody fills it"),
        pytest.param(filling("cfg.SIZE", "cfg.DATA.SCALE = 3"), id="another entry"),
        pytest.param(filling("cfg.SIZE", "cfg.clone().merge_from_file('a')"), id="a copy"),
        pytest.param(filling("cfg.SIZE", "defaults.load('a')", DEFAULTS + "\nload('b')\n"), id="by imports, too"),
        pytest.param(filling("cfg['other']", "defaults.choose(3)", PLAIN), id="another key"),
        pytest.param(filling("len(str(index))", "cfg.merge_from_file('a')"), id="workers read something else"),
        pytest.param(
            filling("cfg.SIZE", "cfg.merge_from_file('a')", options=', multiprocessing_context="fork"'), id="forked"
        ),
        pytest.param(
            filling("cfg.SIZE", "defaults.load('a')", options=", worker_init_fn=lambda _: defaults.load('a')"),
            id="workers fill it, too",
        ),
        pytest.param(
            filling("defaults.found(index)", "defaults.choose(len(input()))", CACHE), id="a cache that workers fill"
        ),
    ],
)
def test_a_configuration_that_workers_have(files: dict[str, str], told: Callable[..., Any]) -> None:
    assert not [one for one in told(files, **SELECT) if one.message.startswith("changed")]


TASK = """\
import functools
import multiprocessing
import concurrent.futures
import torch.multiprocessing as tmp
from joblib import Parallel, delayed
from helpers import apply

def above(index):
    return index

if __name__ == "__main__":
    def under(index):
        return index

    context = multiprocessing.get_context("spawn")
    {call}
"""
HELPERS = """\
import torch.multiprocessing as multiprocessing

def apply(function, rows):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(function, rows)
"""
TASKS = (
    "context.Pool(2).map(under, [1])",
    "context.Pool(2).apply_async(func=under, args=(1,))",
    "context.Process(target=under, args=(1,)).start()",
    "concurrent.futures.ProcessPoolExecutor(mp_context=context).submit(under, 1)",
    "tmp.spawn(under, nprocs=2)",
    "work = functools.partial(under); context.Pool(2).map(work, [1])",
    "alias = under; context.Pool(2).map(alias, [1])",
)
NO_TASKS = (
    "context.Pool(2).map(above, [1])",
    "list(map(under, [1]))",
    'multiprocessing.get_context("fork").Pool(2).map(under, [1])',
    "concurrent.futures.ThreadPoolExecutor().submit(under, 1)",
    "Parallel(n_jobs=2)(delayed(under)(one) for one in range(3))",
    "context.Pool(2).map(above, [under(1)])",
    "context.Pool(2).map_async(above, [1], callback=under)",
)


@pytest.mark.parametrize("call", TASKS)
def test_a_task_under_the_guard(call: str, told: Callable[..., Any]) -> None:
    files = {"train.py": TASK.replace("{call}", call), "helpers.py": HELPERS}
    (finding,) = told(files, **SELECT)
    assert finding.message == "sent"


def test_a_task_that_another_file_sends(told: Callable[..., Any]) -> None:
    files = {"train.py": TASK.replace("{call}", "apply(under, [1])"), "helpers.py": HELPERS}
    (finding,) = told(files, **SELECT)
    assert (finding.message, finding.path.rpartition("/")[2], finding.span.line) == ("sent", "train.py", 12)


@pytest.mark.parametrize("call", NO_TASKS)
def test_functions_that_are_found_or_not_pickled_by_name(call: str, told: Callable[..., Any]) -> None:
    files = {"train.py": TASK.replace("{call}", call), "helpers.py": HELPERS}
    assert not told(files, **SELECT)


TASKS = """\
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

root, sizes = "data", {"width": 1}

"""
CHANGED_IN_PROCESSES = {
    "tasks of a pool, through a function of the project": {
        "pools.py": "import multiprocessing\n\ndef run(task, rows):\n"
        '    with multiprocessing.get_context("spawn").Pool(4) as pool:\n        pool.map(task, rows)\n',
        "prepare.py": TASKS
        + "import pools\n\ndef read(row):\n    print(root, row)\n\ndef prepare(path):\n    global root\n"
        "    root = path  # DLL110\n    pools.run(read, [1, 2])\n\n"
        'if __name__ == "__main__":\n    prepare("other")\n',
    },
    "a process": {
        "prepare.py": TASKS
        + "def read(row):\n    print(sizes[row])\n\ndef main(given):\n    sizes.update(given)  # DLL110\n"
        '    multiprocessing.get_context("spawn").Process(target=read, args=("width",)).start()\n\n'
        'if __name__ == "__main__":\n    main({"width": 2})\n'
    },
    "a configuration of another file, in a helper of the task": {
        "settings.py": "from yacs.config import CfgNode\n\ncfg = CfgNode()\ncfg.SIZE = 3\n",
        "prepare.py": "import multiprocessing, sys\nfrom settings import cfg\n\ndef size():\n    return cfg.SIZE\n\n"
        "def read(row):\n    print(size())\n\ndef main():\n    cfg.merge_from_file(sys.argv[1])  # DLL110\n"
        "    pool = multiprocessing.Pool(2)\n    pool.map(read, [1])\n\n"
        'if __name__ == "__main__":\n    main()\n',
    },
    "under the guard of their own file": {
        "prepare.py": TASKS + "def read(row):\n    print(root, row)\n\ndef main():\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n        pool.map(read, [1])\n\n"
        'if __name__ == "__main__":\n    root = "other"  # DLL110\n    main()\n'
    },
}
UNCHANGED_IN_PROCESSES = {
    "assigned to under the guard after they have ended": {
        "prepare.py": TASKS + "def read(row):\n    print(root, row)\n\ndef main():\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n        pool.map(read, [1])\n\n"
        'if __name__ == "__main__":\n    main()\n    root = "other"\n'
    },
    "assigned to under the guard of a file that is not theirs": {
        "prepare.py": TASKS + "def read(row):\n    print(root, row)\n\ndef main():\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n        pool.map(read, [1])\n",
        "run.py": "import prepare\nfrom prepare import root\n\n"
        'if __name__ == "__main__":\n    root = "other"\n    prepare.main()\n',
    },
    "set by the initializer of the pool": {
        "prepare.py": TASKS
        + "def begin(path):\n    global root\n    root = path\n\ndef read(row):\n    print(root, row)\n\n"
        "def main(path):\n    begin(path)\n    with multiprocessing.Pool(2, begin, (path,)) as pool:\n"
        '        pool.map(read, [1])\n\nif __name__ == "__main__":\n    main("other")\n'
    },
    "set by the task": {
        "prepare.py": TASKS
        + "def begin(path):\n    global root\n    root = path\n\ndef read(row):\n    begin(row)\n    print(root)\n\n"
        'def main():\n    begin("more")\n    with ProcessPoolExecutor() as pool:\n        pool.map(read, ["a"])\n\n'
        'if __name__ == "__main__":\n    main()\n'
    },
    "forked": {
        "prepare.py": TASKS
        + "def read(row):\n    print(root, row)\n\ndef main(path):\n    global root\n    root = path\n"
        '    with multiprocessing.get_context("fork").Pool(2) as pool:\n        pool.map(read, [1])\n\n'
        'if __name__ == "__main__":\n    main("other")\n'
    },
    "set when the file is imported": {
        "prepare.py": TASKS + "def begin(path):\n    global root\n    root = path\n\nbegin('other')\n\n"
        "def read(row):\n    print(root, row)\n\n"
        'if __name__ == "__main__":\n    multiprocessing.Pool(2).map(read, [1])\n'
    },
    "threads": {
        "prepare.py": TASKS + "from multiprocessing.pool import ThreadPool\n\ndef read(row):\n    print(root, row)\n\n"
        "def main(path):\n    global root\n    root = path\n    ThreadPool(2).map(read, [1])\n\n"
        'if __name__ == "__main__":\n    main("other")\n'
    },
}


@pytest.mark.parametrize("files", CHANGED_IN_PROCESSES.values(), ids=CHANGED_IN_PROCESSES)
def test_changed_for_processes(files: dict[str, str], findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("files", UNCHANGED_IN_PROCESSES.values(), ids=UNCHANGED_IN_PROCESSES)
def test_not_changed_for_processes(files: dict[str, str], findings: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == set()


@pytest.mark.parametrize(
    ("pool", "found"),
    [("ProcessPool(4)", 1), ("ProcessPool(4, context=get_context('fork'))", 0), ("ThreadPool(4)", 0)],
)
def test_a_pool_of_pebble(pool: str, found: int, told: Callable[..., Any]) -> None:
    text = f"""\
from multiprocessing import get_context
from pebble import ProcessPool, ThreadPool

def work(row):
    return loader[row]

def main():
    global loader
    loader = [1, 2]
    with {pool} as pool:
        pool.map(work, [0, 1])

if __name__ == "__main__":
    main()
"""
    assert len(told({"work.py": text}, select=["DLL110"])) == found
