"""The declarations that a library module can make: the rows of its tables, and `Library`, which contains them.

Names of APIs are canonical ones (`libraries.index.canonical`). `()` stands for a call, so that "lmdb.open().begin" is a
method of what `lmdb.open` returned, `[]` for an item and `[:]` for a slice.

The rows are named tuples, as making a frozen dataclass takes five times as long and every check makes all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from dllint.libraries.pickling import Mode, Refusal
from dllint.screen import Words

Harm = Literal["error", "warning", "info", ""]
ReaderKind = Literal[
    "records", "lines", "opaque", "handle", "text", "table", "frame", "rows", "hub", "columns", "column"
]
"""What a call gives: nested Python objects ("records"), strings ("lines"), whatever was pickled ("opaque"), an open
file ("handle"), all of its text as one string ("text"), an object that holds records and gives them by methods
("table"), a pandas table, a part or a column of one ("frame"), or its rows as Python objects ("rows")."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
Elements = Literal["same", "indexed", "zipped", "some", "other", "endless"]


class TrainerApi(NamedTuple):
    """A class of a framework that makes loaders by the options it is given.

    Attributes:
        params: positional parameters in order.
        options: the parameter that takes the options.
        datasets: the parameters that take datasets.
        collate: the parameter that takes the `collate_fn`.
        maker: the method that makes the loader; a class of the project that has its own makes what that says.
    """

    params: tuple[str, ...]
    options: str
    datasets: tuple[str, ...]
    collate: str
    maker: str


class LoaderApi(NamedTuple):
    """A class (or factory) that makes a DataLoader, or the options by which a trainer makes one.

    Attributes:
        params: positional parameters in order.
        dataset: the parameter that takes the dataset.
        names: parameters whose name differs from torch's: torch's name → this API's.
        trainers: the classes that make loaders by these options.
        wraps: the dataset class that it makes an object of, with its own arguments; "" where it makes none.
        configured: the number of workers that the configuration has where the dataset is not given by its name; 0 where
            it takes no configuration.
    """

    params: tuple[str, ...]
    dataset: str = "dataset"
    names: Mapping[str, str] = NOTHING
    trainers: Mapping[str, TrainerApi] = NOTHING
    wraps: str = ""
    configured: int = 0


class LauncherApi(NamedTuple):
    """A call that starts a process which runs a function.

    Attributes:
        target: name of the parameter that takes the function; "" where the method called belongs to it.
        params: positional parameters in order.
        args: parameter with the tuple of positional arguments; "*" where they follow the target, "each" where every
            call gets one element of the iterable that follows it, "unpacked" where it gets what such an element
            holds, and "zip" where it gets an element of each iterable that follows.
        kwargs: parameter with the dict of keyword arguments.
        config: parameter whose value the function gets as its only argument; "" where there is none.
        method: the start method, or the name of the parameter that says so (`=start_method`), or "default" for the
            one in force, or "fresh" where the process inherits nothing, not even a start method; "executor", "pool" and
            "elastic" where the receiver says so.
        fallback: the start method where the receiver or the parameter does not say one.
        lead: number of arguments put before the caller's (a process index).
        daemonic: whether its processes may not have children.
        cuda: whether its processes may compute on CUDA; False where it starts them for other devices.
    """

    target: str
    params: tuple[str, ...]
    args: str = "args"
    kwargs: str = "kwargs"
    config: str = ""
    method: str = "default"
    fallback: str = "default"
    lead: int = 0
    daemonic: bool = False
    cuda: bool = True


class PoolApi(NamedTuple):
    """A class of process pools.

    Attributes:
        context: the parameter that takes a multiprocessing context, and `context_at` its position.
        initargs_at: position of `initargs`, which each process of the pool is given.
    """

    context: str
    context_at: int
    initargs_at: int


class Hooks(NamedTuple):
    """`entries` are methods of a framework's class that call `methods` of the project's objects.

    `iterates` says whether the entries iterate the loaders that they are given, and `holds` by which parameters the
    constructor takes loaders that they iterate; `params` are its positional parameters in order. `objects` are those
    by which it takes objects of the project, and `gives` what the methods get of it: their parameter → its own.
    """

    entries: tuple[str, ...]
    methods: tuple[str, ...]
    iterates: bool = False
    holds: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    gives: Mapping[str, str] = NOTHING


class When(NamedTuple):
    """A condition on an argument: the row applies only where it is true.

    Attributes:
        keyword: its name; "" for the receiver's own first argument.
        position: its position; -1 where it is keyword-only.
        test: "on" (given, neither None nor false), "off" (given as false), "reads" (a mode string, absent or without
            `w`, `a` and `x`), else what its value must come from: ".npz" the end of a string, other names an API.
    """

    keyword: str
    position: int
    test: str


