"""Facts about the APIs of PyTorch and its neighbours, as data tables. Each row names where it was read.

Sources: torch 2.13.0 (`torch/utils/data/dataloader.py`, `torch/multiprocessing/spawn.py`,
`torch/distributed/launcher/api.py`), CPython 3.14 (`Lib/multiprocessing/context.py`), the documentation of
torch_geometric 2.6, DGL 2.4, MONAI 1.4, webdataset 1.0, lightning 2.5, transformers 4.50 and accelerate 1.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True)
class LoaderApi:
    """A class (or factory) that makes a DataLoader.

    Attributes:
        params: positional parameters in order.
        dataset: the parameter that takes the dataset.
        names: parameters whose name differs from torch's: torch's name → this API's.
        workers: the default of the worker count.
    """

    params: tuple[str, ...]
    dataset: str = "dataset"
    names: dict[str, str] = field(default_factory=dict)
    workers: int = 0


_TORCH = [
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
]

LOADERS: dict[str, LoaderApi] = {
    "torch.utils.data.DataLoader": LoaderApi(tuple(_TORCH)),
    "torchdata.stateful_dataloader.StatefulDataLoader": LoaderApi(tuple(_TORCH)),
    "torch_geometric.loader.DataLoader": LoaderApi(
        ("dataset", "batch_size", "shuffle", "follow_batch", "exclude_keys")
    ),
    "torch_geometric.loader.DataListLoader": LoaderApi(("dataset", "batch_size", "shuffle")),
    "torch_geometric.loader.DenseDataLoader": LoaderApi(("dataset", "batch_size", "shuffle")),
    "torch_geometric.loader.NeighborLoader": LoaderApi(("data", "num_neighbors"), dataset="data"),
    "torch_geometric.loader.ClusterLoader": LoaderApi(("cluster_data",), dataset="cluster_data"),
    "dgl.dataloading.GraphDataLoader": LoaderApi(("dataset", "collate_fn", "use_ddp", "ddp_seed")),
    "dgl.dataloading.DataLoader": LoaderApi(
        ("graph", "indices", "graph_sampler", "device", "use_ddp", "ddp_seed", "batch_size", "drop_last", "shuffle"),
        dataset="graph",
    ),
    "dgl.dataloading.NodeDataLoader": LoaderApi(("graph", "indices", "graph_sampler"), dataset="graph"),
    "dgl.dataloading.EdgeDataLoader": LoaderApi(("graph", "indices", "graph_sampler"), dataset="graph"),
    "monai.data.DataLoader": LoaderApi(("dataset", "num_workers")),
    "monai.data.ThreadDataLoader": LoaderApi(("dataset", "buffer_size", "buffer_timeout", "repeats")),
    "webdataset.WebLoader": LoaderApi(tuple(_TORCH)),
    "accelerate.data_loader.DataLoaderShard": LoaderApi(("dataset",)),
    # Functions that hand everything on to `klass=DataLoader` (`distrib.py` of flashy and of dora-search)
    "flashy.distrib.loader": LoaderApi(tuple(_TORCH)),
    "dora.distrib.loader": LoaderApi(tuple(_TORCH)),
    "transformers.TrainingArguments": LoaderApi(
        ("output_dir",),
        dataset="",
        names={
            "num_workers": "dataloader_num_workers",
            "persistent_workers": "dataloader_persistent_workers",
            "prefetch_factor": "dataloader_prefetch_factor",
            "pin_memory": "dataloader_pin_memory",
        },
    ),
}

WORKER_OPTIONS: dict[str, str] = {
    "persistent_workers": "ValueError: persistent_workers option needs num_workers > 0",
    "prefetch_factor": "ValueError: prefetch_factor option could only be specified in multiprocessing",
    "multiprocessing_context": "ValueError: multiprocessing_context can only be used with multi-process loading",
    "timeout": "AssertionError at the first `iter(loader)`",
}
"""Arguments that a DataLoader without workers refuses, with the error (torch/utils/data/dataloader.py: `__init__`, the
setter of `multiprocessing_context`, `_SingleProcessDataLoaderIter`)."""

DATASET_BASES = frozenset(
    {
        "torch.utils.data.Dataset",
        "torch.utils.data.IterableDataset",
        "torch_geometric.data.Dataset",
        "torch_geometric.data.InMemoryDataset",
        "dgl.data.DGLDataset",
        "monai.data.Dataset",
        "torchvision.datasets.VisionDataset",
        "torchvision.datasets.ImageFolder",
        "torchvision.datasets.DatasetFolder",
    }
)

WRAPPERS: dict[str, tuple[str, ...]] = {
    "torch.utils.data.Subset": ("dataset",),
    "torch.utils.data.ConcatDataset": ("datasets",),
    "torch.utils.data.ChainDataset": ("datasets",),
    "torch.utils.data.StackDataset": ("datasets",),
    "torch.utils.data.random_split": ("dataset",),
}
"""Datasets that hold other datasets, with the parameter that takes them (the first one)."""


@dataclass(frozen=True)
class LauncherApi:
    """A call that starts a process which runs a function.

    Attributes:
        target: name of the parameter that takes the function.
        params: positional parameters in order.
        args: parameter with the tuple of positional arguments; "*" where they follow the target.
        kwargs: parameter with the dict of keyword arguments.
        method: the start method, or the name of the parameter that says so (`=start_method`), or "default" for the
            one in force, or "context" where the receiver says so.
        lead: number of arguments put before the caller's (a process index).
        daemonic: whether its processes may not have children.
    """

    target: str
    params: tuple[str, ...]
    args: str = "args"
    kwargs: str = "kwargs"
    method: str = "default"
    fallback: str = "default"
    lead: int = 0
    daemonic: bool = False


_PROCESS = LauncherApi("target", ("group", "target", "name", "args", "kwargs"))
_NOTEBOOK = ("function", "args", "num_processes")

LAUNCHERS: dict[str, LauncherApi] = {
    "torch.multiprocessing.spawn": LauncherApi(
        "fn",
        ("fn", "args", "nprocs", "join", "daemon", "start_method"),
        method="=start_method",
        fallback="spawn",
        lead=1,
    ),
    "torch.multiprocessing.start_processes": LauncherApi(
        "fn",
        ("fn", "args", "nprocs", "join", "daemon", "start_method"),
        method="=start_method",
        fallback="spawn",
        lead=1,
    ),
    "multiprocessing.Process": _PROCESS,
    "multiprocessing.SpawnProcess": LauncherApi("target", _PROCESS.params, method="spawn"),
    "multiprocessing.ForkProcess": LauncherApi("target", _PROCESS.params, method="fork"),
    "multiprocessing.ForkServerProcess": LauncherApi("target", _PROCESS.params, method="forkserver"),
    "concurrent.futures.ProcessPoolExecutor().submit": LauncherApi("fn", ("fn",), args="*", method="executor"),
    "concurrent.futures.ProcessPoolExecutor().map": LauncherApi("fn", ("fn",), args="each", method="executor"),
    "multiprocessing.Pool().map": LauncherApi("func", ("func",), args="each", method="pool", daemonic=True),
    "multiprocessing.Pool().imap": LauncherApi("func", ("func",), args="each", method="pool", daemonic=True),
    "multiprocessing.Pool().imap_unordered": LauncherApi("func", ("func",), args="each", method="pool", daemonic=True),
    "multiprocessing.Pool().map_async": LauncherApi("func", ("func",), args="each", method="pool", daemonic=True),
    "multiprocessing.Pool().starmap": LauncherApi("func", ("func",), args="each", method="pool", daemonic=True),
    "multiprocessing.Pool().starmap_async": LauncherApi("func", ("func",), args="each", method="pool", daemonic=True),
    "multiprocessing.Pool().apply": LauncherApi(
        "func", ("func", "args", "kwds"), kwargs="kwds", method="pool", daemonic=True
    ),
    "multiprocessing.Pool().apply_async": LauncherApi(
        "func", ("func", "args", "kwds"), kwargs="kwds", method="pool", daemonic=True
    ),
    "torch.distributed.launcher.api.elastic_launch()": LauncherApi(
        "entrypoint", (), args="*", method="elastic", fallback="spawn"
    ),
    "torch.distributed.launcher.api.launch_agent": LauncherApi(
        "entrypoint", ("config", "entrypoint", "args"), method="elastic", fallback="spawn"
    ),
    "accelerate.notebook_launcher": LauncherApi("function", _NOTEBOOK, method="fork"),
    "accelerate.debug_launcher": LauncherApi("function", ("function", "args", "num_processes"), method="fork"),
}

SIMPLE_QUEUE: dict[str, frozenset[str] | None] = {
    "get_nowait": None,
    "put_nowait": None,
    "qsize": None,
    "full": None,
    "join": None,
    "task_done": None,
    "get": frozenset({"block", "timeout"}),
    "put": frozenset({"block", "timeout"}),
}
"""Members that `multiprocessing.SimpleQueue` lacks (None), and arguments that those it has do not take (CPython,
Lib/multiprocessing/queues.py: `get()`, `put(obj)`, `empty()` and `close()` are all)."""

SPAWNING_STRATEGIES = {
    "ddp_spawn": "spawn",
    "ddp_spawn_find_unused_parameters_true": "spawn",
    "ddp_spawn_find_unused_parameters_false": "spawn",
    "ddp_fork": "fork",
    "ddp_notebook": "fork",
}
"""Lightning's strategies that run hooks in processes that inherit a start method (lightning, "Strategy registry")."""


