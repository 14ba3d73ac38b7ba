"""DLL612: where training waits in every epoch for workers to start, and where they live on or start at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.conftest import in_one_file

HEAD = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

def work(model, loader):
    for batch in loader:
        model(batch).mean().backward()

"""
EPOCHS = "    for epoch in range(9):\n        work(model, loader)\n"

FOUND = {
    "a step that another function runs": """
def timed(closure, log=False):
    return closure()

def train(model, dataset):
    loader = DataLoader(dataset, num_workers=2, multiprocessing_context="spawn")  # DLL612
    for epoch in range(9):
        for rows in loader:
            def step():
                model(rows).mean().backward()
            timed(step)
""",
    "the loader of a validation, on an object": """
class Trainer:
    def __init__(self, rows):
        self.loader = DataLoader(rows, num_workers=2, multiprocessing_context="spawn")  # DLL612
        self.valid = DataLoader(rows, num_workers=2, multiprocessing_context="spawn")  # DLL612
        self.tested = DataLoader(rows, num_workers=2, multiprocessing_context="spawn")

    def fit(self, model):
        for epoch in range(9):
            work(model, self.loader)
            self.check(model, self.valid)
        self.check(model, self.tested)

    def check(self, model, loader):
        for batch in loader:
            print(model(batch).item())

def main(model, rows):
    Trainer(rows).fit(model)
""",
    "the loader of a validation": """
def validate(model, loader):
    return sum(model(batch).item() for batch in [one for one in loader])

def measure(model, loader):
    total = 0
    for batch in loader:
        total += model(batch).item()
    return total

def train(model, rows, more):
    options = dict(num_workers=2, multiprocessing_context="spawn")
    loader = DataLoader(rows, **options)  # DLL612
    valid = DataLoader(more, **options)  # DLL612
    tested = DataLoader(more, **options)
    for epoch in range(9):
        work(model, loader)
        if epoch % 2:
            measure(model, valid)
        measure(model, DataLoader(more, **options))
    measure(model, tested)
""",
    "a loader that few epochs make anew": """
def build(dataset):
    return DataLoader(dataset, num_workers=2, multiprocessing_context="spawn")  # DLL612

def train(model, dataset, changed):
    loader = build(dataset)
    for epoch in range(9):
        if changed(epoch):
            loader = build(dataset)
        work(model, loader)
""",
    "a start method for the program": f"""
def train(model, dataset):
    loader = DataLoader(dataset, num_workers=2)  # DLL612
{EPOCHS}
if __name__ == "__main__":
    mp.set_start_method("spawn")
    train(None, [])
""",
    "a context object": f"""
def train(model, dataset, count):
    context = mp.get_context("forkserver")
    loader = DataLoader(dataset, num_workers=count, multiprocessing_context=context)  # DLL612
{EPOCHS}
""",
    "turned off": f"""
def train(model, dataset):
    options = dict(num_workers=2, persistent_workers=False, multiprocessing_context="spawn")
    loader = DataLoader(dataset, **options)  # DLL612
{EPOCHS}
""",
    "a subclass, on an object": """
class Loader(DataLoader):
    pass

class Trainer:
    def __init__(self, dataset):
        self.loader = Loader(dataset, num_workers=2, multiprocessing_context="spawn")  # DLL612

    def fit(self, model, steps):
        step = 0
        while step < steps:
            for batch in self.loader:
                model(batch).backward()
                step += 1
""",
    "a launched function": f"""
def train(rank, model, dataset):
    loader = DataLoader(dataset, num_workers=2)  # DLL612
{EPOCHS}
def main():
    mp.spawn(train, (None, []), nprocs=2)
""",
    "made before the epochs by a function": """
def build(dataset):
    return DataLoader(dataset, num_workers=2, multiprocessing_context="spawn")  # DLL612

def main(model, dataset):
    loader = build(dataset)
    for epoch in range(5):
        work(model, loader)
""",
    "a dataset of the project that keeps no store": f"""
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

def train(model, rows):
    loader = DataLoader(Rows(rows), num_workers=2, multiprocessing_context="spawn")  # DLL612
{EPOCHS}
""",
}