class Opener(NamedTuple):
    """A call that opens a handle: what it opens, and how that behaves in workers.

    Attributes:
        what: in words, for "`Rows.file` is …".
        harm: severity where forked processes share it; "" where they may.
        effect: what was seen then.
        mapped: what the message calls it ("the memory map") where it maps its file into memory; "" where it does not.
        array: it is an array (or table) over mapped or shared memory, so that pickling it writes all of its data.
        ends: methods after whose call it is harmless.
        parts: methods whose result reads through the same handle, as a cursor does.
        when: the condition of the row; of several rows for one name the first that applies counts.
    """

    what: str
    harm: Harm = ""
    effect: str = ""
    mapped: str = ""
    array: bool = False
    ends: frozenset[str] = frozenset({"close"})
    parts: frozenset[str] = frozenset()
    when: When | None = None


class FileOpener(NamedTuple):
    """A function that opens a file.

    Attributes:
        mode: where it takes its mode, which says what pickle refuses about the file; None where that is not known.
        shared: what forked processes share; None where that was not measured.
        lines: whether iterating and reading it gives strings (or bytes).
    """

    mode: Mode | None = None
    shared: Opener | None = None
    lines: bool = False


class Maker(NamedTuple):
    """A function that makes an array.

    Attributes:
        library: "numpy" or "torch".
        shape: where the shape is: "first" (one argument, an int or a tuple), "dims" (each argument a dimension),
            "count" (`arange`), "file" (a whole file is read), "same" (as large as what it is given), "other" (made of
            what it is given, in another size).
        size: keyword that gives the shape where no position does.
        position: position of the shape.
        item: bytes per element unless `dtype=` says otherwise.
        mapped: keyword that makes it a memory map instead of a copy.
        dtype_at: position of the element type.
        alone: False where one of it is small (an image), so that it counts only where many are kept.
        read: False where nothing is read until an array is made of it.
        table: it reads a table of text or records, where one column is small beside the whole.
    """

    library: str
    shape: str
    size: str = "shape"
    position: int = 0
    item: int = 8
    mapped: str = ""
    dtype_at: int = -1
    alone: bool = True
    read: bool = True
    table: bool = False


DECODED = Maker("numpy", "file", alone=False)
"""One image, sound or volume out of many."""
UNREAD = DECODED._replace(read=False)


HOLDS = "holds"
RELEASES = "releases"


class Operation(NamedTuple):
    """A tensor operation: whether its result shares the storage of its input.

    Attributes:
        effect: `HOLDS` (a view, or the input itself where nothing needs to change), `RELEASES` (a result of its own).
        source: where it was read.
        unless: what makes a `HOLDS` a copy: "arguments" (any but a CPU device: another device or type may be meant),
            "type" (only an input of that very type is returned as it is), or "" (nothing).
    """

    effect: str
    source: str
    unless: str = ""


class CudaApi(NamedTuple):
    """A call that uses CUDA, or initializes it in its process.

    Attributes:
        poisons: a process that forks after the call leaves its children without CUDA.
        fails: the call raises RuntimeError in a process that was forked from such a one.
    """

    poisons: bool
    fails: bool


class NativePool(NamedTuple):
    """Threads that a package starts in the process, outside of Python, and that a fork does not copy.

    Attributes:
        what: in words.
        functions: functions that run on them.
        tables: beginnings of the names of functions that give a table.
        methods: methods of a table that run on them.
        lazy: beginnings of the names of functions and methods after which methods only build a query.
        runs: methods that run such a query.
    """

    what: str
    functions: frozenset[str]
    tables: tuple[str, ...]
    methods: frozenset[str]
    lazy: tuple[str, ...] = ()
    runs: frozenset[str] = frozenset()


class Seeder(NamedTuple):
    """A function that seeds generators of the process it runs in.

    Attributes:
        families: the generators: "random", "numpy", "torch".
        keyword: the name of the parameter that takes the seed; it is the first.
    """

    families: tuple[str, ...]
    keyword: str = "seed"


SEEDS_ALL = Seeder(("random", "numpy", "torch"))


class Generator(NamedTuple):
    """A class (or factory) of generator objects.

    Attributes:
        label: how messages call it.
        family: the library.
        reseeding: methods that give the object another state.
    """

    label: str
    family: str
    reseeding: frozenset[str]


