"""Programs that load data: what is recorded of their loaders and processes, and how they are shortened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.launched.conftest import SOURCES, Start

from dllint.observation import (
    End,
    Enough,
    Epoch,
    Feeder,
    Iteration,
    Launch,
    Loader,
    Observation,
    Process,
    Save,
    Stack,
    Trouble,
    Worker,
)
from dllint.span import Span

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="start methods, procfs"),
]

DATA = """\
import os, sys, time
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, count=400):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.tensor([float(index)])
"""


def no_trouble(seen: Observation) -> bool:
    return [f"{one.where}: {one.text}" for one in seen.of(Trouble)] == [] and not seen.malformed + seen.cut


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_loader_under_each_start_method(train: Start, method: str) -> None:
    program = f"""\
from data import DataLoader, Numbers


def main():
    loader = DataLoader(
        Numbers(), batch_size=4, num_workers=2, multiprocessing_context="{method}"
    )
    for epoch in range(100):
        print(epoch, sum(1 for batch in loader))


if __name__ == "__main__":
    try:
        main()
    except Exception:
        print("swallowed")
    finally:
        print("finally")
"""
    ran = train(program, files={"data.py": DATA}, options=("--max-batches", "5", "--max-epochs", "2"))
    assert ran.out == "0 5\n1 5\nfinally\n"
    assert no_trouble(ran.seen)
    (loader,) = ran.seen.of(Loader)
    assert loader.cls == "torch.utils.data.dataloader.DataLoader" and loader.dataset == "data.Numbers"
    assert loader.arguments == {"batch_size": 4, "num_workers": 2, "multiprocessing_context": method}
    assert loader.site is not None and loader.site.line == 5
    if ran.main.python >= "3.11":
        assert loader.site.span == Span(5, 14, 7, 6)
    assert [site.function for site in loader.chain] == ["main", "<module>"]
    assert [(one.number, one.method, one.workers, one.fresh) for one in ran.seen.of(Iteration)] == [
        (0, method, 2, True),
        (1, method, 2, True),
    ]
    assert [(one.batches, one.total, one.cut, one.natural) for one in ran.seen.of(Epoch)] == [
        (5, 100, True, False),
        (5, 100, True, False),
    ]
    workers = [one for one in ran.seen.of(Worker) if one.loader == loader.loader]
    assert sorted((one.number, one.worker) for one in workers) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert all(one.parent == ran.main.pid and one.method == method and 0 < (one.seconds or 0) < 60 for one in workers)
    for one in workers:
        process = ran.seen.processes[one.pid]
        assert (process.role, process.start_method, process.parent) == ("worker", method, ran.main.pid)
    launches = [one for one in ran.seen.of(Launch) if one.api == "DataLoader"]
    assert {one.child for one in launches} == {one.pid for one in workers}
    assert all(one.daemon and one.method == method and one.site and one.site.line == 9 for one in launches)
    assert [one.by for one in ran.seen.of(Enough)] == ["max-epochs"]
    assert ran.report["uninstrumented"] == []


PARENTS = {
    "Process": "p = mp.get_context('spawn').Process(target=job, args=(0,)); p.start(); p.join()",
    "Pool": "with mp.get_context('fork').Pool(1) as pool: pool.map(job, [0])",
    "ProcessPoolExecutor": "ProcessPoolExecutor(1, mp.get_context('forkserver')).submit(job, 0).result()",
    "mp.spawn": "torch.multiprocessing.spawn(job, nprocs=1)",
}


@pytest.mark.parametrize("api", PARENTS)
def test_processes_of_every_launcher(train: Start, api: str) -> None:
    program = f"""\
import multiprocessing as mp
import sys
from concurrent.futures import ProcessPoolExecutor
import torch


def job(rank):
    open("ran.txt", "w").write(str(rank))


if __name__ == "__main__":
    {PARENTS[api]}
"""
    ran = train(program)
    assert no_trouble(ran.seen)
    assert ran.status == 0
    (launch,) = (one for one in ran.seen.of(Launch) if one.api == api)
    method = {"Pool": "fork", "ProcessPoolExecutor": "forkserver"}.get(api, "spawn")
    assert (launch.method, launch.site and launch.site.line) == (method, 12)
    child = ran.seen.processes[launch.child or 0]
    assert (child.role, child.start_method, child.parent) == ("child", method, ran.main.pid)
    assert ran.report["uninstrumented"] == []


@pytest.mark.skipif(not os.environ.get("DLLINT_TORCH_PYTHON"), reason="DLLINT_TORCH_PYTHON names no interpreter")
def test_torchrun_and_its_ranks(train: Start) -> None:
    program = """\
