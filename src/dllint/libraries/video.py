"""Readers of video: decord 0.6, PyAV 18, pims 0.7 and imageio 2.38.

Four forked workers that read frames of an mp4 file through one reader of the parent: pims, 105 of 400 frames wrong and
161 failures; imageio, all of 120 reads failed, as they share the pipe of one ffmpeg.
"""

from dllint.libraries.facets import Library, Opener
from dllint.libraries.io import READ_BY_POSITION
from dllint.libraries.pickling import CYTHON, POINTERS, Refusal, stream
from dllint.screen import Words

_PIMS = ("pims.PyAVVideoReader", "pims.PyAVReaderTimed", "pims.PyAVReaderIndexed", "pims.Video")
_IMAGEIO = ("imageio.get_reader", "imageio.v2.get_reader")

LIBRARY = Library(
    openers={
        "decord.VideoReader": (
            Opener("a decord reader", "error", "reading hangs, or aborts if the parent has read before"),
        ),
        "av.open": (READ_BY_POSITION,),
        **dict.fromkeys(
            _PIMS, (Opener("a pims reader", "error", "reads return wrong frames, or raise InvalidDataError"),)
        ),
        **dict.fromkeys(
            _IMAGEIO, (Opener("an imageio reader", "error", "reads fail, as they share one ffmpeg or one position"),)
        ),
    },
    refusals={
        "decord.VideoReader": Refusal("a decord reader", POINTERS),
        "av.open": Refusal("an av container", CYTHON),
        **dict.fromkeys(_PIMS, Refusal("a pims reader", CYTHON)),
        **dict.fromkeys(_IMAGEIO, Refusal("an imageio reader", stream("BufferedReader"))),
    },
    path_functions=frozenset({"VideoReader"}),
    words=Words(nearby=(b"decord", b"pims", b"get_reader(")),
)
