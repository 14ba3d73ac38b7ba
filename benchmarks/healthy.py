"""What `dllint run` says of programs that have no hazard: nothing may be confirmed or latent.

    python benchmarks/healthy.py [--python INTERPRETER] [--runs 5] [--only TEXT] [--json]

INTERPRETER needs torch, NumPy, Pillow and dllint. Twenty programs: images, text, audio, tables and streams, each with
two to eight workers that are forked or spawned. Their data are made in a temporary directory. Where spawned workers
start again in every epoch, DLL612 is true and is left out. The exit code is 1 where any run said anything else.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FILES = """
import csv, random, wave
import numpy as np
from PIL import Image

rng = np.random.default_rng(0)
for index in range(96):
    Image.fromarray(rng.integers(0, 255, (96, 128, 3), dtype=np.uint8)).save(f"image-{index}.jpg")
    with wave.open(f"sound-{index}.wav", "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(rng.integers(-9000, 9000, 16000 + 100 * index, dtype=np.int16).tobytes())
words = ["data", "loader", "worker", "epoch", "batch", "tensor", "sample", "index"]
with open("text.txt", "w") as file:
    for index in range(20000):
        file.write(" ".join(random.choice(words) for _ in range(5 + index % 30)) + "\\n")
np.save("table.npy", rng.random((200000, 24), dtype=np.float32))
with open("table.csv", "w", newline="") as file:
    rows = csv.writer(file)
    for row in rng.random((4000, 12)):
        rows.writerow([f"{one:.5f}" for one in row])
for part in range(16):
    np.save(f"part-{part}.npy", rng.random((512, 32), dtype=np.float32))
"""

IMAGES = """
class Data(Dataset):
    def __init__(self, root, train=True):
        self.root = root
        self.names = np.array(sorted(name for name in os.listdir(root) if name.endswith(".jpg")))
        self.train = train

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        with Image.open(os.path.join(self.root, str(self.names[index]))) as image:
            pixels = np.asarray(image.convert("RGB").resize((64, 48)))
        picture = torch.from_numpy(pixels.copy()).permute(2, 0, 1).float() / 255
        if self.train and torch.rand(()) < 0.5:
            picture = picture.flip(2)
        return picture.flatten(), index % 10


SIZE, COLLATE = 64 * 48 * 3, None
"""
TEXT = """
class Data(Dataset):
    def __init__(self, root, train=True):
        self.path = os.path.join(root, "text.txt")
        self.starts = np.cumsum([0] + [len(line) for line in open(self.path, "rb")])
        words = "data loader worker epoch batch tensor sample index".split()
        self.vocabulary = {word: at for at, word in enumerate(words)}
        self.train = train

    def __len__(self):
        return len(self.starts) - 1

    def __getitem__(self, index):
        with open(self.path, "rb") as file:
            file.seek(self.starts[index])
            words = file.read(self.starts[index + 1] - self.starts[index]).decode().split()
        return torch.tensor([self.vocabulary[word] for word in words]), len(words) % 10


def padded(items):
    ids = torch.nn.utils.rnn.pad_sequence([ids for ids, _ in items], batch_first=True)
    whole = torch.zeros(len(items), 40)
    whole[:, : ids.shape[1]] = ids
    return whole, torch.tensor([label for _, label in items])


SIZE, COLLATE = 40, padded
"""
AUDIO = """
class Data(Dataset):
    def __init__(self, root, train=True):
        self.paths = sorted(glob.glob(os.path.join(root, "*.wav")))
        self.train = train

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with wave.open(self.paths[index]) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        start = random.randrange(len(samples) - 8000) if self.train else 0
        part = torch.from_numpy(samples[start : start + 8000].copy()).float() / 32768
        power = torch.stft(part, 256, window=torch.hann_window(256), return_complex=True).abs()
        return power[:64, :64].flatten(), index % 10


SIZE, COLLATE = 64 * 64, None
"""
TABLE = """
class Data(Dataset):
    def __init__(self, root, train=True):
        self.path = os.path.join(root, "table.npy")
        self.length = len(np.load(self.path, mmap_mode="r"))
        self.rows = None
        self.train = train

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.rows is None:
            self.rows = np.load(self.path, mmap_mode="r")
        row = torch.from_numpy(np.array(self.rows[index]))
        return row + 0.01 * torch.randn(24) if self.train else row, index % 10


SIZE, COLLATE = 24, None
"""
STREAM = """
class Data(IterableDataset):
    def __init__(self, root, train=True):
        self.parts = sorted(glob.glob(os.path.join(root, "part-*.npy")))
        self.train = train

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for part in self.parts[first::step]:
            rows = np.load(part)
            for index in np.random.permutation(len(rows)) if self.train else range(len(rows)):
                yield torch.from_numpy(rows[index]), int(index) % 10


SIZE, COLLATE = 32, None
"""
PROGRAM = """
import argparse
import glob
import os
import random
import wave

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

{data}

def seeded(worker):
    random.seed(torch.initial_seed() % 2**32)
    np.random.seed(torch.initial_seed() % 2**32)


def loader(dataset, shuffle):
    shuffle = shuffle and not isinstance(dataset, IterableDataset)
    return DataLoader(
        dataset,
        batch_size=16,
        shuffle=shuffle,
        collate_fn=COLLATE,
        worker_init_fn=seeded,
        num_workers={workers},
        persistent_workers={persistent},
        multiprocessing_context="{method}",
    )


def main():
    torch.set_num_threads(1)
    train, check = loader(Data("{root}"), True), loader(Data("{root}", train=False), False)
    model = torch.nn.Linear(SIZE, 10)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(3):
        total = 0.0
        for inputs, labels in train:
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            right = sum((model(inputs).argmax(1) == labels).sum().item() for inputs, labels in check)
        print(epoch, total, right)
    torch.save(model.state_dict(), "last.pt")


if __name__ == "__main__":
    main()
"""
KINDS = {"images": IMAGES, "text": TEXT, "audio": AUDIO, "table": TABLE, "stream": STREAM}
TRUE = "confirmed DLL612"
"""What is true of a program that spawns its workers again in every epoch."""
SHAPES = (("fork", 2, False), ("fork", 8, False), ("spawn", 2, False), ("spawn", 4, True))


def programs() -> dict[str, tuple[str, str, int, bool]]:
    """Of each program: the kind of its data, the start method of its workers, their number, whether they persist."""
    return {
        f"{kind}, {workers} by {method}{', persistent' if persistent else ''}": (kind, method, workers, persistent)
        for kind in KINDS
        for method, workers, persistent in SHAPES
    }


def ran(python: str, directory: Path) -> tuple[list[str], float, int]:
    """What a run of the program in a directory says, the seconds that it took, and its exit code."""
    report = directory / "report.json"
    report.unlink(missing_ok=True)
    options = ["--no-progress", "--output-format", "json", "--output-file", str(report)]
    since = time.monotonic()
    done = subprocess.run(
        [python, "-m", "dllint", "run", *options, "train.py"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - since
    if not report.exists():
        return [f"no report: {done.stderr.strip()[-400:]}"], took, done.returncode
    told: dict[str, Any] = json.loads(report.read_text())
    said = [
        f"{one['verdict']} {one['code']} {one['location']['row']}: {'; '.join(one['evidence'])}"
        for one in told["findings"]
        if one["verdict"] in ("confirmed", "latent")
    ]
    return said, took, done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="of the programs, those with this text in their name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch, "data")
        data.mkdir()
        subprocess.run([options.python, "-c", FILES], cwd=data, check=True)
        for name, (kind, method, workers, persistent) in programs().items():
            if options.only not in name:
                continue
            directory = Path(scratch, name.replace(", ", "-").replace(" ", "-"))
            directory.mkdir()
            text = PROGRAM.format(data=KINDS[kind], method=method, workers=workers, persistent=persistent, root=data)
            (directory / "train.py").write_text(text)
            (directory / "pyproject.toml").write_text("[tool.dllint]\n")
            runs = [ran(options.python, directory) for _ in range(options.runs)]
            restarts = method != "fork" and not persistent
            said = [line for lines, _, _ in runs for line in lines if not (restarts and line.startswith(TRUE))]
            codes = sorted({status for _, _, status in runs} - ({1} if restarts and not said else set()))
            seconds = sorted(took for _, took, _ in runs)
            told[name] = {
                "runs": len(runs),
                "said": said,
                "exit codes": codes,
                "seconds": round(seconds[len(seconds) // 2], 1),
            }
            if not options.json:
                print(
                    f"{name:32} {len(runs)} runs, exit codes {codes}, said {len(said)}", *said, sep="\n  ", flush=True
                )
    if options.json:
        print(json.dumps(told, indent=2))
    silent = all(not one["said"] and one["exit codes"] in ([], [0]) for one in told.values())
    return 0 if silent and told else 1


if __name__ == "__main__":
    sys.exit(main())
