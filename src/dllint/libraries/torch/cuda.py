"""Calls that initialize CUDA in a process, and calls that fail in a process forked after that.

Each row was measured with torch 2.11.0 (CUDA 13.0, Python 3.12, one H200): `poisons` by calling it in a process and
moving a tensor to the GPU in a forked child, `fails` by calling it in a forked child of a process that had used CUDA.

PyTorch notices most initializations: `torch.cuda._lazy_init` then raises "Cannot re-initialize CUDA in forked
subprocess" in the child. It does not notice those that go to the driver directly (`unnoticed`), and then the driver
itself refuses: "CUDA error: initialization error". PYTORCH_NVML_BASED_CUDA_CHECK=1 changes only the rows that ask
`torch.cuda.is_available`.

Measured as well, and not listed: a step of Adam initializes CUDA even on the CPU;
`torch.accelerator.memory_allocated()` and `Tensor.is_pinned()` fail in a child whose parent had used the GPU itself;
moving a module without parameters does nothing.
"""

from __future__ import annotations

import re

from dllint.libraries.facets import CudaApi, CudaArgument

ASKS = CudaApi(poisons=True, fails=False)
USES = CudaApi(poisons=True, fails=True)
PLACES = CudaApi(poisons=True, fails=True, places=True)
ASKS_DRIVER = CudaApi(poisons=True, fails=False, unnoticed=True)
USES_DRIVER = CudaApi(poisons=True, fails=True, unnoticed=True)
NOTHING = CudaApi(poisons=False, fails=False)

CUDA_CALLS: dict[str, CudaApi] = {
    # They ask torch.cuda.is_available, except with PYTORCH_NVML_BASED_CUDA_CHECK=1
    "torch.cuda.is_available": ASKS,
    "torch.accelerator.is_available": ASKS,
    "torch.cuda.amp.GradScaler": ASKS,
    "torch.cuda.amp.autocast": ASKS,
    "torch.compile": ASKS,
    "torch.export.export": ASKS,
    # They query the devices, with that variable too
    "torch.cuda.get_arch_list": ASKS,
    "torch.cuda.get_gencode_flags": ASKS,
    # Without an argument it returns the module of the accelerator, and so asks the driver for one
    "torch.get_device_module": ASKS_DRIVER,
    "torch.profiler.supported_activities": ASKS_DRIVER,
    # The engine starts a thread per device, on the CPU too
    "torch.autograd.grad": ASKS_DRIVER,
    "torch.autograd.backward": ASKS_DRIVER,
    "torch.nn.DataParallel": PLACES,
    "torch.backends.cudnn.version": USES,
    **dict.fromkeys(
        (
            *("torch.cuda.init", "torch.cuda.set_device", "torch.cuda.current_device", "torch.cuda.synchronize"),
            *("torch.cuda.get_device_name", "torch.cuda.get_device_capability", "torch.cuda.get_device_properties"),
            *("torch.cuda.can_device_access_peer", "torch.cuda.ipc_collect", "torch.cuda.cudart"),
            *("torch.cuda.current_stream", "torch.cuda.default_stream", "torch.cuda.stream"),
            *("torch.cuda.current_blas_handle", "torch.cuda.is_bf16_supported", "torch.cuda.is_tf32_supported"),
            *("torch.cuda.get_rng_state", "torch.cuda.get_rng_state_all", "torch.cuda.initial_seed"),
            *("torch.cuda.mem_get_info", "torch.cuda.memory_summary", "torch.cuda.MemPool"),
            *("torch.cuda.reset_peak_memory_stats", "torch.cuda.reset_max_memory_allocated"),
            *("torch.cuda.reset_accumulated_memory_stats", "torch.cuda.set_per_process_memory_fraction"),
            *("torch.cuda.get_per_process_memory_fraction", "torch.cuda.list_gpu_processes"),
            *("torch.cuda.utilization", "torch.cuda.temperature", "torch.cuda.device_memory_used"),
            *("torch.cuda.get_sync_debug_mode", "torch.cuda.set_sync_debug_mode"),
            *("torch.accelerator.current_device_index", "torch.accelerator.set_device_index"),
            *("torch.accelerator.synchronize", "torch.accelerator.current_stream"),
            *("torch.accelerator.get_memory_info", "torch.cuda.profiler.start"),
        ),
        USES,
    ),
    **dict.fromkeys(
        ("torch.cuda.Stream", "torch.cuda.CUDAGraph", "torch.cuda.is_current_stream_capturing"), USES_DRIVER
    ),
    # They wait until something else initializes CUDA, or read what this process knows
    **dict.fromkeys(
        (
            *("torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch.cuda.seed", "torch.cuda.seed_all"),
            *("torch.cuda.set_rng_state", "torch.cuda.is_initialized", "torch.cuda.device_count"),
            *("torch.cuda.Event", "torch.cuda.empty_cache", "torch.cuda.memory_allocated"),
            *("torch.cuda.max_memory_allocated", "torch.cuda.memory_reserved", "torch.cuda.max_memory_reserved"),
            *("torch.cuda.memory_stats", "torch.cuda.memory_snapshot", "torch.cuda.nccl.version"),
            *("torch.device", "torch.set_default_device", "torch.accelerator.device_count"),
        ),
        NOTHING,
    ),
}
"""CUDA effects of calls by their full name."""

