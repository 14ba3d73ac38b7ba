"""Writes, renames, deletes, links, truncates and maps good files in many ways, and looks whether it sees what it did.

Each way gets a directory of good files of its own, once for each kind of process: `good/<process>/<way>/`. The last
line that is printed is JSON: how many ways were tried, which failed, and which need a library that is not there.
"""

import ctypes
import glob
import io
import json
import mmap
import multiprocessing
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import traceback
import zipfile

LIBC = ctypes.CDLL(None, use_errno=True)
WAYS = {}
NEW = b"half trained"


def way(function):
    WAYS[function.__name__] = function
    return function


def many(prefix, variants):
    def add(function):
        for name, value in variants.items():
            WAYS[f"{prefix}_{name}"] = lambda value=value: function(value)
        return function

    return add


def reads(name, content=NEW):
    assert pathlib.Path(name).read_bytes() == content, (name, pathlib.Path(name).read_bytes()[:40])
    assert name in os.listdir(os.path.dirname(name) or ".") or os.sep in name
    assert name in glob.glob(name) and os.stat(name).st_size == len(content)


def gone(name):
    assert not os.path.lexists(name) and not glob.glob(name) and name not in os.listdir(".")


def fails(call, *arguments):
    if call(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def cut(name):
    with open(name, "r+b") as file:
        file.truncate(3)


FILES = ("last.pt", "best.ckpt", "metrics.json", "data.npy", "table.csv", "model.safetensors", "pytorch_model.bin")


@many("open", {name: name for name in FILES})
def _(name):
    with open(name, "wb") as file:
        file.write(NEW)
    reads(name)


@many("mode", {"append": "ab", "update": "r+b", "update_new": "w+b", "exclusive": "xb"})
def _(mode):
    name = "fresh.pt" if "x" in mode else "last.pt"
    before = b"" if "x" in mode or "w" in mode else pathlib.Path(name).read_bytes()
    with open(name, mode) as file:
        file.write(NEW)
    reads(name, before + NEW if "a" in mode else NEW + before[len(NEW) :] if mode == "r+b" else NEW)


@many("rename", {"replace": os.replace, "rename": os.rename, "move": shutil.move, "renames": os.renames})
def _(call):
    before = pathlib.Path("last.pt").read_bytes()
    call("last.pt", "previous.pt")
    gone("last.pt")
    reads("previous.pt", before)
    pathlib.Path("last.pt").write_bytes(NEW)
    reads("last.pt")
    call("last.pt", "best.ckpt")
    reads("best.ckpt")


@many("path", {"rename": "rename", "replace": "replace"})
def _(name):
    before = pathlib.Path("last.pt").read_bytes()
    getattr(pathlib.Path("last.pt"), name)("previous.pt")
    gone("last.pt")
    reads("previous.pt", before)


@many("delete", {"remove": os.remove, "unlink": os.unlink, "path": lambda name: pathlib.Path(name).unlink()})
def _(call):
    call("last.pt")
    gone("last.pt")
    pathlib.Path("last.pt").write_bytes(NEW)
    reads("last.pt")


@many("tree", {"sub": "sub", "here": "."})
def _(name):
    if name == ".":
        for inner in os.listdir("."):
            shutil.rmtree(inner) if os.path.isdir(inner) else os.remove(inner)
        assert os.listdir(".") == []
    else:
        shutil.rmtree(name)
        gone(name)
        os.makedirs(name)
        assert os.listdir(name) == []
        pathlib.Path(name, "inner.bin").write_bytes(NEW)
        assert pathlib.Path(name, "inner.bin").read_bytes() == NEW


@many("directory", {"rename": os.rename, "replace": os.replace, "move": shutil.move})
def _(call):
    before = pathlib.Path("sub/inner.bin").read_bytes()
    call("sub", "moved")
    gone("sub")
    assert pathlib.Path("moved/inner.bin").read_bytes() == before
    pathlib.Path("moved/inner.bin").write_bytes(NEW)
    assert pathlib.Path("moved/inner.bin").read_bytes() == NEW


@many("link", {"hard": os.link, "symbolic": os.symlink})
def _(call):
    call("last.pt", "linked.pt")
    pathlib.Path("linked.pt").write_bytes(NEW)
    reads("last.pt")


@many("through", {"write": "w", "replace": "replace"})
def _(how):
    if how == "w":
        pathlib.Path("latest.pt").write_bytes(NEW)
        reads("last.pt")
    else:
        os.symlink("best.ckpt", "latest.new")
        os.replace("latest.new", "latest.pt")
        assert os.readlink("latest.pt") == "best.ckpt"


@many(
    "truncate",
    {"path": lambda: os.truncate("last.pt", 3), "file": lambda: cut("last.pt")},
)
def _(call):
    before = pathlib.Path("last.pt").read_bytes()
    call()
    reads("last.pt", before[:3])


@way
def map_shared():
    with open("data.npy", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:3] = b"NEW"
        mapped.flush()
    assert pathlib.Path("data.npy").read_bytes()[:3] == b"NEW"


@way
def os_open():
    descriptor = os.open("last.pt", os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, NEW)
    os.close(descriptor)
    reads("last.pt")


@way
def os_open_in_a_directory():
    where = os.open(".", os.O_RDONLY)
    descriptor = os.open("last.pt", os.O_WRONLY | os.O_TRUNC, dir_fd=where)
    os.write(descriptor, NEW)
    os.rename("last.pt", "other.pt", src_dir_fd=where, dst_dir_fd=where)
    os.close(descriptor)
    os.close(where)
    reads("other.pt")


@way
def pwrite():
    descriptor = os.open("last.pt", os.O_RDWR)
    os.pwrite(descriptor, b"NEW", 0)
    os.close(descriptor)
    assert pathlib.Path("last.pt").read_bytes()[:3] == b"NEW"


@way
def sendfile():
    with open("metrics.json", "rb") as source, open("last.pt", "wb") as sink:
        os.sendfile(sink.fileno(), source.fileno(), 0, 1 << 20)
    reads("last.pt", pathlib.Path("metrics.json").read_bytes())


@way
def file_io():
    with io.FileIO("last.pt", "w") as file:
        file.write(NEW)
    reads("last.pt")


@way
def temporary_then_replace():
    with tempfile.NamedTemporaryFile(dir=".", delete=False) as file:
        file.write(NEW)
    os.replace(file.name, "last.pt")
    reads("last.pt")


@way
def absolute():
    pathlib.Path(os.path.abspath("last.pt")).write_bytes(NEW)
    reads("last.pt")


@way
def mode_bits():
    os.chmod("last.pt", 0o600)
    assert os.stat("last.pt").st_mode & 0o777 == 0o600
    os.utime("last.pt", (1, 1))
    assert os.stat("last.pt").st_mtime == 1


@many("copy", {"file": shutil.copyfile, "plain": shutil.copy, "metadata": shutil.copy2})
def _(call):
    call("metrics.json", "last.pt")
    reads("last.pt", pathlib.Path("metrics.json").read_bytes())


@way
def copy_tree():
    shutil.copytree("sub", "sub2")
    shutil.copytree("sub2", "sub", dirs_exist_ok=True)
    assert os.path.exists("sub2/inner.bin")


@way
def rotation():
    for epoch in range(4):
        os.makedirs(f"checkpoint-{epoch}")
        pathlib.Path(f"checkpoint-{epoch}/model.pt").write_bytes(NEW)
        old = sorted(glob.glob("checkpoint-*"))
        if len(old) > 2:
            shutil.rmtree(old[0])
    assert sorted(glob.glob("checkpoint-*"))[-1] == "checkpoint-3" and len(glob.glob("checkpoint-*")) == 2


@way
def newest_of_epochs():
    for epoch in range(3):
        pathlib.Path(f"ep_{epoch}.pth").write_bytes(NEW)
    assert sorted(glob.glob("ep_*.pth"))[-1] == "ep_2.pth"
    assert sorted(pathlib.Path(".").glob("ep_*.pth"))[0].name == "ep_0.pth"


@way
def sqlite():
    with sqlite3.connect("table.db") as base:
        base.execute("create table if not exists t (a)")
        base.execute("insert into t values (1)")
    assert sqlite3.connect("table.db").execute("select count(*) from t").fetchone() == (1,)


@way
def sqlite_log():
    base = sqlite3.connect("table.db")
    base.execute("pragma journal_mode=wal")
    base.execute("create table u (a)")
    base.commit()
    assert base.execute("select count(*) from u").fetchone() == (0,)
    base.close()


@way
def archives():
    with tarfile.open("last.pt", "w") as file:
        file.add("metrics.json")
    with zipfile.ZipFile("best.ckpt", "w") as file:
        file.write("metrics.json")
    with tarfile.open("last.pt") as file:
        assert file.getnames() == ["metrics.json"]
    assert zipfile.ZipFile("best.ckpt").namelist() == ["metrics.json"]


SHELL = {
    "redirect": "printf 'half trained' > last.pt",
    "append": "printf x >> metrics.json",
    "mv": "mv last.pt gone.pt && test ! -e last.pt && printf 'half trained' > last.pt",
    "mv_directory": "mv sub moved && test -e moved/inner.bin && test ! -e sub && printf 'half trained' > last.pt",
    "cp": "printf 'half trained' > x && cp x last.pt",
    "ln": "printf 'half trained' > x && ln -sf x latest.pt && ln -f x last.pt",
    "rm": "rm last.pt && test ! -e last.pt && printf 'half trained' > last.pt",
    "rm_tree": "rm -rf sub && test ! -e sub && printf 'half trained' > last.pt",
    "truncate": "truncate -s 0 last.pt && printf 'half trained' >> last.pt",
    "dd": "printf 'half trained' | dd of=last.pt 2>/dev/null",
    "sed": "sed -i s/good/bad/ metrics.json && printf 'half trained' > last.pt",
    "tee": "printf 'half trained' | tee last.pt > /dev/null",
    "find": "find . -name '*.ckpt' -delete && test ! -e best.ckpt && printf 'half trained' > last.pt",
    "touch": "touch last.pt fresh.pt && test -e fresh.pt && printf 'half trained' > last.pt",
    "background": "(setsid sh -c 'printf \"half trained\" > last.pt' &) ; sleep 0.2",
}


@many("shell", SHELL)
def _(command):
    subprocess.run(["sh", "-c", command], check=True)
    if command != SHELL["append"]:
        reads("last.pt")


C = {
    "rename": lambda: fails(LIBC.rename, b"last.pt", b"was.pt") or gone("last.pt"),
    "unlink": lambda: fails(LIBC.unlink, b"last.pt") or gone("last.pt"),
    "truncate": lambda: fails(LIBC.truncate, b"last.pt", ctypes.c_long(0)) or reads("last.pt", b""),
    "link": lambda: fails(LIBC.link, b"last.pt", b"hard.pt") or reads("hard.pt", pathlib.Path("last.pt").read_bytes()),
    "symlink": lambda: fails(LIBC.symlink, b"last.pt", b"soft.pt") or os.stat("soft.pt"),
    "exchange": lambda: fails(LIBC.renameat2, -100, b"last.pt", -100, b"best.ckpt", 2) or os.stat("last.pt"),
    "chmod": lambda: fails(LIBC.chmod, b"last.pt", 0o400) or os.stat("last.pt"),
}


@many("c", C)
def _(call):
    call()


@way
def c_program():
    if not os.path.exists(PROGRAM):
        raise ImportError("a C compiler")
    subprocess.run([PROGRAM, "last.pt"], check=True)
    reads("last.pt")


def library(name):
    return __import__(name, fromlist=["x"])


@many("numpy", {"save": "save", "savez": "savez", "memmap": "memmap", "tofile": "tofile", "text": "text"})
def _(how):
    numpy = library("numpy")
    values = numpy.arange(5)
    if how == "save":
        numpy.save("data.npy", values)
        assert (numpy.load("data.npy") == values).all()
    elif how == "savez":
        numpy.savez("data.npz", a=values)
        assert (numpy.load("data.npz")["a"] == values).all()
    elif how == "memmap":
        mapped = numpy.memmap("data.npy", "u1", "r+")
        mapped[:] = 7
        mapped.flush()
        assert set(pathlib.Path("data.npy").read_bytes()) == {7}
    elif how == "tofile":
        values.tofile("last.pt")
        assert (numpy.fromfile("last.pt", values.dtype) == values).all()
    else:
        numpy.savetxt("table.csv", values)
        assert (numpy.loadtxt("table.csv") == values).all()


@many("torch", {"save": "save", "jit": "jit", "storage": "storage"})
def _(how):
    torch = library("torch")
    if how == "save":
        torch.save({"a": 1}, "last.pt")
        assert torch.load("last.pt") == {"a": 1}
    elif how == "jit":
        torch.jit.script(torch.nn.Linear(1, 1)).save("last.pt")
        torch.jit.load("last.pt")
    else:
        kept = torch.from_file("data.npy", shared=True, size=4, dtype=torch.uint8)
        kept.fill_(9)
        assert pathlib.Path("data.npy").read_bytes()[:4] == b"\x09" * 4


@way
def h5py():
    with library("h5py").File("data.h5", "w") as file:
        file["a"] = [1, 2]
    assert list(library("h5py").File("data.h5")["a"]) == [1, 2]


@way
def lmdb():
    with library("lmdb").open("base", map_size=1 << 20) as base, base.begin(write=True) as change:
        change.put(b"a", b"b")
    with library("lmdb").open("base", readonly=True) as base, base.begin() as look:
        assert look.get(b"a") == b"b"


@way
def opencv():
    assert library("cv2").imwrite("image.png", library("numpy").zeros((4, 4, 3), "u1"))
    assert library("cv2").imread("image.png").shape == (4, 4, 3)


@way
def pandas():
    library("pandas").DataFrame({"a": [1]}).to_csv("table.csv")
    assert "a" in pathlib.Path("table.csv").read_text()


@way
def zarr():
    library("zarr").save("data.zarr", library("numpy").arange(3))
    assert os.path.isdir("data.zarr")


@way
def safetensors():
    library("safetensors.torch").save_file({"a": library("torch").zeros(1)}, "model.safetensors")
    assert "a" in library("safetensors.torch").load_file("model.safetensors")


@way
def transformers():
    library("transformers")
    from transformers import BertConfig, BertModel

    tiny = BertConfig(vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    BertModel(tiny).save_pretrained(".")
    assert BertModel.from_pretrained(".").config.hidden_size == 8
    assert os.path.getsize("model.safetensors") > 100


@way
def lightning():
    lightning, torch = library("lightning"), library("torch")
    trainer = lightning.Trainer(logger=False, enable_progress_bar=False, accelerator="cpu", enable_checkpointing=True)
    module = lightning.LightningModule()
    module.inner = torch.nn.Linear(1, 1)
    trainer.strategy.connect(module)
    trainer.save_checkpoint("best.ckpt")
    assert "state_dict" in torch.load("best.ckpt", weights_only=False)


@way
def joblib():
    library("joblib").dump({"a": 1}, "last.pt")
    assert library("joblib").load("last.pt") == {"a": 1}


@way
def tensorboard():
    writer = library("torch.utils.tensorboard").SummaryWriter("runs")
    writer.add_scalar("a", 1.0)
    writer.close()
    assert os.listdir("runs")


PROGRAM = os.path.abspath("write")


def run(kind):
    failed, missing = {}, set()
    for name, function in WAYS.items():
        os.chdir(os.path.join(HOME, "good", kind, name))
        try:
            function()
        except ImportError as error:
            missing.add(str(error))
        except BaseException:
            failed[f"{kind} {name}"] = traceback.format_exc()[-600:]
    tried = len(WAYS) - len(missing)
    pathlib.Path(HOME, f"{kind}.json").write_text(json.dumps([tried, failed, sorted(missing)]))


HOME = os.environ.get("WAYS_HOME") or os.getcwd()
KINDS = ("main", "worker", "command")

if __name__ == "__main__":
    if sys.argv[1:] == ["list"]:
        print(*WAYS)
        sys.exit()
    if sys.argv[1:] == ["command"]:
        run("command")
        sys.exit()
    worker = multiprocessing.get_context("fork").Process(target=run, args=("worker",))
    worker.start()
    worker.join()
    subprocess.run([sys.executable, __file__, "command"], check=True)
    run("main")
    os.chdir(HOME)
    told = [json.loads(pathlib.Path(f"{kind}.json").read_text()) for kind in KINDS]
    failed = {name: text for _, some, _ in told for name, text in some.items()}
    print(json.dumps({"tried": sum(one[0] for one in told), "failed": failed, "missing": told[0][2]}))