FRAMEWORKS = """\
import lightning.pytorch as pl
import pytorch_lightning
import torch.multiprocessing as mp
import transformers
from ignite.engine import Engine, create_supervised_trainer
from torch.utils.data import DataLoader, Dataset
from transformers import TrainingArguments

SPAWN = {"num_workers": 4, "multiprocessing_context": "spawn"}

class Model(pl.LightningModule):
    def training_step(self, batch, index):
        return self(batch).mean()

"""
FOUND_IN_FRAMEWORKS = {
    "Lightning, loaders as arguments": """
def main(train, val, epochs):
    loader = DataLoader(train, **SPAWN)  # DLL612
    val_loader = DataLoader(val, **SPAWN)  # DLL612
    pl.Trainer(max_epochs=epochs).fit(Model(), loader, val_dataloaders=[val_loader])
""",
    "Lightning, a data module": """
class Data(pl.LightningDataModule):
    def __init__(self, rows, options):
        self.rows, self.options = rows, options

    def train_dataloader(self):
        return DataLoader(self.rows, **self.options)  # DLL612

    def val_dataloader(self):
        return [self._make(self.rows)]

    def _make(self, rows):
        return DataLoader(rows, num_workers=2, multiprocessing_context="forkserver")  # DLL612

    def test_dataloader(self):
        return DataLoader(self.rows, **self.options)

def main(rows):
    trainer = pl.Trainer(devices=2)
    trainer.fit(model=Model(), datamodule=Data(rows, SPAWN))
    trainer.test(datamodule=Data(rows, SPAWN))
""",
    "Lightning before 2.0, processes that it spawns": """
class Whole(pytorch_lightning.LightningModule):
    def train_dataloader(self):
        return DataLoader(self.rows, num_workers=4)  # DLL612

class Trainer(pytorch_lightning.Trainer):
    pass

def main(options):
    Trainer(strategy="ddp_spawn", reload_dataloaders_every_n_epochs=0, **options).fit(Whole())
""",
    "ignite": """
def main(model, optimizer, loss, rows, epochs):
    loader = DataLoader(rows, **SPAWN)  # DLL612
    trainer = create_supervised_trainer(model, optimizer, loss)
    trainer.run(loader, max_epochs=epochs)
""",
    "ignite, by position": """
def main(step, rows):
    Engine(step).run(DataLoader(rows, **SPAWN), 9)  # DLL612
""",
    "transformers": """
def main(model, rows):
    options = TrainingArguments("out", dataloader_num_workers=4)  # DLL612
    transformers.Trainer(model, options, train_dataset=rows).train()

if __name__ == "__main__":
    mp.set_start_method("spawn")
    main(None, [])
""",
    "transformers, a trainer of the project and a number of epochs": """
class Own(transformers.Trainer):
    def compute_loss(self, model, inputs):
        return model(inputs)

def main(rank, model, rows, epochs):
    options = TrainingArguments(  # DLL612
        "out", num_train_epochs=epochs, max_steps=-1, dataloader_num_workers=4
    )
    trainer = Own(model=model, args=options, train_dataset=rows)
    trainer.train(resume_from_checkpoint=True)

mp.spawn(main, args=(None, [], 5), nprocs=2)
""",
}
TRANSFORMERS = """
def main(rank, model, rows, steps):
    options = TrainingArguments("out", dataloader_num_workers=4, {options})
    transformers.Trainer(model, options, train_dataset=rows).{call}()

mp.spawn(main, args=(None, [], 5), nprocs=2)
"""
SILENT_IN_FRAMEWORKS = {
    "transformers, one epoch": TRANSFORMERS.format(options="num_train_epochs=1", call="train"),
    "transformers, a number of steps": TRANSFORMERS.format(options="max_steps=steps", call="train"),
    "transformers, kept": TRANSFORMERS.format(options="dataloader_persistent_workers=True", call="train"),
    "transformers, an evaluation": TRANSFORMERS.format(options="num_train_epochs=9", call="evaluate"),
    "one epoch": """
def main(rows):
    pl.Trainer(max_epochs=1).fit(Model(), DataLoader(rows, **SPAWN))
""",
    "made anew on purpose": """
class Data(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.rows, **SPAWN)

def main(rows):
    pl.Trainer(max_epochs=9, reload_dataloaders_every_n_epochs=1).fit(Model(), datamodule=Data())
""",
    "no epochs": """
def main(rows):
    trainer = pl.Trainer()
    trainer.validate(Model(), DataLoader(rows, **SPAWN))
    trainer.predict(Model(), DataLoader(rows, **SPAWN))
""",
    "one pass of an engine": """
def main(step, rows):
    Engine(step).run(DataLoader(rows, **SPAWN))
""",
    "kept": """
def main(rows):
    pl.Trainer().fit(Model(), DataLoader(rows, **SPAWN, persistent_workers=True))
""",
    "forked": """
def main(rows):
    pl.Trainer().fit(Model(), DataLoader(rows, num_workers=4))
""",
}

