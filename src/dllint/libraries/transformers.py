"""transformers 4.50 (huggingface.co/docs, "Trainer"; `trainer_utils.py`)."""

from dllint.libraries.facets import SEEDS_ALL, Epochs, Hooks, Library, LoaderApi, TrainerApi
from dllint.screen import Words

_OPTIONS = ("num_workers", "persistent_workers", "prefetch_factor", "pin_memory")
_SAME_MODULE = r"(?:\(\)\.(?:eval|train|requires_grad_|float|half|bfloat16|cpu))*"
"""Methods of a module that return the module itself, still on the CPU."""
_TRAINER = Hooks(
    ("train", "evaluate", "predict"),
    ("get_train_dataloader", "get_eval_dataloader", "get_test_dataloader", "compute_loss", "evaluation_loop"),
    iterates=True,
    loads={
        "train": ("get_train_dataloader", "get_eval_dataloader"),
        "evaluate": ("get_eval_dataloader",),
        "predict": ("get_test_dataloader",),
    },
    # trainer.py, `_inner_training_loop`: one DataLoader for all epochs, 3 by default
    epochs={"train": Epochs("num_train_epochs", of_options=True, instead=("max_steps",))},
)
_MAKES_LOADERS = TrainerApi(
    ("model", "args", "data_collator", "train_dataset", "eval_dataset"),
    "args",
    ("train_dataset", "eval_dataset"),
    "data_collator",
    "get_train_dataloader",
)
_KEPT = {"model": 0, "args": 1, "data_collator": 2, "train_dataset": 3, "eval_dataset": 4}

LIBRARY = Library(
    aliases={
        "transformers.Seq2SeqTrainingArguments": "transformers.TrainingArguments",
        "transformers.trainer.Trainer": "transformers.Trainer",
        "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
        "transformers.hf_argparser.HfArgumentParser": "transformers.HfArgumentParser",
        "trl.TrlParser": "transformers.HfArgumentParser",
    },
    loaders={
        "transformers.TrainingArguments": LoaderApi(
            ("output_dir",),
            dataset="",
            names={option: f"dataloader_{option}" for option in _OPTIONS},
            trainers=dict.fromkeys(("transformers.Trainer", "transformers.Seq2SeqTrainer"), _MAKES_LOADERS),
        )
    },
    # transformers/trainer.py: `self.train_dataset = train_dataset`
    kept_as={f"transformers.{name}": _KEPT for name in ("Trainer", "Seq2SeqTrainer")},
    # Modules on the CPU, except those of TensorFlow and Flax, which hold no torch tensors. diffusers is built alike
    # (huggingface.co/docs/diffusers, "Models").
    networks=(
        r"transformers\.(?:\w+\.)*(?!TF|Flax)\w*(?:Model|For[A-Z])\w*\.from_(?:pretrained|config)" + _SAME_MODULE,
        r"diffusers\.(?:\w+\.)*(?!Flax)(?:\w*Model|Autoencoder\w+)\.from_(?:pretrained|config)" + _SAME_MODULE,
    ),
    hooks=dict.fromkeys(("transformers.Trainer", "transformers.Seq2SeqTrainer"), _TRAINER),
    # set_seed(seed, deterministic=False)
    seeders=dict.fromkeys(("transformers.set_seed", "transformers.trainer_utils.set_seed"), SEEDS_ALL),
    words=Words(launching=(b"TrainingArguments",)),
)
