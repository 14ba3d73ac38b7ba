"""The declarations of a library module: the row types of its tables, and `Library`, which contains the tables.

API names are canonical (`libraries.index.canonical`). `()` stands for a call, so that "lmdb.open().begin" is a method
of the object that `lmdb.open` returned; `[]` stands for an item and `[:]` for a slice.

The rows are named tuples: every check builds all of them, and building a frozen dataclass takes five times as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from dllint.libraries.hook_facets import EachEpoch, Hooks
from dllint.libraries.pickling import Mode, Refusal
from dllint.screen import Words

Harm = Literal["error", "warning", "info", ""]
ReaderKind = Literal[
    "records", "lines", "opaque", "handle", "text", "table", "frame", "rows", "hub", "columns", "column"
]
"""What a call returns: nested Python objects ("records"), strings ("lines"), any unpickled object ("opaque"), an open
file ("handle"), a whole text as one string ("text"), an object whose methods return records ("table"), a pandas table
or a part or column of one ("frame"), the rows of a table as Python objects ("rows"), a dataset of the Hugging Face hub
("hub"), a pyarrow or polars table ("columns"), or the values of one column as Python objects ("column")."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
Elements = Literal["same", "indexed", "zipped", "some", "other", "endless"]


class TrainerApi(NamedTuple):
    """A trainer class that builds loaders from an options object.

    Attributes:
        params: positional parameters in order.
        options: the parameter that takes the options.
        datasets: the parameters that take datasets.
        collate: the parameter that takes the `collate_fn`.
        maker: the method that builds the loader; a subclass in the project may override it.
    """

    params: tuple[str, ...]
    options: str
    datasets: tuple[str, ...]
    collate: str
    maker: str


class LoaderApi(NamedTuple):
    """A class (or factory) that builds a DataLoader, or the options from which a trainer builds one.

    Attributes:
        params: positional parameters in order.
        dataset: the parameter that takes the dataset.
        names: parameters whose name differs from torch's: torch's name → this API's.
        trainers: the classes that build loaders from these options.
        wraps: the dataset class that it instantiates with its own arguments; "" if none.
        configured: the number of workers that its configuration sets unless the dataset is passed by keyword; 0 if it
            takes no configuration.
        fed_by: methods of the constructed object that take the dataset → the parameter for it, which is the first.
        forks: the key of a configuration that names another start method than fork, which it sets for the whole program
            before it makes loaders, together with a cap on OpenCV's threads; "" if it sets none.
        set_up_by: the function of that framework by which a program of the project sets both; "" if it always
            does.
        seeds: whether its workers seed NumPy's global generator.
        copied: whether it is the project's copy of an old DataLoader, which refuses other arguments than torch's.
        registry: the registry of the library from which a configuration chooses the dataset; "" if none.
    """

    params: tuple[str, ...]
    dataset: str = "dataset"
    names: Mapping[str, str] = NOTHING
    trainers: Mapping[str, TrainerApi] = NOTHING
    wraps: str = ""
    configured: int = 0
    forks: str = ""
    set_up_by: str = ""
    seeds: bool = False
    fed_by: Mapping[str, str] = NOTHING
    copied: bool = False
    registry: str = ""