CUDA_CONTEXTS: dict[str, CudaApi] = {
    "torch.cuda.device": USES,
    "torch.accelerator.device_index": USES,
    "torch.random.fork_rng": USES,
    "torch.profiler.profile": USES,
}
"""CUDA effects of context managers, which are made without any effect and have it when a `with` enters them."""

WITH_ARGUMENTS: dict[str, tuple[str, CudaApi]] = {
    "torch.cuda.Stream": ("", USES),
    "torch.get_device_module": ("", NOTHING),
    "torch.random.fork_rng": ("", NOTHING),
    "torch.profiler.profile": ("activities", ASKS_DRIVER),
}
"""CUDA effects of calls that are given an argument, by its name; "" is any."""

CUDA_TENSORS = re.compile(r"torch\.cuda\.\w*Tensor\Z")
"""The legacy constructors, `torch.cuda.FloatTensor(…)`: a tensor on the GPU (documentation of torch.Tensor)."""

CUDA_DEVICE_ARGUMENTS: dict[str, CudaArgument] = {
    "torch.amp.GradScaler": CudaArgument("device", ASKS, default=True),
    "torch.GradScaler": CudaArgument("device", ASKS, default=True),
    "torch.amp.autocast": CudaArgument("device_type", ASKS, default=True),
    "torch.autocast": CudaArgument("device_type", ASKS, default=True),
    "torch.Generator": CudaArgument("device", USES_DRIVER),
    "torch.Stream": CudaArgument("device", USES_DRIVER),
    "torch.load": CudaArgument("map_location", PLACES, position=1),
    "torch.jit.load": CudaArgument("map_location", PLACES, position=1),
}
"""Calls with that effect only if the argument is CUDA."""

CUDA_SWITCHES: dict[str, tuple[str, int, bool]] = {
    **dict.fromkeys(
        (
            *("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.GradScaler"),
            *("torch.cuda.amp.autocast", "torch.amp.autocast", "torch.autocast"),
        ),
        ("enabled", -1, True),
    ),
    "torch.accelerator.current_accelerator": ("check_available", 0, False),
}
"""Calls whose argument turns the effect on or off: its name, its position (-1 if it has none), and its default."""

CHECKS_BFLOAT16 = frozenset({"torch.cuda.amp.autocast", "torch.amp.autocast", "torch.autocast"})
"""Contexts that query the device if their `dtype` is `torch.bfloat16` (torch/amp/autocast_mode.py)."""

MAKES_ON_DEVICE = frozenset(
    f"torch.{name}"
    for name in (
        *("arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "full", "full_like"),
        *("linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint", "randint_like"),
        *("randn", "randn_like", "randperm", "range", "scalar_tensor", "sparse_coo_tensor", "tensor", "zeros"),
        *("zeros_like", "hann_window", "hamming_window", "tril_indices", "triu_indices", "frombuffer"),
    )
)
"""Functions whose keyword `device=` sets where the tensor is created (documentation of torch, "Creation Ops")."""

MAKES_ON_DEFAULT = MAKES_ON_DEVICE - {
    f"torch.{name}"
    for name in (
        *("empty_like", "full_like", "normal", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like"),
        "frombuffer",
    )
}
"""Those that use the default device without that keyword (`_device_constructors` in torch/utils/_device.py)."""

MAKES_BESIDE = frozenset({"new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "to_empty"})
"""Methods of a tensor or a module with the keyword `device=`."""

LAYERS = "torch.nn."
"""Layers take `device=` as well (documentation of torch.nn, since torch 1.9)."""
