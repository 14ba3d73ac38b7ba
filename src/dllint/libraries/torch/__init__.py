"""torch 2.13.0: loaders, launchers, tensors, CUDA, generators (`torch/utils/data/dataloader.py`,
`torch/utils/data/_utils/worker.py`, `torch/multiprocessing/spawn.py`, `torch/distributed/launcher/api.py`,
`torch/random.py`)."""

from dllint.libraries.facets import Generator, LauncherApi, Library, LoaderApi, Maker, Opener, Seeder, When
from dllint.libraries.pickling import Refusal, always, instance
from dllint.libraries.torch.cuda import CUDA_CALLS, CUDA_CONTEXTS, CUDA_DEVICE_ARGUMENTS, MAKES_ON_DEVICE
from dllint.libraries.torch.tensors import ATTRIBUTES, FUNCTIONS, METHODS, NEW_TENSORS
from dllint.screen import Words

DATA_LOADER = LoaderApi(
    (
        *("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory"),
        *("drop_last", "timeout", "worker_init_fn", "multiprocessing_context", "generator"),
    )
)
"""torch's own DataLoader, and APIs with the same arguments."""

WORKER_OPTIONS: dict[str, str] = {
    "persistent_workers": "ValueError: persistent_workers option needs num_workers > 0",
    "prefetch_factor": "ValueError: prefetch_factor option could only be specified in multiprocessing",
    "multiprocessing_context": "ValueError: multiprocessing_context can only be used with multi-process loading",
    "timeout": "AssertionError at the first `iter(loader)`",
}
"""Arguments that a DataLoader without workers refuses → the error (torch/utils/data/dataloader.py: `__init__`, the
setter of `multiprocessing_context`, `_SingleProcessDataLoaderIter`)."""

NUMPY_RESEEDED = (1, 9)
"""The first torch version whose workers seed numpy's global generator (`_worker_loop` in worker.py; release notes of
1.9)."""

ITEM_BYTES = {"float": 4, "int": 4}
"""Bytes per element if torch's type has the same name as a wider one of numpy's."""
CASTS = {"float": 4, "double": 8, "half": 2, "long": 8, "int": 4, "bool": 1, "byte": 1}
"""Tensor methods that convert the element type → bytes per element."""

MODULE_HOOKS = (
    *("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"),
    *("register_full_backward_pre_hook", "register_backward_hook"),
)
"""Methods of torch.nn.Module that retain the function passed to them (`torch/nn/modules/module.py`)."""

WITHOUT_STATE = frozenset({"torch.utils.data.Dataset", "torch.utils.data.IterableDataset"})
"""Classes whose objects have no attributes of their own (`torch/utils/data/dataset.py`)."""
SCRIPTING = frozenset({"torch.jit.script", "torch.jit.trace"})
"""Functions that turn a function into a `ScriptFunction` and anything else into a `ScriptModule`."""
SCRIPT_FUNCTION = Refusal("a scripted function", always("PickleError: ScriptFunction cannot be pickled"))
NON_LEAF = Refusal(
    "a tensor that is part of a graph",
    always(
        "RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
        "support crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
        "before serializing (e.g., putting it on the queue)."
    ),
    "tensor",
)
LOADER_ITERATOR = Refusal(
    "an iterator of a DataLoader", always("NotImplementedError: … cannot be pickled…"), "iterator"
)
_SCRIPT = Refusal(
    "a scripted module",
    always("RuntimeError: Tried to serialize object __torch__.… which does not have a __getstate__ method defined!"),
)

_SPAWN = LauncherApi(
    "fn",
    ("fn", "args", "nprocs", "join", "daemon", "start_method"),
    method="=start_method",
    fallback="spawn",
    lead=1,
)
_FILLED = Maker("torch", "dims", "size", item=4)
_SAME = Maker("torch", "same")

