"""Facts about tensor operations: which results hold the storage of their input, and which have one of their own.

A tensor that came from a worker keeps a file descriptor and a memory map open as long as anything holds its storage,
and what is sent to a worker is the whole storage, however small the part.

Sources: torch 2.13, "Tensor Views" (docs/source/tensor_view.rst) for views, the docstrings of `torch.Tensor.to`,
`contiguous`, `numpy`, `detach` and `cpu` ("returns this tensor if …") for what returns its input, and numpy 2.2,
`numpy.asarray`, `numpy.array` (`copy=True`), `ndarray.astype`. Those marked "measured" were also seen to hold or to
close the descriptors of batches.
"""

from __future__ import annotations

from dataclasses import dataclass

HOLDS = "holds"
RELEASES = "releases"


@dataclass(frozen=True)
class Operation:
    """What an operation does about the storage of its input.

    Attributes:
        effect: "holds" (a view, or the input itself where nothing needs to change), "releases" (a result of its own).
        source: where it was read.
        unless: what makes a "holds" a copy: "arguments" (any but a CPU device: another device or type may be meant),
            "type" (only an input of that very type is returned as it is), or "" (nothing).
    """

    effect: str
    source: str
    unless: str = ""


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
    "copy": Operation(RELEASES, "numpy.ndarray.copy: a copy; measured"),
    "astype": Operation(RELEASES, "numpy.ndarray.astype: a copy unless copy=False"),
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
"""Methods of a tensor, or of the array that `numpy()` gives."""

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
    "numpy.asarray": Operation(HOLDS, "numpy.asarray: no copy of an array, nor of a CPU tensor"),
    "numpy.array": Operation(RELEASES, "numpy.array: copy=True by default"),
    "copy.deepcopy": Operation(RELEASES, "torch.Tensor.__deepcopy__: a storage of its own"),
    "list": Operation(HOLDS, "a list holds its elements"),
    "tuple": Operation(HOLDS, "a tuple holds its elements"),
    "dict": Operation(HOLDS, "a dict holds its values"),
}
"""Functions by full name."""

_OWN_STORAGE = (
    *("zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye", "tensor"),
    *("from_numpy", "as_tensor", "load", "stack", "cat", "zeros_like", "ones_like", "rand_like", "randn_like", "clone"),
    *("normal", "logspace", "concat", "hstack", "vstack", "LongTensor", "FloatTensor", "IntTensor", "DoubleTensor"),
    *("ByteTensor", "BoolTensor", "Tensor", "frombuffer"),
)
NEW_STORAGE: dict[str, str] = {
    **{f"torch.{name}": f"torch.{name}: each call gives a tensor with a storage of its own" for name in _OWN_STORAGE},
    "torchvision.io.read_image": "torchvision.io.read_image: a new tensor",
    "torchvision.transforms.functional.to_tensor": "torchvision.transforms.functional.to_tensor: a new tensor",
    "torchvision.transforms.functional.pil_to_tensor": "torchvision.transforms.functional.pil_to_tensor: a new tensor",
    "torchaudio.load": "torchaudio.load: a new tensor and its sampling rate",
    "torchaudio.load[0]": "torchaudio.load: a new tensor and its sampling rate",
    "torchaudio.functional.resample": "torchaudio.functional.resample: a new tensor",
    **{
        f"torchaudio.compliance.kaldi.{name}": f"torchaudio.compliance.kaldi.{name}: a new tensor"
        for name in ("fbank", "mfcc", "spectrogram")
    },
    **{
        f"torchaudio.transforms.{name}()": f"torchaudio.transforms.{name}: its call gives a new tensor"
        for name in ("Resample", "Spectrogram", "MelSpectrogram", "MFCC", "LFCC", "AmplitudeToDB", "MelScale")
    },
    **{
        f"torchvision.transforms.{name}()": f"torchvision.transforms.{name}: its call gives a new tensor"
        for name in ("ToTensor", "PILToTensor")
    },
    "safetensors.torch.load_file": "safetensors.torch.load_file: new tensors",
}
"""What gives a tensor with a storage of its own at every call: functions, the objects of classes whose name ends with
"()", and the first item of what a function whose name ends with "[0]" gives. Measured for `tensor` and `from_numpy` of
a row."""

DESCRIPTORS_IN_A_MESSAGE = 245
"""Tensors that forkserver can send to a worker: SCM_MAX_FD is 253 (Linux, include/net/scm.h), of which torch's loader
needs 8; measured on torch 2.13 with CPython 3.11 and 3.14."""
OPEN_FILES = 1024
"""The usual soft limit of open files (`ulimit -n`) on Linux."""
MEMORY_MAPS = 65530
"""The default of vm.max_map_count (Linux, Documentation/admin-guide/sysctl/vm.rst)."""
