"""decord 0.6."""

from dllint.libraries.facets import Library, Opener
from dllint.libraries.pickling import POINTERS, Refusal
from dllint.screen import Words

LIBRARY = Library(
    openers={
        "decord.VideoReader": (
            Opener("a decord reader", "error", "reading hangs, or aborts where the parent has read"),
        ),
    },
    refusals={"decord.VideoReader": Refusal("a decord reader", POINTERS)},
    path_functions=frozenset({"VideoReader"}),
    words=Words(nearby=(b"decord",)),
)