class LauncherApi(NamedTuple):
    """A call that starts a process which runs a function.

    Attributes:
        target: name of the parameter that takes the function, or a list with one function per process; "" if the called
            method belongs to the target.
        params: positional parameters in order.
        args: the parameter with the tuple of positional arguments; or "*" if they follow the target, "each" if each
            call receives one element of the iterable that follows, "unpacked" if such an element is unpacked into the
            call, "zip" if each call receives one element from each of the iterables that follow.
        kwargs: the parameter with the dict of keyword arguments.
        config: the parameter whose value is the function's only argument; "" if there is none.
        method: the start method, or the parameter that names it (`=start_method`), or "default" for the one in force,
            or "fresh" if the process inherits nothing, not even a start method; "executor", "pool" or "elastic" if the
            receiver determines it.
        fallback: the start method if neither the receiver nor the parameter names one.
        lead: number of arguments put before the caller's (a process index).
        daemonic: whether its processes may not have children.
        cuda: whether its processes may compute on CUDA; False if it starts them for other devices.
        by_value: whether it writes functions by value, with a pickler that takes lambdas and local functions.
        optional: whether the call may go without a function; it is no launch then, as that of a pool is none whose
            tasks follow.
        started_by: the argument of the receiver's constructor that makes it start processes, by the receiver's
            `start_method` or by `fallback`; without it the function runs in the process that calls.
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
    by_value: bool = False
    optional: bool = False
    started_by: str = ""


class PoolApi(NamedTuple):
    """A class of process pools.

    Attributes:
        context: the parameter that takes a multiprocessing context.
        context_at: position of that parameter.
        initargs_at: position of `initargs`, the arguments passed to the initializer in each process of the pool.
    """

    context: str
    context_at: int
    initargs_at: int


class When(NamedTuple):
    """A condition on an argument: a table row applies only if it is true.

    Attributes:
        keyword: its name; "" for the first argument of the call that made the receiver.
        position: its position; -1 if it is keyword-only.
        test: "on" (given, neither None nor false), "off" (given as false), "reads" (a mode string without `w`, `a` and
            `x`, or no mode), "=" and a text (nothing else can be given); otherwise the origin that its value must have:
            a suffix such as ".npz", or the name of an API.
        made: a condition on the call of that API, which made the value.
    """

    keyword: str
    position: int
    test: str
    made: When | None = None


class Opener(NamedTuple):
    """A call that opens a handle: what it opens, and how that behaves in workers.

    Attributes:
        what: the handle in words, for "`Rows.file` is …".
        harm: severity if forked processes share it; "" if they may.
        effect: the behaviour that was observed then.
        mapped: how messages call it ("the memory map") if it maps its file into memory; "" if it does not.
        array: whether it is an array (or table) over mapped or shared memory, so that pickling it writes all of its
            data.
        ends: methods that make it harmless once called.
        parts: methods whose result reads through the same handle, as a cursor does; "[]" stands for its items.
        depth: how deep items of items still do; deeper ones are what was read.
        once_read: whether forked processes may share it if the parent has not read through it.
        inherited: those of `parts` whose result forked processes may go on using, although not the handle itself.
        when: the condition of the row; among several rows for one name the first that applies is used.
    """

    what: str
    harm: Harm = ""
    effect: str = ""
    mapped: str = ""
    array: bool = False
    ends: frozenset[str] = frozenset({"close"})
    parts: frozenset[str] = frozenset()
    inherited: frozenset[str] = frozenset()
    when: When | None = None
    depth: int = 2
    once_read: bool = False


class FileOpener(NamedTuple):
    """A function that opens a file.

    Attributes:
        mode: where it takes its mode, which determines pickle's error; None if unknown.
        shared: the handle that forked processes share; None if that was not measured.
        lines: whether iterating and reading the file yields strings (or bytes).
    """

    mode: Mode | None = None
    shared: Opener | None = None
    lines: bool = False


class Maker(NamedTuple):
    """A function that creates an array.

    Attributes:
        library: "numpy" or "torch".
        shape: where the shape is: "first" (one argument, an int or a tuple), "dims" (each argument is a dimension),
            "count" (`arange`), "file" (a whole file is read), "same" (as large as its input), "other" (computed from
            its input, in another size).
        size: keyword that takes the shape, or the input of "same" and "other", if no positional argument does.
        position: position of the shape.
        item: bytes per element unless `dtype=` says otherwise.
        mapped: keyword that makes it a memory map instead of a copy.
        dtype_at: position of the element type.
        alone: False if a single array is small (an image), so that it counts only when many are kept.
        read: False if no data is read until an array is built from it.
        table: whether it reads a table of text or records, so that one column is small compared with the whole.
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
"""A decoder that returns one of many images, sounds or volumes."""
UNREAD = DECODED._replace(read=False)


HOLDS = "holds"
RELEASES = "releases"


class Operation(NamedTuple):
    """A tensor operation: whether its result shares the storage of its input.

    Attributes:
        effect: `HOLDS` (a view, or the input itself if nothing needs to change), or `RELEASES` (a result with its own
            storage).
        source: the documentation that states it.
        unless: what makes a `HOLDS` a copy: "arguments" (any argument except a CPU device, as it may name another
            device or type), "type" (only an input of that very type is returned as it is), or "" (nothing).
    """

    effect: str
    source: str
    unless: str = ""


class CudaApi(NamedTuple):
    """A call that uses CUDA, or initializes it in its process.

    Attributes:
        poisons: whether processes forked after the call cannot use CUDA.
        fails: whether the call raises RuntimeError in a process forked after CUDA was initialized.
        places: whether what it returns is on the GPU.
        unnoticed: whether PyTorch does not notice the initialization, so that the driver raises "CUDA error:
            initialization error" in the forked process.
    """

    poisons: bool
    fails: bool
    places: bool = False
    unnoticed: bool = False