LIBRARY = Library(
    aliases={
        "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
        "torch.profiler.profiler.profile": "torch.profiler.profile",
        "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
        "torch.utils.data.distributed.DistributedSampler": "torch.utils.data.DistributedSampler",
        **{
            f"torch.utils.data.sampler.{name}": f"torch.utils.data.{name}"
            for name in ("BatchSampler", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
        },
        **{
            f"torch.utils.data.dataset.{name}": f"torch.utils.data.{name}"
            for name in (*("Dataset", "IterableDataset", "Subset", "ConcatDataset", "ChainDataset", "random_split"),)
        },
        "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
        "torch.multiprocessing.spawn.start_processes": "torch.multiprocessing.start_processes",
        "torch.multiprocessing.start_processes.start_processes": "torch.multiprocessing.start_processes",
        **{
            f"torch.distributed.launcher.{name}": f"torch.distributed.launcher.api.{name}"
            for name in ("elastic_launch", "launch_agent", "LaunchConfig")
        },
    },
    renamed={
        "torch.multiprocessing.": "multiprocessing.",
        **dict.fromkeys(("torch.cuda.memory.", "torch.cuda.random.", "torch.cuda.streams."), "torch.cuda."),
    },
    kept=(
        "torch.multiprocessing.spawn",
        "torch.multiprocessing.start_processes",
        "torch.multiprocessing.set_sharing",
    ),
    loaders={"torch.utils.data.DataLoader": DATA_LOADER},
    datasets=frozenset({"torch.utils.data.Dataset", "torch.utils.data.IterableDataset"}),
    iterable_datasets=frozenset({"torch.utils.data.IterableDataset"}),
    plain_bases=frozenset({"torch.utils.data.Dataset", "torch.nn.Module"}),
    # torch/utils/data/dataset.py; `random_split` returns objects of Subset.
    dataset_wrappers={
        **dict.fromkeys(("torch.utils.data.Subset", "torch.utils.data.random_split"), "dataset"),
        **{f"torch.utils.data.{name}Dataset": "datasets" for name in ("Concat", "Chain", "Stack")},
    },
    kept_as={
        "torch.utils.data.Subset": {"dataset": 0, "indices": 1},
        "torch.utils.data.random_split": {"dataset": 0},
        "torch.utils.data.ConcatDataset": {"datasets": 0},
        "torch.utils.data.BatchSampler": {"sampler": 0, "batch_size": 1, "drop_last": 2},
    },
    tensor_items={"torch.utils.data.TensorDataset": 0},
    # `self.datasets = list(datasets)`: torch/utils/data/dataset.py
    lists_arguments=frozenset({"torch.utils.data.ConcatDataset"}),
    keeps_arguments=frozenset({"torch.utils.data.random_split"}),
    launchers={
        "torch.multiprocessing.spawn": _SPAWN,
        "torch.multiprocessing.start_processes": _SPAWN,
        "torch.distributed.launcher.api.elastic_launch()": LauncherApi(
            "entrypoint", (), args="*", method="elastic", fallback="spawn"
        ),
        "torch.distributed.launcher.api.launch_agent": LauncherApi(
            "entrypoint", ("config", "entrypoint", "args"), method="elastic", fallback="spawn"
        ),
    },
    openers={
        # Tensors are passed to workers through shared memory: one copy for all of them
        "torch.load": (
            Opener("memory-mapped tensors", mapped="the memory-mapped tensors", when=When("mmap", -1, "on")),
        ),
    },
    readers={"torch.load": "opaque"},
    refusals={
        **dict.fromkeys((*SCRIPTING, "torch.jit.load", "torch.jit.freeze"), _SCRIPT),
        # Measured with torch 2.11.0 and Python 3.12 on an H200
        "torch.cuda.Stream": Refusal("a CUDA stream", instance("Stream")),
        "torch.Stream": Refusal("a CUDA stream", instance("torch.Stream")),
        "torch.cuda.CUDAGraph": Refusal("a CUDA graph", instance("CUDAGraph")),
        "torch.cuda.MemPool": Refusal("a CUDA memory pool", instance("MemPool")),
        "torch.cuda.get_device_properties": Refusal(
            "a description of a GPU", instance("torch._C._CudaDeviceProperties")
        ),
    },
    # torch/utils/_contextlib.py
    named_as_wrapped=frozenset({"torch.no_grad", "torch.enable_grad", "torch.inference_mode"}),
    path_functions=frozenset({"load"}),
    arrays={
        **{f"torch.{name}": _FILLED for name in ("zeros", "ones", "empty", "rand", "randn")},
        "torch.full": Maker("torch", "first", "size", item=4),
        "torch.randint": Maker("torch", "first", "size", 2),
        "torch.arange": Maker("torch", "count"),
        **{f"torch.{name}": _SAME for name in ("from_numpy", "tensor", "as_tensor", "stack", "cat")},
        "torch.load": Maker("torch", "file", mapped="mmap"),
    },
    size_keeping=frozenset(
        {
            *("float", "double", "half", "long", "int", "contiguous", "clone", "permute", "t", "numpy", "unsqueeze"),
            *("reshape", "transpose", "squeeze", "swapaxes", "ravel", "flatten", "view", "T"),
        }
    ),
    tensor_methods=METHODS,
    tensor_functions=FUNCTIONS,
    tensor_attributes=ATTRIBUTES,
    # torch/nn/modules/container.py: `for module in self: input = module(input)`
    compositions=frozenset({"torch.nn.Sequential"}),
    new_tensors=NEW_TENSORS,
    cuda_calls=CUDA_CALLS,
    cuda_contexts=CUDA_CONTEXTS,
    cuda_device_arguments=CUDA_DEVICE_ARGUMENTS,
    makes_on_device=MAKES_ON_DEVICE,
    seeders=dict.fromkeys(("torch.manual_seed", "torch.random.manual_seed"), Seeder(("torch",))),
    # torch/distributed: fixed once the process group is initialized
    of_the_process=frozenset({"torch.distributed.get_rank", "torch.distributed.get_world_size"}),
    # Common names of training code's own wrappers of `torch.distributed.get_rank`
    rank_functions=frozenset({"get_rank", "get_local_rank", "get_world_size", "get_global_rank"}),
    generators={
        "torch.Generator": Generator("torch.Generator", "torch", frozenset({"manual_seed", "seed", "set_state"}))
    },
    undrawing=frozenset({"get_state", "initial_seed", "device"}),
    drawing=("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial"),
    reordering=frozenset({"torch.randperm", "torch.random.manual_seed"}),
    positions=frozenset({"searchsorted", "bucketize", "remainder", "fmod"}),
    worker_info=frozenset({"get_worker_info"}),
    none_in_parent=frozenset({"torch.utils.data.get_worker_info"}),
    words=Words(
        # `DataParallel(` and `DistributedDataParallel(` stand in the code that trains.
        launching=(b"Parallel(",),
        loading=(
            *(b"dataloader", b"num_workers", b"worker_init_fn", b"worker_info", b"collate", b"def __getitem__"),
            *(b"persistent_workers", b"pin_memory", b"prefetch_factor", b"Dataset"),
        ),
        nearby=(b".cuda(", b"torch.cuda", b".load(", b".backward(", b"for epoch in", b"set_default_"),
        beside={
            # A loader takes the length of a map-style dataset; many functions of torch have the other argument too.
            b"pin_memory": (b"Loader", b"ataloader", b"ata_loader", b"rain_loader", b"orkers", b"ataset"),
        },
    ),
)
