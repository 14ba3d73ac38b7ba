"""torch_geometric 2.6 (pytorch-geometric.readthedocs.io, "torch_geometric.loader")."""

from dllint.libraries.facets import Library, LoaderApi

_OF_GRAPHS = ("DataLoader", "DataListLoader", "DenseDataLoader")
_SAMPLERS = {
    **dict.fromkeys(("NeighborLoader", "LinkNeighborLoader"), LoaderApi(("data", "num_neighbors"), dataset="data")),
    "HGTLoader": LoaderApi(("data", "num_samples"), dataset="data"),
    "ClusterLoader": LoaderApi(("cluster_data",), dataset="cluster_data"),
    # loader/neighbor_sampler.py: its own `collate_fn` calls `transform` in the workers.
    "NeighborSampler": LoaderApi(("edge_index", "sizes"), dataset="edge_index", names={"collate_fn": "transform"}),
    "RandomNodeLoader": LoaderApi(("data", "num_parts"), dataset="data"),
    "ShaDowKHopSampler": LoaderApi(("data", "depth", "num_neighbors"), dataset="data"),
    **{
        f"GraphSAINT{kind}Sampler": LoaderApi(("data", "batch_size"), dataset="data")
        for kind in ("", "Node", "Edge", "RandomWalk")
    },
}
"""Loaders that sample parts of one graph; each inherits from torch's DataLoader."""

LIBRARY = Library(
    # Up to release 1.7, and without a warning until 2.0, loaders were in `torch_geometric.data`.
    aliases={
        **{
            f"torch_geometric.{module}.{name}": f"torch_geometric.loader.{name}"
            for module, names in (("data", (*_OF_GRAPHS, *_SAMPLERS)), ("loader.dataloader", ("DataLoader",)))
            for name in names
        },
        "torch_geometric.data.RandomNodeSampler": "torch_geometric.loader.RandomNodeLoader",
        # graphein 1.7, protein/tensor/dataloader.py: the same constructor, for batches of proteins
        **dict.fromkeys(
            (f"graphein.protein.tensor.{module}ProteinDataLoader" for module in ("", "dataloader.")),
            "torch_geometric.loader.DataLoader",
        ),
    },
    loaders={
        "torch_geometric.loader.DataLoader": LoaderApi(
            ("dataset", "batch_size", "shuffle", "follow_batch", "exclude_keys")
        ),
        "torch_geometric.loader.DataListLoader": LoaderApi(("dataset", "batch_size", "shuffle")),
        "torch_geometric.loader.DenseDataLoader": LoaderApi(("dataset", "batch_size", "shuffle")),
        **{f"torch_geometric.loader.{name}": api for name, api in _SAMPLERS.items()},
        # nn/models/node2vec.py: a DataLoader over the node indices
        **{f"torch_geometric.nn.{name}().loader": LoaderApi(()) for name in ("Node2Vec", "MetaPath2Vec")},
    },
    datasets=frozenset(
        {"torch_geometric.data.Dataset", "torch_geometric.data.InMemoryDataset", "torch_geometric.datasets."}
    ),
    # torch_geometric/data/data.py: keyword arguments become attributes.
    keeps_as_given=frozenset({"torch_geometric.data.Data", "torch_geometric.data.TemporalData"}),
    makes_records=frozenset({"torch_geometric.data.Data", "torch_geometric.data.HeteroData"}),
    # torch_geometric/data/dataset.py: a copy of the dataset that keeps all of its attributes
    subsets=dict.fromkeys(
        (
            *("torch_geometric.data.Dataset", "torch_geometric.data.InMemoryDataset", "torch_geometric.datasets."),
            *("ogb.graphproppred.PygGraphPropPredDataset", "ogb.lsc.PygPCQM4MDataset", "ogb.lsc.PygPCQM4Mv2Dataset"),
        ),
        frozenset({"copy", "index_select", "shuffle"}),
    ),
    # torch_geometric/data/dataset.py: `__init__` runs `_download` and `_process`, `__getitem__` runs `get`.
    # torch_geometric/transforms/base_transform.py: `__call__` runs `forward`
    runs_methods={
        "torch_geometric.transforms.": {"__call__": ("forward",)},
    }
    | {
        f"torch_geometric.data.{name}": {
            "__init__": ("download", "process"),
            "__getitem__": ("get",),
            "__len__": ("len",),
        }
        for name in ("Dataset", "InMemoryDataset")
    },
)
