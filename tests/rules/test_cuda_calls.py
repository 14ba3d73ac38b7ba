"""Which calls initialize CUDA, and which fail after a fork, as measured with torch 2.11.0, Python 3.12 and one H200."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL103"]}
NOTICED = "RuntimeError: Cannot re-initialize CUDA in forked subprocess"
UNNOTICED = "CUDA error: initialization error"

USES = """\
torch.nn.Linear(1, 1).to_empty(device='cuda')
torch.nn.parallel.DataParallel(torch.nn.Linear(1, 1))
torch.cuda.Stream(0)
torch.cuda.Stream(device='cuda')
torch.zeros(1).new_tensor([1.0], device='cuda')
torch.empty_like(torch.zeros(1), device='cuda')
torch.cuda.profiler.start()
torch.cuda.memory.mem_get_info()
torch.cuda.random.get_rng_state()
torch.cuda.init()
torch.cuda.current_device()
torch.cuda.get_device_name()
torch.cuda.get_device_name(0)
torch.cuda.get_device_capability()
torch.cuda.get_device_properties(0)
torch.cuda.can_device_access_peer(0, 0)
torch.cuda.synchronize()
torch.cuda.ipc_collect()
torch.cuda.current_stream()
torch.cuda.default_stream()
torch.cuda.current_blas_handle()
torch.cuda.cudart()
torch.cuda.is_bf16_supported()
torch.cuda.is_tf32_supported()
torch.cuda.set_device(0)
torch.cuda.set_device('cuda:0')
torch.cuda.get_rng_state()
torch.cuda.get_rng_state_all()
torch.cuda.initial_seed()
torch.cuda.memory_summary()
torch.cuda.mem_get_info()
torch.cuda.reset_peak_memory_stats()
torch.cuda.reset_max_memory_allocated()
torch.cuda.reset_accumulated_memory_stats()
torch.cuda.set_per_process_memory_fraction(0.9)
torch.cuda.get_per_process_memory_fraction()
torch.cuda.list_gpu_processes()
torch.cuda.utilization()
torch.cuda.temperature()
torch.cuda.device_memory_used()
torch.cuda.Stream(0)
torch.cuda.stream(None)
torch.cuda.MemPool()
torch.cuda.get_sync_debug_mode()
torch.cuda.set_sync_debug_mode(0)
torch.autocast('cuda', dtype=torch.bfloat16)
torch.zeros(1).cuda()
torch.zeros(0).cuda()
torch.zeros(1).to('cuda')
torch.zeros(1).to(0)
torch.zeros(1).to(torch.device('cuda'))
torch.ones(1, device='cuda')
torch.empty(0, device='cuda')
torch.tensor([1.0], device='cuda')
torch.tensor([1.0], device=0)
torch.as_tensor([1.0], device='cuda')
torch.zeros(1).type('torch.cuda.FloatTensor')
torch.zeros(1).type(torch.cuda.FloatTensor)
torch.cuda.FloatTensor([1.0])
torch.zeros(1).new_zeros(2, device='cuda')
torch.nn.Linear(1, 1).cuda()
torch.nn.Linear(1, 1).to('cuda')
torch.nn.Linear(1, 1, device='cuda')
torch.nn.DataParallel(torch.nn.Linear(1, 1))
torch.nn.DataParallel(torch.nn.Linear(1, 1), device_ids=[0])
torch.nn.DataParallel(torch.nn.ReLU())
torch.load('a.pt', map_location="cuda")
torch.load('a.pt', map_location=torch.device("cuda"))
torch.jit.load('c.pt', map_location="cuda")
torch.backends.cudnn.version()
torch.accelerator.current_device_index()
torch.accelerator.set_device_index(0)
torch.accelerator.synchronize()
torch.accelerator.current_stream()
torch.accelerator.get_memory_info()
with torch.cuda.device(0): pass
with torch.cuda.device('cuda'): pass
with torch.cuda.stream(None): pass
with torch.accelerator.device_index(0): pass
with torch.autocast('cuda', dtype=torch.bfloat16): torch.ones(2,2) @ torch.ones(2,2)
with torch.random.fork_rng(): pass
with torch.profiler.profile(): torch.ones(2)
""".splitlines()
"""In the parent, a child cannot move a tensor to the GPU; in such a child, it fails itself."""

USES_UNNOTICED = """\
torch.cuda.Stream()
torch.Stream(device='cuda')
torch.cuda.CUDAGraph()
torch.cuda.is_current_stream_capturing()
torch.Generator('cuda')
torch.Generator(device='cuda')
torch.Generator('cuda').manual_seed(1)
torch.zeros(1).pin_memory()
torch.empty(1, pin_memory=True)
torch.zeros(1, pin_memory=True)
""".splitlines()
"""The same, with the driver's own error."""

