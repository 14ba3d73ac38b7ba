"""Compressed files and archives: gzip, bz2, lzma, zipfile, tarfile (docs.python.org)."""

from dllint.libraries.facets import FileOpener, Library, Opener, When
from dllint.libraries.pickling import Mode, Refusal, since, stream
from dllint.screen import Words

_COMPRESSED = Opener(
    "an open compressed file",
    "error",
    "reads return wrong data, because all processes move one position",
    when=When("mode", 1, "reads"),
)
_BYTES = Mode(1, "rb", text=False)
BAD_ZIP = "reads raise `BadZipFile: Bad CRC-32`"
_ZIP = Opener("an open zip archive", "error", BAD_ZIP, parts=frozenset({"open"}), when=When("mode", 1, "reads"))
_TAR = Opener(
    "an open tar archive", "error", "most reads raise, and some return wrong bytes", parts=frozenset({"extractfile"})
)

LIBRARY = Library(
    files={
        **dict.fromkeys(("gzip.open", "bz2.open", "lzma.open"), FileOpener(_BYTES, _COMPRESSED, lines=True)),
        **dict.fromkeys(("gzip.GzipFile", "bz2.BZ2File"), FileOpener(_BYTES, _COMPRESSED)),
        "lzma.LZMAFile": FileOpener(_BYTES),
        "zipfile.ZipFile": FileOpener(Mode(1, text=False, what="an open zip archive"), _ZIP),
        **dict.fromkeys(
            ("tarfile.open", "tarfile.TarFile"), FileOpener(Mode(1, text=False, what="an open tar archive"), _TAR)
        ),
    },
    refusals={
        "zipfile.ZipFile().open": Refusal("an open member of a zip archive", stream("BufferedReader")),
        "tarfile.open().extractfile": Refusal(
            "an open member of a tar archive",
            since(
                (3, 12),
                "TypeError: cannot pickle 'ExFileObject' object",
                "TypeError: cannot pickle 'ExFileObject' instances",
            ),
        ),
    },
    unsplit_packages=frozenset({"gzip", "bz2", "lzma", "zipfile", "tarfile"}),
    words=Words(nearby=(b"ZipFile",)),
)
