"""DLL310: which losses a training loop keeps with their graph."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import collections
import torch
from torch.utils.data import DataLoader

loader = DataLoader([1, 2, 3])


"""


def loop(*lines: str, before: str = "total = 0.0", after: str = "return total") -> str:
    head = f"def train(model, criterion, optimizer, scaler, args):\n    {before}\n    for x, y in loader:\n"
    return head + "".join(f"        {line}\n" for line in lines) + f"    {after}\n"


LOSS, BACKWARD = "loss = criterion(model(x), y)", "loss.backward()"

FOUND = {
    "a sum": loop(LOSS, BACKWARD, "total += loss  # DLL310"),
    "before the backward pass": loop(LOSS, "total += loss  # DLL310", BACKWARD),
    "a mean": loop(LOSS, BACKWARD, "total += loss / len(loader)  # DLL310"),
    "times the batch": loop(LOSS, BACKWARD, "total += x.size(0) * loss  # DLL310"),
    "a list": loop(LOSS, BACKWARD, "total.append(loss)  # DLL310", before="total = []"),
    "a list in a dict": loop(LOSS, BACKWARD, 'total["loss"].append(loss)  # DLL310', before='total = {"loss": []}'),
    "moved": loop(LOSS, BACKWARD, "total.append(loss.cpu())  # DLL310", before="total = []"),
    "started under another name": loop(LOSS, "whole = loss", "whole.backward()", "total += loss  # DLL310"),
    "started from a sum under another name": loop(
        LOSS, "whole = loss", "whole += args.weight * criterion(x, y)", "whole.backward()", "total += loss  # DLL310"
    ),
    "a scaled term by a module of the project": "class MyLoss(torch.nn.Module):\n    def forward(self, x):\n"
    "        return x.mean()\n\nmine = MyLoss()\n\n"
    + loop(
        LOSS, "second = args.weight * mine(x)", "whole = loss + second", "whole.backward()", "total += second  # DLL310"
    ),
    "another name": loop(LOSS, BACKWARD, "kept = loss", "total += kept  # DLL310"),
    "scaled": loop(LOSS, "scaler.scale(loss).backward()", "total += loss  # DLL310"),
    "accumulated": loop(LOSS, "(loss / args.steps).backward()", "total += loss  # DLL310"),
    "an engine": loop(LOSS, "model.backward(loss)", "model.step()", "total += loss  # DLL310"),
    "an engine under a condition": loop(
        LOSS, "if args.train:", "    model.backward(loss)", "    model.step()", "total += loss  # DLL310"
    ),
    "an engine that starts from what both branches compute": loop(
        "if args.half:",
        "    loss = criterion(model(x).half(), y)",
        "else:",
        "    loss = criterion(model(x), y)",
        "model.backward(loss)",
        "total += loss  # DLL310",
    ),
    "an engine beside a computation under autocast": loop(
        "with engine.accumulate(model):",
        "    with engine.autocast():",
        f"        {LOSS}",
        "    engine.backward(loss)",
        "total += loss  # DLL310",
        before="total, engine = 0, accelerate.Accelerator()",
    ),
    "an engine that starts from an attribute": loop(
        "output = model(x)", "model.backward(output.loss)", "total += output.loss  # DLL310"
    ),
    "an engine that starts from an entry": loop(
        "output = model(x)", "model.backward(loss=output['loss'])", "total += output['loss']  # DLL310"
    ),
    "an engine that starts from a part of it": loop(
        LOSS, "model.backward(loss / args.steps)", "total += loss  # DLL310"
    ),
    "an engine that starts from one of two results": loop(
        "loss, output = model(x)", "model.backward(loss)", "total += loss  # DLL310"
    ),
    "an engine of the object": """
class Trainer:
    def step(self, batch):
        loss = self.engine(batch)
        if self.training:
            self.engine.backward(loss)
        return loss

    def train(self):
        total = 0
        for batch in loader:
            total += self.step(batch)  # DLL310
""",
    "apex": loop(
        LOSS,
        "with amp.scale_loss(loss, optimizer) as scaled:",
        "    scaled.backward()",
        "total += loss  # DLL310",
    ),
    "an attribute of the output": loop("output = model(x)", "output.loss.backward()", "total += output.loss  # DLL310"),
    "a whole output": loop(
        "output = model(x)", 'output["loss"].backward()', "total.append(output)  # DLL310", before="total = []"
    ),
    "under autocast": loop("with torch.autocast('cuda'):", f"    {LOSS}", BACKWARD, "total += loss  # DLL310"),
    "numbered": """
def train(model):
    total = 0
    for step, (x, y) in enumerate(tqdm(loader)):
        loss = model(x)
        loss.backward()
        total = loss + total  # DLL310
""",
    "a history": """
class Trainer:
    def __init__(self):
        self.losses = []

    def train(self):
        for x, y in loader:
            self.loss = self.model(x)
            self.loss.backward()
            self.losses.append(self.loss)  # DLL310
""",
    "steps that are counted": """
def train(model):
    losses = []
    for step in range(100_000):
        loss = model(step)
        loss.backward()
        losses.append(loss)  # DLL310
""",
    "batches that are counted": """
def train(model):
    batches, total = iter(loader), 0
    count = len(loader) // 2
    for _ in tqdm(range(count)):
        loss = model(next(batches))
        loss.backward()
        total += loss  # DLL310
""",
    "a dict of losses": """
class Meter:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        self.sum += value

def step(model, x):
    losses = {"loss": model(x)}
    losses["loss"].backward()
    return losses

def train(model):
    meters = None
    for x, y in loader:
        losses = step(model, x)
        if meters is None:
            meters = {}
            for name, _ in losses.items():
                meters[name] = Meter()
        for name, value in losses.items():
            meters[name].update(value)  # DLL310
""",
    "in training alone": """
def step(model, x, train):
    if train:
        losses = {"loss": model(x)}
        losses["loss"].backward()
    else:
        with torch.no_grad():
            losses = {"loss": model(x)}
    return losses

def run(model, train):
    kept = []
    for x, y in loader:
        kept.append(step(model, x, train)["loss"])  # DLL310
""",
    "returned with others": """
def step(model, x):
    loss = model(x)
    loss.backward()
    return x, loss

def train(model):
    total = 0
    for x, y in loader:
        _, value = step(model, x)
        total += value  # DLL310
""",
    "a meter, by keyword": """
class Meter:
    def __init__(self):
        self.values = []

    def add(self, n, value):
        self.values.append(value)

def train(model):
    meter = Meter()
    for x, y in loader:
        loss = model(x)
        loss.backward()
        meter.add(1, value=loss)  # DLL310
""",
}

