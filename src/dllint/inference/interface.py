"""The Protocols through which the parts of the interpreter query one another, and their external inputs.

Each part depends on `Engine`, never on another part: only `engine.py` composes them. Knowledge about libraries
(`Knowledge`) and processes (`Processes`) comes from layers above and is injected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from dllint.config import Settings
from dllint.facts.nodes import Attribute, Expr
from dllint.facts.schema import Event, Param
from dllint.inference.arguments import Bound
from dllint.inference.edges import Caller, Given, Target, Targets
from dllint.inference.entries import Change, Found
from dllint.inference.memo import Memory
from dllint.inference.symbols import Symbols
from dllint.inference.values import (
    Actual,
    Actuals,
    Class,
    Data,
    Display,
    External,
    Frame,
    Function,
    Instance,
    Module,
    Parsed,
    Partial,
    Pattern,
    Site,
    Value,
    Values,
)
from dllint.inference.values import Mapping as DictValue
from dllint.linking.assignments import Spread, Store
from dllint.linking.bindings import Binding
from dllint.linking.import_graph import ImportGraph
from dllint.linking.reads import ReadOfProject
from dllint.linking.source import SourceFile
from dllint.linking.target_conditions import TargetConditions
from dllint.modules import ModuleIndex

T = TypeVar("T")
Call = tuple[SourceFile, int]
"""A call by its file and its index there."""


class Knowledge(Protocol):
    """Queries about code outside the project."""

    @property
    def builtins(self) -> frozenset[str]: ...

    @property
    def dict_classes(self) -> frozenset[str]:
        """Classes whose objects are dicts or namespaces."""

    @property
    def same_items(self) -> frozenset[str]:
        """Functions that return a sequence; each of its items is treated as the sequence itself."""

    def handler(self, name: str) -> Handler | None:
        """Return the handler that evaluates a call of an external function; None if there is none."""

    def gives_subsets(self, value: Instance) -> bool:
        """Whether indexing with several items returns the object itself, restricted to those items."""

    def joins(self, value: Instance) -> bool:
        """Whether `+` of two such objects returns one that holds both, as that of datasets does."""

    @property
    def new_storage(self) -> Collection[str]:
        """Calls that return a tensor with its own storage."""

    @property
    def without_state(self) -> Collection[str]:
        """Classes that set no attributes of their own."""

    @property
    def compositions(self) -> Collection[str]:
        """Classes whose objects call what they were given, one after another."""

    @property
    def known_parts(self) -> Collection[str]:
        """Items, at a fixed position, of the tuples that calls return, as `torchaudio.load[0]`."""

    def reads(self, name: str) -> bool:
        """Whether a call reads a file into Python objects, or accesses some of those."""

    def is_table(self, name: str) -> bool:
        """Whether a call returns a table with named columns."""

    @property
    def run_time_classes(self) -> frozenset[str]:
        """Functions that create a class."""

    @property
    def iterates(self) -> Mapping[str, tuple[slice, str]]:
        """Functions that iterate their arguments, by their last names → the slice of positional arguments, and the kind
        of elements: the "same", "indexed" by a number, "zipped", "some" of them, or "other" ones."""

    def canonical(self, name: str) -> str:
        """Return the canonical name of an API that can be reached by several names."""

    def arguments_kept(self, name: str) -> Collection[tuple[str, int]]:
        """Return the attributes in which objects of external classes with this last name keep arguments, each with the
        argument's position."""

    def in_dictionary(self, base: Expr, index: Expr, site: Site) -> Values | None:
        """Return an entry of the attribute dict of an object or module; None for an entry of anything else."""

    def run_by(self, base: str, method: str) -> tuple[str, ...]:
        """Return the methods that a method of an external base class runs on an object of a subclass."""

    def ends_chain(self, base: str) -> bool:
        """Whether the constructor of an external class calls that of no class after it, or gives it no arguments."""

    def exports(self, module: str, name: str) -> bool:
        """Whether `from module import *` is known to bind `name`."""

    def held_by(self, value: Instance) -> Values:
        """Return the constructor arguments that an external object retains."""

    @property
    def command_lines(self) -> frozenset[str]:
        """Functions that instantiate the classes passed to them with arguments from the command line."""

    def calls_back(self, name: str) -> bool:
        """Whether an external function may call the functions passed to it during the call."""

    def surely_calls(self, name: str) -> bool:
        """Whether it is known of an external function that it calls the functions passed to it."""

    def hands_out(self, name: str) -> bool:
        """Whether what an external function or class makes may hold objects that the project made."""

    def passes_on(self, name: str) -> bool:
        """Whether an external class is a loader, which calls the functions passed to it later."""

    def calls_forward(self, bases: Iterable[str]) -> bool:
        """Whether calling an object of a class with these bases runs its method `forward`."""

    def hook_callers(self, name: str) -> Iterable[str]:
        """Return the framework methods that call a hook of this name."""

    def called_hooks(
        self, name: str, file: SourceFile, index: int, frame: Frame | None
    ) -> Iterator[tuple[Function, Frame]]:
        """The hooks that a call of a framework's method runs, each with its activation."""

    def parameter(self, function: Function, name: str, frame: Frame | None = None) -> Values | None:
        """The values that a command line, or for an argument that the call `frame` omits a decorator, passes."""

    def in_parsed(self, value: Parsed, key: str) -> Found:
        """Return the values of an option of a parsed command line."""

    def options(self, value: Parsed, dest: str) -> list[Call]:
        """Return the calls that declare an option of a command line."""

    def chooses(self, dest: str) -> bool:
        """Whether an option of a command line with this destination accepts only the choices that the source lists."""

    def in_data(self, value: Data, key: object) -> Found:
        """Return the value under a key of a configuration file."""

    def configures(self, key: str) -> bool:
        """Whether a configuration file of the project has an entry of that name."""

    def attribute(self, value: Instance, name: str) -> Values:
        """Return the value of an attribute of an external object, or of an external base, if more is known than its
        name; otherwise empty."""

    def member(self, owner: External | Class | Function, name: str) -> Values:
        """Return the value that a library is known to put under a name of a module or of an object in it; for a
        function or class, the value that a decorator puts there."""

    def configured_classes(self) -> Values:
        """Return the project classes that its configuration files name, with `CHOSEN`; empty if they name none."""

    def entries(self, registry: Instance) -> Values:
        """Return the classes and functions registered in a registry; empty if the value is not a registry."""

    def looked_up(self, index: int, here: Site) -> Values:
        """Return the values that a call takes out of a registry; empty if it does not."""

    def built(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """Return the classes and functions that a call may select by a configuration and call."""

    @property
    def instantiating(self) -> frozenset[str]:
        """Last names of functions that instantiate objects described by a configuration."""

    def instantiated(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """Return the classes and functions that such a call may call."""

    def described(self, values: Values) -> Values:
        """Return the values, with each dict that describes an object replaced by the object."""

    def parts(self, value: Value) -> Values:
        """Return the value itself or the contents of a container, with objects in the place of what describes them."""

    def described_loaders(self) -> Iterator[tuple[SourceFile, int, str]]:
        """Yield the calls that make a dict from which a framework builds a loader, each with the name of its API."""

    def setting(self, key: str) -> frozenset[object]:
        """Return the constants that the project's dicts have under a key of a configuration."""

    def made_of(self, values: Values, file: SourceFile) -> Values:
        """Return the values of a configuration entry, with each description of an object replaced by the object."""

    def configured(self, actuals: Actuals, file: SourceFile, index: int, frame: Frame | None) -> Actuals:
        """Return the arguments that reach the callee selected by a configuration; the call's own if it selects none."""

    def fills(self, file: SourceFile, index: int) -> bool:
        """Whether a call fills the fields of the objects that it creates from a command line or a file."""


class Processes(Protocol):
    """Queries about the calls that start processes, and the functions that those processes run."""

    def launched(self, function: Function) -> list[Caller]:
        """Return the launches that start a process which runs the function."""

    def started_at(self, file: SourceFile, index: int) -> Iterable[Function]:
        """Return the functions run by the processes that a call starts."""


class Evaluation(Protocol):
    """Queries about the values of expressions."""

    def evaluate(self, expr: Expr | None, site: Site) -> Values: ...
    def name(self, name: str, site: Site) -> Values: ...
    def binding(self, name: str, binding: Binding, site: Site) -> Values: ...
    def definition(self, site: Site, index: int) -> Values: ...
    def owned(self, values: Values, expr: Expr | None, site: Site, owner: tuple[int, str]) -> Values: ...
    def attribute(self, value: Value, name: str, site: Site | None = None) -> Values: ...
    def item_of(self, value: Value, key: Value) -> Values: ...
    def element_of(self, value: Value) -> Values: ...
    def passed(self, actual: Actual) -> Values: ...
    def method(self, function: Function, receiver: Value | None) -> Values: ...
    def result(self, callee: Value, given: Given, by: Partial | None = None) -> Values: ...
    def returned(self, function: Function, frame: Frame | None) -> Values: ...
    def yielded(self, function: Function, frame: Frame | None) -> Values: ...
    def truth(self, values: Values) -> bool | None: ...
    def compared(self, op: str, lefts: Values, rights: Values) -> Values: ...


class ParameterValues(Protocol):
    """Queries about the values of parameters."""

    def values(self, function: Function, name: str, frame: Frame | None) -> Values: ...
    def bound(self, function: Function, name: str, frame: Frame) -> Bound: ...
    def default(self, function: Function, name: str) -> Values: ...
    def given(self, actuals: Actuals, params: list[Param], name: str, skip: int) -> Found: ...
    def actuals_of(self, function: Function, name: str, frame: Frame | None) -> Iterator[Actual | None]: ...


class ImportedNames(Protocol):
    """Queries about the names that import statements bind."""

    def imported(self, file: SourceFile, binding: Binding, name: str) -> Values: ...
    def find(self, file: SourceFile, module: str, level: int) -> str | None: ...
    def member(self, path: str, name: str) -> Values: ...
    def imported_by(self, file: SourceFile) -> set[str]: ...
    def importers(self, file: SourceFile) -> list[tuple[SourceFile, Event]]: ...
    def fitting(self, file: SourceFile, name: Pattern) -> list[Module]: ...
    def submodule(self, path: str, name: str) -> Values: ...
    def star(self, file: SourceFile, name: str, after: tuple[int, int] = ...) -> Values | None: ...
    def or_starred(self, name: str, values: Values, found: Sequence[tuple[Binding, Site]], site: Site) -> Values: ...


class ClassHierarchy(Protocol):
    """Queries about bases, methods and subclasses."""

    def bases(self, cls: Class) -> tuple[Value, ...]: ...
    def line(self, cls: Class) -> tuple[Value, ...]: ...
    def methods(self, cls: Class, name: str) -> list[Function]: ...
    def has_alternatives(self, cls: Class) -> bool: ...
    def own_methods(self, cls: Class) -> Mapping[str, int]: ...
    def method(self, cls: Class, name: str, after: Class | None = None) -> Function | None: ...
    def subclasses(self, cls: Class) -> list[Class]: ...
    def created_by(self, metaclass: Class) -> tuple[Class, ...]: ...
    def called_on(self, function: Function, cls: Class) -> tuple[Class, ...]: ...
    def overrides(self, cls: Class, name: str) -> Iterator[Function]: ...
    def meant(self, value: Instance, name: str) -> list[Function]: ...
    def externals(self, cls: Class) -> list[str]: ...
    def made_bases(self, cls: Class) -> list[Instance]: ...
    def decorators(self, function: Function) -> list[str]: ...
    def receiver_kind(self, function: Function) -> str: ...
    def is_property(self, function: Function) -> bool: ...
    def annotation(self, function: Function, name: str) -> Values: ...
    def annotated(self, annotation: Expr, site: Site) -> Values: ...


class Attributes(Protocol):
    """Queries about attributes of objects and modules."""

    def attribute(self, value: Value, name: str) -> Values: ...
    def reassigned(self, expr: Attribute, site: Site) -> Values | None: ...
    def handed_over(self, expr: Attribute, site: Site) -> Values | None: ...
    def call_method(self, value: Instance, name: str) -> Values: ...


class AttributeStores(Protocol):
    """Queries about the statements that set attributes of objects."""

    def owners(self, value: Instance) -> list[Class]: ...
    def overridden(self, value: Instance, owner: Class, store: Store | Spread) -> bool: ...
    def on_class(self, owner: Class, store: Store | Spread) -> bool: ...
    def always(self, owner: Class, store: Store | Spread) -> bool: ...
    def fills(self, owner: Class, store: Store) -> bool: ...
    def skipped(self, site: Site) -> bool: ...
    def store_site(self, value: Instance, owner: Class, store: Store | Spread) -> Site: ...
    def method_frame(self, value: Instance, owner: Class, method: int) -> Frame: ...
    def init_frame(self, value: Instance, owner: Class) -> Frame | None: ...
    def own_stores(self, cls: Class) -> dict[str, list[Store]]: ...
    def outside_stores(self, name: str) -> list[tuple[SourceFile, Store]]: ...
    @property
    def set_on_names(self) -> frozenset[str]: ...
    def own_spreads(self, cls: Class) -> list[Spread]: ...
    def outside_spreads(self) -> list[tuple[SourceFile, Spread]]: ...
    def spread(self, spread: Spread, name: str, site: Site, own: bool = False) -> Found: ...


class Containers(Protocol):
    """Queries about the contents of lists, dicts and namespaces."""

    def lookup(self, expr: Expr, site: Site, key: object) -> Found | None: ...
    def in_value(self, value: Value, key: object, reader: tuple[str, int] | None = None) -> Found | None: ...
    def slots(self, value: Display) -> list[tuple[Expr, Site]] | None: ...
    def length(self, values: Values) -> int | None: ...
    def dict_like(self, cls: Class) -> bool: ...
    def from_unpacked(self, actuals: Actuals, key: object) -> Found: ...
    def item(self, value: Value, key: Value) -> Values: ...
    def keys_apart(self, value: Value, keys: Values) -> Values: ...
    def all_values(self, value: DictValue) -> Values: ...
    def values_of(self, value: Value) -> Values | None: ...
    def all_keys(self, value: DictValue) -> Values: ...
    def elements(self, value: Value) -> Values: ...
    def flattened(self, value: Value) -> Values: ...
    def local_changes(self, expr: Expr, site: Site, key: object) -> list[tuple[Change, Site, bool]]: ...
    def changes_in(self, file: SourceFile) -> list[Change]: ...
    def changes_of(self, value: Value) -> Iterator[tuple[Change, Site]]: ...


class FieldsByPosition(Protocol):
    """Queries about named tuples."""

    def fields(self, cls: Instance) -> tuple[str, ...] | None: ...
    def made(self, cls: Instance, given: Given) -> Values: ...
    def view(self, value: Value) -> Display | None: ...
    def replaced(self, value: Display, index: int, here: Site) -> Display: ...
    def as_dict(self, value: Display, index: int, here: Site) -> DictValue: ...


class Calls(Protocol):
    """Queries about the edges of the call graph."""

    def callees(self, file: SourceFile, index: int, frame: Frame | None) -> Values: ...
    def targets(self, file: SourceFile, index: int, frame: Frame | None = None) -> Targets: ...
    def applied(self, function: Function, given: Given) -> Iterator[Target]: ...
    def callers(self, function: Function) -> list[Caller]: ...
    def called_later(self, function: Function) -> bool: ...
    def only_tested(self, function: Function) -> bool: ...


class HigherOrder(Protocol):
    """Queries about activations that differ in the callables that they receive."""

    def differ(self, path: str, scope: int) -> bool: ...
    def given(self, file: SourceFile, scope: int, frame: Frame | None) -> frozenset[tuple[str, int]]: ...


class Engine(Protocol):
    """The interpreter as its parts and the libraries use it."""

    settings: Settings
    files: dict[str, SourceFile]
    index: ModuleIndex
    import_graph: ImportGraph
    memory: Memory
    reads: ReadOfProject
    symbols: Symbols
    processes: Processes

    @property
    def targets(self) -> TargetConditions: ...
    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def values(self) -> Evaluation: ...
    @property
    def parameters(self) -> ParameterValues: ...
    @property
    def imports(self) -> ImportedNames: ...
    @property
    def hierarchy(self) -> ClassHierarchy: ...
    @property
    def objects(self) -> Attributes: ...
    @property
    def stores(self) -> AttributeStores: ...
    @property
    def mappings(self) -> Containers: ...
    @property
    def named_tuples(self) -> FieldsByPosition: ...
    @property
    def calls(self) -> Calls: ...
    @property
    def activations(self) -> HigherOrder: ...

    def called(self, name: str) -> list[Call]: ...
    def files_calling(self, name: str) -> Iterable[SourceFile]: ...
    def files_loading(self, name: str) -> Iterable[SourceFile]: ...
    def loaded(self, name: str) -> list[tuple[SourceFile, int]]: ...
    def classes(self) -> list[Class]: ...
    def decorated(self, names: Iterable[str]) -> Iterator[tuple[SourceFile, int]]: ...
    def aliases(self, name: str) -> Iterable[str]: ...
    def stored_under(self, attribute: str) -> Iterable[str]: ...
    def defined(self, name: str) -> list[tuple[SourceFile, int]]: ...
    def chosen_by_name(self, value: Instance) -> bool: ...
    def call_site(self, file: SourceFile, index: int, frame: Frame | None) -> Site: ...
    def actuals(self, file: SourceFile, index: int, frame: Frame | None) -> Actuals: ...
    def made_with(self, value: Instance | Partial) -> Actuals: ...
    def frame(self, file: SourceFile, index: int, frame: Frame | None, function: Function) -> Frame: ...
    def told_apart(self, file: SourceFile, index: int, function: Function, frame: Frame) -> Frame: ...
    def kept_apart(self, file: SourceFile, index: int, caller: Frame | None, target: Target) -> Frame: ...
    def making_frame(self, value: Instance, init: Function) -> Frame: ...
    def remembered(self, frame: Frame | None) -> Frame | None: ...
    def decorating(self, frame: Frame | None) -> Frame | None: ...
    def enclosed(self, closure: Frame) -> Frame: ...
    def receiver_frame(self, receiver: Instance) -> Frame: ...
    def intern(
        self,
        key: tuple[object, ...],
        actuals: Actuals | None,
        function: Function,
        parent: Frame | None,
        chain: bool = False,
    ) -> Frame: ...
    def impossible(self, site: Site) -> bool: ...
    def refused(self, site: Site) -> bool: ...
    def untaken(self, site: Site) -> bool: ...
    def classes_of(self, module: Module) -> Values: ...
    def members_like(self, base: Value, pattern: Pattern) -> Values: ...


Handler = Callable[[Engine, SourceFile, int, Site], "Values | None"]
"""Evaluates a call of an external function; returns None if nothing is known beyond an object of its type."""
