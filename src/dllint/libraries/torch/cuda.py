"""Calls that initialize CUDA in a process, and calls that fail in a process forked after that.

`torch.cuda._lazy_init` raises "Cannot re-initialize CUDA in forked subprocess" if the parent had initialized the CUDA
driver before it forked. Some calls initialize the driver but do not need it in the child (`is_available`); most do
both. Unless stated otherwise, a row was read in torch 2.13.0.

Not listed, since only a GPU could settle them: `torch.cuda.Stream()`, `torch.cuda.Event()`, `empty_cache()`,
`torch.Generator(device="cuda")`.
"""

from __future__ import annotations

import re

from dllint.libraries.facets import CudaApi

ASKS = CudaApi(poisons=True, fails=False)
USES = CudaApi(poisons=True, fails=True)
NOTHING = CudaApi(poisons=False, fails=False)

CUDA_CALLS: dict[str, CudaApi] = {
    # torch/cuda/__init__.py: calls `torch._C._cuda_getDeviceCount`, unless PYTORCH_NVML_BASED_CUDA_CHECK=1
    "torch.cuda.is_available": ASKS,
    # torch/accelerator/__init__.py: calls torch.cuda.is_available
    "torch.accelerator.is_available": ASKS,
    # torch/backends/cudnn/__init__.py: `_init` queries the library's runtime version
    "torch.backends.cudnn.version": ASKS,
    # torch/nn/parallel/data_parallel.py: `_get_available_device_type` calls torch.cuda.is_available
    "torch.nn.DataParallel": ASKS,
    # torch/amp/grad_scaler.py, torch/amp/autocast_mode.py: both call torch.cuda.is_available
    "torch.cuda.amp.GradScaler": ASKS,
    "torch.cuda.amp.autocast": ASKS,
    # torch/cuda/__init__.py: `_lazy_init()` in the body, or after `current_device()`
    "torch.cuda.init": USES,
    "torch.cuda.current_device": USES,
    "torch.cuda.get_device_name": USES,
    "torch.cuda.get_device_capability": USES,
    "torch.cuda.get_device_properties": USES,
    "torch.cuda.can_device_access_peer": USES,
    "torch.cuda.synchronize": USES,
    "torch.cuda.ipc_collect": USES,
    "torch.cuda.current_stream": USES,
    "torch.cuda.default_stream": USES,
    "torch.cuda.current_blas_handle": USES,
    "torch.cuda.cudart": USES,
    "torch.cuda.is_bf16_supported": USES,
    # torch/csrc/cuda/Module.cpp, THCPModule_setDevice_wrap: `device_lazy_init`
    "torch.cuda.set_device": USES,
    # torch/cuda/random.py: `_lazy_init()`
    "torch.cuda.get_rng_state": USES,
    "torch.cuda.get_rng_state_all": USES,
    "torch.cuda.initial_seed": USES,
    # torch/cuda/memory.py: `_lazy_init()`
    "torch.cuda.set_per_process_memory_fraction": USES,
    # torch/cuda/random.py: `_lazy_call`, which waits until something else initializes CUDA
    "torch.cuda.manual_seed": NOTHING,
    "torch.cuda.manual_seed_all": NOTHING,
    # torch/cuda/__init__.py: read a flag
    "torch.cuda.is_initialized": NOTHING,
    # torch/cuda/__init__.py: uses NVML if available, which does not initialize the driver
    "torch.cuda.device_count": NOTHING,
    # a name and an index, no memory (the documentation of torch.device)
    "torch.device": NOTHING,
    "torch.set_default_device": NOTHING,
}
"""CUDA effects of calls by their full name."""

CUDA_TENSORS = re.compile(r"torch\.cuda\.\w*Tensor\Z")
"""The legacy constructors, `torch.cuda.FloatTensor(…)`: a tensor on the GPU (documentation of torch.Tensor)."""

CUDA_DEVICE_ARGUMENTS: dict[str, tuple[str, CudaApi]] = {
    "torch.amp.GradScaler": ("device", ASKS),
    "torch.GradScaler": ("device", ASKS),
    "torch.amp.autocast": ("device_type", ASKS),
    "torch.autocast": ("device_type", ASKS),
}
"""Calls with that effect only if the named argument, or the first positional one, is CUDA."""

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

LAYERS = "torch.nn."
"""Layers take `device=` as well (documentation of torch.nn, since torch 1.9)."""