SPAWNED = 'DataLoader(dataset, num_workers=2, multiprocessing_context="spawn"'
SILENT = {
    "a loader that each epoch makes anew": """
def build(dataset):
    return DataLoader(dataset, num_workers=2, multiprocessing_context="spawn")

def train(model, dataset):
    loader = build(dataset)
    for epoch in range(9):
        loader = build(dataset)
        work(model, loader)
""",
    "a process for each attempt makes its own": f"""
def build(dataset):
    return {SPAWNED})

def train(model, dataset):
    for batch in build(dataset):
        model(batch).mean().backward()

def supervise(dataset):
    for attempt in range(3):
        job = mp.get_context("spawn").Process(target=train, args=(None, dataset))
        job.start()
        job.join()
""",
    "each fold makes its own": f"""
def fold(model, dataset):
    loader = {SPAWNED})
    work(model, loader)

def main(models, dataset):
    for number in range(5):
        fold(models[number], dataset)
""",
    "each epoch makes its own elsewhere": f"""
def build(dataset):
    return {SPAWNED})

def train(model, dataset):
    for epoch in range(5):
        loader = build(dataset)
        work(model, loader)
""",
    "kept": f"def train(model, dataset):\n    loader = {SPAWNED}, persistent_workers=True)\n{EPOCHS}",
    "kept where there are any": f"""
def train(model, dataset, count):
    loader = DataLoader(
        dataset, num_workers=count, multiprocessing_context="spawn", persistent_workers=count > 0
    )
{EPOCHS}
""",
    "it is not known whether they are kept": f"""
def train(model, dataset, options):
    loader = {SPAWNED}, **options)
{EPOCHS}
""",
    "no workers": f"def train(model, dataset):\n    loader = DataLoader(dataset, num_workers=0)\n{EPOCHS}",
    "a default": f"def train(model, dataset):\n    loader = DataLoader(dataset, num_workers=2)\n{EPOCHS}",
    "no gradients": f"""
def train(model, dataset):
    loader = {SPAWNED})
    for epoch in range(9):
        for batch in loader:
            model(batch)
""",
    "the dataset changes": f"""
class Rows(Dataset):
    def __init__(self):
        self.epoch = 0

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return index + self.epoch

def train(model):
    dataset = Rows()
    loader = {SPAWNED})
    for epoch in range(9):
        dataset.epoch = epoch
        work(model, loader)
""",
    "a store that is mapped": f"""
import numpy

class Rows(Dataset):
    def __init__(self, path):
        self.path, self.rows = path, None

    def __len__(self):
        return 9

    def __getitem__(self, index):
        if self.rows is None:
            self.rows = numpy.load(self.path, mmap_mode="r")
        return self.rows[index]

def train(model, path):
    dataset = Rows(path)
    loader = {SPAWNED})
{EPOCHS}
""",
}

LASTING = """
class Lasting(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        {kept} = super().__iter__()

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)

def train(dataset, model):
    loader = Lasting(dataset, num_workers=2, multiprocessing_context="spawn"){mark}
    for epoch in range(9):
        for batch in loader:
            model(batch).backward()
"""
FOUND["a class that makes its iterator in each epoch"] = LASTING.replace("next(self.iterator)", "0").format(
    kept="first", mark="  # DLL612"
)
SILENT["a class that keeps its iterator"] = LASTING.format(kept="self.iterator", mark="")
test_found, test_silent = in_one_file("DLL612", FOUND, SILENT, HEAD)
test_found_in_frameworks, test_silent_in_frameworks = in_one_file(
    "DLL612", FOUND_IN_FRAMEWORKS, SILENT_IN_FRAMEWORKS, FRAMEWORKS
)


def test_on_macos_the_default_is_spawn(told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD + SILENT["a default"]}, select=["DLL612"], target_platform="macos")

    assert found.severity == "info"
    assert "macOS" in found.text


def test_the_fix_needs_workers(told: Callable[..., Any]) -> None:
    written = 'dataset, num_workers=2, persistent_workers=False, multiprocessing_context="spawn"'
    (one,) = told({"train.py": HEAD + FOUND["turned off"].replace("dataset, **options", written)}, select=["DLL612"])
    (among_others,) = told({"train.py": HEAD + FOUND["turned off"]}, select=["DLL612"])
    (unknown,) = told({"train.py": HEAD + FOUND["a context object"]}, select=["DLL612"])

    assert [fix.applicability for fix in one.fixes] == ["unsafe"]
    assert among_others.fixes == unknown.fixes == ()
