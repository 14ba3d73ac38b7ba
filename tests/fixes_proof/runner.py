"""Runs programs one after another, each in a process of its own that torch is already loaded in.

Reads one JSON object per line: `directory`, `entry` (a file there), `method` (how processes start wherever the program
says spawn or forkserver), `default` (the default start method), `threads` (pools of processes become pools of threads)
and `arguments`. Answers each with one line: `status`, `out` and `err`.

`spawn` starts each process as Python does, at two seconds for the import of torch. `forkserver` stands in for it
elsewhere: it pickles the same, and imports the main module again. One fork server serves all programs. `fork` shows
what the program does where nothing is pickled.
"""

from __future__ import annotations

import gc
import importlib
import json
import multiprocessing
import multiprocessing.context
import os
import random
import runpy
import signal
import sys
import time
from multiprocessing import forkserver

import preloaded

SECONDS = 60
"""After this time a program counts as hanging."""
CHECK_S = 0.5
"""How often a loader looks whether its workers live: every 5 s as torch has it, which pass whenever one dies."""
USED = (
    "cv2",
    "multiprocessing.popen_fork",
    "multiprocessing.popen_forkserver",
    "multiprocessing.queues",
    "multiprocessing.synchronize",
    "PIL.JpegImagePlugin",
    "proof",
    "torch.multiprocessing",
    "torch.utils.data",
)
"""What most programs import: once, before they are forked."""


def main() -> None:
    import numpy
    import torch

    for name in USED:
        importlib.import_module(name)
    torch.set_num_threads(1)
    torch.utils.data.dataloader._MultiProcessingDataLoaderIter._try_get_data.__defaults__ = (CHECK_S,)
    forkserver.set_forkserver_preload(["numpy", "torch", *USED, "in_server"])
    forkserver.ensure_running()
    preloaded.share_address(str(forkserver._forkserver._forkserver_address))
    preloaded.reuse_the_server()
    # A collection in a forked process would copy every page that holds an object of torch.
    gc.freeze()
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            random.seed(0)
            numpy.random.seed(0)
            torch.manual_seed(0)
            run(job)
        answer = {"status": wait(child)}
        for name in ("out", "err"):
            with open(os.path.join(job["directory"], name), encoding="utf-8", errors="replace") as stream:
                answer[name] = stream.read()
        print(json.dumps(answer), flush=True)


def wait(child: int) -> int:
    """The exit code of a process; one that hangs is killed together with all that it started."""
    until = time.monotonic() + SECONDS
    pause = 0.002
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            until = float("inf")
        time.sleep(pause)
        pause = min(0.05, pause * 1.3)


def run(job: dict[str, str]) -> None:
    """Become the program; does not return."""
    os.setpgid(0, 0)
    os.chdir(job["directory"])
    preloaded.write_beside(job["directory"])
    os.close(0)
    sys.path.insert(0, job["directory"])
    sys.argv[:] = [job["entry"], *job["arguments"]]
    contexts = multiprocessing.context._concrete_contexts
    contexts["spawn"] = contexts["forkserver"] = contexts[job["method"]]
    multiprocessing.context._default_context._default_context = contexts[job["default"]]
    multiprocessing.context._default_context._actual_context = None
    if job["threads"]:
        from multiprocessing.pool import ThreadPool

        multiprocessing.Pool = ThreadPool
    status = 1
    try:
        runpy.run_path(os.path.join(job["directory"], job["entry"]), run_name="__main__")
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else bool(ended.code)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        try:
            multiprocessing.util._exit_function()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


if __name__ == "__main__":
    main()
