"""filelock 4.2."""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import RLOCK, Refusal

LIBRARY = Library(
    refusals=dict.fromkeys(
        ("filelock.FileLock", "filelock.SoftFileLock", "filelock.UnixFileLock"), Refusal("a file lock", RLOCK, "lock")
    ),
)
