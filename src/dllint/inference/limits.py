"""All limits of the analysis by name, with their purpose.

Anything beyond a limit counts as unknown, so a limit costs findings. Each time a limit is reached is counted, and
`dllint check --verbose` and `dllint trace` report the counts. The values were chosen by measuring findings and
processor time on public repositories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
_met: ContextVar[Counter[str]] = ContextVar("limits_met")


def count() -> Counter[str]:
    """Start a new count, for one project. Returns the counter, keyed by the names of the limits."""
    counter: Counter[str] = Counter()
    _met.set(counter)
    return counter


@dataclass(frozen=True)
class Limit:
    """A limit of the analysis. `name` is its name in reports, `most` the largest value allowed."""

    name: str
    most: int

    def met(self, times: int = 1) -> None:
        """Count that the analysis stopped here."""
        counter = _met.get(None)
        if counter is not None and times:
            counter[self.name] += times

    def exceeded(self, number: int) -> bool:
        """Whether a number is above the limit; if so, count it."""
        if number <= self.most:
            return False
        self.met()
        return True

    def reached(self, number: int) -> bool:
        """Whether the limit leaves no room for one more; if so, count it."""
        if number < self.most:
            return False
        self.met()
        return True

    def first(self, items: Sequence[T]) -> Sequence[T]:
        """Return the first items, up to the limit; if any are left out, count it."""
        if len(items) > self.most:
            self.met()
            return items[: self.most]
        return items


# The interpreter: values

VALUES = Limit("values of one expression", 24)
"""The rest becomes Unknown. Work grows with the product of the values of an expression's parts."""
TYPE_ALIASES = Limit("aliases of types that name one another", 4)
CLASSES = Limit("classes of objects among the values of one expression", 100)
"""Objects of different classes come from a registry or a family of subclasses, and none may displace another."""
ITEMS = Limit("items of one container", 40)
QUESTION_DEPTH = Limit("questions nested in one another", 80)
"""Keeps Python's stack from overflowing."""
PAIRS = Limit("pairs of values of an operator's two sides", 25)

# The interpreter: calls and activations

CONTEXT_DEPTH = Limit("the call stack that one activation keeps", 3)
"""Beyond it, the caller is any caller."""
CONTEXTS = Limit("activations of one function, by their call", 12)
"""So that work grows with the project, not with its paths."""
NESTED_CONTEXTS = Limit("activations of one function, by their call and its caller", 12)
OBJECT_NESTING = Limit("objects created by methods of other objects", 2)
QUESTIONS = Limit("questions that one question leads to", 200_000)
"""Keeps the time and memory of the largest programs in bounds: a launch among tens of thousands of functions
may lead to most of them. Beyond the limit, the rest of that question is unknown. The largest question of speechbrain
leads to 65,000."""
BASE_QUESTIONS = Limit("questions that the bases of one class lead to", 20_000)
DYNAMIC_QUESTIONS = Limit("questions that one call of an unnamed function leads to", 100_000)
"""All such calls of a program are looked into together, by the first question that needs one of them."""
OUTSIDE_QUESTIONS = Limit("questions that the assignments to attributes of other objects lead to", 300_000)
"""All of a program are looked into together: which of them set an attribute of a dataset?"""
CALLER_LEVELS = Limit("callers of callers that are searched for the value of a parameter", 3)
ATTEMPTS = Limit("times that an answer is worked out that depends on the question around it", 2)
"""So that work on a recursion grows linearly with its length."""
RESOLVING_LEVELS = Limit("callers of callers while the call graph itself is resolved", 1)
"""The method that a call runs depends on the possible values of its receiver."""
CANDIDATE_CALLS = Limit("calls of one name among which callers are looked for", 400)
ALIASES = Limit("names under which one function is called", 60)
PASSED_PARAMETERS = Limit("parameters that one function is passed to", 200)
KEPT_CALLS = Limit("calls of one name that may call what a parameter was given", 40)
GIVEN_ACTIVATIONS = Limit("activations of one function, by the functions and switches that they are given", 12)
HANDING_STEPS = Limit("functions that hand on a function before it is called", 3)
OVERRIDES = Limit("methods of subclasses that one call can mean", 12)
NAMESAKES = Limit("methods of one name that a call on an unknown object can mean", 4)
NAMED = Limit("classes that configuration files name, of which any can be meant", 20)
INTERPOLATIONS = Limit("entries of a configuration that name one another", 8)
LAZY_CONFIGS = Limit("configuration modules of which any can be meant", 30)
MEMBERS = Limit("members of a module of which any can be meant", 12)
ENTRIES_READ = Limit("steps from a name back to the entry that a program reads it from", 12)
CHOICES = Limit("classes of a module, or subclasses of a class, of which any can be meant", 100)
"""As many as `CLASSES`. What is done with their objects decides among them: where some are datasets, only these come to
a loader."""
CONSTRUCTOR_STEPS = Limit("constructors that call one another", 8)

