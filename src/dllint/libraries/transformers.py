"""transformers 4.50 (huggingface.co/docs, "Trainer"; `trainer_utils.py`)."""

from dllint.libraries.facets import SEEDS_ALL, Hooks, Library, LoaderApi
from dllint.screen import Words

_OPTIONS = ("num_workers", "persistent_workers", "prefetch_factor", "pin_memory")
_TRAINER = Hooks(
    ("train", "evaluate", "predict"),
    ("get_train_dataloader", "get_eval_dataloader", "get_test_dataloader", "compute_loss", "evaluation_loop"),
)

LIBRARY = Library(
    aliases={
        "transformers.Seq2SeqTrainingArguments": "transformers.TrainingArguments",
        "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
    },
    loaders={
        "transformers.TrainingArguments": LoaderApi(
            ("output_dir",), dataset="", names={option: f"dataloader_{option}" for option in _OPTIONS}
        )
    },
    hooks=dict.fromkeys(
        ("transformers.Trainer", "transformers.Seq2SeqTrainer", "transformers.trainer.Trainer"), _TRAINER
    ),
    # set_seed(seed, deterministic=False)
    seeders=dict.fromkeys(("transformers.set_seed", "transformers.trainer_utils.set_seed"), SEEDS_ALL),
    words=Words(launching=(b"TrainingArguments",)),
)
