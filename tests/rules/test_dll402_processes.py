"""DLL402: handles that forked processes share with their parent, or with each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

HEAD = """\
import multiprocessing
import sqlite3
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Pool, Process

def rows(file, index):
    file.seek(index * 8)
    return file.read(8)

def work(file, indices):
    for index in indices:
        rows(file, index)

"""
FOUND = {
    "parent and child": """
def main(path):
    file = open(path, "rb")  # DLL402
    process = Process(target=work, args=(file, range(10)))
    process.start()
    work(file, range(10, 20))
    process.join()
""",
    "several children of a loop": """
def main(path):
    with open(path, "rb") as file:  # DLL402
        processes = []
        for number in range(4):
            process = Process(target=work, kwargs={"file": file, "indices": range(number)})
            process.start()
            processes.append(process)
        for process in processes:
            process.join()
""",
    "several children of a comprehension": """
def main(path):
    archive = zipfile.ZipFile(path)  # DLL402
    processes = [Process(target=work, args=(archive, range(n))) for n in range(4)]
    [process.start() for process in processes]
""",
    "a handle that a function gets": """
def start(file):
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work, args=(file, range(n))) for n in range(4)]
    for process in processes:
        process.start()

def main(path):
    start(open(path, "rb"))  # DLL402
""",
    "a connection": """
def insert(connection):
    connection.cursor().execute("insert into rows values (1)")

def main(path):
    connection = sqlite3.connect(path)  # DLL402
    process = Process(target=insert, args=(connection,))
    process.start()
    connection.execute("insert into rows values (2)")
""",
    "a global read by the tasks of a pool": """
FILE = open("rows.bin", "rb")  # DLL402

def task(index):
    return rows(FILE, index)

def main():
    with Pool(4) as pool:
        return pool.map(task, range(10))
""",
    "a global read by the tasks of an executor": """
ARCHIVE = zipfile.ZipFile("rows.zip")  # DLL402

def task(name):
    return read(name)

def read(name):
    return ARCHIVE.read(name)

def main(names):
    with ProcessPoolExecutor(max_workers=4) as pool:
        return list(pool.map(task, names))
""",
}
TURNS = """
import threading

FILE = open("rows.bin", "rb"){mark}
LOCK = {lock}()

def task(index):
    {before}
    {taken}

def main():
    with Pool(4) as pool:
        return pool.map(task, range(10))
"""
BLOCK = "with LOCK:\n        return rows(FILE, index)"
CALLS = "LOCK.acquire()\n    found = rows(FILE, index)\n    LOCK.release()\n    return found"
FOUND |= {
    "a lock of threads": TURNS.format(mark="  # DLL402", lock="threading.Lock", before="pass", taken=BLOCK),
    "a lock that is taken too late": TURNS.format(
        mark="  # DLL402", lock="multiprocessing.Lock", before="rows(FILE, index)", taken=BLOCK
    ),
}
SILENT = {
    "the child alone": """
def main(path):
    file = open(path, "rb")
    process = Process(target=work, args=(file, range(10)))
    process.start()
    file.close()
    process.join()
""",
    "the parent before and after": """
def main(path):
    file = open(path, "rb")
    work(file, range(10))
    process = Process(target=work, args=(file, range(10)))
    process.start()
    process.join()
    work(file, range(10, 20))
""",
    "one child after another": """
def main(path):
    file = open(path, "rb")
    for number in range(4):
        process = Process(target=work, args=(file, range(number)))
        process.start()
        process.join()
""",
    "a file each": """
def main(path):
    for number in range(4):
        file = open(path, "rb")
        Process(target=work, args=(file, range(number))).start()
""",
    "a log": """
def main(path):
    log = open(path, "a")
    for number in range(4):
        Process(target=work, args=(log, range(number))).start()
""",
    "spawned": """
FILE = open("rows.bin", "rb")

def task(index):
    return rows(FILE, index)

def main():
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        return pool.map(task, range(10))
""",
    "opened by the initializer": """
FILE = open("rows.bin", "rb")

def begin():
    global FILE
    FILE = open("rows.bin", "rb")

def task(index):
    return rows(FILE, index)

def main():
    with Pool(4, initializer=begin) as pool:
        return pool.map(task, range(10))
""",
    "tasks that take turns": TURNS.format(mark="", lock="multiprocessing.Lock", before="pass", taken=CALLS),
    "tasks that take turns in a block": TURNS.format(mark="", lock="multiprocessing.RLock", before="pass", taken=BLOCK),
    "a pool of one": """
FILE = open("rows.bin", "rb")

def task(index):
    return rows(FILE, index)

def main():
    with Pool(1) as pool:
        return pool.map(task, range(10))
""",
    "a process that lets it go": """
def close(file, indices):
    file.close()

def main(path):
    file = open(path, "rb")
    Process(target=close, args=(file, range(10))).start()
    work(file, range(10))
""",
    "one of two ways": """
def main(path, apart):
    file = open(path, "rb")
    if apart:
        Process(target=work, args=(file, range(10))).start()
    else:
        work(file, range(10))
""",
}
test_found, test_silent = in_one_file("DLL402", FOUND, SILENT, HEAD)


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("parent and child", "their parent"),
        ("a connection", "their parent"),
        ("several children of a loop", "each other"),
    ],
)
def test_it_says_with_whom(name: str, partner: str, told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD + FOUND[name]}, select=["DLL402"])

    assert partner in found.text
    assert found.severity == ("warning" if name == "a connection" else "error")


GUARDED = """\
def task(index):
    return FILE.read(index)

if __name__ == "__main__":
    FILE = open("rows.bin", "rb")
    MORE
"""
POOL = """\
from multiprocessing import Pool
from reader import task

def run():
    with Pool(4) as pool:
        return pool.map(task, range(10))

if __name__ == "__main__":
    run()
"""


@pytest.mark.parametrize(("more", "found"), [("pass", 0), ("import train\n    train.run()", 1)])
def test_what_a_main_guard_opens_is_open_in_its_program(more: str, found: int, told: Callable[..., Any]) -> None:
    files = {"reader.py": GUARDED.replace("MORE", more), "train.py": POOL}

    assert len(told(files, select=["DLL402"])) == found
