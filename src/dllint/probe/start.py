"""Instruments a process, at the start of its interpreter. What is not needed by every process waits until it is."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from dllint.probe import imports, plan, recorder


def begin(directory: str) -> None:
    """Records this process and has the modules hooked that it may import."""
    from dllint.probe import processes

    plan.load(directory)
    recorder.begin(os.path.join(directory, plan.RECORDS))
    role = _role()
    processes.about.update(
        ppid=os.getppid(),
        parent=os.getppid(),
        role=role,
        argv=sys.orig_argv,
        executable=sys.executable,
        python=sys.version.split()[0],
        cwd=_cwd(),
        held=-1 if role == "resource_tracker" else _watch_crashes(),
    )
    processes.tell()
    if role == "resource_tracker":
        return
    sys.meta_path.insert(0, imports.Finder())
    _watch_ends()
    processes.hook_fork()
    os.register_at_fork(after_in_child=_forked)
    imports.when("multiprocessing.process", processes.hook_process)
    imports.when("multiprocessing.queues", processes.hook_queues)
    imports.when("subprocess", processes.hook_subprocess)
    imports.when("torch.serialization", _redirect_saves)
    imports.when("torch", _tell_torch)
    imports.when("torch.utils.data._utils.worker", _hook_workers)
    imports.when("torch.utils.data._utils.fetch", _hook_fetch)
    imports.when("torch.utils.data.dataloader", _hook_loaders)


def _role() -> str:
    line = sys.orig_argv
    for one in line:
        if one.startswith("from multiprocessing.resource_tracker import main"):
            return "resource_tracker"
        if one.startswith("from multiprocessing.forkserver import main"):
            return "server"
    if "--multiprocessing-fork" in line:
        return "child"
    return "main" if os.getppid() == plan.launcher else "command"


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _watch_ends() -> None:
    from dllint.probe import ending

    ending.watch_exit()


def _watch_crashes() -> int:
    """Has stacks written when the process crashes, and when the launcher asks by a signal that nobody else uses."""
    import faulthandler
    import signal

    descriptor = recorder.hold()
    if descriptor < 0:
        return -1
    if not faulthandler.is_enabled():
        faulthandler.enable(file=descriptor, all_threads=True)
    number = plan.stack_signal(signal)
    if number is None:
        return -1
    faulthandler.register(number, file=descriptor, all_threads=True, chain=False)
    return descriptor


def _forked() -> None:
    if recorder.silent:
        return
    from dllint.probe import processes

    parent = os.getppid()
    recorder.begin(recorder.directory)
    descriptor = recorder.hold()
    loading = sys.modules.get("dllint.probe.loading")
    if loading is not None:
        loading.forget()
    processes.about.update(
        ppid=parent,
        parent=parent,
        role="child",
        start_method=None,
        held=descriptor,
    )
    processes.tell()
    events = sys.modules.get("dllint.probe.events")
    if events is not None:
        events.forked(parent)


def _tell_torch(module: ModuleType) -> None:
    from dllint.probe import processes

    processes.about["torch"] = str(getattr(module, "__version__", ""))
    processes.tell()


def _hook_workers(module: ModuleType) -> None:
    from dllint.probe import workers

    workers.hook_loop(module)


def _hook_fetch(module: ModuleType) -> None:
    from dllint.probe import workers

    workers.hook_fetch(module)


def _hook_loaders(module: ModuleType) -> None:
    import importlib

    from dllint.probe import events, loading

    loading.hook(module)
    for name in events.MEASURES:
        try:
            importlib.import_module(name)
        except Exception as error:
            recorder.trouble(name, error)


def _redirect_saves(module: ModuleType) -> None:
    if not plan.allow_saves:
        from dllint.probe import saving

        saving.hook(module)
