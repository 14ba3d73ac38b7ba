"""DLL310: losses that methods keep, of an accumulator or of the object that trains."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import torch
from torch.utils.data import DataLoader

loader = DataLoader([1, 2, 3])


"""
RECORDER = """
class Recorder:
    def __init__(self, names):
        self.names, self.sums, self.count = names, {}, 0
        self.reset()

    def reset(self):
        for name in self.names:
            self.sums[name] = 0.0

    def record(self, count, values):
        self.count += count
        for name, value in zip(self.names, values):
            self.sums[name] += value * count

def train(model, every):
    recorder = Recorder(["loss"])
    for step, batch in enumerate(loader):
        count, values = model.losses(batch)
        loss = values[0]
        loss.backward()
        recorder.record(count, values)  # DLL310
    recorder.reset()
"""
TRAINER = """
class Trainer:
    def __init__(self, model):
        self.model, self.losses = model, []

    def step(self, x):
        loss = self.model(x)
        loss.backward()
        self.losses.append(loss)  # DLL310

    def log(self):
        print(len(self.losses))

def main(model):
    trainer = Trainer(model)
    for x, y in loader:
        trainer.step(x)
        trainer.log()
"""
INSIDE = """
class Agent:
    def __init__(self, model):
        self.model = model
        self.metrics = {"train": {"loss": 0.0}}

    def update(self, loss, kind):
        self.metrics[kind]["loss"] += loss

    def step(self, x):
        if self.model.training:
            loss, right = self.model(x)
            loss.backward()
        else:
            loss = 0
        self.update(loss, "train")  # DLL310

    def fit(self):
        for x, y in loader:
            self.step(x)
"""
GIVEN = """
def step(model, x, losses, n=1):
    loss = model(x)
    loss.backward()
    losses.append(loss)  # DLL310

def train(model):
    kept = []
    for x, y in loader:
        step(model, x, losses=kept)
"""
METER = """
class Meter:
    def __init__(self):
        self.sum = 0

    def reset(self):
        self.sum = 0

    def add(self, value):
        self.sum += value

class Trainer:
    def __init__(self, model):
        self.model, self.meter = model, Meter()

    def step(self, x):
        loss = self.model(x)
        loss.backward()
        self.meter.add(loss)  # DLL310

    def end(self):
        print(self.meter.sum)

    def train(self):
        for x, y in loader:
            self.step(x)
            self.end()
"""
FOUND = {
    "values that a recorder goes through": RECORDER,
    "values that a recorder numbers": RECORDER.replace("zip(self.names, values)", "enumerate(values)"),
    "an attribute of an output": RECORDER.replace("values[0]", "values.loss").replace(
        "(count, values)  #", "(count, [values.loss])  #"
    ),
    "a list of the object that trains": TRAINER,
    "a list of the object that trains, through another method": TRAINER.replace(
        "trainer.step(x)", "trainer.run(x)"
    ).replace("    def log(", "    def run(self, x):\n        self.step(x)\n\n    def log("),
    "a method that adds it": INSIDE,
    "another entry that another method replaces": INSIDE.replace(
        "            self.step(x)", "            self.step(x)\n            self.begin()"
    )
    + '    def begin(self):\n        self.metrics["train"]["count"] = 0.0\n',
    "a sum that is made where there is none": METER.replace("self.meter.add(loss)", "self.total += loss").replace(
        "print(self.meter.sum)", 'if not hasattr(self, "total"):\n            self.total = 0'
    ),
    "a list that a function is given": GIVEN,
    "a meter of the object that trains": METER,
}
SILENT = {
    "a recorder that is reset after some steps": RECORDER.replace("values)  # DLL310", "values)").replace(
        "    recorder.reset()\n", "        if every > 0 and step % every == 0:\n            recorder.reset()\n"
    ),
    "values that are numbers": RECORDER.replace("values)  # DLL310", "[one.item() for one in values])"),
    "another value": RECORDER.replace("values)  # DLL310", "[values[1]])"),
    "a recorder that goes through something else": RECORDER.replace("  # DLL310", "").replace(
        "zip(self.names, values)", "zip(values, self.names)"
    ),
    "a list that the object empties": TRAINER.replace("  # DLL310", "").replace(
        "print(len(self.losses))", "self.losses.clear()"
    ),
    "a list that the object replaces at times": TRAINER.replace("  # DLL310", "").replace(
        "print(len(self.losses))", "if len(self.losses) > 9:\n            self.losses = []"
    ),
    "a list that the loop replaces": TRAINER.replace("  # DLL310", "").replace("trainer.log()", "trainer.losses = []"),
    "an object for each batch": TRAINER.replace("  # DLL310", "").replace(
        "        trainer.step(x)", "        trainer = Trainer(model)\n        trainer.step(x)"
    ),
    "a few steps": TRAINER.replace("  # DLL310", "").replace("for x, y in loader", "for x in range(9)"),
    "a step that nothing repeats": TRAINER.replace("  # DLL310", "").replace(
        "    for x, y in loader:\n", "    if 1:\n"
    ),
    "a list of the step": TRAINER.replace("  # DLL310", "").replace(
        "        loss = self.model(x)", "        self.losses = []\n        loss = self.model(x)"
    ),
    "a number of a method": INSIDE.replace("  # DLL310", "").replace("+= loss", "+= loss.item()"),
    "the last of a method": INSIDE.replace("  # DLL310", "").replace('["loss"] += loss', '["loss"] = loss'),
    "a list for each batch": GIVEN.replace("  # DLL310", "").replace("losses=kept", "losses=[]"),
    "a list that a function is given for each batch": GIVEN.replace("  # DLL310", "").replace(
        "        step(", "        kept = []\n        step("
    ),
    "a meter that another method resets": METER.replace("  # DLL310", "").replace(
        "print(self.meter.sum)", "self.meter.reset()"
    ),
    "a sum that another method replaces": METER.replace("  # DLL310", "")
    .replace("self.meter.add(loss)", "self.total += loss")
    .replace("print(self.meter.sum)", "self.total = self.model.penalty()"),
    "a list that another method shortens": TRAINER.replace("  # DLL310", "").replace(
        "print(len(self.losses))", "self.losses = self.losses[-9:]"
    ),
    "an entry that another method replaces": INSIDE.replace("  # DLL310", "").replace(
        "            self.step(x)", "            self.step(x)\n            self.begin()"
    )
    + '    def begin(self):\n        self.metrics["train"]["loss"] = 0.0\n',
}
test_found, test_silent = in_one_file("DLL310", FOUND, SILENT, HEAD)