class CudaArgument(NamedTuple):
    """An argument that decides whether a call has an effect on CUDA: only if it names CUDA.

    Attributes:
        keyword: its name.
        api: the effect.
        position: its position, counted from 0.
        default: whether the call has the effect without the argument.
    """

    keyword: str
    api: CudaApi
    position: int = 0
    default: bool = False


class NativePool(NamedTuple):
    """Native threads that a package starts in the process and that a fork does not copy.

    Attributes:
        what: the threads in words.
        functions: functions that run on them.
        tables: name prefixes of functions that return a table.
        methods: methods of a table that run on them.
        lazy: name prefixes of functions and methods after which methods only build a query.
        runs: methods that run such a query.
        items: whether an item or a slice of a table is a table as well.
        effect: what happens to a forked process that uses the package.
    """

    what: str
    functions: frozenset[str]
    tables: tuple[str, ...]
    methods: frozenset[str]
    lazy: tuple[str, ...] = ()
    runs: frozenset[str] = frozenset()
    items: bool = False
    effect: str = "hang"


class Seeder(NamedTuple):
    """A function that seeds generators of the process it runs in.

    Attributes:
        families: the generators: "random", "numpy", "torch".
        keyword: the name of its first parameter, which takes the seed.
    """

    families: tuple[str, ...]
    keyword: str = "seed"


SEEDS_ALL = Seeder(("random", "numpy", "torch"))


class Generator(NamedTuple):
    """A class (or factory) of random generator objects.

    Attributes:
        label: how messages call it.
        family: the library.
        reseeding: methods that set another state.
    """

    label: str
    family: str
    reseeding: frozenset[str]


class OwnDraws(NamedTuple):
    """Calls that draw from a random generator of a library's own, which torch does not seed in workers.

    Attributes:
        label: how messages call the library.
        prefix: the common prefix of the names of its classes or functions.
        remedy: the help text that explains how to seed it.
        reseeding: last names of functions that set another state.
        names: last names of the classes or functions.
        beginnings: prefixes of further last names.
        ranged: last names of classes that draw only if an argument is a range (a tuple or a list), or a probability
            between 0 and 1.
        joining: last names of classes that draw if what they are given does, and that are made for what draws: parts
            that a configuration chooses count as such.
        methods: prefixes of the methods that draw, besides calling the object; None for functions.
        since, until: the first and last version that leaves its generator unseeded; () for all.
        methods_of_start: start methods under which all workers begin in the same state.
        loaders: name prefixes of functions that seed it as `worker_init_fn`.
        generator: the attribute in which its classes, and projects' classes derived from them, keep their generator.
    """

    label: str
    prefix: str
    remedy: str
    reseeding: frozenset[str]
    names: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    ranged: frozenset[str] = frozenset()
    joining: frozenset[str] = frozenset()
    methods: tuple[str, ...] | None = ()
    since: tuple[int, ...] = ()
    until: tuple[int, ...] = ()
    methods_of_start: tuple[str, ...] = ("fork", "spawn", "forkserver")
    loaders: str = ""
    generator: str = ""

    def has(self, name: str) -> bool:
        """Whether a canonical name is one of these classes or functions."""
        last = name.rpartition(".")[2]
        return name.startswith(self.prefix) and (
            last in self.names or last in self.ranged or bool(self.beginnings and last.startswith(self.beginnings))
        )


class Iterates(NamedTuple):
    """A function whose result iterates the elements of its arguments.

    Attributes:
        arguments: the slice of positional arguments that it iterates.
        elements: what it yields: the "same" elements, "indexed" (each with a number), "zipped" into tuples, "some" of
            them, "other" ones computed from them, or the same ones in "endless" repetition.
        lazily: whether the arguments are iterated only while the result is, and not at the call.
        inside: whether it also iterates each element of the arguments: `chain.from_iterable(lists)`.
        begins: whether the call itself makes the iterators of the arguments, from which the result then reads.
    """

    arguments: slice
    elements: Elements
    lazily: bool = True
    inside: bool = False
    begins: bool = False


FIRST, SECOND, ALL, FROM_SECOND = slice(0, 1), slice(1, 2), slice(0, None), slice(1, None)


