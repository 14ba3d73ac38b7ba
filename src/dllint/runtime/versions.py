"""Prints as JSON which packages an interpreter has: `doctor` runs this file as a script in that interpreter.

It is a separate process because importing torch takes seconds and may fail in any way, and because asking for CUDA
makes it unusable in forks of the asking process. Standard library only.
"""

from __future__ import annotations

import importlib
import json
import platform
import sys
from typing import Any


def report() -> dict[str, Any]:
    import multiprocessing

    told: dict[str, Any] = {
        "executable": sys.executable,
        "python": platform.python_version(),
        "platform": sys.platform,
        "start_methods": multiprocessing.get_all_start_methods(),
        "start_method": multiprocessing.get_start_method(),
    }
    for name, ask in (("torch", _torch), ("numpy", _version), ("psutil", _version), ("cv2", _cv2)):
        try:
            told[name] = ask(importlib.import_module(name))
        except ImportError as error:
            # An installed library that lacks a system dependency reports that in its own message.
            told[name] = None if error.name == name else {"error": f"{type(error).__name__}: {error}"}
        except Exception as error:
            told[name] = {"error": f"{type(error).__name__}: {error}"}
    return told


def _version(module: Any) -> dict[str, Any]:
    return {"version": str(module.__version__)}


def _torch(torch: Any) -> dict[str, Any]:
    multiprocessing = importlib.import_module("torch.multiprocessing")

    return {
        "version": str(torch.__version__),
        "threads": torch.get_num_threads(),
        "sharing_strategy": multiprocessing.get_sharing_strategy(),
        "cuda": torch.version.cuda,
        "cuda_devices": torch.cuda.device_count() if torch.version.cuda else 0,
    }


def _cv2(cv2: Any) -> dict[str, Any]:
    backend = [
        line.partition(":")[2].strip()
        for line in cv2.getBuildInformation().splitlines()
        if line.strip().startswith("Parallel framework")
    ]
    return {
        "version": str(cv2.__version__),
        "threads": cv2.getNumThreads(),
        "backend": backend[0] if backend else None,
    }


if __name__ == "__main__":
    # Keep the output of imported libraries out of the answer.
    out, sys.stdout = sys.stdout, sys.stderr
    told = report()
    out.write("\n" + json.dumps(told) + "\n")
    out.flush()
