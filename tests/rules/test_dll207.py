"""DLL207: which functions pools and processes cannot pickle, and which they can or need not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL207"]}

FOUND: dict[str, dict[str, str]] = {
    **{
        f"lambda for {method}": {
            "work.py": f"""\
import multiprocessing

def work(rows):
    pool = multiprocessing.Pool(2)
    return pool.{method}(lambda row: row, rows)  # DLL207
"""
        }
        for method in ("map", "imap", "imap_unordered", "starmap", "apply", "apply_async", "map_async", "starmap_async")
    },
    **{
        f"a lambda for a pool of Pebble, {call}": {
            "work.py": f"""\
from pebble import ProcessPool

def work(rows):
    with ProcessPool(max_workers=2) as pool:
        pool.{call}  # DLL207
"""
        }
        for call in ("map(lambda row: row, rows)", "schedule(lambda row: row, args=(1,))", "submit(lambda: 1, None)")
    },
    "a local function and a lambda for litdata": {
        "work.py": """\
from functools import partial
import litdata as ld
from litdata import optimize

def scaled(row):
    return row

def work(rows, out):
    def scale(factor, row):  # DLL207
        return factor * row

    optimize(fn=partial(scale, 2), inputs=rows, output_dir=out, num_workers=4)
    ld.map(lambda row: row, rows, out)  # DLL207
    ld.map(scaled, rows, out)
    ld.map(lambda row: row, rows, out, start_method="fork")
"""
    },
    "keyword, of torch's pool, partial": {
        "work.py": """\
from functools import partial
from torch.multiprocessing import Pool

def work(rows):
    def scale(factor, row):  # DLL207
        return factor * row

    with Pool() as pool:
        pool.map(func=partial(scale, 2), iterable=rows)
"""
    },
    "a pool imported from a module": {
        "pools.py": """\
import multiprocessing

pool = multiprocessing.Pool(2)
""",
        "work.py": """\
from pools import pool

def work(rows):
    return pool.map(lambda row: row, rows)  # DLL207
""",
        "other.py": """\
import pools

def work(rows):
    return pools.pool.imap(lambda row: row, rows)  # DLL207
""",
        "renamed.py": """\
from pools import pool as shared

def work(rows):
    return shared.apply(lambda: rows)  # DLL207
""",
    },
    "submitted to an executor kept on an object": {
        "work.py": """\
import concurrent.futures as cf

class Runner:
    def __init__(self):
        self.executor = cf.ProcessPoolExecutor(2)

    def run(self, rows):
        scale = lambda row: row  # DLL207
        return [self.executor.submit(scale, row) for row in rows]
"""
    },
    "pool of a context of fork": {
        "work.py": """\
from multiprocessing import get_context

def work(rows):
    with get_context("fork").Pool(2) as pool:
        return pool.map(lambda row: row, rows)  # DLL207
"""
    },
    "target of a process of a spawn context": {
        "work.py": """\
import multiprocessing as mp

def work():
    mp.get_context("spawn").Process(target=lambda: print(1)).start()  # DLL207
"""
    },
    "target in a dict": {
        "work.py": """\
import multiprocessing as mp

def work():
    options = {"target": lambda: print(1)}  # DLL207
    mp.get_context("spawn").Process(**options).start()
"""
    },
    "target in a dict that is filled": {
        "work.py": """\
import multiprocessing as mp

def work():
    options = dict(daemon=True)
    options["target"] = lambda: print(1)  # DLL207
    mp.get_context("spawn").Process(**options).start()
"""
    },
    "target through a helper with keywords": {
        "launch.py": """\
import multiprocessing as mp

def start(**options):
    process = mp.get_context("spawn").Process(**options)
    process.start()
    return process
""",
        "work.py": """\
from launch import start

def work():
    start(target=lambda: print(1))  # DLL207
""",
    },
    "target bound by a partial": {
        "work.py": """\
import multiprocessing as mp
from functools import partial

def work():
    make = partial(mp.get_context("spawn").Process, target=lambda row: print(row))  # DLL207
    make(args=(1,)).start()
"""
    },
    "beside a local function whose name is declared global": {
        "work.py": """\
from multiprocessing import Pool

def work(rows):
    global scale

    def scale(row):
        def inner(one):  # DLL207
            return one

        with Pool(2) as pool:
            return pool.map(inner, row)

    with Pool(2) as pool:
        return pool.map(scale, rows)
"""
    },
    "task out of a list": {
        "work.py": """\
from concurrent.futures import ProcessPoolExecutor

def work():
    job = (lambda row: row, 1)  # DLL207
    with ProcessPoolExecutor() as pool:
        return pool.submit(*job)
"""
    },
    "task in a dict": {
        "work.py": """\
from multiprocessing import Pool

def work():
    with Pool() as pool:
        return pool.apply_async(**{"func": lambda row: row, "args": (1,)}).get()  # DLL207
"""
    },
    "initializer of a pool of a spawn context": {
        "work.py": """\
