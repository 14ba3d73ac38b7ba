"""The examples whose fixes are run, and what running each must show.

A driver is a program beside the example's own files; it calls them twice, once for each epoch, with small data. What it
prints must be equal before and after the fix. Lines `cost N` must shrink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Pairs = tuple[tuple[str, str], ...]

IMAGES = {f"faces/{name}.jpg": bytes(range(name, name + 12)) for name in range(8)}
FOLDERS = {f"faces/{name % 2}/{name}.jpg": bytes(range(name, name + 12)) for name in range(8)}
PICKLE = r"Can't (pickle|get) local object|Can't pickle <function"
NO_WORKERS = r"ValueError: (persistent_workers|prefetch_factor) option"


@dataclass(frozen=True)
class Subject:
    """What is done with one bad example.

    Attributes:
        driver: the program to run; none where the example is one itself.
        entry: the file to run.
        fails: the error that the example ends with. Without one it runs, and costs more.
        working: what makes the example run for comparison: replacements by patterns, or how it is run ("fork", or
            "threads" for pools of threads).
        costs: what the lines `cost` count.
        equal: whether results must be equal; a text says why they cannot be.
        smaller: replacements that make the example small enough.
        default: the default start method: fork, or forkserver as from Python 3.14.
        data: further files.
        silent: variants in which dllint finds nothing, and why that is right or known.
        unfixed: variants in which the finding has no fix.
        inapplicable: variants that would be another program.
        spawned: whether the page's own text is also run by spawn itself, with a new interpreter for each process.
    """

    code: str
    title: str
    driver: str = ""
    entry: str = "prove.py"
    fails: str = ""
    working: Pairs | str = ()
    costs: str = ""
    equal: str = ""
    smaller: Pairs = ()
    default: str = "fork"
    arguments: tuple[str, ...] = ()
    data: Mapping[str, bytes] = field(default_factory=dict)
    silent: Mapping[str, str] = field(default_factory=dict)
    unfixed: Mapping[str, str] = field(default_factory=dict)
    inapplicable: Mapping[str, str] = field(default_factory=dict)
    spawned: bool = False


ROWS = """
class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.rows = torch.arange(24.0).reshape(8, 3)

    def __setstate__(self, state):
        self.__dict__.update(state)
        proof.note("unpickled")

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
"""

DRAWS = """
class Draws(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return random.random() + numpy.random.randint(10**6)
"""


def program(*imports: str, body: str, before: str = "") -> str:
    """A driver: its imports, definitions, and what it runs under a guard."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    return "\n".join(["import proof", *imports, before, "", "if __name__ == '__main__':", lines])


def epochs(*imports: str, loader: str, before: str = "", after: str = "") -> str:
    """A driver that goes twice through a loader."""
    shown = "for epoch in range(2):\n    for batch in loader:\n        proof.show(epoch, batch)\n"
    body = f"loader = {loader}\n{shown}{after}"
    return program(*imports, body=body, before=before)


BLURRED = (
    "cv2.resize(np.full((512, 512), index, dtype=np.uint8), (640, 640))",
    "cv2.GaussianBlur(np.full((512, 512), index, dtype=np.uint8), (5, 5), 3)",
)
"""With few cores a resize of a small image starts no threads."""
THREADS = "iterator = iter(loader)\nproof.show(next(iterator))\nproof.cost(proof.threads(iterator))\n"

NODES = """
def nodes(end):
    seen, waiting = set(), [end]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [before for before, _ in node.next_functions]
    return len(seen)
"""

NESTED, TWICE, BLOCK = "nested call", "twice on a line", "in a block"
DECORATED, OTHER = "decorated", "other import forms"
ONE_OF_TWO = "another statement stands on its line"
NO_MODULE = "the file has no name for cv2 itself"

LAUNCHED = """
proof.note("imported")


def main(rank):
    for epoch in range(2):
        main_worker(rank{root})
"""

SUBJECTS = [
    Subject(
        "DLL002",
        "the lambda is gone, the comment is not",
        epochs("import data", loader="data.loader([2.0, 3.0, 4.0])", before="data.Faces.__len__ = lambda self: 3"),
        costs="nothing at run time: the comment is the defect",
    ),
    Subject(
        "DLL101",
        "a supervised job under forkserver",
        program(
            "import torch",
            "import supervise",
            before=ROWS,
            body="supervise.supervise(Rows())\nproof.cost(proof.noted())",
        ),
        smaller=((", 8)", ", 2)"),),
        costs="how often the dataset is unpickled",
    ),
    Subject(
        "DLL101",
        "launcher, trainer and loader in three files",
        program(
            "import torch.multiprocessing as mp",
            "from train import main_worker",
            before=LAUNCHED.replace("{root}", ", 'faces'"),
            body="mp.spawn(main, nprocs=1)\nproof.cost(proof.noted())",
        ),
        smaller=(("images.mean()", "images.sum()"),),
        data=IMAGES,
        costs="how many processes import the program",
    ),
    Subject(
        "DLL102",
        "mp.spawn at the top level",
        entry="launch.py",
        fails="bootstrapping phase",
        working="fork",
        unfixed={TWICE: ONE_OF_TWO},
    ),
    Subject(
        "DLL102",
        "a process of the spawn context",
        entry="launch.py",
        fails="bootstrapping phase",
        working="fork",
        inapplicable={TWICE: "a process starts only once"},
        spawned=True,
    ),
    Subject(
        "DLL102",
        "a function that is called at the top level",
        entry="train.py",
        smaller=(("1000", "8"),),
        fails="bootstrapping phase",
        working="fork",
        unfixed={TWICE: ONE_OF_TWO},
    ),
    Subject(
        "DLL102",
        "a loader, from Python 3.14",
        entry="train.py",
        default="forkserver",
        fails="bootstrapping phase",
        working="fork",
    ),
    Subject(
        "DLL201",
        "a lambda transform under mp.spawn",
        program(
            "import torch.multiprocessing as mp",
            "from train import main_worker",
            before=LAUNCHED.replace("{root}", ", 'faces'"),
            body="mp.spawn(main, nprocs=1)",
        ),
        fails=PICKLE,
        working="fork",
        data=IMAGES,
    ),
    Subject(
        "DLL201",
        "a defaultdict with a lambda",
        epochs("import data", loader="data.build_loader('faces')"),
        default="forkserver",
        fails=PICKLE,
        working="fork",
        data=FOLDERS,
    ),
    Subject(
        "DLL202",
        "a local function as transform",
        program(
            "import torch.multiprocessing as mp",
            "from train import main_worker",
            before=LAUNCHED.replace("{root}", ""),
            body="mp.spawn(main, nprocs=1)",
        ),
        smaller=(("1000", "40"),),
        fails=PICKLE,
        working="fork",
    ),
    Subject(
        "DLL204",
        "a worker_init_fn that fails from Python 3.14",
        epochs("import data", loader="data.build_loader(range(8))"),
        default="forkserver",
        fails=PICKLE,
        working="fork",
    ),
    Subject(
        "DLL204",
        "set after the loader was made",
        epochs("import data", loader="data.build_loader(range(8))"),
        default="forkserver",
        fails=PICKLE,
        working="fork",
    ),
    Subject(
        "DLL207",
        "a lambda for pool.map, whatever the start method",
        program(
            "import pathlib",
            "import convert",
            body="for epoch in range(2):\n    print(convert.convert(sorted(pathlib.Path('faces').iterdir())))",
        ),
        smaller=(("Pool(4)", "Pool(2)"),),
        fails=PICKLE,
        working="threads",
        data=IMAGES,
    ),
    Subject("DLL207", "what mp.spawn runs", entry="train.py", fails=PICKLE, working="fork"),
    Subject(
        "DLL301",
        "a whole file, read by every training process",
        epochs(
            "import numpy",
            "import data",
            before="numpy.lib.format.open_memmap('rows.npy', 'w+', numpy.float32, (16, 2**18))[:, ::4096] = 1\n"
            "before = proof.status_kib('self', 'RssAnon')",
            loader="data.build_loader('rows.npy')",
            after="proof.cost(proof.status_kib('self', 'RssAnon') - before)\n",
        ),
        smaller=(("num_workers=8", "num_workers=2"),),
        unfixed={NESTED: "what another function makes of the array is not known"},
        costs="KiB of memory of the training process for a file of 16 MiB",
    ),
    Subject(
        "DLL306",
        "labels of a whole epoch",
        program(
            "import numpy",
            "import torch",
            "import train",
            body="rows = torch.rand(64, 5, generator=torch.Generator().manual_seed(1))\n"
            "items = list(zip(rows, range(64), strict=True))\nbefore = proof.descriptors()\n"
            "kept = [train.validate(lambda rows: rows, items) for epoch in range(2)]\n"
            "proof.show(kept)\nproof.cost(proof.descriptors() - before)",
        ),
        smaller=(("batch_size=64, num_workers=4", "batch_size=2, num_workers=2"),),
        costs="open file descriptors",
    ),
    Subject(
        "DLL307",
        "rows one by one",
        epochs("import train", loader="train.build_loader()", after="proof.cost(batch.untyped_storage().nbytes())\n"),
        smaller=(("10_000, 1000", "4, 100_000"), ("num_workers=4", "num_workers=2")),
        silent={NESTED: "what another function gives back may be a copy"},
        costs="bytes that a row keeps",
    ),
    Subject(
        "DLL310",
        "a sum",
        program(
            "import torch",
            "import train",
            before=NODES,
            body="torch.manual_seed(1)\nmodel = torch.nn.Linear(3, 2)\n"
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "items = list(zip(torch.rand(64, 3), torch.arange(64) % 2, strict=True))\n"
            "total = train.train(model, optimizer, items)\n"
            "proof.show(float(total))\nproof.cost(nodes(total.grad_fn))",
        ),
        smaller=(("batch_size=32", "batch_size=4"),),
        costs="nodes of the graph that the sum keeps",
    ),
    Subject(
        "DLL401",
        "a memory map and persistent workers",
        epochs(
            "import numpy",
            "import data",
            before="numpy.memmap('tokens', numpy.int64, 'w+', shape=2**20)[::512] = 1",
            loader="data.build_loader('tokens')",
            after="iterator = iter(loader)\nproof.show(next(iterator))\n"
            "proof.cost(sum(proof.status_kib(worker.pid, 'RssFile') for worker in iterator._workers))\n",
        ),
        smaller=(
            ("1_000_000", "1024"),
            ("index : index + 128", "index * 1024 : index * 1024 + 128"),
            ("num_workers=4", "num_workers=2"),
        ),
        costs="KiB of the file in the RSS of the workers as the third epoch begins",
    ),
    Subject(
        "DLL402",
        "a file opened in __init__",
        epochs(
            "import train",
            before="open('rows', 'wb').write(b''.join(number.to_bytes(8, 'little') for number in range(1000)))",
            loader="train.build_loader('rows')",
            after="handle = vars(loader.dataset).get('file')\nproof.cost(handle.tell() if handle else 0)\n",
        ),
        smaller=(("num_workers=4", "num_workers=2"),),
        working=(("num_workers=2", "num_workers=1"),),
        unfixed={
            NESTED: "another function gets the file",
            TWICE: "the attribute is set twice",
            BLOCK: "the block may not get as far as opening the file",
        },
        costs="how far workers moved the position that the parent reads at",
    ),
    Subject(
        "DLL501",
        "resizing in __getitem__",
        program(
            "import os",
            "import cv2",
            "import numpy",
            body="from PIL import Image\nos.mkdir('faces')\nfor name in range(4):\n"
            "    Image.fromarray(numpy.full((512, 512, 3), name * 9, dtype=numpy.uint8)).save(f'faces/{name}.jpg')\n"
            "import loaders\nloader = loaders.build_loader('faces')\n"
            "for epoch in range(2):\n    for batch in loader:\n        proof.show(batch)\n" + THREADS,
        ),
        smaller=(
            ("batch_size=32, num_workers=8", "batch_size=2, num_workers=2"),
            ("cv2.resize(image, (640, 640))", "cv2.GaussianBlur(image, (5, 5), 3)"),
        ),
        unfixed={OTHER: NO_MODULE},
        costs="threads of a worker",
    ),
    Subject(
        "DLL502",
        "a variable that OpenCV does not know, before everything else",
        program(
            "import train",
            "import loaders",
            body="loader = loaders.build_loader()\n"
            "for epoch in range(2):\n    for batch in loader:\n        proof.show(batch)\n" + THREADS,
        ),
        smaller=(("batch_size=32, num_workers=8", "batch_size=2, num_workers=2"), ("return 1000", "return 6"), BLURRED),
        costs="threads of a worker",
    ),
    Subject(
        "DLL503",
        "a cap in the dataset's __init__",
        epochs("import data", loader="data.build_loader()", after=THREADS),
        smaller=(("Noise(1000), batch_size=32, num_workers=8", "Noise(6), batch_size=2, num_workers=2"), BLURRED),
        unfixed={OTHER: NO_MODULE},
        costs="threads of a worker",
    ),
    *(
        Subject(
            "DLL603",
            title,
            program(
                "import random",
                "import numpy",
                "import torch",
                "import train",
                before=DRAWS,
                body="loader = train.build_loader(Draws())\n"
                "drawn = [number for epoch in range(2) for batch in loader for number in batch.tolist()]\n"
                f"places = [{place} for number in drawn]\nproof.cost(len(places) - len(set(places)))",
            ),
            smaller=(("batch_size=32, num_workers=4", "batch_size=2, num_workers=2"),),
            costs="draws that repeat another one",
            equal="other draws are what the fix is for",
            silent={} if constant else {DECORATED: "the worker's number comes through `*args`"},
            unfixed={DECORATED: "the project calls the function itself, in the wrapper"} if constant else {},
        )
        for title, place, constant in (
            ("one seed for all", "int(number)", True),
            ("the worker's number", "round(number % 1, 6)", False),
            ("a constant and the worker's number", "int(number)", False),
        )
    ),
    Subject(
        "DLL605",
        "persistent workers, and none",
        epochs("import train", loader="train.build_loader(range(8))"),
        fails=NO_WORKERS,
        working=(("num_workers=0", "num_workers=1"),),
    ),
    Subject(
        "DLL605",
        "a default of 0 in another file",
        entry="train.py",
        smaller=(("1000", "64"),),
        fails=NO_WORKERS,
        working=(("default=0", "default=1"),),
    ),
    Subject(
        "DLL605",
        "an option that may be 0",
        epochs("import train", loader="train.main()"),
        smaller=(("1000", "64"),),
        arguments=("--workers", "0"),
        fails=NO_WORKERS,
        working=(("args.workers,", "1,"),),
    ),
    Subject(
        "DLL605",
        "prefetching without workers",
        epochs("import train", loader="train.build_loader(range(8))"),
        fails=NO_WORKERS,
        working=(("prefetch_factor=4", "prefetch_factor=4, num_workers=1"),),
    ),
    Subject(
        "DLL605",
        "a parameter that nobody fills",
        epochs("import train", loader="train.build_loader(range(8))"),
        fails=NO_WORKERS,
        working=(("workers=0", "workers=1"),),
    ),
    *(
        Subject(
            "DLL608",
            title,
            program(
                "import queue",
                f"import {module}",
                before="class Results:\n    def __init__(self):\n        self.items = [1, 2]\n\n"
                "    def get(self, timeout):\n        if self.items:\n            return self.items.pop()\n"
                "        raise queue.Empty\n\n    def put_nowait(self, item):\n        raise queue.Full\n",
                body=f"for epoch in range(2):\n    print({call})",
            ),
            fails="'function' object has no attribute",
            working=((r"[\w.]*Queue\.(Empty|Full)", "Exception"),),
            unfixed={NESTED: "another function gets the class", TWICE: "the class stands in a tuple"},
        )
        for title, module, call in (
            ("the exception of a queue", "train", "list(train.drain(Results()))"),
            ("where `queue` is a queue", "drain", "drain.offer(Results(), 1)"),
        )
    ),
    Subject(
        "DLL609",
        "a sampler, and shuffle",
        epochs("import train", loader="train.build_loader(range(8), [1.0] * 8)"),
        fails="mutually exclusive with shuffle",
        working=(("shuffle=True", "shuffle=False"),),
    ),
    Subject(
        "DLL609",
        "a batch sampler, and a batch size",
        epochs("import train", loader="train.build_loader(range(20))"),
        fails="batch_sampler option is mutually exclusive",
        working=(("batch_sampler=batches", "batch_sampler=None"), ("drop_last=True", "drop_last=False")),
    ),
    Subject(
        "DLL609",
        "an iterable dataset",
        epochs("import train", loader="train.loader"),
        fails="expected unspecified shuffle option",
        working=(("shuffle=True", "shuffle=False"),),
        data={"rows.txt": b"one\ntwo\nthree\nfour\nfive\n"},
    ),
    Subject(
        "DLL609",
        "no batches, and no last one",
        epochs("import train", loader="train.build_loader(range(8))"),
        fails="batch_size=None option disables auto-batching",
        working=(("drop_last=True", "drop_last=False"),),
    ),
    Subject(
        "DLL612",
        "its own context",
        program(
            "import torch",
            "import train",
            before=ROWS,
            body="model = torch.nn.Linear(3, 1)\ntrain.train(Rows(), model)\n"
            "proof.show(list(model.weight.grad), model.bias.grad)\nproof.cost(proof.noted())",
        ),
        smaller=(("range(100)", "range(2)"), ("batch_size=32, num_workers=4", "batch_size=2, num_workers=2")),
        costs="how often workers unpickle the dataset in two epochs",
    ),
]

NOT_RUN = {
    "DLL103": "needs a GPU; its fix is a suggestion without an edit",
    "DLL203": "a suggestion without an edit",
    "DLL205": "a suggestion without an edit",
    "DLL206": "a suggestion without an edit",
    "DLL302": "a suggestion without an edit",
    "DLL303": "a suggestion without an edit",
    "DLL304": "a suggestion without an edit",
    "DLL305": "a suggestion without an edit",
    "DLL403": "needs a GPU for pinned memory; its fix is a suggestion without an edit",
    "DLL404": "a suggestion without an edit",
    "DLL613": "needs a GPU: run before and after its edit on an H200",
}
"""Rules whose remedy is not run: no edit, or one that needs a GPU."""