import os
import torch.distributed as dist
from data import DataLoader, Numbers

if __name__ == "__main__":
    dist.init_process_group("gloo")
    for epoch in range(50):
        for batch in DataLoader(Numbers(), batch_size=4):
            dist.all_reduce(batch)
    print("never printed")
"""
    ran = train(
        program,
        *("--", os.environ["DLLINT_TORCH_PYTHON"], "-m", "torch.distributed.run"),
        *("--nproc-per-node", "2", "--master-port", "29713", "train.py"),
        files={"data.py": DATA},
        options=("--max-batches", "3", "--max-epochs", "2", "--time-limit", "100"),
    )
    assert no_trouble(ran.seen)
    assert "never printed" not in ran.out
    ranks = [one for one in ran.seen.processes.values() if "train.py" in one.argv and one.pid != ran.main.pid]
    assert len(ranks) == 2 and all(one.role == "command" for one in ranks)
    for rank in ranks:
        assert [one.batches for one in ran.seen.of(Epoch) if one.pid == rank.pid] == [3, 3]
    assert ran.status == 0


def test_what_counts_as_an_epoch(train: Start) -> None:
    """Loaders in epochs of another one, loaders that are built anew, and batches that are taken one by one."""
    program = """\
from data import DataLoader, Numbers
import sys


def outer_and_inner():
    outer, inner = DataLoader(Numbers()), DataLoader(Numbers(8))
    for epoch in range(90):
        for number, batch in enumerate(outer):
            if number % 2 == 0:
                count = sum(1 for each in inner)
    print("never")


def anew():
    for epoch in range(90):
        for split in ("train", "test"):
            for batch in DataLoader(Numbers()):
                pass
    print("never")


def one_by_one():
    for step in range(900):
        batch = next(iter(DataLoader(Numbers())))
    print("never")


def two_endless():
    first, second = DataLoader(Numbers(), batch_size=2), DataLoader(Numbers(), batch_size=4)
    other = iter(second)
    for epoch in range(90):
        for batch in first:
            try:
                next(other)
            except StopIteration:
                other = iter(second)
    print("never")


def natural():
    loader = DataLoader(Numbers(3))
    for epoch in range(2):
        print(sum(1 for batch in loader))


for work in (outer_and_inner, anew, one_by_one, two_endless, natural):
    try:
        work()
    except SystemExit:
        print("enough", work.__name__)
"""
    ran = train(program, files={"data.py": DATA}, options=("--max-batches", "4", "--max-epochs", "2"))
    assert ran.out.splitlines() == [
        "enough outer_and_inner",
        "enough anew",
        "enough one_by_one",
        "enough two_endless",
        "3",
        "3",
    ]
    assert no_trouble(ran.seen)
    by_function: dict[str, list[int]] = {}
    for one in ran.seen.of(Epoch):
        by_function.setdefault(one.site.function if one.site else "", []).append(one.batches)
    assert by_function["outer_and_inner"] == [4, 4, 4, 1, 1, 4]
    assert by_function["anew"] == [4, 4]
    assert by_function["one_by_one"] == [1] * 8
    assert by_function["natural"] == [3, 3]


def test_persistent_workers_and_early_breaks(train: Start) -> None:
    program = """\
from data import DataLoader, Numbers

if __name__ == "__main__":
    loader = DataLoader(Numbers(), num_workers=2, persistent_workers=True)
    for epoch in range(2):
        print([int(batch) for batch in loader])
    for batch in loader:
        break
    print([int(batch) for batch in loader][:2])
"""
    ran = train(program, files={"data.py": DATA}, options=("--max-batches", "4", "--max-epochs", "9"))
    assert ran.out == "[0, 1, 2, 3]\n[0, 1, 2, 3]\n[0, 1]\n"
    assert [(one.number, one.batches, one.cut) for one in ran.seen.of(Epoch)] == [
        (0, 4, True),
        (1, 4, True),
        (2, 1, False),
        (3, 4, True),
    ]
    assert [one.fresh for one in ran.seen.of(Iteration)] == [True, False, False, False]
    assert len(list(ran.seen.of(Worker))) == 2
    assert no_trouble(ran.seen)


def test_a_program_that_swallows_everything_is_ended(train: Start) -> None:
    program = """\