# The interpreter: containers and origins

CONTAINER_DEPTH = Limit("containers inside one another", 5)
MERGES = Limit("dicts that are merged into one another", 20)
"""Keeps Python's stack from overflowing, as `QUESTION_DEPTH` does: a step evaluates nothing."""
SPREADS = Limit("assignments to attributes of other objects whose names only a run tells", 120)
"""Which objects they change is asked of all of them at once, by the first attribute of an object that is looked up.
Beyond, none of them is followed (fairseq has 29 of them, pytorch/rl 44, PyTorch itself 339)."""
PLACES = Limit("places that one container may come to", 120)
RUNS = Limit("calls of one function that changes a container", 8)
ITERATION_DEPTH = Limit("wrappers around what a loop goes through", 4)
ORIGIN_DEPTH = Limit("steps back to where a value comes from", 40)
"""A query visits each place once, so that depth costs no more than the length of the path."""
ORIGINS = Limit("places that one value comes from", 40)
ORIGIN_STEPS = Limit("steps of one question about origins", 4000)

# Files

CONNECTING_BYTES = Limit("bytes of files that only connect others by imports", 6_000_000)
"""Keeps the time and memory of the largest projects in bounds, in which nearly all files import one another (those of
PyTorch itself have 46 MB). The files nearest to loaders and launches are read; each of the others is counted. The
largest of 194 projects has 4.3 MB of such files."""

FAILED_CASES = Limit("constants of one `match` that its later cases exclude", 40)
"""Counted per file; the facts leave out the others."""
CONFIGURATION_FILES = Limit("configuration files of the project that are looked into", 1000)
CONFIGURATION_DEPTH = Limit("folders inside one another that are searched for configuration files", 8)

# The project: loaders, datasets, processes

