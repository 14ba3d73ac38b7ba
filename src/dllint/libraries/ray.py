"""Ray 2 (docs.ray.io, "Ray Train Overview": each worker is a process of its own that runs the training function;
`ray/train/torch/torch_trainer.py`: the function takes nothing or `train_loop_config`;
`ray/train/torch/train_loop_utils.py`).

Ray starts its workers as new interpreters and sends functions by cloudpickle. Nothing is inherited from the program
that makes the trainer, its start method neither. `prepare_data_loader` gives the loader itself, or with several
training workers one with the same dataset, `num_workers` and `collate_fn` and a DistributedSampler.
"""

from dllint.libraries.facets import LauncherApi, Library

LIBRARY = Library(
    aliases={
        "ray.train.torch.torch_trainer.TorchTrainer": "ray.train.torch.TorchTrainer",
        "ray.train.torch.train_loop_utils.prepare_data_loader": "ray.train.torch.prepare_data_loader",
    },
    launchers={
        "ray.train.torch.TorchTrainer": LauncherApi(
            "train_loop_per_worker",
            ("train_loop_per_worker",),
            args="",
            kwargs="",
            config="train_loop_config",
            method="fresh",
        )
    },
    gives_argument=frozenset({"ray.train.torch.prepare_data_loader"}),
    pickles_by_value=frozenset({"ray.cloudpickle.dumps"}),
)
