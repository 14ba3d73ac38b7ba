"""DLL309: tensors that a process puts into a queue before it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.conftest import in_one_file

HEAD = """\
import multiprocessing
import queue as threads
import numpy as np
import torch
import torch.multiprocessing as mp

def main(queue, work):
    process = mp.Process(target=work, args=(queue, 3))
    process.start()
    process.join()
    return queue.get()

"""
RUN = "\nif __name__ == '__main__':\n    main(%s, work)\n"


def program(body: str, made: str = "mp.Queue()", mark: str = "") -> str:
    return f"def work(queue, count, done=None):\n{body}{mark}\n{RUN % made}"


test_found, test_silent = in_one_file(
    "DLL309",
    {
        "a tensor": program("    queue.put(torch.zeros(3))", mark="  # DLL309"),
        "in a loop": program("    for n in range(count):\n        queue.put(torch.zeros(n))", mark="  # DLL309"),
        "in a tuple": program("    queue.put((count, torch.zeros(3)))", mark="  # DLL309"),
        "in a simple queue": program("    queue.put(torch.rand(2))", "multiprocessing.SimpleQueue()", "  # DLL309"),
        "of a context": program("    queue.put(torch.rand(2))", "mp.get_context('spawn').Queue()", "  # DLL309"),
        "without waiting for room": program("    queue.put_nowait(torch.rand(2))", mark="  # DLL309"),
        "after a task was taken": program("    size = done.get()\n    queue.put(torch.zeros(size))", mark="  # DLL309"),
        "after a pause, in a branch": program(
            "    done.wait()\n    if count:\n        queue.put(torch.zeros(3))", mark="  # DLL309"
        ),
        "beside a path": program("    name = ', '.join(['a'])\n    queue.put([torch.load(name)])", mark="  # DLL309"),
    },
    {
        "a number": program("    queue.put(torch.zeros(3).sum().item())"),
        "an array": program("    queue.put(torch.zeros(3).numpy())"),
        "a list": program("    queue.put(torch.zeros(3).tolist())"),
        "NumPy's": program("    queue.put(np.zeros(3))"),
        "unknown": program("    queue.put(count)"),
        "it waits for an event": program("    queue.put(torch.zeros(3))\n    done.wait()"),
        "it waits in the loop": program(
            "    for n in range(count):\n        done.wait()\n        queue.put(torch.zeros(n))"
        ),
        "it waits after the loop": program(
            "    for n in range(count):\n        queue.put(torch.zeros(n))\n    done.wait()"
        ),
        "it waits until all is taken": program("    queue.put(torch.zeros(3))\n    queue.join()", "mp.JoinableQueue()"),
        "it goes on until it is told": program("    while count:\n        queue.put(torch.zeros(3))"),
        "it takes its tasks from a queue": program(
            "    for n in iter(done.get, None):\n        done.get()\n        queue.put(torch.zeros(3))"
        ),
        "a queue of threads": program("    queue.put(torch.zeros(3))", "threads.Queue()"),
        "a manager's": program("    queue.put(torch.zeros(3))", "mp.Manager().Queue()"),
        "files": "mp.set_sharing_strategy('file_system')\n" + program("    queue.put(torch.zeros(3))"),
        "no process": "def work(queue):\n    queue.put(torch.zeros(3))\n\nwork(mp.Queue())\n",
    },
    HEAD,
)


def test_what_a_recursive_function_returns_ends(findings: Callable[..., Any]) -> None:
    moved = (
        "def moved(state):\n    if isinstance(state, dict):\n"
        "        return {key: moved(value) for key, value in state.items()}\n"
        "    if isinstance(state, list):\n        return [moved(value) for value in state]\n    return state\n\n"
    )
    text = HEAD + moved + program("    queue.put(moved([count]))")

    assert findings({"main.py": text}, select=["DLL309"]) == set()