from data import DataLoader, Numbers
import time

while True:
    try:
        for batch in DataLoader(Numbers()):
            pass
    except:
        pass
"""
    ran = train(program, files={"data.py": DATA}, options=("--max-batches", "2", "--max-epochs", "1"))
    assert ran.report["exit"]["ending"] == "shortened"
    assert ran.status == 0
    assert len(list(ran.seen.of(Enough))) >= 3


def test_the_time_limit_ends_a_long_epoch_gently(train: Start) -> None:
    program = """\
from data import DataLoader, Numbers, time

try:
    for batch in DataLoader(Numbers()):
        time.sleep(0.1)
finally:
    print("finally")
"""
    ran = train(program, files={"data.py": DATA}, options=("--max-batches", "0", "--time-limit", "12"))
    assert ran.out == "finally\n"
    assert [one.by for one in ran.seen.of(Enough)] == ["time-limit"]
    assert (ran.status, ran.report["exit"]["ending"]) == (0, "shortened")


def test_an_item_that_cannot_be_sent_hangs_and_is_named(train: Start) -> None:
    program = """\
from data import DataLoader, Numbers


class Lazy(Numbers):
    def __getitem__(self, index):
        return (index for each in range(3))


def first(items):
    return items[0]


if __name__ == "__main__":
    for batch in DataLoader(Lazy(), num_workers=1, collate_fn=first):
        pass
"""
    ran = train(program, files={"data.py": DATA}, options=("--time-limit", "15"))
    feeder = next(iter(ran.seen.of(Feeder)))
    assert feeder.exception == "builtins.TypeError" and "generator" in feeder.text
    assert "generator" in feeder.obj
    assert ran.report["exit"]["ending"] == "hung"
    assert any("in _try_get_data" in one.text for one in ran.seen.of(Stack) if one.pid == ran.main.pid)


def test_a_worker_that_fails_fails_the_program_as_it_would(train: Start) -> None:
    program = """\
from data import DataLoader, Numbers


class Broken(Numbers):
    def __getitem__(self, index):
        raise ValueError("item %d" % index)


if __name__ == "__main__":
    for batch in DataLoader(Broken(), num_workers=1):
        pass
"""
    ran = train(program, files={"data.py": DATA})
    assert (ran.status, ran.report["exit"]["code"]) == (3, 1)
    assert "ValueError: item 0" in ran.err and f"{SOURCES}/dllint/" not in ran.err.partition("Original Traceback")[0]
    (epoch,) = ran.seen.of(Epoch)
    assert (epoch.error, epoch.batches, epoch.natural) == ("ValueError", 0, False)
    (end,) = (one for one in ran.seen.of(End) if one.pid == ran.main.pid)
    assert end.exception == "ValueError" and end.site is not None and end.site.line == 10


SAVES = """\
import os, pathlib, shutil
import torch
from data import DataLoader, Numbers

good = {"weights": torch.ones(3)}


def loaded(path):
    return torch.load(path)["weights"].tolist() == [1, 1, 1]


torch.save(good, "best.pt")
torch.save(good, pathlib.Path("new.pt"))
print(loaded("best.pt"), loaded("new.pt"), torch.load("new.pt", mmap=True) is not None)
print(os.path.exists("new.pt"), pathlib.Path("new.pt").exists(), os.path.getsize("new.pt") > 500)
shutil.copyfile("best.pt", "model_best.pth.tar")
print(loaded("model_best.pth.tar"))
torch.save(good, "part")
os.replace("part", "whole")
print(loaded("whole"), os.path.exists("part"))
with open("a.ckpt", "wb") as file:
    torch.save(good, file)
print(loaded("a.ckpt"))
with open("c.tmp", "wb") as file:
    torch.save(good, file)
pathlib.Path("c.tmp").rename("c.pt")
print(loaded("c.pt"))
os.remove("old.pt")
pathlib.Path("c.pt").unlink()
print(os.path.exists("c.pt"))
os.makedirs("epoch1")
torch.save(good, "epoch1/model.pt")
shutil.rmtree("epoch1")
print(os.path.exists("epoch1"), os.path.exists("epoch1/model.pt"))
shutil.rmtree("older")
try:
    torch.save(good, "missing/x.pt")
