"""Instrument a process when its interpreter starts. Hooks that not every process needs are installed on first use."""

from __future__ import annotations

import os
import sys

from dllint.probe import ending, forks, imports, lines, plan, recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


_UPLOADERS = ("wandb", "comet_ml", "neptune", "clearml", "swanlab")
"""Experiment trackers, which send what they log in ways of their own. What is sent over `http.client`, as by requests,
urllib and boto3, or over httpx is recorded with its server."""


def begin(directory: str) -> None:
    """Record this process and install the hooks of modules that it may import."""
    plan.directory = directory
    recorder.begin(os.path.join(directory, plan.RECORDS))
    role = _role()
    recorder.about.update(
        ppid=os.getppid(),
        parent=os.getppid(),
        role=role,
        argv=sys.orig_argv,
        executable=sys.executable,
        python=sys.version.split()[0],
        cwd=_cwd(),
        held=-1 if role == "resource_tracker" else _watch_crashes(),
        lines=role != "resource_tracker" and lines.watch(directory),
    )
    recorder.tell()
    if role == "resource_tracker":
        return
    sys.meta_path.insert(0, imports.Finder())
    ending.watch_exit()
    forks.watch()
    if plan.USER_NAMESPACE in os.environ:
        from dllint.probe import moving

        moving.hook()
    for name in _UPLOADERS:
        imports.when(name, _tell_uploader)
    imports.when("http.client", _hook_http)
    imports.when("httpx", _hook_httpx)
    imports.when("multiprocessing.process", _hook_processes)
    imports.when("multiprocessing.queues", _hook_queues)
    imports.when("subprocess", _hook_subprocess)
    imports.when("torch.serialization", _hook_saves)
    imports.when("torch.nn.parallel.distributed", _hook_replicas)
    imports.when("torch", _tell_torch)
    imports.when("torch.utils.data._utils.worker", _hook_workers)
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
    return "main" if str(os.getppid()) == os.environ.get(plan.LAUNCHER) else "command"


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _watch_crashes() -> int:
    """Enable faulthandler: stacks are written at a crash, and on a signal from the launcher that nothing else uses."""
    import faulthandler

    descriptor = recorder.hold()
    if descriptor < 0:
        return -1
    if not faulthandler.is_enabled():
        faulthandler.enable(file=descriptor, all_threads=True)
    number = plan.stack_signal()
    if number is None:
        return -1
    faulthandler.register(number, file=descriptor, all_threads=True, chain=False)
    return descriptor


def _hook_processes(module: ModuleType) -> None:
    from dllint.probe import processes

    processes.hook_process(module)


def _hook_queues(module: ModuleType) -> None:
    from dllint.probe import processes

    processes.hook_queues(module)


def _hook_subprocess(module: ModuleType) -> None:
    from dllint.probe import processes

    processes.hook_subprocess(module)


def _tell_uploader(module: ModuleType) -> None:
    recorder.record("uploader", name=module.__name__)


def _hook_http(module: ModuleType) -> None:
    from dllint.probe import uploads

    uploads.hook(module)


def _hook_httpx(module: ModuleType) -> None:
    from dllint.probe import uploads

    uploads.hook_httpx(module)


def _hook_replicas(module: ModuleType) -> None:
    from dllint.probe import replicas

    replicas.hook(module)


def _tell_torch(module: ModuleType) -> None:
    recorder.about["torch"] = str(getattr(module, "__version__", ""))
    recorder.tell()


def _hook_workers(module: ModuleType) -> None:
    from dllint.probe import workers

    workers.hook_loop(module)


def _hook_loaders(module: ModuleType) -> None:
    import importlib
    import pkgutil

    from dllint.probe import loading, measures

    plan.load(plan.directory)
    loading.hook(module)
    for measure in pkgutil.iter_modules(measures.__path__, f"{measures.__name__}."):
        try:
            importlib.import_module(measure.name)
        except Exception as error:
            recorder.trouble(measure.name, error)


def _hook_saves(module: ModuleType) -> None:
    plan.load(plan.directory)
    if not plan.allow_saves:
        from dllint.probe import saving

        saving.hook(module)
