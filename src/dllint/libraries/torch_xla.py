"""torch_xla 2.5 (`torch_xla/distributed/xla_multiprocessing.py`: `spawn(fn, args, nprocs, join, daemon, start_method)`;
`torch_xla/torch_xla.py`: `launch(fn, args, start_method)`)."""

from dllint.libraries.facets import LauncherApi, Library

_SPAWN = LauncherApi(
    "fn",
    ("fn", "args", "nprocs", "join", "daemon", "start_method"),
    kwargs="",
    method="=start_method",
    fallback="spawn",
    lead=1,
    cuda=False,
)

LIBRARY = Library(
    # parallel_loader.py: it reads the loader by a thread of its own, and hands out an iterable for each device
    gives_argument=frozenset({"torch_xla.distributed.parallel_loader.ParallelLoader"}),
    returns_itself={"torch.utils.data.DataLoader": frozenset({"per_device_loader"})},
    makes_batches={"torch.utils.data.DataLoader": frozenset({"per_device_loader"})},
    launchers={
        "torch_xla.distributed.xla_multiprocessing.spawn": _SPAWN,
        "torch_xla.launch": _SPAWN._replace(params=("fn", "args", "start_method")),
    },
)
