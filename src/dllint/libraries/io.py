"""Files: `open` and its relatives in io, os, codecs, pathlib and tempfile (docs.python.org).

Unless a source is named, the effects of sharing a handle were measured: 15 epochs of 2,000 reads by 4 and more forked
workers through one handle that the parent had opened, on Linux 6.18 with CPython 3.11.7, OpenCV 4.11 and 5.0, lmdb
1.4.1, 1.7.3 and 3.0.0, HDF5 2.0. This also applies to the openers of the other libraries.
"""

from dllint.libraries.facets import FileOpener, Library, Opener, When
from dllint.libraries.pickling import GENERATOR, Mode, Refusal, stream

OPEN_FILE = Mode(1)
# fork(2), Linux man-pages: the child's descriptors refer to the same open file descriptions and share their offset
READABLE_FILE = Opener(
    "an open file", "error", "reads return wrong bytes without an error", when=When("mode", 1, "reads")
)
READ_BY_POSITION = Opener("a handle whose reads name their position")
_TEMPORARY = FileOpener(Mode(0, "w+b", what="a temporary file"))

OWN_OPENER = Opener("a handle", "warning", "reads can fail or return wrong data")
"""The handle that a function listed under `openers` in the configuration opens."""
OWN_STORE = Opener("a memory-mapped store", mapped="the store")
"""The handle that a function listed under `mmap-stores` in the configuration opens."""

PATH_FUNCTIONS = frozenset(
    {"basename", "dirname", "splitext", "abspath", "realpath", "expanduser", "getsize", "isdir", "remove"}
)
"""Last names of functions of `os` and `os.path` that take a path and open nothing."""

PATH_MAKERS = frozenset({"os.path.join", "posixpath.join", "pathlib.Path"})
"""Functions that put a path together."""

LIBRARY = Library(
    # CPython 3.14, `Lib/wave.py`: reads a file that it opens by `builtins.open`
    openers={"wave.open": (READABLE_FILE,)},
    files={
        "io.open": FileOpener(OPEN_FILE, READABLE_FILE, lines=True),
        "codecs.open": FileOpener(None, READABLE_FILE, lines=True),
        "os.fdopen": FileOpener(OPEN_FILE),
        "pathlib.Path().open": FileOpener(
            Mode(0), Opener("an open file", "error", READABLE_FILE.effect, when=When("mode", 0, "reads")), lines=True
        ),
        "tempfile.TemporaryFile": _TEMPORARY,
        "tempfile.NamedTemporaryFile": _TEMPORARY,
    },
    readers={"pathlib.Path().read_text": "text"},
    refusals={
        "wave.open": Refusal("an open sound file", stream("BufferedReader")),
        # From Python 3.13 on a `map` of one. What `iterdir` returns can be pickled from then on.
        **dict.fromkeys(("pathlib.Path().glob", "pathlib.Path().rglob"), GENERATOR),
    },
    path_functions=frozenset({"join", "Path", "exists", "isfile", "joinpath"}),
    of_the_process=frozenset({"os.environ.get", "os.getenv"}),
    unsplit_packages=frozenset({"io", "os", "glob", "pathlib", "linecache", "codecs"}),
)