class Library(NamedTuple):
    """The facts that dllint knows about one library. A module of `dllint.libraries` defines it as `LIBRARY`.

    Attributes:
        aliases: other names of its APIs → the canonical ones.
        renamed: name prefixes → the prefix of the canonical names: "pytorch_lightning.".
        kept: name prefixes that `renamed` does not apply to.
        exports: names that a star import binds, besides those in other attributes.
        loaders: classes and functions that build a DataLoader.
        gives_argument: functions that return their first argument, or a stand-in: a loader that they prepare, a copy.
        gives_arguments: functions that return their arguments, as a tuple if there are several.
        splits_arguments: functions that return two parts of each positional argument.
        datasets: base classes of datasets; a name that ends with "." is the prefix of all classes of a module.
        iterable_datasets: those that a DataLoader iterates as a whole in each worker.
        plain_bases: base classes without an `__iter__` that could split data between workers.
        dataset_wrappers: datasets that contain other datasets → the attribute that holds these. Their constructors
            hand their arguments to no other.
        tensor_items: datasets of whose items torch's default collate function makes nothing but tensors: of tensors,
            arrays and numbers → how many items they have at most; 0 if that is not known. Pictures must have become
            tensors before.
        held_pictures: datasets that keep the pictures of a split in one NumPy array → its size in bytes, by split; the
            first is the default.
        lists_arguments: those wrappers that copy their arguments into a list, so that no generator is retained.
        pipelines: datasets whose methods each add a stage and return the dataset.
        returns_itself: class → its methods that return the object, or one that stands for it: a loader with one more
            stage.
        makes_batches: class → those of these methods after which the batches are made of new tensors.
        subsets: dataset classes that return a dataset with only some items when indexed with several, or from one of
            these methods; a name that ends with "." is a prefix.
        lets_go: class → the arguments that it uses only during construction.
        keeps_as_given: classes that retain their arguments unchanged.
        kept_as: class → its attributes → the positions of the constructor's arguments that they hold under the same
            name; -1 for a keyword. A name that ends with "." is the prefix of all classes of a module.
        keeps_arguments: functions whose result retains their arguments, though they are not named like a class.
        launchers: calls that start processes which run a function.
        pools: the classes of process pools.
        hooks: framework classes that call methods of the project.
        runs_methods: base class → its method → the methods of the subclass that it calls; a name that ends with "." is
            the prefix of all classes of a module.
        runs_before_loading: base class → the methods of the subclass that the framework calls before the object makes
            loaders.
        each_epoch: base class → the methods of the subclass that the framework calls in each epoch.
        sets_start_method: functions that set the start method of the whole program, unless it is set → the method.
        replaces_start_method: last names of functions that replace it.
        thread_executors: classes that start threads with their first task.
        thread_pools: classes that start threads when they are constructed.
        locks: locks that a fork copies in their current state, held or not.
        native_pools: packages with native threads of their own, which forked processes wait for in vain.
        runs_opencv: classes whose objects use OpenCV's thread pool when called.
        applies_opencv: prefixes of the names of methods that do the same as calling such an object.
        opencv_functions: functions that use it.
        files: functions that open a file.
        maps_itself: attributes of objects that map names to the objects' own items.
        openers: calls that open any other handle that matters when it is shared or mapped.
        refusals: constructors and openers whose result cannot be pickled.
        unpicklable_functions: functions that cannot be pickled because they are bound methods of an object of their
            module.
        run_time_classes: functions that create a class which pickle looks up by its name in the module.
        named_as_wrapped: decorators whose result takes the qualified name of the function and is pickled by it.
        pickles_by_value: picklers that write lambdas, local functions and local classes by value.
        replaces_pickle: packages whose pools pickle functions by value, or that extend pickle to do so.
        readers: calls that turn a file into Python objects.
        makes_records: functions whose result is a Python object with several parts: a graph, a molecule.
        path_functions: last names of functions that take a path.
        arrays: calls that create arrays.
        size_keeping: methods and attributes whose result is as large as the array.
        tensor_methods: methods of a tensor, or of the array that `numpy()` returns.
        tensor_functions: functions on tensors.
        tensor_attributes: attributes that share the storage.
        compositions: classes whose objects call what they were given, one after another: a list, or the arguments.
        new_tensors: calls that return a tensor with its own storage each time: functions, objects of classes whose name
            ends with "()", and the first item of the result of functions whose name ends with "[0]".
        networks: patterns of the names of functions that return a network with its weights, often hundreds of tensors.
        cuda_calls: the effect of calls on CUDA.
        cuda_contexts: the effect of context managers when a `with` enters them.
        cuda_device_arguments: calls with an effect only if the argument is CUDA.
        makes_on_device: calls that create a tensor on the device given as `device=`.
        seeders: functions that seed global generators.
        seed_free: functions that return the same result for the same arguments.
        of_the_process: functions whose result stays the same for the life of a training process and all its workers.
        rank_functions: last names of functions that return a process's rank or world size.
        generators: generator objects whose state all workers inherit, by fork or by pickling.
        own_draws: calls that draw from a generator of the library's own.
        undrawing: what draws nothing: members of generators, objects of classes whose name ends with "()".
        drawing: name prefixes of functions that draw from global generators.
        reordering: those of them that change an order, or draw nothing.
        worker_info: last names of functions that tell code which worker it runs in.
        none_in_parent: functions that return None in the main process, and something else in workers.
        unsplit_packages: packages whose readers ignore torch's workers: iterating them reads all data in each worker.
            Readers that split by worker on their own are left out.
        iterates: functions that iterate the elements of their arguments.
        positions: last names of functions and methods that compute a position from a number.
        words: words for the byte screen, besides those that follow from the other attributes.
    """

    aliases: Mapping[str, str] = NOTHING
    renamed: Mapping[str, str] = NOTHING
    kept: tuple[str, ...] = ()
    exports: frozenset[str] = frozenset()
    loaders: Mapping[str, LoaderApi] = NOTHING
    gives_argument: frozenset[str] = frozenset()
    gives_arguments: frozenset[str] = frozenset()
    splits_arguments: frozenset[str] = frozenset()
    datasets: frozenset[str] = frozenset()
    iterable_datasets: frozenset[str] = frozenset()
    plain_bases: frozenset[str] = frozenset()
    dataset_wrappers: Mapping[str, str] = NOTHING
    tensor_items: Mapping[str, int] = NOTHING
    held_pictures: Mapping[str, Mapping[str, int]] = NOTHING
    lists_arguments: frozenset[str] = frozenset()
    pipelines: frozenset[str] = frozenset()
    returns_itself: Mapping[str, frozenset[str]] = NOTHING
    makes_batches: Mapping[str, frozenset[str]] = NOTHING
    subsets: Mapping[str, frozenset[str]] = NOTHING
    lets_go: Mapping[str, frozenset[str]] = NOTHING
    keeps_as_given: frozenset[str] = frozenset()
    kept_as: Mapping[str, Mapping[str, int]] = NOTHING
    keeps_arguments: frozenset[str] = frozenset()
    launchers: Mapping[str, LauncherApi] = NOTHING
    pools: Mapping[str, PoolApi] = NOTHING
    hooks: Mapping[str, Hooks] = NOTHING
    runs_methods: Mapping[str, Mapping[str, tuple[str, ...]]] = NOTHING
    runs_before_loading: Mapping[str, tuple[str, ...]] = NOTHING
    each_epoch: Mapping[str, EachEpoch] = NOTHING
    sets_start_method: Mapping[str, str] = NOTHING
    replaces_start_method: frozenset[str] = frozenset()
    thread_executors: frozenset[str] = frozenset()
    thread_pools: frozenset[str] = frozenset()
    locks: frozenset[str] = frozenset()
    native_pools: Mapping[str, NativePool] = NOTHING
    runs_opencv: frozenset[str] = frozenset()
    applies_opencv: tuple[str, ...] = ()
    opencv_functions: frozenset[str] = frozenset()
    files: Mapping[str, FileOpener] = NOTHING
    maps_itself: frozenset[str] = frozenset()
    openers: Mapping[str, tuple[Opener, ...]] = NOTHING
    refusals: Mapping[str, Refusal] = NOTHING
    unpicklable_functions: Mapping[str, Refusal] = NOTHING
    run_time_classes: frozenset[str] = frozenset()
    named_as_wrapped: frozenset[str] = frozenset()
    pickles_by_value: frozenset[str] = frozenset()
    replaces_pickle: frozenset[str] = frozenset()
    readers: Mapping[str, ReaderKind] = NOTHING
    makes_records: frozenset[str] = frozenset()
    path_functions: frozenset[str] = frozenset()
    arrays: Mapping[str, Maker] = NOTHING
    size_keeping: frozenset[str] = frozenset()
    tensor_methods: Mapping[str, Operation] = NOTHING
    tensor_functions: Mapping[str, Operation] = NOTHING
    tensor_attributes: frozenset[str] = frozenset()
    compositions: frozenset[str] = frozenset()
    new_tensors: frozenset[str] = frozenset()
    networks: tuple[str, ...] = ()
    cuda_calls: Mapping[str, CudaApi] = NOTHING
    cuda_contexts: Mapping[str, CudaApi] = NOTHING
    cuda_device_arguments: Mapping[str, CudaArgument] = NOTHING
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
    none_in_parent: frozenset[str] = frozenset()
    unsplit_packages: frozenset[str] = frozenset()
    iterates: Mapping[str, Iterates] = NOTHING
    positions: frozenset[str] = frozenset()
    words: Words = Words()