except RuntimeError as error:
    print("missing" in str(error))
open("log.txt", "w").write("plain files are the program's own")
"""
KEPT = ("best.pt", "model_best.pth.tar", "old.pt", "older/good.ckpt")


def test_an_iterator_that_is_left_open_holds_nothing_up(train: Start) -> None:
    """Lightning looks at two batches of the validation loader before it trains, and keeps the iterator."""
    program = """\
from data import DataLoader, Numbers

checked = iter(DataLoader(Numbers(40), batch_size=4))
next(checked)
loader = DataLoader(Numbers(20), batch_size=4)
for epoch in range(40):
    for batch in loader:
        pass
    print(epoch)
"""
    ran = train(program, files={"data.py": DATA}, options=("--max-batches", "4", "--max-epochs", "3"))
    assert ran.out.split() == ["0", "1", "2"]
    assert [one.by for one in ran.seen.of(Enough)] == ["max-epochs"]


def test_results_are_redirected_and_found_again(train: Start, tmp_path: Path) -> None:
    ran = train(SAVES, files={"data.py": DATA, **dict.fromkeys(KEPT, "good")}, hooks=True)
    assert ran.err == "", ran.err
    assert ran.out.split() == ["True"] * 3 + ["True"] * 3 + ["True"] + ["True", "False"] + ["True"] * 2 + [
        "False",
        "False",
        "False",
        "True",
    ]
    assert all((tmp_path / name).read_text() == "good" for name in KEPT)
    ours = {"scratch", "report.json", "__pycache__", "data.py", "train.py", "log.txt", "older"}
    assert {path.name for path in tmp_path.iterdir()} - ours == {"best.pt", "model_best.pth.tar", "old.pt"}
    saves = [(one.api, Path(one.path).name, one.site and one.site.line) for one in ran.seen.of(Save)]
    assert ("torch.save", "best.pt", 12) in saves and ("os.remove", "old.pt", 28) in saves
    assert no_trouble(ran.seen)


LINKS = """\
import os, pathlib, shutil
import torch
from data import DataLoader, Numbers

torch.save({"weights": 1}, "last.pth.tar")
shutil.copy2("last.pth.tar", "best.pth.tar")
shutil.copy("last.pth.tar", "copied.pt")
shutil.copy2("last.pth.tar", "plain")
os.link("last.pth.tar", "hard.pth.tar")
for _ in range(2):
    if os.path.islink("latest.pt"):
        os.remove("latest.pt")
    os.symlink("last.pth.tar", "latest.pt")
pathlib.Path("newest").symlink_to("last.pth.tar")
for name in ("best.pth.tar", "copied.pt", "plain", "hard.pth.tar", "latest.pt", "newest"):
    print(torch.load(name)["weights"])
pathlib.Path("log.txt").write_text("log")
shutil.copy2("log.txt", "log2.txt")
os.symlink("log2.txt", "log3.txt")
try:
    shutil.copy2("missing.pt", "there.pt")
except FileNotFoundError as error:
    print(error.filename)
"""


def test_copies_with_their_metadata_and_links_are_redirected(train: Start, tmp_path: Path) -> None:
    ran = train(LINKS, files={"data.py": DATA, "good.pt": "good"}, hooks=True)
    assert (ran.err, ran.out.split()) == ("", ["1"] * 6 + ["missing.pt"])
    ours = {"scratch", "report.json", "__pycache__", "data.py", "train.py", "good.pt"}
    assert {path.name for path in tmp_path.iterdir()} - ours == {"log.txt", "log2.txt", "log3.txt"}
    assert (tmp_path / "log3.txt").read_text() == "log"
    assert no_trouble(ran.seen)


def test_a_link_that_was_there_before_stays(train: Start, tmp_path: Path) -> None:
    (tmp_path / "good.pt").write_text("good")
    (tmp_path / "latest.pt").symlink_to("good.pt")
    ran = train(LINKS, files={"data.py": DATA}, hooks=True)
    assert (ran.err, ran.out.split()) == ("", ["1"] * 6 + ["missing.pt"])
    assert (tmp_path / "latest.pt").read_text() == "good"


def test_saves_can_be_allowed(train: Start, tmp_path: Path) -> None:
    ran = train(SAVES, files={"data.py": DATA, **dict.fromkeys(KEPT, "good")}, options=("--allow-saves",))
    assert not list(ran.seen.of(Save))
    assert (tmp_path / "best.pt").read_bytes()[:2] == b"PK" and not (tmp_path / "old.pt").exists()


def test_a_rank_reads_what_another_saved(train: Start, tmp_path: Path) -> None:
    program = """\
