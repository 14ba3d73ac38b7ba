"""flashy and dora-search: `loader` (`distrib.py`) passes all its arguments to `klass=DataLoader`, and `hydra_main`
(`dora/hydra.py`) is `hydra.main` for the main function of an experiment."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER
from dllint.screen import Words

LIBRARY = Library(
    loaders={"flashy.distrib.loader": DATA_LOADER, "dora.distrib.loader": DATA_LOADER},
    aliases=dict.fromkeys(("dora.hydra_main", "dora.hydra.hydra_main"), "hydra.main"),
    words=Words(loading=(b"flashy", b"dora.distrib")),
)
