"""torch_geometric 2.6 (pytorch-geometric.readthedocs.io, "torch_geometric.loader")."""

from dllint.libraries.facets import Library, LoaderApi

LIBRARY = Library(
    aliases={
        "torch_geometric.data.DataLoader": "torch_geometric.loader.DataLoader",
        "torch_geometric.data.DataListLoader": "torch_geometric.loader.DataListLoader",
        "torch_geometric.loader.dataloader.DataLoader": "torch_geometric.loader.DataLoader",
    },
    loaders={
        "torch_geometric.loader.DataLoader": LoaderApi(
            ("dataset", "batch_size", "shuffle", "follow_batch", "exclude_keys")
        ),
        "torch_geometric.loader.DataListLoader": LoaderApi(("dataset", "batch_size", "shuffle")),
        "torch_geometric.loader.DenseDataLoader": LoaderApi(("dataset", "batch_size", "shuffle")),
        "torch_geometric.loader.NeighborLoader": LoaderApi(("data", "num_neighbors"), dataset="data"),
        "torch_geometric.loader.ClusterLoader": LoaderApi(("cluster_data",), dataset="cluster_data"),
    },
    datasets=frozenset({"torch_geometric.data.Dataset", "torch_geometric.data.InMemoryDataset"}),
    # torch_geometric/data/dataset.py: `__init__` runs `_download` and `_process`, `__getitem__` runs `get`.
    runs_methods={
        f"torch_geometric.data.{name}": {
            "__init__": ("download", "process"),
            "__getitem__": ("get",),
            "__len__": ("len",),
        }
        for name in ("Dataset", "InMemoryDataset")
    },
)