@dataclass(frozen=True)
class Hooks:
    """`entries` are methods of a framework's class that call `methods` of the project's."""

    entries: tuple[str, ...]
    methods: tuple[str, ...]


_LIGHTNING = Hooks(
    ("fit", "validate", "test", "predict"),
    ("setup", "prepare_data", "train_dataloader", "val_dataloader", "test_dataloader", "predict_dataloader"),
)
_TRANSFORMERS = Hooks(
    ("train", "evaluate", "predict"),
    ("get_train_dataloader", "get_eval_dataloader", "get_test_dataloader", "compute_loss", "evaluation_loop"),
)
HOOKS = {
    **dict.fromkeys(
        ("lightning.pytorch.Trainer", "lightning.Trainer", "lightning.pytorch.trainer.Trainer"), _LIGHTNING
    ),
    **dict.fromkeys(
        ("transformers.Trainer", "transformers.Seq2SeqTrainer", "transformers.trainer.Trainer"), _TRANSFORMERS
    ),
}
"""By the class whose method is called (docs: Lightning 2.5 "Trainer", transformers 4.50 "Trainer")."""

_ALIASES = {
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.utils.data.dataset.IterableDataset": "torch.utils.data.IterableDataset",
    "torch.utils.data.dataset.Subset": "torch.utils.data.Subset",
    "torch.utils.data.dataset.ConcatDataset": "torch.utils.data.ConcatDataset",
    "torch.utils.data.dataset.ChainDataset": "torch.utils.data.ChainDataset",
    "torch.utils.data.dataset.random_split": "torch.utils.data.random_split",
    "torch_geometric.data.DataLoader": "torch_geometric.loader.DataLoader",
    "torch_geometric.data.DataListLoader": "torch_geometric.loader.DataListLoader",
    "torch_geometric.loader.dataloader.DataLoader": "torch_geometric.loader.DataLoader",
    "monai.data.dataloader.DataLoader": "monai.data.DataLoader",
    "webdataset.loader.WebLoader": "webdataset.WebLoader",
    "webdataset.compat.WebDataset": "webdataset.WebDataset",
    "webdataset.pipeline.DataPipeline": "webdataset.DataPipeline",
    "transformers.Seq2SeqTrainingArguments": "transformers.TrainingArguments",
    "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
    "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
    "torch.multiprocessing.spawn.start_processes": "torch.multiprocessing.start_processes",
    "torch.multiprocessing.start_processes.start_processes": "torch.multiprocessing.start_processes",
    "multiprocessing.process.Process": "multiprocessing.Process",
    "multiprocessing.context.Process": "multiprocessing.Process",
    "multiprocessing.context.SpawnProcess": "multiprocessing.SpawnProcess",
    "multiprocessing.context.ForkProcess": "multiprocessing.ForkProcess",
    "multiprocessing.context.ForkServerProcess": "multiprocessing.ForkServerProcess",
    "multiprocessing.pool.Pool": "multiprocessing.Pool",
    "multiprocessing.context.get_context": "multiprocessing.get_context",
    "torch.distributed.launcher.elastic_launch": "torch.distributed.launcher.api.elastic_launch",
    "torch.distributed.launcher.launch_agent": "torch.distributed.launcher.api.launch_agent",
    "torch.distributed.launcher.LaunchConfig": "torch.distributed.launcher.api.LaunchConfig",
    "accelerate.launchers.notebook_launcher": "accelerate.notebook_launcher",
    "accelerate.launchers.debug_launcher": "accelerate.debug_launcher",
}
_KEPT_UNDER_TORCH = (
    "torch.multiprocessing.spawn",
    "torch.multiprocessing.start_processes",
    "torch.multiprocessing.set_sharing",
)
_PACKAGES = (
    ("torch.multiprocessing.", "multiprocessing."),
    ("multiprocess.", "multiprocessing."),
    ("pytorch_lightning.", "lightning.pytorch."),
    ("lightning.pytorch.", "lightning.pytorch."),
)