class OwnDraws(NamedTuple):
    """What draws from a random generator that a library keeps for itself, so that torch does not seed it in workers.

    Attributes:
        label: how messages call the library.
        prefix: the beginning of the names of its classes or functions; `names` and `beginnings` their last parts.
        remedy: which help text says what seeds it.
        reseeding: last names of what gives it another state.
        ranged: last names of classes that draw only where an argument is a range (a tuple or a list), or a probability
            between 0 and 1.
        methods: beginnings of the methods that draw, besides calling the object; None for functions.
        since, until: the first and last version that leaves its generator unseeded; () for all.
        methods_of_start: start methods under which workers begin in the same state.
        loaders: beginnings of the names of functions that seed it as `worker_init_fn`.
    """

    label: str
    prefix: str
    remedy: str
    reseeding: frozenset[str]
    names: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    ranged: frozenset[str] = frozenset()
    methods: tuple[str, ...] | None = ()
    since: tuple[int, ...] = ()
    until: tuple[int, ...] = ()
    methods_of_start: tuple[str, ...] = ("fork", "spawn", "forkserver")
    loaders: str = ""

    def has(self, name: str) -> bool:
        """Whether a canonical name is one of these."""
        last = name.rpartition(".")[2]
        return name.startswith(self.prefix) and (
            last in self.names or last in self.ranged or bool(self.beginnings and last.startswith(self.beginnings))
        )


class Iterates(NamedTuple):
    """A function whose result goes through the elements of arguments.

    Attributes:
        arguments: which positional arguments.
        elements: what it gives: the "same" elements, each "indexed" by a number, "zipped" into tuples, "some" of them,
            "other" ones made from them, or the same in "endless" repetition.
        lazily: whether the arguments are iterated only while the result is, and not at the call.
        inside: whether it goes through what the elements of the arguments hold: `chain.from_iterable(lists)`.
    """

    arguments: slice
    elements: Elements
    lazily: bool = True
    inside: bool = False


FIRST, SECOND, ALL, FROM_SECOND = slice(0, 1), slice(1, 2), slice(0, None), slice(1, None)