import multiprocessing, os
import torch


def save():
    torch.save({"a": 1}, "shared.pt")


if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=save)
    child.start()
    child.join()
    print(torch.load("shared.pt"), os.path.isfile("shared.pt"))
"""
    ran = train(program, hooks=True)
    assert ran.out == "{'a': 1} True\n"
    assert not (tmp_path / "shared.pt").exists()
    (save,) = ran.seen.of(Save)
    assert save.pid != ran.main.pid and ran.seen.processes[save.pid].role == "child"


def test_processes_know_their_torch(train: Start) -> None:
    ran = train("import torch; print(torch.__version__)")
    assert ran.main.torch == ran.out.strip()
    assert isinstance(ran.main, Process)


CRASHES = """\
from data import *
import ctypes, signal

class Bad(Numbers):
    def __getitem__(self, index):
        if index == 9:
            ctypes.string_at(0) if len(sys.argv) > 1 else os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)

for _ in DataLoader(Bad(), 4, num_workers=1):
    pass
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("crash",), "was killed by SIGSEGV in `__getitem__` at train.py:7"),
        ((), "was killed by SIGKILL"),
    ],
)
def test_a_worker_that_a_signal_ends(train: Start, words: tuple[str, ...], said: str) -> None:
    ran = train(CRASHES, "train.py", *words, files={"data.py": DATA})
    assert ran.report["exit"]["message"].startswith("worker 0 of the DataLoader at train.py:10 (pid ")
    assert ran.report["exit"]["message"].endswith(said) and ran.status == 3


REBUILDS = """\
from torch.utils.data import DataLoader

def prepare(loader):
    return DataLoader(loader.dataset, loader.batch_size, num_workers=loader.num_workers)

def train(dataset):
    for _ in DataLoader(dataset, 4, num_workers=1):
        pass
"""


def test_a_loader_that_a_package_builds_is_told_at_the_users_line(train: Start) -> None:
    program = """\
        from data import *
        import package
        for _ in package.prepare(DataLoader(Numbers(), 4, num_workers=1)):
            pass
        package.train(Numbers(8))
        """
    installed = "lib/python/site-packages"
    files = {"data.py": DATA, f"{installed}/package.py": REBUILDS}
    setting = f"import sys; sys.path.append({installed!r})\n"
    ran = train(setting + textwrap.dedent(program), files=files)
    assert ran.status == 0, ran.err
    assert [one.site.line for one in ran.seen.of(Loader) if one.site] == [4, 4, 6]
    assert {one.site.line for one in ran.seen.of(Iteration) if one.site} == {4, 6}
    assert [Path(one["site"]["filename"]).name for one in ran.report["loaders"]] == ["train.py", "train.py"]


def test_a_check_shows_the_verdicts_of_a_run(train: Start, tmp_path: Path) -> None:
    """The two commands of the documentation, of which the first fails where it confirms a finding."""
    ran = train(
        "from torch.utils.data import DataLoader, Dataset\n"
        "class Rows(Dataset):\n"
        "    def __init__(self):\n        self.scale = lambda value: value\n"
        "    def __len__(self):\n        return 4\n"
        "    def __getitem__(self, index):\n        return self.scale(index)\n"
        "def never():\n"
        '    return DataLoader(Rows(), num_workers=2, multiprocessing_context="forkserver")\n'
        "if __name__ == '__main__':\n"
        '    for batch in DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn"):\n'
        "        pass\n"
    )
    verdicts = {(one["code"], one["location"]["row"]): one["verdict"] for one in ran.report["findings"]}
    assert (ran.status, verdicts["DLL201", 4]) == (1, "confirmed")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "dllint", "check", "--isolated", "--no-cache"),
            *("--with-run", "report.json", "--output-format", "json", "train.py"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        check=False,
    )
    shown = {(one["code"], one["location"]["row"]): one.get("verdict") for one in json.loads(done.stdout)}
    assert (done.returncode, shown) == (1, verdicts)
