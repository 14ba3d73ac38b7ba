"""Functions of libraries that return None."""

from __future__ import annotations

from dllint.inference.interface import Engine, Handler
from dllint.inference.values import NONE, Site, Values
from dllint.linking.source import SourceFile

_FUNCTIONS = (
    *("cv2.setNumThreads", "numpy.random.seed", "random.seed", "time.sleep", "torch.set_num_threads"),
    *("torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch.random.set_rng_state", "torch.set_rng_state"),
)
"""Source: their documentation."""


def _none(world: Engine, file: SourceFile, index: int, site: Site) -> Values:
    return (NONE,)


RESULTS: dict[str, Handler] = dict.fromkeys(_FUNCTIONS, _none)
