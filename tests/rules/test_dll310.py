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
CHUNKED = """
def train(model, criterion, loader, args):
    total = []
    for x, y in loader:
        losses = []
        for part, label in zip(x.chunk(args.parts), y.chunk(args.parts)):
            loss = criterion(model(part), label)
            loss.backward()
            losses.append(loss)
        print(sum(losses).item())
    return total

train(None, None, loader, None)
"""
HEADS = """
def train(model, heads, criterion, loader):
    for x, y in loader:
        losses = []
        for head, optimizer in heads:
            loss = criterion(head(model(x)), y)
            loss.backward()
            optimizer.step()
            losses.append(loss)
        log(losses)

def main(model, heads, criterion):
    train(model, heads, criterion, DataLoader([1, 2]))
"""
EPOCHS = """
def train(model, criterion, args):
    for epoch in range(args.epochs):
        losses = []
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            losses.append(loss)  # DLL310
        print(sum(losses))
"""
SILENT |= {
    "a list of the parts of a batch": CHUNKED,
    "a list of the parts of a batch of any loader": CHUNKED.replace("\ntrain(None, None, loader, None)\n", ""),
    "a sum of the parts of a batch": CHUNKED.replace("losses = []", "losses = 0").replace(
        "losses.append(loss)", "losses += loss"
    ),
    "a list of positions in a batch": CHUNKED.replace(
        "zip(x.chunk(args.parts), y.chunk(args.parts))", "cut(x, y, args)"
    ),
    "a list of what several heads lose in a batch": HEADS,
    "the parts of a batch that `next` takes": """
def train(model, criterion):
    batches = iter(loader)
    for step in range(len(loader)):
        x = next(batches)
        losses = []
        for part in x.chunk(4):
            loss = criterion(model(part))
            loss.backward()
            losses.append(loss)
""",
}
FOUND |= {
    "a list of the parts of all batches": CHUNKED.replace("losses.append(loss)", "total.append(loss)  # DLL310"),
    "a list of what several heads lose in all batches": HEADS.replace("    for x, y", "    losses = []\n    for x, y")
    .replace("        losses = []\n", "")
    .replace("losses.append(loss)", "losses.append(loss)  # DLL310"),
    "a list for each epoch": EPOCHS,
    "a list for each loader": EPOCHS.replace("range(args.epochs)", "args.tasks").replace(
        "in loader", "in epoch.loader"
    ),
    "a list for each batch of another loader": EPOCHS.replace("range(args.epochs)", "DataLoader([4, 5])"),
}
ENTRIES = """
def step(model, x):
    losses = model(x)
    losses["loss"].backward()
    return {"loss": losses["loss"].detach(), "accuracy": losses["accuracy"]}

def train(model):
    kept = []
    for x, y in loader:
        values = step(model, x)
        kept.append(values)
"""
SILENT |= {
    "another entry that a step returns": ENTRIES,
    "another entry": loop(
        "output = model(x)", 'output["loss"].backward()', 'total.append(output["logits"])', before="total = []"
    ),
    "another position": loop("output = model(x)", "output[0].backward()", "total += output[1]"),
    "a position beside an attribute": loop("output = model(x)", "output.loss.backward()", "total += output[1]"),
    "an entry that is a term, detached": loop(
        "losses = model(x)",
        'losses["loss"] = losses["first"] + losses["second"]',
        'losses["loss"].backward()',
        'losses["first"] = losses["first"].item()',
        'total += losses["first"]',
    ),
    "an entry that a term is divided by": loop(
        "losses = model(x)",
        'losses["loss"] = losses["first"] / losses["size"] + losses["second"]',
        'losses["loss"].backward()',
        'total += losses["size"]',
    ),
}
FOUND |= {
    "the entry that a step returns": ENTRIES.replace('losses["loss"].detach()', 'losses["loss"]').replace(
        "kept.append(values)", "kept.append(values)  # DLL310"
    ),
    "the first of an output with a loss": loop(
        "output = model(x)", "output.loss.backward()", "total += output[0]  # DLL310"
    ),
    "an entry of an output with a loss": loop(
        "output = model(x)", "output.loss.backward()", 'total += output["loss"]  # DLL310'
    ),
    "any entry": loop(
        "losses = model(x)",
        'losses["loss"].backward()',
        "for name in losses:",
        "    total[name] += losses[name]  # DLL310",
        before="total = {}",
    ),
    "an entry that is a term": loop(
        "losses = model(x)",
        'losses["loss"] = args.weight * losses["first"] + losses["second"]',
        'losses["loss"].backward()',
        'total += losses["first"]  # DLL310',
    ),
}
RETURNED = """
def step(model, criterion, x, y):
    loss = criterion(model(x), y)
    loss.backward()
    return {"loss": loss, "accuracy": count(x, y)}

"""
SILENT |= {
    "another key of what a step returns": RETURNED
    + loop("values = step(model, criterion, x, y)", 'total += values["accuracy"]'),
    "another key of what a step returns, at once": RETURNED + loop('total += step(model, criterion, x, y)["accuracy"]'),
    "another key of a display": loop(LOSS, BACKWARD, 'values = {"a": loss, "b": y}', 'total += values["b"]'),
    "another position of a display under a second name": loop(
        LOSS, BACKWARD, "values = (loss, y)", "again = values", "total += again[1]"
    ),
}
FOUND |= {
    "the key of what a step returns": RETURNED
    + loop("values = step(model, criterion, x, y)", 'total += values["loss"]  # DLL310'),
    "the key of a display": loop(LOSS, BACKWARD, 'values = {"a": loss, "b": y}', 'total += values["a"]  # DLL310'),
    "the position of what a step returns": RETURNED.replace('{"loss": loss, "accuracy": count(x, y)}', "x, loss")
    + loop("values = step(model, criterion, x, y)", "total += values[1]  # DLL310"),
    "all that a step returns": RETURNED
    + loop("total.append(step(model, criterion, x, y))  # DLL310", before="total = []"),
}
ACCUMULATED = """
def train(model, criterion, size, warmup, few):
    total, step = torch.zeros(1), 0
    for number, (x, y) in enumerate(loader):
        if number % size == 0:
            kept, whole = [], torch.zeros(1)
        kept.append(x)
        if not (number + 1) % size == 0:
            continue
        else:
            step += 1
            for part in kept:
                whole = whole + criterion(model(part))
            whole = whole / size
            total = total + whole  # DLL310
            whole.backward()
            if step < few:
                warmup.step()
    return total
"""
PHASES = """
def train(model, criterion, phase):
    losses = []
    for number, (x, y) in enumerate(loader):
        if phase == "train":
            loss = criterion(model(x))
            loss.backward()
            losses.append(loss)  # DLL310
"""
FOUND |= {
    "a step for several batches": ACCUMULATED,
    "a step of a phase": PHASES,
    "what is done after some steps": loop(
        LOSS, BACKWARD, "y += 1", "total += loss  # DLL310", "if y > 3:", "    show(x)"
    ),
}
SILENT |= {
    "a step for several batches that are few": ACCUMULATED.replace("  # DLL310", "").replace("warmup.step()", "break"),
    "steps that end by a second test": ACCUMULATED.replace("  # DLL310", "").replace(
        "warmup.step()", "if warmup.ended():\n                    break"
    ),
    "a total that some steps replace": ACCUMULATED.replace("  # DLL310", "").replace("warmup.step()", "total = 0"),
    "a total that some steps may empty": PHASES.replace("  # DLL310", "").replace(
        "        if phase", "        if len(losses) > 9:\n            empty(losses)\n        if phase"
    ),
    "one step": PHASES.replace("  # DLL310", "").replace('phase == "train"', "number == 0"),
    "the first steps": PHASES.replace("  # DLL310", "").replace('phase == "train"', "number < 9"),
    "a step for hundreds of batches": PHASES.replace("  # DLL310", "").replace('phase == "train"', "number % 500 == 0"),
}
test_found, test_silent = in_one_file("DLL310", FOUND, SILENT, HEAD)