_CONTEXT = re.compile(r"(?:torch\.)?multiprocessing\[[^\]]*\]")
"""How the project model writes the start method of a context into a name: "multiprocessing[spawn].Process"."""


@cache
def canonical(name: str) -> str:
    """The one name by which the tables know an API that can be reached by several."""
    if "multiprocessing[" in name:
        name = _CONTEXT.sub("multiprocessing", name)
    head, bracket, rest = name.partition("()")
    found = _ALIASES.get(head)
    if found is None and not head.startswith(_KEPT_UNDER_TORCH):
        for prefix, replacement in _PACKAGES:
            if head.startswith(prefix):
                head = replacement + head[len(prefix) :]
                break
        else:
            if head == "torch.multiprocessing":
                head = "multiprocessing"
        found = _ALIASES.get(head)
    return (found or head) + bracket + rest


FIXES_DEFAULT = frozenset(
    f"multiprocessing.{name}"
    for name in (
        *("Queue", "JoinableQueue", "SimpleQueue", "Lock", "RLock", "Semaphore", "BoundedSemaphore", "Event"),
        *("Condition", "Barrier", "Value", "Array", "Pool", "Manager", "set_start_method"),
    )
)
"""Calls after which the default start method can no longer be set without `force`: they ask
`DefaultContext.get_context()`, which fixes it (CPython, `multiprocessing/context.py`). `get_start_method()` and
`get_context()` do so by their arguments; `Pipe`, `Process(…)` before its start, `RawValue` and `RawArray` do not."""

