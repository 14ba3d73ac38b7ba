"""BasicSR 1.4: programs that train and test what the options describe.

`basicsr/train.py` makes the loaders from the datasets in `DATASET_REGISTRY` that an options file names, with
`num_worker_per_gpu` workers (6 in its own options) and a `worker_init_fn` that seeds `random` and NumPy
(`basicsr/data/__init__.py`).
"""

from dllint.libraries.facets import Library, LoaderApi
from dllint.screen import Words

_REGISTRY = "basicsr.utils.registry.DATASET_REGISTRY"


def _program(workers: int) -> LoaderApi:
    return LoaderApi(("root_path",), dataset="", registry=_REGISTRY, configured=workers, seeds=True)


LIBRARY = Library(
    loaders={"basicsr.train.train_pipeline": _program(6), "basicsr.test.test_pipeline": _program(1)},
    words=Words(loading=(b"train_pipeline(", b"test_pipeline(", b"DATASET_REGISTRY")),
)