ASKS = """\
torch.export.export(torch.nn.Linear(1, 1), (torch.ones(1, 1),))
torch.cuda.is_available()
torch.cuda.get_arch_list()
torch.cuda.get_gencode_flags()
torch.cuda.amp.GradScaler()
torch.amp.GradScaler()
torch.amp.GradScaler('cuda')
torch.cuda.amp.autocast()
torch.autocast('cuda')
torch.autocast('cuda', dtype=torch.float16)
torch.accelerator.is_available()
torch.accelerator.current_accelerator(check_available=True)
torch.accelerator.current_accelerator(True)
torch.compile(lambda x: x + 1)
with torch.autocast('cuda'): pass
s = torch.amp.GradScaler('cuda'); s.scale(torch.ones(1))
torch.amp.GradScaler('cuda').state_dict()
""".splitlines()
"""In the parent, a child cannot move a tensor to the GPU; in such a child, it works."""

ASKS_UNNOTICED = """\
torch.ones(1, requires_grad=True).sum().backward()
torch.autograd.grad(torch.ones(1, requires_grad=True).sum(), [torch.ones(1)], allow_unused=True)
torch.distributed.init_process_group('cpu:gloo,cuda:nccl')
torch.distributed.init_process_group(torch.distributed.Backend.NCCL)
torch.get_device_module()
torch.profiler.supported_activities()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]): torch.ones(2)
torch.distributed.init_process_group('nccl')
torch.distributed.init_process_group()
torch.distributed.init_process_group('nccl'); torch.distributed.destroy_process_group()
""".splitlines()
"""The same, with the driver's own error."""