import multiprocessing as mp

def square(row):
    return row * row

def work(rows, seed):
    def prepare():  # DLL207
        print(seed)

    with mp.get_context("spawn").Pool(2, prepare) as pool:
        return pool.map(square, rows)
"""
    },
    "initializer of an executor": {
        "work.py": """\
import multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor

def square(row):
    return row * row

def work(rows):
    context = mp.get_context("forkserver")
    with ProcessPoolExecutor(2, mp_context=context, initializer=lambda: print(1)) as pool:  # DLL207
        return list(pool.map(square, rows))
"""
    },
    "progress bar over a pool": {
        "work.py": """\
from tqdm.contrib.concurrent import process_map

def work(rows):
    return process_map(lambda row: row, rows, max_workers=2)  # DLL207
"""
    },
    "launched through a function of another file": {
        "launch.py": """\
import torch.multiprocessing as mp

def launch(main, count):
    mp.spawn(main, nprocs=count)
""",
        "train.py": """\
from launch import launch

def train(model):
    def main(rank):  # DLL207
        print(rank, model)

    launch(main, 2)
""",
    },
}

SILENT: dict[str, str] = {
    "threads": """\
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from multiprocessing import Process

def work(rows):
    ThreadPool(2).map(lambda row: row, rows)
    return ThreadPoolExecutor().submit(lambda: 1)
""",
    "threads or processes": """\
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

def work(rows, threads):
    pool = ThreadPoolExecutor() if threads else ProcessPoolExecutor()
    return pool.map(lambda row: row, rows)
""",
    "callbacks": """\
from multiprocessing import Pool

def square(row):
    return row * row

def work(rows):
    with Pool() as pool:
        pool.map_async(square, rows, callback=lambda rows: print(rows)).wait()
""",
    "dill": """\
from multiprocess import Pool

def work(rows):
    with Pool() as pool:
        return pool.map(lambda row: row, rows)
""",
    "forked process": """\
import multiprocessing

def work():
    multiprocessing.get_context("fork").Process(target=lambda: print(1)).start()
""",
    "function and method of the module": """\
from multiprocessing import Pool

class Work:
    def one(self, row):
        return row

    def all(self, rows):
        with Pool() as pool:
            return pool.map(self.one, rows) + pool.map(len, rows)
""",
    "local function whose name is declared global": """\
import multiprocessing

def work(rows, factor):
    global scale

    def scale(row):
        return factor * row

    with multiprocessing.Pool(2) as pool:
        return list(pool.imap(scale, rows))
""",
    "method of a local class whose name is declared global": """\
import multiprocessing

def work(rows, factor):
    global Scale

    class Scale:
        @staticmethod
        def one(row):
            return factor * row

    with multiprocessing.Pool(2) as pool:
        return pool.map(Scale.one, rows)
""",
    "initializers of forked processes and of threads": """\
import multiprocessing as mp
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

def square(row):
    return row * row

def work(rows):
    with mp.get_context("fork").Pool(2, lambda: print(1)) as pool:
        pool.map(square, rows)
    mp.set_start_method("spawn")
    ThreadPoolExecutor(2, initializer=lambda: print(1)).map(square, rows)
    ThreadPool(2, lambda: print(1)).map(square, rows)
""",
    "threads out of a dict": """\
from multiprocessing import set_start_method
from threading import Thread

def work():
    set_start_method("spawn")
    Thread(**{"target": lambda: print(1)}).start()
""",
    "progress bar over threads": """\
from tqdm.contrib.concurrent import process_map, thread_map

def square(row):
    return row * row

def work(rows):
    thread_map(lambda row: row, rows)
    return process_map(square, rows, tqdm_class=lambda *rest, **options: None)
""",
    "map of something else": """\
import multiprocessing

def work(table, rows):
    table.map(lambda row: row)
    return list(map(lambda row: row, rows))
""",
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_found(
    files: dict[str, str], findings: Callable[..., set[tuple[str, int, str]]], marks: Callable[..., Any]
) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., set[tuple[str, int, str]]]) -> None:
    assert findings({"work.py": text}, **SELECT) == set()


PROCESS = """\
from multiprocessing import Process

def work():
    Process(target=lambda: print(1)).start()
"""


@pytest.mark.parametrize(
    ("settings", "severity"),
    [({}, ["warning"]), ({"target_platform": "windows"}, ["error"]), ({"target_python": "3.13"}, [])],
)
def test_a_process_of_the_default(settings: dict[str, Any], severity: list[str], told: Callable[..., Any]) -> None:
    assert [one.severity for one in told({"work.py": PROCESS}, **SELECT, **settings)] == severity


def test_a_program_that_spawns(told: Callable[..., Any]) -> None:
    text = PROCESS.replace("import Process", "import Process, set_start_method")
    text += '\nif __name__ == "__main__":\n    set_start_method("spawn")\n    work()\n'
    assert [one.severity for one in told({"work.py": text}, **SELECT)] == ["error"]
