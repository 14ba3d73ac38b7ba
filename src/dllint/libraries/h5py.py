"""h5py 3.16.0 with HDF5 2.0 (docs.h5py.org)."""

from dllint.libraries.facets import Library, Maker, Opener, When
from dllint.libraries.pickling import Refusal, always
from dllint.screen import Words

_REFUSED = always("TypeError: h5py objects cannot be pickled")
_READ = Maker("numpy", "file")
_INSIDE = ("[]", "[][]", "[][][]", "[][][][]")
"""Groups can be nested."""

LIBRARY = Library(
    openers={
        # The core driver reads the file into memory when it opens it ("File Objects", "File drivers").
        # 0 of 60,000 reads were wrong: the default driver has read with pread since HDF5 1.10.5
        "h5py.File": (
            Opener("an HDF5 file in memory", when=When("driver", 2, "=core")),
            Opener(
                "an open HDF5 file",
                "info",
                "reads before HDF5 1.10.5 return wrong data",
                parts=frozenset({"[]", "get"}),
                when=When("mode", 1, "reads"),
                depth=1,
            ),
        ),
    },
    refusals={"h5py.File": Refusal("an h5py file", _REFUSED), "h5py.File[]": Refusal("an h5py object", _REFUSED)},
    path_functions=frozenset({"File"}),
    arrays={
        "h5py.File[:]": _READ,
        **dict.fromkeys((f"h5py.File{inside}().get[:]" for inside in ("", *_INSIDE)), _READ),
        **dict.fromkeys((f"h5py.File{inside}().get" for inside in ("", *_INSIDE)), _READ._replace(read=False)),
        **dict.fromkeys((f"h5py.File{inside}[:]" for inside in _INSIDE), _READ),
        **dict.fromkeys((f"h5py.File{inside}" for inside in _INSIDE), _READ._replace(read=False)),
    },
    unsplit_packages=frozenset({"h5py"}),
    words=Words(in_workers=(b"h5py",)),
)
