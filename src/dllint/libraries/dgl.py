"""DGL 2.4 (docs.dgl.ai, "dgl.dataloading", "dgl.save_graphs")."""

from dllint.libraries.facets import Library, LoaderApi

_SAMPLED = LoaderApi(("graph", "indices", "graph_sampler"), dataset="graph")

LIBRARY = Library(
    loaders={
        "dgl.dataloading.GraphDataLoader": LoaderApi(("dataset", "collate_fn", "use_ddp", "ddp_seed")),
        "dgl.dataloading.DataLoader": LoaderApi(
            (*_SAMPLED.params, "device", "use_ddp", "ddp_seed", "batch_size", "drop_last", "shuffle"), dataset="graph"
        ),
        "dgl.dataloading.NodeDataLoader": _SAMPLED,
        "dgl.dataloading.EdgeDataLoader": _SAMPLED,
    },
    datasets=frozenset({"dgl.data.DGLDataset"}),
    makes_records=frozenset({"dgl.graph", "dgl.heterograph", "dgl.bipartite", "dgl.DGLGraph", "dgl.from_networkx"}),
    # dgl/data/graph_serialize.py: a list of graphs, and a dict of tensors
    readers=dict.fromkeys(
        ("dgl.load_graphs[0]", "dgl.data.load_graphs[0]", "dgl.data.utils.load_graphs[0]"), "records"
    ),
    # dgl/data/dgl_dataset.py: `__init__` runs `_load`, which calls them.
    runs_methods={"dgl.data.DGLDataset": {"__init__": ("download", "load", "process", "save")}},
)
