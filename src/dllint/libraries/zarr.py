"""zarr 3.1."""

from dllint.libraries.facets import Library
from dllint.libraries.io import READ_BY_POSITION

LIBRARY = Library(openers=dict.fromkeys(("zarr.open", "zarr.open_group", "zarr.open_array"), (READ_BY_POSITION,)))
