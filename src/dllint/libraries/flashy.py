"""flashy and dora-search (`distrib.py`): `loader` passes all its arguments to `klass=DataLoader`."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER
from dllint.screen import Words

LIBRARY = Library(
    loaders={"flashy.distrib.loader": DATA_LOADER, "dora.distrib.loader": DATA_LOADER},
    words=Words(loading=(b"flashy", b"dora.distrib")),
)
