"""Facts about tensor operations: which results share the storage of their input, and which have their own.

A tensor received from a worker keeps a file descriptor and a memory map open as long as anything references its
storage. Sending a view to a worker sends the whole storage, however small the view.

Sources: torch 2.13, "Tensor Views" (docs/source/tensor_view.rst) for views; the docstrings of `torch.Tensor.to`,
`contiguous`, `numpy`, `detach` and `cpu` ("returns this tensor if …") for operations that return their input; and numpy
2.2, `numpy.asarray`, `numpy.array` (`copy=True`), `ndarray.astype`. Those marked "measured" were also observed to keep
or to close the descriptors of batches.
"""

from __future__ import annotations

from dllint.libraries.facets import HOLDS, RELEASES, Operation

_VIEW = Operation(HOLDS, "torch: Tensor Views")
_OWN = Operation(RELEASES, "torch: not in Tensor Views; a result of its own")

METHODS: dict[str, Operation] = {
    **dict.fromkeys(
        (
            *("view", "view_as", "squeeze", "unsqueeze", "transpose", "permute", "t", "expand", "expand_as", "narrow"),
            *(
                "select",
                "split",
                "chunk",
                "unbind",
                "diagonal",
                "unfold",
                "movedim",
                "moveaxis",
                "swapaxes",
                "swapdims",
            ),
            *("unflatten", "tensor_split", "hsplit", "vsplit", "split_with_sizes", "as_strided", "squeeze_", "t_"),
            *("unsqueeze_", "transpose_", "requires_grad_", "share_memory_", "detach_"),
        ),
        _VIEW,
    ),
    "detach": Operation(HOLDS, "torch.Tensor.detach: shares the storage; measured"),
    "contiguous": Operation(HOLDS, "torch.Tensor.contiguous: returns self where it is contiguous; measured"),
    "reshape": Operation(HOLDS, "torch.reshape: a view where possible"),
    "flatten": Operation(HOLDS, "torch.flatten: a view or the input where possible"),
    "ravel": Operation(HOLDS, "torch.ravel: copies only where needed"),
    "numpy": Operation(HOLDS, "torch.Tensor.numpy: shares the storage; measured"),
    "cpu": Operation(HOLDS, "torch.Tensor.cpu: returns the original where it is in CPU memory; measured"),
    "to": Operation(HOLDS, "torch.Tensor.to: returns self where type and device are right; measured", "arguments"),
    "type_as": Operation(HOLDS, "torch.Tensor.type_as: no copy where the type is right", "type"),
    **{
        name: Operation(HOLDS, f"torch.Tensor.{name}: equivalent to to(); measured for float", "type")
        for name in ("float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool")
    },
    "clone": Operation(RELEASES, "torch.clone: a copy; measured"),
    "tolist": Operation(RELEASES, "torch.Tensor.tolist: Python numbers; measured"),
    "item": Operation(RELEASES, "torch.Tensor.item: a Python number; measured"),
    "cuda": Operation(RELEASES, "torch.Tensor.cuda: a copy in GPU memory"),
    "pin_memory": Operation(RELEASES, "torch.Tensor.pin_memory: a copy in page-locked memory"),
    **dict.fromkeys(
        (
            *("sum", "mean", "max", "min", "std", "var", "norm", "argmax", "argmin", "prod", "amax", "amin", "median"),
            *("index_select", "gather", "masked_select", "repeat", "repeat_interleave", "sort", "topk", "eq", "ne"),
        ),
        _OWN,
    ),
}
"""Methods of a tensor, or of the array that `numpy()` returns."""

ATTRIBUTES = frozenset({"data", "T", "mT", "H", "mH", "real", "imag"})
"""Attributes of a tensor that share its storage (torch, Tensor Views; `data` by its documentation)."""

FUNCTIONS: dict[str, Operation] = {
    **{
        f"torch.{name}": METHODS[name]
        for name in (
            *("squeeze", "unsqueeze", "transpose", "permute", "t", "narrow", "select", "split", "chunk", "unbind"),
            *("diagonal", "movedim", "swapaxes", "reshape", "flatten", "ravel", "detach", "clone"),
        )
    },
    "torch.as_tensor": Operation(HOLDS, "torch.as_tensor: avoids copies; measured"),
    "torch.from_numpy": Operation(HOLDS, "torch.from_numpy: shares memory"),
}
"""Functions by their full name."""

_OWN_STORAGE = (
    *("zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye", "tensor"),
    *("from_numpy", "as_tensor", "load", "stack", "cat", "zeros_like", "ones_like", "rand_like", "randn_like", "clone"),
    *("normal", "logspace", "concat", "hstack", "vstack", "LongTensor", "FloatTensor", "IntTensor", "DoubleTensor"),
    *("ByteTensor", "BoolTensor", "Tensor", "frombuffer", "nn.functional.pad", "nn.functional.one_hot"),
    *("nn.functional.interpolate", "nn.utils.rnn.pad_sequence"),
)
NEW_TENSORS = frozenset(f"torch.{name}" for name in _OWN_STORAGE)
"""Functions that return a tensor with its own storage at every call; measured for `tensor` and `from_numpy` of a
row."""

GRAPH_KEEPING = frozenset(
    {
        *("mean", "sum", "float", "double", "to", "cpu", "clone", "view", "reshape", "squeeze", "unsqueeze", "flatten"),
        "contiguous",
    }
)
"""Methods whose result belongs to the graph of the tensor."""
DESCRIPTORS_IN_A_MESSAGE = 245
"""The most tensors that forkserver can send to a worker: SCM_MAX_FD is 253 (Linux, include/net/scm.h), and torch's
loader needs 8 of them; measured on torch 2.13 with CPython 3.11 and 3.14."""
OPEN_FILES = 1024
"""The usual soft limit of open files (`ulimit -n`) on Linux."""
MEMORY_MAPS = 65530
"""The default of vm.max_map_count (Linux, Documentation/admin-guide/sysctl/vm.rst)."""