CONFIGURED_LOADERS = Limit("loaders that configuration modules describe, each with a class that no other names", 60)
CALLED_NAMES = Limit("names under which loaders are made, or processes started", 300)
CONSTRUCTORS = Limit("partials and constructors between an object and that of a class from outside", 6)
LOADER_PATHS = Limit("calls of the function that makes a loader, by dataset and worker count", 60)
DATASETS = Limit("dataset objects of one loader", 160)
"""Beyond it, only one more per class that has none yet."""
DATASETS_OF_CLASS = Limit("dataset objects of one class behind one loader", 6)
ASSUMED_DATASETS = Limit("classes of datasets that no loader is seen to read", 60)
DATASET_PIECES = Limit("values that one dataset holds", 600)
PIECE_DEPTH = Limit("objects inside one another that a dataset holds", 5)
INIT_FUNCTIONS = Limit("functions that a dataset's constructor runs", 80)
OPENCV_STEPS = Limit("calls of OpenCV, each on the result of the next", 4)
EXTERNAL_DEPTH = Limit("objects from outside the project inside one another", 4)
WORKER_FUNCTIONS = Limit("functions that one entry of worker code runs", 150)
WORKER_KINDS = Limit("kinds of one dataset class, by the functions that they hold", 12)
PROCESS_FUNCTIONS = Limit("functions that run in one process", 400)
VISITED_ACTIVATIONS = Limit("activations of one function, by the calls that a walk through a process meets", 4)
LAUNCH_CONTEXTS = Limit("calls of the function around a launch", 24)
LAUNCHES = Limit("launches of a project, one for each call of the function around them", 500)
"""Beyond it, one per place. Functions that launch one another have as many as the product of their calls."""
LAUNCH_ROUNDS = Limit("rounds in which launches make other launches known", 3)
TOP_LEVEL_FUNCTIONS = Limit("functions that the calls at the top level of one file lead to", 3000)
"""Only files with hundreds of calls at their top level have more: one of PyTorch with 737 leads to 180,000."""
TESTED_STEPS = Limit("expressions that a condition is traced through", 6)
TESTED_RETURNS = Limit("returns of one function that a condition calls", 3)
CHAINS = Limit("chains by which one start method reaches a function, with the same literal arguments", 3)
LITERAL_ARGUMENTS = Limit("literal arguments with which one start method reaches a function", 6)
CHAIN_LENGTH = Limit("calls of one chain from a launch to a loader", 80)
AFTER_SETTING = Limit("functions that run after a start method is set", 200)
RETURNING_LOADERS = Limit("functions between the use of a loader and the one that makes it", 20)
MODULES_ABOVE = Limit("functions on the way up to a program's module", 300)
CONTAINERS = Limit("containers of one project", 200)
QUOTED_LINES = Limit("lines of shell scripts that continue a quotation", 100)
TOUCHING_FUNCTIONS = Limit("functions that a dataset is passed to before its workers start", 24)
ALTERNATIVES_SENT = Limit("classes that an attribute of a sent object may have", 2)
WAYS_TO_A_LAUNCH = Limit("ways that bring a start method to a launch, with what it is given on each", 16)
SAMENESS_DEPTH = Limit("calls and assignments that are followed to compare the iterations of a loop", 6)
HANDLE_HOLDERS = Limit("objects of one dataset that may keep a handle", 60)
ARRAY_DEPTH = Limit("expressions that an array is made from", 6)
ARRAY_STEPS = Limit("names, calls and operators between an array and what it is worked out of", 12)
COUNTING_DEPTH = Limit("containers inside one another that are counted", 4)
CHANGES = Limit("changes of one container that are looked into", 12)
EXCLUDED_WAYS = Limit("ways that a trace shows as excluded", 6)
"""Affects only the report: the analysis itself continues."""

# Rules

SHARDING_DEPTH = Limit("steps between an iterator and what it reads", 12)
DEPENDENCE_DEPTH = Limit("steps between a seed and the worker's number", 30)
OPTION_CALLERS = Limit("calls whose worker counts are compared with options", 12)
SEEDING_DEPTH = Limit("calls between worker_init_fn and a seed", 3)
EXHAUSTION_DEPTH = Limit("steps between an iterator and its end", 8)
CAP_CALLERS = Limit("functions on the way to a cap on OpenCV's threads", 60)
TEST_DEPTH = Limit("steps between a test and what it asks for: the number of workers, or whether this is one", 5)
DEVICE_DEPTH = Limit("steps between a device and what chooses it", 5)
DEVICE_PLACES = Limit("places that what is handed to another process may come from, asked whether it is on the GPU", 60)
ANCESTORS = Limit("functions that lead to a fork", 60)
SETTING_CALLERS = Limit("callers of a function that sets the start method", 4)
STORES_OF_ATTRIBUTE = Limit("assignments to one attribute in the methods of its class", 4)
OUTSIDE_STORES = Limit("assignments to attributes of one name, by code of other objects", 20)
PROGRAM_FUNCTIONS = Limit("functions between a program that sets an option and a test of it", 40)
UNCHOSEN_CALLERS = Limit("callers of a function, up to an option that is off by default", 4)
PATH_USE_DEPTH = Limit("functions that a path is handed through", 4)
READING_DEPTH = Limit("expressions between a record and the file it is read from", 40)
BATCH_CALLS = Limit("functions that give back parts of a batch, called by one another", 1)
TRAINING_DEPTH = Limit("calls between a loop over epochs, the loop over batches and `backward`", 4)
TRAINING_FUNCTIONS = Limit("functions of one loop over batches that are searched for `backward`", 100)