_EXPORTS: dict[str, frozenset[str]] = {}


def exports(module: str, name: str) -> bool:
    """Whether `from module import *` is known to give `name` (only names that the tables know)."""
    if not _EXPORTS:
        collected: dict[str, set[str]] = {}
        known = (*LOADERS, *DATASET_BASES, *WRAPPERS, *_ALIASES, *(key for key in LAUNCHERS if "()" not in key))
        for dotted in (
            *known,
            "multiprocessing.set_start_method",
            "multiprocessing.get_context",
            "multiprocessing.Pool",
        ):
            head, _, last = dotted.rpartition(".")
            collected.setdefault(head, set()).add(last)
            if head == "multiprocessing":
                collected.setdefault("torch.multiprocessing", set()).add(last)
        collected.setdefault("torch.multiprocessing", set()).update(("spawn", "start_processes"))
        _EXPORTS.update({head: frozenset(names) for head, names in collected.items()})
    if module in ("cv2", "numpy", "numpy.random"):
        return False
    return name in _EXPORTS.get(module, frozenset())


PIPELINES = frozenset({"webdataset.WebDataset", "webdataset.DataPipeline"})
"""Datasets whose methods each add a stage and give the dataset back (webdataset 1.0: `compat.py`, `pipeline.py`)."""

_STAGES = frozenset(
    {
        *("associate", "batched", "decode", "detshuffle", "extract_keys", "info", "map", "map_dict", "map_tuple"),
        *(
            "rename",
            "rename_keys",
            "rsample",
            "select",
            "shuffle",
            "slice",
            "tarfile_to_samples",
            "to_tuple",
            "xdecode",
        ),
    }
)
"""Functions of webdataset that make a stage of a pipeline, which keeps what they are given (`filters.py`)."""

KEEPING_FUNCTIONS = frozenset(
    {
        "collections.defaultdict",
        "functools.partial",
        "torch.utils.data.random_split",
        "itertools.cycle",
        *(f"webdataset.{stage}" for stage in _STAGES),
        *(f"webdataset.filters.{stage}" for stage in _STAGES),
    }
)
"""Functions whose result holds their arguments, though they are not named like a class."""
