"""Trainers that other packages build on the one of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import sentence_transformers
import trl
from datasets import load_dataset

class Rows:
    def __init__(self, names):
        self.names = names

    def __getitem__(self, index):
        return self.names[index]

def main(names, model):
    args = CONFIG(output_dir="out", dataloader_num_workers=WORKERS)
    trainer = TRAINER
    trainer.train()

if __name__ == "__main__":
    main(open("names").read().split(), "model")
"""
KEYWORDS = "(model=model, args=args, train_dataset=Rows(names), data_collator=lambda rows: rows)"


@pytest.mark.parametrize("workers", [0, 4])
@pytest.mark.parametrize(
    ("config", "trainer"),
    [
        ("trl.SFTConfig", f"trl.SFTTrainer{KEYWORDS}"),
        ("trl.SFTConfig", "trl.SFTTrainer(model, args, lambda rows: rows, Rows(names))"),
        ("trl.RewardConfig", f"trl.RewardTrainer{KEYWORDS}"),
        ("trl.DPOConfig", "trl.DPOTrainer(model, None, args, lambda rows: rows, Rows(names))"),
        ("trl.KTOConfig", f"trl.KTOTrainer{KEYWORDS}"),
        (
            "sentence_transformers.SentenceTransformerTrainingArguments",
            f"sentence_transformers.SentenceTransformerTrainer{KEYWORDS}",
        ),
    ],
)
def test_the_collator_goes_to_the_workers(
    config: str, trainer: str, workers: int, findings: Callable[..., Any]
) -> None:
    text = PROGRAM.replace("CONFIG", config).replace("TRAINER", trainer).replace("WORKERS", str(workers))
    found = {("train.py", 14, "DLL204")} if workers else set()
    assert findings({"train.py": text}, select=["DLL2"]) == found
