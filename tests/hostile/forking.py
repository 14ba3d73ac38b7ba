"""A process that has imported dllint and forks for each command, so that a test does not pay for the imports.

Reads one JSON object per line: the arguments, the directory, the environment, files for the three streams, code to run
before (`patch`). Answers with the exit status, the seconds of processor time and the peak memory in MiB.
"""

from __future__ import annotations

import io
import json
import math
import os
import resource
import sys
import traceback

from tests.pace import slowness

SECONDS = 5
MEMORY = 1 << 30


def warm_up() -> None:
    """Import what a check imports."""
    import libcst.metadata  # noqa: F401

    slowness()

    from dllint.linter import check_sources

    check_sources({"/p/a.py": "from torch.utils.data import DataLoader\nDataLoader([], num_workers=2)\n"})


def run(order: dict[str, object]) -> None:
    """One command, in the child. Never returns."""
    seconds = math.ceil(SECONDS * slowness())
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(str(order["directory"]))
    os.environ.update(order["environment"])  # type: ignore[call-overload]
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    names = zip(("stdin", "stdout", "stderr"), order["streams"], strict=True)  # type: ignore[call-overload]
    for number, (name, path) in enumerate(names):
        handle = os.open(path, os.O_RDONLY if name == "stdin" else os.O_WRONLY)
        os.dup2(handle, number)
        os.close(handle)
        raw = io.FileIO(number, "rb" if name == "stdin" else "wb", closefd=False)
        plain = io.BufferedReader(raw) if name == "stdin" else io.BufferedWriter(raw)  # type: ignore[arg-type]
        setattr(sys, name, io.TextIOWrapper(plain, encoding, errors="surrogateescape"))
    status = 99
    try:
        exec(str(order["patch"]), {})
        from dllint.cli import main

        main([str(one) for one in order["arguments"]])  # type: ignore[attr-defined]
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def serve() -> None:
    warm_up()
    orders, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    for line in orders:
        child = os.fork()
        if not child:
            run(json.loads(line))
        _, status, used = os.wait4(child, 0)
        unit = 1 << 10 if sys.platform != "darwin" else 1 << 20
        answer = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss // unit]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
