"""transformers 4.50 (huggingface.co/docs, "Trainer"; `trainer_utils.py`), and what is built on its trainer: trl 0.20
(`trainer/sft_trainer.py`, `trainer/dpo_trainer.py`) and sentence-transformers 5.0 (`trainer.py`)."""

from dllint.libraries.facets import SEEDS_ALL, Library, LoaderApi, TrainerApi
from dllint.libraries.hook_facets import Epochs, Hooks
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
_KEPT = frozenset({"model", "args", "data_collator", "train_dataset", "eval_dataset"})
_PLAIN = (
    "transformers.Trainer",
    "transformers.Seq2SeqTrainer",
    "trl.SFTTrainer",
    "trl.RewardTrainer",
    "trl.ORPOTrainer",
    "trl.CPOTrainer",
    "trl.PRMTrainer",
)
"""Trainers that take the same arguments first."""
_CONFIGS = ("SFTConfig", "RewardConfig", "ORPOConfig", "CPOConfig", "PRMConfig", "DPOConfig", "KTOConfig", "BCOConfig")
_SENTENCES = "sentence_transformers.SentenceTransformerTrainer"
_TRAINERS = {
    **dict.fromkeys(_PLAIN, _MAKES_LOADERS),
    "trl.DPOTrainer": _MAKES_LOADERS._replace(
        params=("model", "ref_model", "args", "data_collator", "train_dataset", "eval_dataset")
    ),
    **dict.fromkeys(
        ("trl.KTOTrainer", "trl.BCOTrainer"),
        _MAKES_LOADERS._replace(
            params=("model", "ref_model", "args", "train_dataset", "eval_dataset", "processing_class", "data_collator")
        ),
    ),
    _SENTENCES: _MAKES_LOADERS._replace(
        params=("model", "args", "train_dataset", "eval_dataset", "loss", "evaluator", "data_collator")
    ),
}

LIBRARY = Library(
    aliases={
        "transformers.Seq2SeqTrainingArguments": "transformers.TrainingArguments",
        "transformers.trainer.Trainer": "transformers.Trainer",
        "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
        "transformers.hf_argparser.HfArgumentParser": "transformers.HfArgumentParser",
        "trl.TrlParser": "transformers.HfArgumentParser",
        **{f"trl.{name}": "transformers.TrainingArguments" for name in _CONFIGS},
        "sentence_transformers.trainer.SentenceTransformerTrainer": _SENTENCES,
        "sentence_transformers.SentenceTransformerTrainingArguments": "transformers.TrainingArguments",
        "sentence_transformers.training_args.SentenceTransformerTrainingArguments": "transformers.TrainingArguments",
    },
    loaders={
        "transformers.TrainingArguments": LoaderApi(
            ("output_dir",),
            dataset="",
            names={option: f"dataloader_{option}" for option in _OPTIONS},
            trainers=_TRAINERS,
        )
    },
    # transformers/trainer.py: `self.train_dataset = train_dataset`
    kept_as={
        name: {one: at for at, one in enumerate(trainer.params) if one in _KEPT} for name, trainer in _TRAINERS.items()
    },
    # Modules on the CPU, except those of TensorFlow and Flax, which hold no torch tensors. diffusers is built alike
    # (huggingface.co/docs/diffusers, "Models").
    networks=(
        r"transformers\.(?:\w+\.)*(?!TF|Flax)\w*(?:Model|For[A-Z])\w*\.from_(?:pretrained|config)" + _SAME_MODULE,
        r"diffusers\.(?:\w+\.)*(?!Flax)(?:\w*Model|Autoencoder\w+)\.from_(?:pretrained|config)" + _SAME_MODULE,
    ),
    hooks=dict.fromkeys(_TRAINERS, _TRAINER),
    # set_seed(seed, deterministic=False)
    seeders=dict.fromkeys(("transformers.set_seed", "transformers.trainer_utils.set_seed"), SEEDS_ALL),
    words=Words(launching=(b"TrainingArguments", *(name.encode() for name in _CONFIGS))),
)
