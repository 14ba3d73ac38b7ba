"""Readers of video: decord 0.6 and PyAV 18."""

from dllint.libraries.facets import Library, Opener
from dllint.libraries.io import READ_BY_POSITION
from dllint.libraries.pickling import CYTHON, POINTERS, Refusal
from dllint.screen import Words

LIBRARY = Library(
    openers={
        "decord.VideoReader": (
            Opener("a decord reader", "error", "reading hangs, or aborts if the parent has read before"),
        ),
        "av.open": (READ_BY_POSITION,),
    },
    refusals={
        "decord.VideoReader": Refusal("a decord reader", POINTERS),
        "av.open": Refusal("an av container", CYTHON),
    },
    path_functions=frozenset({"VideoReader"}),
    words=Words(nearby=(b"decord",)),
)
