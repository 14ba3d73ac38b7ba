"""torchdata: `StatefulDataLoader` has the arguments of torch's `DataLoader`."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER

LIBRARY = Library(loaders={"torchdata.stateful_dataloader.StatefulDataLoader": DATA_LOADER})