PARTS = ("first = torch.nn.functional.cross_entropy(model(x), y)", "second = entropy(model(x), y)")
ENTROPY = "total, entropy = 0.0, torch.nn.CrossEntropyLoss()"
FOUND |= {
    "a part of the loss": loop(*PARTS, "loss = first + second", BACKWARD, "total += first  # DLL310"),
    "a part by a module, weighted": loop(
        *PARTS, "loss = first + 0.1 * second", BACKWARD, "total += second  # DLL310", before=ENTROPY
    ),
    "a part with a weight that is an option": loop(
        *PARTS, "loss = first + args.weight * second", BACKWARD, "total += second  # DLL310", before=ENTROPY
    ),
    "a part that is added": loop(
        *PARTS, "loss = first", "loss += second", BACKWARD, "total += second  # DLL310", before=ENTROPY
    ),
    "a part in a list": loop(
        *PARTS, "loss = second - first", BACKWARD, "total.append(first)  # DLL310", before="total = []"
    ),
}
METER = """
class Meter:
    def __init__(self):
        self.sums = {}

    def update(self, size=1, **values):
        for name in values:
            if name not in self.sums:
                self.sums[name] = 0
            self.sums[name] += values[name]

"""
FOUND["a meter that takes losses by keyword"] = METER + loop(
    LOSS, BACKWARD, "meter.update(loss=loss, steps=3)  # DLL310", before="meter = Meter()", after="return meter"
)
FOUND["a meter that looks its sums up"] = METER.replace(
    """            if name not in self.sums:
                self.sums[name] = 0
            self.sums[name] += values[name]
""",
    "            self.sums[name] = self.sums.get(name, 0) + values[name]\n",
) + loop(LOSS, BACKWARD, "meter.update(loss=loss)  # DLL310", before="meter = Meter()", after="return meter")
FOUND["a meter of many loops"] = (
    "class Meter:\n    def __init__(self):\n        self.sum = 0\n\n"
    "    def update(self, value, n=1):\n        self.sum += value * n\n\n"
    + "\n".join(
        loop(LOSS, BACKWARD, f"meter.update(loss, {number})  # DLL310", before="meter = Meter()").replace(
            "def train(", f"def train_{number}("
        )
        for number in range(60)
    )
)
FOUND["as many steps as an option says"] = """
def train(model, criterion, args):
    batches = iter(loader)
    total = 0
    for step in range(args.steps):
        x, y = next(batches)
        loss = criterion(model(x), y)
        loss.backward()
        total += loss  # DLL310
    return total
"""
FOUND["the mean of a part of the output"] = loop(
    "output = model(x)",
    "first, second = torch.mean(output[0]), torch.mean(output[1])",
    "loss = first * args.weight + second",
    BACKWARD,
    "total += first  # DLL310",
)
RESET = """
class Meter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum = 0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    def begin(self):
        self.count = 0

"""
FOUND["a meter of which the loop resets the count alone"] = RESET + loop(
    LOSS,
    BACKWARD,
    "meter.update(loss)  # DLL310",
    "if y % 10 == 0:\n            meter.begin()",
    before="meter = Meter()",
)
FOUND["a meter that is reset before the loop"] = RESET + loop(
    LOSS, BACKWARD, "meter.update(loss)  # DLL310", before="meter = Meter()\n    meter.reset()", after="meter.reset()"
)
SILENT = {
    "the weights of a backward pass": loop(
        "output = model(x)", "weights = y * 2", "output.backward(weights)", "total += weights"
    ),
    "the weights of a backward pass from an attribute": loop(
        "output = model(x)",
        "weights = y * 2",
        "if args.train:",
        "    output.loss.backward(weights)",
        "total += weights",
    ),
    "the weights of a backward pass from each output": loop(
        "for output in model(x):", "    weights = y * 2", "    output.backward(weights)", "    total += weights"
    ),
    "an engine that starts from another loss": loop(
        LOSS, "other = criterion(model(y), x)", "if args.train:", "    model.backward(other)", "total += loss"
    ),
    "an engine that starts from an attribute, of which a number is kept": loop(
        "output = model(x)", "model.backward(output.loss)", "total += output.loss.item()"
    ),
    "another tensor under the name by then": loop(
        LOSS, "second = criterion(x, y)", "whole = second", "whole = loss", "whole.backward()", "total += second"
    ),
    "detached after a start under another name": loop(
        LOSS, "whole = loss", "whole.backward()", "loss = loss.detach()", "total += loss"
    ),
    "a meter that the loop resets after some steps": RESET
    + loop(
        LOSS, BACKWARD, "meter.update(loss)", "if y % 10 == 0:\n            meter.reset()", before="meter = Meter()"
    ),
    "the last of each name": METER.replace("self.sums[name] += values[name]", "self.sums[name] = values[name]")
    + loop(LOSS, BACKWARD, "meter.update(loss=loss)", before="meter = Meter()", after="return meter"),
    "a meter that takes numbers by keyword": METER
    + loop(LOSS, BACKWARD, "meter.update(loss=loss.item(), steps=3)", before="meter = Meter()", after="return meter"),
    "a meter that adds numbers": METER.replace("values[name]\n", "float(values[name])\n")
    + loop(LOSS, BACKWARD, "meter.update(loss=loss, steps=3)", before="meter = Meter()", after="return meter"),
    "what a loss is divided by": loop(
        "size = torch.sum(y)", LOSS, "loss = criterion(x, y) + loss / size", BACKWARD, "total += size"
    ),
    "what a loss is weighted by": loop(
        "weight = torch.mean(y)", LOSS, "loss = criterion(x, y) + loss * weight", BACKWARD, "total += weight"
    ),
    "the number of a part": loop(*PARTS, "loss = first + second", BACKWARD, "total += first.item()"),
    "a loss that goes nowhere": loop(*PARTS, "loss = first", BACKWARD, "total += second", before=ENTROPY),
    "a part of another sum": loop(LOSS, *PARTS, "shown = loss + second", BACKWARD, "total += second", before=ENTROPY),
    "a factor": loop("weight = model(x)", LOSS, "loss = loss * weight", BACKWARD, "total += weight"),
    "a part, made anew": loop(*PARTS, "loss = first + second", BACKWARD, "first = first.item()", "total += first"),
    "a number": loop(LOSS, BACKWARD, "total += loss.item()"),
    "as a float": loop(LOSS, BACKWARD, "total += float(loss)"),
    "detached": loop(LOSS, BACKWARD, "total += loss.detach() * 2"),
    "its data": loop(LOSS, BACKWARD, "total += loss.data"),
    "as an array": loop(LOSS, BACKWARD, "total += loss.detach().cpu().numpy()"),
    "rebound": loop(LOSS, BACKWARD, "loss = loss.item()", "total += loss"),
    "reduced by a function": loop(LOSS, BACKWARD, "loss = reduce(loss)", "total += loss"),
    "without gradients": loop(LOSS, BACKWARD, "with torch.no_grad():", "    total += loss"),
    "a loss of several parts": loop("loss = 0", "for part in y:", "    loss += criterion(x, part)", "loss.backward()"),
    "a sum that goes backward": loop(LOSS, "total += loss", "if y:", "    total.backward()", "    total = 0"),
    "emptied": loop(
        LOSS, BACKWARD, "total.append(loss)", "if y:", "    print(sum(total))", "    total.clear()", before="total = []"
    ),
    "the last ones": loop(LOSS, BACKWARD, "total.append(loss)", before="total = collections.deque(maxlen=9)"),
    "an output whose loss was replaced": loop(
        "output = model(x)",
        'output["loss"].backward()',
        'output["loss"] = output["loss"].detach()',
        "total.append(output)",
        before="total = []",
    ),
    "another output": loop(
        "output = model(x)", "output.loss.backward()", "output = model(y)", "total.append(output)", before="total = []"
    ),
    "of some steps": loop(LOSS, BACKWARD, "if y % 10 == 0:", "    total.append(loss)", before="total = []"),
    "only the last": loop(LOSS, BACKWARD, "total = loss"),
    "printed": loop(LOSS, BACKWARD, "print(loss)", "log(total + loss)"),
    "a part": loop("first, second = model(x)", "loss = first + second", BACKWARD, "total += first"),
    "another loss": loop(LOSS, BACKWARD, "loss = criterion(x, y)", "total += loss"),
    "one for each epoch": """
def train(model):
    losses = []
    for epoch in range(100_000):
        for x, y in loader:
            loss = model(x)
            loss.backward()
        losses.append(loss)
""",
    "a few steps": """
def train(model):
    losses = []
    for step in range(10):
        loss = model(step)
        loss.backward()
        losses.append(loss)
""",
    "a meter of numbers": """
class Meter:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        if isinstance(value, torch.Tensor):
            value = value.item()
        self.sum += value

    def show(self, value):
        self.value = value
        print(self.sum + value)

def train(model):
    meter = Meter()
    for x, y in loader:
        loss = model(x)
        loss.backward()
        meter.update(loss)
        meter.show(loss)
""",
    "converted where it is a tensor": """
def train(model):
    total = 0
    for x, y in loader:
        loss = model(x)
        loss.backward()
        if isinstance(loss, torch.Tensor):
            loss = loss.item()
        total += loss
""",
    "a meter for each step": """
class Meter:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        self.sum += value

def train(model):
    for x, y in loader:
        meter = Meter()
        loss = model(x)
        loss.backward()
        meter.update(loss)
""",
    "names of losses": """
def train(model):
    names = []
    for x, y in loader:
        losses = {"loss": model(x)}
        losses["loss"].backward()
        for name, value in losses.items():
            names.append(name)
""",
    "a step that returns a number": """
def step(model, x):
    loss = model(x)
    loss.backward()
    return loss.item()

def train(model):
    total = 0
    for x, y in loader:
        total += step(model, x)
""",
}

KEPT = ("loss.backward(retain_graph=True)", "losses.append(loss)")
FOUND["a mean of the list under the name of the loss"] = loop(
    LOSS, BACKWARD, "losses.append(loss)  # DLL310", before="losses = []", after="loss = sum(losses) / len(losses)"
)
SILENT |= {
    "a backward pass from the mean of the list": loop(
        LOSS, *KEPT, before="losses = []", after="torch.stack(losses).mean().backward()"
    ),
    "a backward pass from a name of it": loop(
        LOSS,
        *KEPT,
        before="losses = []",
        after="whole = torch.stack(losses).mean()\n    if args.second:\n        whole.backward()",
    ),
    "a backward pass by an engine": loop(LOSS, *KEPT, before="losses = []", after="scaler.backward(sum(losses))"),
}
test_found, test_silent = in_one_file("DLL310", FOUND, SILENT, HEAD)
