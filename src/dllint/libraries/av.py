"""PyAV 18."""

from dllint.libraries.facets import Library
from dllint.libraries.io import READ_BY_POSITION
from dllint.libraries.pickling import CYTHON, Refusal

LIBRARY = Library(
    openers={"av.open": (READ_BY_POSITION,)},
    refusals={"av.open": Refusal("an av container", CYTHON)},
)
