"""TensorStore 0.1.86 (google.github.io/tensorstore).

A process that was forked after its parent had opened a store aborts as soon as it reads or opens one: "aborting: fork()
use detected, which is not allowed due to internal threading use by tensorstore". Measured with an array of 100 × 100;
importing the package alone, or asking a store for its shape, does no harm.
"""

from dllint.libraries.facets import Library, NativePool
from dllint.screen import Words

LIBRARY = Library(
    native_pools={
        "tensorstore": NativePool(
            "tensorstore",
            frozenset({"open"}),
            ("open",),
            frozenset({"result", "read", "write"}),
            items=True,
            effect="abort",
        )
    },
    words=Words(nearby=(b"tensorstore",)),
)
