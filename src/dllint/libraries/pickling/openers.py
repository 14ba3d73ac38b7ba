"""Functions that open a file, and what pickling says to what they give."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.libraries.pickling.refusal import Refusal, stream


@dataclass(frozen=True)
class Mode:
    """Where an opener takes its mode, what it is by default, and whether a missing letter means text."""

    position: int
    default: str = "r"
    text: bool = True
    what: str = "an open file"


OPENERS: dict[str, Mode] = {
    "open": Mode(1),
    "io.open": Mode(1),
    "os.fdopen": Mode(1),
    "pathlib.Path().open": Mode(0),
    "gzip.open": Mode(1, "rb", text=False),
    "gzip.GzipFile": Mode(1, "rb", text=False),
    "bz2.open": Mode(1, "rb", text=False),
    "bz2.BZ2File": Mode(1, "rb", text=False),
    "lzma.open": Mode(1, "rb", text=False),
    "lzma.LZMAFile": Mode(1, "rb", text=False),
    "zipfile.ZipFile": Mode(1, text=False, what="an open zip archive"),
    "tarfile.open": Mode(1, text=False, what="an open tar archive"),
    "tarfile.TarFile": Mode(1, text=False, what="an open tar archive"),
    "tempfile.TemporaryFile": Mode(0, "w+b", what="a temporary file"),
    "tempfile.NamedTemporaryFile": Mode(0, "w+b", what="a temporary file"),
}
"""Functions that open a file, whose mode says which class of `io` is inside."""


def opened(opener: Mode, mode: str, unbuffered: bool = False) -> Refusal:
    """What keeping the result of an opener with this mode means."""
    text = "t" in mode or (opener.text and "b" not in mode)
    if text:
        kind = "TextIOWrapper"
    elif unbuffered:
        kind = "FileIO"
    elif "+" in mode or (opener.what == "an open zip archive" and mode[:1] in ("w", "x", "a")):
        kind = "BufferedRandom"
    else:
        kind = "BufferedReader" if mode.startswith("r") or mode == "b" else "BufferedWriter"
    return Refusal(opener.what, stream(kind))