NOTHING = """\
torch.cuda.Event(interprocess=True)
torch.optim.Adam([torch.nn.Parameter(torch.ones(1))])
torch.zeros(1).to(torch.zeros(1))
torch.get_rng_state()
torch.nn.Linear(1, 1).share_memory()
torch.amp.custom_fwd(print, device_type='cuda')
torch.utils.data.DataLoader([1], pin_memory=True, pin_memory_device='cuda')
pass
torch.cuda.device_count()
torch.cuda.is_initialized()
torch.cuda.set_rng_state(torch.zeros(16, dtype=torch.uint8))
torch.cuda.seed()
torch.cuda.seed_all()
torch.cuda.manual_seed(1)
torch.cuda.manual_seed_all(1)
torch.manual_seed(1)
torch.seed()
torch.cuda.empty_cache()
torch.cuda.memory_allocated()
torch.cuda.max_memory_allocated()
torch.cuda.memory_reserved()
torch.cuda.max_memory_reserved()
torch.cuda.memory_stats()
torch.cuda.memory_snapshot()
torch.cuda.host_memory_stats()
torch.cuda.memory.get_allocator_backend()
torch.cuda.Event()
torch.cuda.Event(enable_timing=True)
torch.cuda.Event().query()
torch.Event(device='cuda')
torch.cuda.device(0)
torch.cuda.graph_pool_handle()
torch.cuda.nvtx.range_push('x')
torch.cuda.nccl.version()
torch.cuda.nccl.is_available([torch.zeros(1)])
torch.distributed.is_nccl_available()
torch.cuda.amp.GradScaler(enabled=False)
torch.amp.GradScaler('cpu')
torch.amp.GradScaler('cuda', enabled=False)
torch.cuda.amp.autocast(enabled=False)
torch.autocast('cuda', enabled=False)
torch.autocast('cpu')
torch.Generator()
torch.device('cuda')
torch.device('cuda:0')
torch.device('cuda', 0)
torch.device(0)
torch.get_device_module('cuda')
torch.zeros(1).to('cpu')
torch.nn.Linear(1, 1).to('cpu')
torch.nn.Linear(1, 1).cpu()
torch.load('a.pt')
torch.load('a.pt', map_location="cpu")
torch.load('b.pt', map_location="cpu")
torch.load('b.pt', map_location=lambda storage, place: storage)
torch.jit.load('c.pt')
torch.jit.load('c.pt', map_location="cpu")
torch.backends.cudnn.is_available()
torch.backends.cudnn.enabled
torch.backends.cudnn.is_acceptable(torch.zeros(1))
torch.backends.cuda.is_built()
torch.backends.cuda.flash_sdp_enabled()
torch.backends.cuda.enable_flash_sdp(True)
torch.backends.cuda.is_flash_attention_available()
torch.backends.cuda.preferred_linalg_library()
torch.backends.cuda.preferred_blas_library()
torch.set_float32_matmul_precision('high')
torch.use_deterministic_algorithms(True)
torch.accelerator.device_count()
torch.accelerator.current_accelerator()
torch.get_autocast_dtype('cuda')
torch.get_autocast_gpu_dtype()
torch.is_autocast_enabled('cuda')
torch.jit.script(torch.nn.Linear(1, 1))
torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 2, 8)] * 3)
torch.random.fork_rng()
torch.version.cuda
torch.cuda.tunable.is_enabled()
torch.utils.data.DataLoader([1, 2], pin_memory=True)
next(iter(torch.utils.data.DataLoader([1, 2], pin_memory=False)))
torch.utils.data.random_split([1, 2], [1, 1])
torch.backends.cudnn.benchmark = torch.backends.cudnn.deterministic = torch.backends.cuda.matmul.allow_tf32 = True
with torch.cuda.device_of(torch.zeros(1)): pass
with torch.device('cuda'): pass
with torch.random.fork_rng(devices=[]): pass
torch.cuda.manual_seed_all(1); torch.manual_seed(2)
p=torch.nn.Parameter(torch.ones(1)); o=torch.optim.AdamW([p], fused=True)
torch.distributed.init_process_group('gloo')
torch.distributed.init_process_group('gloo'); torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1,1))
torch.utils.data.DistributedSampler([1,2], 1, 0)
torch.distributed.is_available()
torch.utils.data.get_worker_info()
""".splitlines()
"""Neither."""


PARENT = """\
import torch
import torch.distributed
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8).cuda()

def main():
    {}
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)

if __name__ == "__main__":
    main()
"""
CHILD = """\
import torch
import torch.distributed
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        {}
        return index

def main():
    torch.cuda.init()
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)

if __name__ == "__main__":
    main()
"""


def errors(told: Callable[..., Any], text: str, call: str) -> list[str]:
    return [finding.text.rpartition("(")[2].strip("`)") for finding in told({"train.py": text.format(call)}, **SELECT)]


@pytest.mark.parametrize("call", [*USES, *ASKS])
def test_the_parent_initializes_cuda(call: str, told: Callable[..., Any]) -> None:
    assert errors(told, PARENT, call) == [NOTICED]


@pytest.mark.parametrize("call", [*USES_UNNOTICED, *ASKS_UNNOTICED])
def test_the_parent_initializes_the_driver_unnoticed(call: str, told: Callable[..., Any]) -> None:
    assert errors(told, PARENT, call) == [UNNOTICED]


@pytest.mark.parametrize("call", NOTHING)
def test_the_parent_leaves_cuda_alone(call: str, told: Callable[..., Any]) -> None:
    assert errors(told, PARENT, call) == []


@pytest.mark.parametrize("call", USES)
def test_the_child_fails(call: str, told: Callable[..., Any]) -> None:
    assert errors(told, CHILD, call) == [NOTICED]


@pytest.mark.parametrize("call", USES_UNNOTICED)
def test_the_child_is_refused_by_the_driver(call: str, told: Callable[..., Any]) -> None:
    assert errors(told, CHILD, call) == [UNNOTICED]


@pytest.mark.parametrize("call", [*ASKS, *ASKS_UNNOTICED, *NOTHING])
def test_the_child_works(call: str, told: Callable[..., Any]) -> None:
    assert errors(told, CHILD, call) == []
