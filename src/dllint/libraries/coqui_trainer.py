"""Coqui's trainer, the package `trainer` (0.0.36 and coqui-tts-trainer 0.4.0, `trainer/trainer.py`)."""

from dllint.libraries.facets import Library
from dllint.libraries.hook_facets import Hooks
from dllint.screen import Words

LIBRARY = Library(
    aliases={"trainer.trainer.Trainer": "trainer.Trainer"},
    # `_get_loader` calls `model.get_data_loader(config=self.config, …)` where no loader is given.
    hooks={
        "trainer.Trainer": Hooks(
            ("fit", "fit_with_largest_batch_size"),
            ("get_data_loader",),
            iterates=True,
            loads=dict.fromkeys(("fit", "fit_with_largest_batch_size"), ("get_data_loader",)),
            holds=("train_loader", "eval_loader"),
            params=("args", "config", "output_path", "c_logger", "dashboard_logger", "model"),
            objects=("model",),
            gives={"config": "config"},
        )
    },
    words=Words(nearby=(b"get_data_loader",)),
)