class Library(NamedTuple):
    """What dllint knows about one library. A module of `dllint.libraries` defines it as `LIBRARY`.

    Attributes:
        aliases: other names of its APIs → the canonical ones.
        renamed: beginnings of names that are canonical under another beginning: "pytorch_lightning.".
        kept: beginnings of names that `renamed` leaves alone.
        exports: names that a star import gives, besides those that other facets name.
        loaders: what makes a DataLoader.
        gives_argument: functions whose result stands for their first argument: a loader that they prepare, a copy.
        gives_arguments: functions whose result stands for what they are given, a tuple where that is several things.
        datasets: base classes of datasets; `iterable_datasets` those that a DataLoader iterates as a whole in each
            worker; `plain_bases` base classes that have no `__iter__` to share out data by.
        dataset_wrappers: datasets that hold other datasets.
        lists_arguments: those of them that make a list of what they are given, so that no generator is kept.
        pipelines: datasets whose methods each add a stage and give the dataset back.
        subsets: datasets of which an index of several items, or one of the methods, gives the dataset with these items
            alone; a name that ends with "." is the beginning of many.
        lets_go: arguments that a class only uses while its object is made, by the class.
        keeps_as_given: classes that hold what they are given and change nothing of it.
        keeps_arguments: functions whose result holds their arguments, though they are not named like a class.
        launchers: what starts processes that run a function; `pools` the classes of process pools.
        hooks: classes of a framework that call methods of the project.
        runs_methods: base classes whose own methods run others of the class that inherits: by base class and method.
        thread_executors: what starts threads with its first task; `thread_pools` what starts them when it is made.
        locks: what a fork copies as it is, held or not.
        native_pools: packages whose functions run on threads of their own, which forked processes wait for in vain.
        runs_opencv: classes whose objects run OpenCV's thread pool when they are called.
        files: functions that open a file; `openers` what opens anything else that matters when it is shared or mapped.
        refusals: constructors and openers whose result cannot be pickled.
        unpicklable_functions: functions that cannot be pickled, as methods of an object of their module.
        run_time_classes: what makes a class that pickle looks up by its name in the module.
        named_as_wrapped: decorators whose result takes over the qualified name of the function and is pickled by it.
        pickles_by_value: picklers that write lambdas, local functions and local classes by value.
        replaces_pickle: packages whose pools pickle functions by value, or that teach pickle to.
        readers: what turns a file into Python objects.
        path_functions: last names of functions that take a path.
        arrays: what makes arrays; `size_keeping` methods and attributes whose result is as large as the array.
        tensor_methods: methods of a tensor, or of the array that `numpy()` gives; `tensor_functions` functions, and
            `tensor_attributes` attributes that share the storage.
        new_tensors: what gives a tensor with a storage of its own at every call: functions, the objects of classes
            whose name ends with "()", and the first item of what a function whose name ends with "[0]" gives.
        networks: patterns of the names of functions that give a network with its weights, often hundreds of tensors.
        cuda_calls: what calls do to CUDA; `cuda_device_arguments` those that matter where the named argument, or the
            first positional one, is CUDA; `makes_on_device` those that make a tensor where `device=` says.
        seeders: functions that seed global generators.
        seed_free: functions that give the same for the same arguments.
        of_the_process: functions whose result stays the same for the life of a training process and all its workers.
        rank_functions: last names of functions that return a process's rank or world size.
        generators: generator objects whose state workers inherit by fork, or by pickling, alike.
        own_draws: what draws from a generator of the library's own.
        undrawing: members of generators that draw nothing.
        drawing: beginnings of the names of functions that draw from global generators; `reordering` those of them that
            change an order, or draw nothing.
        worker_info: last names of functions by which code learns which worker it runs in.
        unsplit_packages: packages whose readers know nothing of torch's workers: iterating what they give reads all of
            it in each worker. Readers that split by worker on their own are left out.
        iterates: functions that go through the elements of their arguments.
        positions: functions and methods that work out a position of a number, by their last names.
        words: what the byte screen looks for, besides what the other facets give.
    """

    aliases: Mapping[str, str] = NOTHING
    renamed: Mapping[str, str] = NOTHING
    kept: tuple[str, ...] = ()
    exports: frozenset[str] = frozenset()
    loaders: Mapping[str, LoaderApi] = NOTHING
    gives_argument: frozenset[str] = frozenset()
    gives_arguments: frozenset[str] = frozenset()
    datasets: frozenset[str] = frozenset()
    iterable_datasets: frozenset[str] = frozenset()
    plain_bases: frozenset[str] = frozenset()
    dataset_wrappers: frozenset[str] = frozenset()
    lists_arguments: frozenset[str] = frozenset()
    pipelines: frozenset[str] = frozenset()
    subsets: Mapping[str, frozenset[str]] = NOTHING
    lets_go: Mapping[str, frozenset[str]] = NOTHING
    keeps_as_given: frozenset[str] = frozenset()
    keeps_arguments: frozenset[str] = frozenset()
    launchers: Mapping[str, LauncherApi] = NOTHING
    pools: Mapping[str, PoolApi] = NOTHING
    hooks: Mapping[str, Hooks] = NOTHING
    runs_methods: Mapping[str, Mapping[str, tuple[str, ...]]] = NOTHING
    thread_executors: frozenset[str] = frozenset()
    thread_pools: frozenset[str] = frozenset()
    locks: frozenset[str] = frozenset()
    native_pools: Mapping[str, NativePool] = NOTHING
    runs_opencv: frozenset[str] = frozenset()
    files: Mapping[str, FileOpener] = NOTHING
    openers: Mapping[str, tuple[Opener, ...]] = NOTHING
    refusals: Mapping[str, Refusal] = NOTHING
    unpicklable_functions: Mapping[str, Refusal] = NOTHING
    run_time_classes: frozenset[str] = frozenset()
    named_as_wrapped: frozenset[str] = frozenset()
    pickles_by_value: frozenset[str] = frozenset()
    replaces_pickle: frozenset[str] = frozenset()
    readers: Mapping[str, ReaderKind] = NOTHING
    path_functions: frozenset[str] = frozenset()
    arrays: Mapping[str, Maker] = NOTHING
    size_keeping: frozenset[str] = frozenset()
    tensor_methods: Mapping[str, Operation] = NOTHING
    tensor_functions: Mapping[str, Operation] = NOTHING
    tensor_attributes: frozenset[str] = frozenset()
    new_tensors: frozenset[str] = frozenset()
    networks: tuple[str, ...] = ()
    cuda_calls: Mapping[str, CudaApi] = NOTHING
    cuda_device_arguments: Mapping[str, tuple[str, CudaApi]] = NOTHING
    makes_on_device: frozenset[str] = frozenset()
    seeders: Mapping[str, Seeder] = NOTHING
    seed_free: frozenset[str] = frozenset()
    of_the_process: frozenset[str] = frozenset()
    rank_functions: frozenset[str] = frozenset()
    generators: Mapping[str, Generator] = NOTHING
    own_draws: tuple[OwnDraws, ...] = ()
    undrawing: frozenset[str] = frozenset()
    drawing: tuple[str, ...] = ()
    reordering: frozenset[str] = frozenset()
    worker_info: frozenset[str] = frozenset()
    unsplit_packages: frozenset[str] = frozenset()
    iterates: Mapping[str, Iterates] = NOTHING
    positions: frozenset[str] = frozenset()
    words: Words = Words()
