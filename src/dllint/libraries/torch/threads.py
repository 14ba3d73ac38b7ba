"""Operations on the CPU that torch splits among its threads.

Measured with torch 2.13 on two cores: in a process whose parent had run one of them before the fork, each hung, and so
did the processes of pools and executors that were made after it. The limit is `at::internal::GRAIN_SIZE`
(aten/src/ATen/TensorIterator.h); 32,768 elements were computed by one thread. Convolutions hung whatever their size.
Products of matrices (8 x 8) and layers (1 x 64) did not always.
"""

from __future__ import annotations

GRAIN_SIZE = 32768

SPLIT_MAKERS = frozenset(f"torch.{name}" for name in ("zeros", "ones", "full", "arange"))
"""Functions that fill a new tensor. `empty` fills none, and random numbers come from one thread."""

SPLIT_ORDERS = frozenset({"torch.randperm"})
"""Functions that make a tensor of as many elements as their first argument says."""

SPLIT_METHODS = frozenset(
    {
        *("clone", "add", "sub", "mul", "div", "add_", "mul_", "sub_", "div_", "exp", "log", "sqrt", "sigmoid", "tanh"),
        *("sum", "mean", "norm", "max", "min", "fill_", "neg", "pow", "std", "mm", "matmul"),
    }
)
"""Methods that go through all elements of a tensor."""

SPLIT_FUNCTIONS = frozenset(
    f"torch.{name}" for name in ("exp", "sqrt", "softmax", "mm", "matmul", "mean", "sum", "std")
)
"""Functions that go through all elements of their first argument."""

CONVERTING = {"float": 4, "double": 8}
"""Methods that go through all elements unless these have that many bytes already."""

CONVOLUTIONS = frozenset(f"torch.nn.{name}{rank}d" for name in ("Conv", "ConvTranspose") for rank in (1, 2, 3))
