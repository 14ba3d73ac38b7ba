"""Files that libraries for remote storage open as `open` opens local ones.

Sources: `iopath/common/file_io.py` (`PathManager.open` calls `open` for local paths), `fvcore/common/file_io.py` and
`detectron2/utils/file_io.py` (one object of that class), `fsspec/core.py` (`open`), `fsspec/spec.py`
(`AbstractFileSystem.open`), `tensorflow/python/platform/gfile.py`, `smart_open/smart_open_lib.py`.
"""

from dllint.libraries.facets import FileOpener, Library

_MANAGERS = (
    *("iopath.common.file_io.PathManager()", "iopath.common.file_io.PathManagerFactory.get()"),
    *("iopath.common.file_io.g_pathmgr", "fvcore.common.file_io.PathManager", "fvcore.common.file_io.PathManager()"),
    *("detectron2.utils.file_io.PathManager", "fsspec.filesystem()"),
)
_TENSORFLOW = ("tensorflow.io.gfile", "tensorflow.gfile", "tensorflow.compat.v1.gfile", "tensorflow.compat.v1.io.gfile")

LIBRARY = Library(
    files={
        **{f"{manager}.open": FileOpener(lines=True) for manager in _MANAGERS},
        **{f"{module}.{name}": FileOpener(lines=True) for module in _TENSORFLOW for name in ("GFile", "Open")},
        **dict.fromkeys(("fsspec.open", "smart_open.open"), FileOpener(lines=True)),
    },
)
