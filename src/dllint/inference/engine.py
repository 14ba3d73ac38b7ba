"""The linked project: composes the parts of the interpreter, which query one another through `interface`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.config import Settings
from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import MORE_CASES, FileFacts
from dllint.inference import limits
from dllint.inference.activations import Activations
from dllint.inference.callgraph import CallGraph
from dllint.inference.decisions import Decisions
from dllint.inference.edges import Caller, Target
from dllint.inference.evaluate import Evaluator
from dllint.inference.hierarchy import Hierarchy
from dllint.inference.imports import Imports
from dllint.inference.interface import Engine, Knowledge, Processes
from dllint.inference.mappings import Mappings
from dllint.inference.memo import Memory
from dllint.inference.named_tuples import NamedTuples
from dllint.inference.objects import Objects
from dllint.inference.parameters import Parameters
from dllint.inference.stores import Stores
from dllint.inference.symbols import Symbols
from dllint.inference.values import (
    CHOSEN,
    Actual,
    Actuals,
    Class,
    Frame,
    Function,
    Instance,
    Module,
    Partial,
    Pattern,
    Site,
    Value,
    Values,
)
from dllint.linking.expressions import stored_attributes, use_as_key
from dllint.linking.implicit_calls import add_implicit_calls, common_to
from dllint.linking.import_graph import ImportGraph
from dllint.linking.reads import ReadOfProject
from dllint.linking.recorded import RecordedFile
from dllint.linking.source import SourceFile, last_name
from dllint.linking.target_conditions import TargetConditions
from dllint.modules import ModuleIndex

if TYPE_CHECKING:
    from collections.abc import Mapping


_plain = tuple.__new__
"""Makes a named tuple in half the time that its class takes."""


class NoProcesses:
    """Stands in for the launches until they are known: no call starts a process."""

    def launched(self, function: Function) -> list[Caller]:
        return []

    def started_at(self, file: SourceFile, index: int) -> Iterable[Function]:
        return ()


class World:
    """The linked project. Its parts compute answers on demand and memoize them; nothing changes after construction."""

    def __init__(
        self,
        facts: Mapping[str, FileFacts],
        settings: Settings,
        knowledge: Callable[[Engine], Knowledge],
        paths: Iterable[str] | None = None,
        recording: bool = False,
    ) -> None:
        """Link the files of a project.

        Args:
            facts: the facts of the files that matter, by path.
            settings: the configuration.
            knowledge: builds the knowledge about libraries.
            paths: all files of the project, including irrelevant ones without facts.
            recording: record what the analysis reads of the files, see `linking.recorded`.
        """
        self.settings = settings
        self.limits = limits.count()
        limits.FAILED_CASES.met(sum(MORE_CASES in one.loaded for one in facts.values()))
        self.targets = TargetConditions(settings.targets)
        linked = {path: self.targets.reached(SourceFile(path, facts[path])) for path in sorted(facts)}
        self.files: dict[str, SourceFile] = {
            path: RecordedFile(file) if recording else file for path, file in linked.items()
        }
        self.reads = ReadOfProject()
        self.index = ModuleIndex(paths if paths is not None else self.files)
        self.import_graph = ImportGraph(self.files, self.index)
        self.memory = Memory()
        self.symbols = Symbols(self.files, self.index)
        self.imports = Imports(self)
        self.values: Evaluator = Evaluator(self)
        self.parameters = Parameters(self)
        self.hierarchy = Hierarchy(self)
        self.stores = Stores(self)
        self.objects = Objects(self)
        self.mappings = Mappings(self)
        self.named_tuples = NamedTuples(self)
        self.knowledge = knowledge(self)
        self.processes: Processes = NoProcesses()
        self.calls: CallGraph = CallGraph(self)
        self.activations = Activations(self)
        self.decisions = Decisions(self)
        self.reads.common = common_to([*linked.values()])
        implicit = add_implicit_calls(linked.values(), self.reads.common, self.knowledge.iterates)
        self._implicit = {
            name: [(self.files[file.path], index) for file, index in calls] for name, calls in implicit.items()
        }
        for file in self.files.values():
            if isinstance(file, RecordedFile):
                file.adopt_implicit()
        self._calling: defaultdict[str, list[SourceFile]] = defaultdict(list)
        self._loading: defaultdict[str, list[SourceFile]] = defaultdict(list)
        for file in self.files.values():
            for name in file.raw.facts.called:
                self._calling[name].append(file)
            for name in file.raw.facts.loaded:
                self._loading[name].append(file)
        self._files_calling: dict[str, tuple[SourceFile, ...]] = {}
        self._files_loading: dict[str, tuple[SourceFile, ...]] = {}
        self._called: dict[str, list[tuple[SourceFile, int]]] = {}
        self._loaded: dict[str, list[tuple[SourceFile, int]]] = {}
        self._contexts: dict[tuple[object, ...], int] = {}
        self._frames: dict[tuple[object, ...], Frame] = {}
        self._activated: dict[tuple[str, int, Frame | None, Function], Frame] = {}
        self._forgetful: set[Frame] = set()
        self._actuals: dict[tuple[str, int, Frame | None], Actuals] = {}
        self._decorated: dict[str, list[tuple[SourceFile, int]]] | None = None
        self._aliased: set[str] | None = None
        self._aliases: dict[str, dict[str, None]] | None = None
        self._stored_under: dict[str, dict[str, None]] | None = None
        self._defined: dict[str, list[tuple[SourceFile, int]]] | None = None
        self._classes: list[Class] | None = None
        self._written_keys: dict[str, set[str]] = {}

    # Indices

    def called(self, name: str) -> list[tuple[SourceFile, int]]:
        """Return the calls whose callee's last name is `name`."""
        found = self._called.get(name)
        if found is None:
            self.reads.called.add(name)
            found = [(file, index) for file in self._calling.get(name, ()) for index in file.raw.facts.called[name]]
            found += self._implicit.get(name, ())
            self._called[name] = found
        return found

    def files_calling(self, name: str) -> Iterable[SourceFile]:
        """Return the files with calls whose callee's last name is `name`, for the flows between names."""
        found = self._files_calling.get(name)
        if found is None:
            files = [file for file in self._calling.get(name, ()) if file.raw.facts.called[name]]
            files += (file for file, _ in self._implicit.get(name, ()))
            found = self._files_calling[name] = tuple(dict.fromkeys(files))
        return found

    def files_loading(self, name: str) -> Iterable[SourceFile]:
        """Return the files that read `name` without calling it, for the flows between names."""
        found = self._files_loading.get(name)
        if found is None:
            files = (file for file in self._loading.get(name, ()) if file.raw.facts.loaded[name])
            found = self._files_loading[name] = tuple(files)
        return found

    def loaded(self, name: str) -> list[tuple[SourceFile, int]]:
        """Return the scopes that read `name` without calling it."""
        found = self._loaded.get(name)
        if found is None:
            self.reads.loaded.add(name)
            found = [(file, scope) for file in self._loading.get(name, ()) for scope in file.raw.facts.loaded[name]]
            self._loaded[name] = found
        return found

    def classes(self) -> list[Class]:
        if self._classes is None:
            self._classes = [
                Class(file, index)
                for file in self.files.values()
                for index, scope in enumerate(file.raw.scopes)
                if scope.kind == "class"
            ]
        return self._classes

    def decorated(self, names: Iterable[str]) -> Iterator[tuple[SourceFile, int]]:
        """Yield the definitions with a decorator of one of these last names."""
        if self._decorated is None:
            self._decorated = {}
            for file in self.files.values():
                for index, scope in enumerate(file.raw.scopes):
                    for decorator in scope.decorators:
                        expr = decorator.expr
                        if isinstance(expr, CallRef):
                            expr = file.calls[expr.index].func
                        if isinstance(expr, (Name, Attribute)):
                            self._decorated.setdefault(last_name(expr), []).append((file, index))
        for name in names:
            yield from self._decorated.get(name, ())

    def aliases(self, name: str) -> Iterable[str]:
        """Return the last names that are bound to a value with this last name, or to a container that holds it."""
        if self._aliases is None:
            self._aliases = {}
            for file in self.files.values():
                for source, target in file.facts.aliases:
                    if source != target:
                        self._aliases.setdefault(source, {})[target] = None
        self.reads.aliases.add(name)
        return self._aliases.get(name, ())

    def is_alias(self, name: str) -> bool:
        """Whether anything is bound to a name, or put into a container of that name, under its other name."""
        if self._aliased is None:
            self._aliased = {target for file in self.files.values() for _, target in file.raw.facts.aliases}
        self.reads.aliased.add(name)
        return name in self._aliased

    def stored_under(self, attribute: str) -> Iterable[str]:
        """Return the names of the attributes that are stored under another object's attribute: `self.load =
        task.load_batches`."""
        if self._stored_under is None:
            self._stored_under = {}
            for file in self.files.values():
                for scope in range(len(file.raw.scopes)):
                    for key, stored in stored_attributes(file.raw, scope):
                        self._stored_under.setdefault(key, {})[stored] = None
        self.reads.stored_under.add(attribute)
        return self._stored_under.get(attribute, ())

    def defined(self, name: str) -> list[tuple[SourceFile, int]]:
        """Return the functions and classes of that name."""
        if self._defined is None:
            self._defined = {}
            for file in self.files.values():
                for index, scope in enumerate(file.raw.scopes):
                    if scope.kind in ("function", "class"):
                        self._defined.setdefault(scope.name, []).append((file, index))
        self.reads.defined.add(name)
        return self._defined.get(name, [])

    def chosen_by_name(self, value: Instance) -> bool:
        """Whether the class of an object is only one candidate for an unknown name."""
        if value.file is None or value.call < 0:
            return False
        built = self.knowledge.built(value.file, value.call, value.frame)
        return CHOSEN in (built or self.calls.callees(value.file, value.call, value.frame))

    def writes_key(self, name: str) -> bool:
        """Whether the project uses the name as a keyword argument, dict key, item key or attribute."""
        return bool(self._uses_as_key(name))

    def fills_key(self, name: str) -> bool:
        """Whether a dict of the project has an entry of that name whose value is not 0."""
        return "filled" in self._uses_as_key(name)

    def _uses_as_key(self, name: str) -> set[str]:
        found = self._written_keys.get(name)
        if found is None:
            uses: set[str] = {use_as_key(file.raw, name) for file in self.files.values()}
            found = self._written_keys[name] = uses - {""}
            self.reads.keys.add(name)
        return found

    # Places and activations

    def call_site(self, file: SourceFile, index: int, frame: Frame | None) -> Site:
        """Return the site where the parts of a call are evaluated."""
        call = file.place_of(index)
        statement = call.statement
        return _plain(Site, (file, call.scope, call.region, (statement[0], statement[1]), frame))

    def actuals(self, file: SourceFile, index: int, frame: Frame | None) -> Actuals:
        """Return the arguments of a call as written."""
        key = (file.path, index, frame)
        found = self._actuals.get(key)
        if found is None:
            site = self.call_site(file, index, frame)
            found = Actuals()
            for argument in file.calls[index].args:
                actual = Actual(argument.value, site, argument.span, argument.keyword == "*")
                if argument.keyword in (None, "*"):
                    found.add(actual)
                elif argument.keyword == "**":
                    found.mappings.append(actual)
                else:
                    found.keywords[argument.keyword] = actual
            self._actuals[key] = found
            found = self._actuals[key] = self.knowledge.configured(found, file, index, frame)
        return found

    def made_with(self, value: Instance | Partial) -> Actuals:
        """Return the arguments that an object was constructed with; for a partial, those that it binds."""
        if isinstance(value, Partial):
            found = self.actuals(value.file, value.call, value.frame).without_first()
            return self.made_with(value.function).then(found) if isinstance(value.function, Partial) else found
        assert value.file is not None
        found = self.actuals(value.file, value.call, value.frame)
        return found if value.by is None else self.made_with(value.by).then(found)

    def frame(self, file: SourceFile, index: int, frame: Frame | None, function: Function) -> Frame:
        """Return the activation of `function` that a call creates.

        Above a call depth, or once a function has many activations, the caller's own activation is dropped from the
        context, and finally the call itself.
        """
        parent = self.remembered(frame)
        key = (file.path, index, parent, function)
        found = self._activated.get(key)
        if found is None:
            found = self._activated[key] = self._activation(file, index, parent, function)
        return found

    def _activation(self, file: SourceFile, index: int, parent: Frame | None, function: Function) -> Frame:
        if index in file.decorating or index in file.making_decorators:
            return self._called_frame(file, index, parent, function)
        forgotten = self._forgotten(parent)
        if parent is not forgotten:
            if self._may_add(function, limits.NESTED_CONTEXTS, nested=True):
                return self._called_frame(file, index, parent, function)
            return self.frame(file, index, forgotten, function)
        if self._may_add(function, limits.CONTEXTS, nested=False):
            return self._called_frame(file, index, parent, function)
        of = function.receiver.of if isinstance(function.receiver, Instance) else None
        closure = self.decorating(function.frame)
        known = Function(function.file, function.scope, function.receiver if of is not None else None, closure)
        forgetful = self.intern(("any", function.key, of, closure), None, known, None)
        self._forgetful.add(forgetful)
        return forgetful

    def _called_frame(self, file: SourceFile, index: int, parent: Frame | None, function: Function) -> Frame:
        frame = self.intern((file.path, index, parent, function), self.actuals(file, index, parent), function, parent)
        frame.call = (file.path, index)
        return frame

    def _may_add(self, function: Function, most: limits.Limit, nested: bool) -> bool:
        """Count one more activation of a function, unless the limit on distinct activations is reached."""
        key = (function.key, self.decorating(function.frame), nested)
        count = self._contexts.get(key, 0)
        if most.reached(count):
            return False
        self._contexts[key] = count + 1
        return True

    def told_apart(self, file: SourceFile, index: int, function: Function, frame: Frame) -> Frame:
        """Return the activation of `function` for this call and its arguments if `frame` is a merged activation."""
        if frame not in self._forgetful or index < 0:
            return frame
        return self._called_frame(file, index, None, function)

    def kept_apart(self, file: SourceFile, index: int, caller: Frame | None, target: Target) -> Frame:
        """Return the activation that a call in the activation `caller` creates, however deep the call stack is.

        For walks that visit each function once: there are no more such activations than functions.
        """
        frame = target.frame
        merged = frame in self._forgetful or (frame.call == (file.path, index) and frame.parent is not caller)
        if caller is None or not merged or index < 0:
            return self.told_apart(file, index, target.function, frame)
        return self._called_frame(file, index, caller, target.function)

    def making_frame(self, value: Instance, init: Function) -> Frame:
        """Return the activation of `__init__` that constructs an object. It is never merged with others, however many
        there are:
        each object has its own arguments.
        """
        assert value.file is not None
        if value.by is not None:
            return self.intern(("partial", value), self.made_with(value), init, self.remembered(value.frame))
        frame = self.frame(value.file, value.call, value.frame, init)
        if frame not in self._forgetful:
            return frame
        return self._called_frame(value.file, value.call, self.remembered(value.frame), init)

    def remembered(self, frame: Frame | None) -> Frame | None:
        """Return the activation, or a merged one if it is too deep to keep its context."""
        if frame is None or limits.CONTEXT_DEPTH.reached(frame.depth) or limits.OBJECT_NESTING.exceeded(frame.nesting):
            return self._forgotten(frame)
        return frame

    def decorating(self, frame: Frame | None) -> Frame | None:
        """Return the activation if it is that of a decorator called with its definition, else None."""
        call = frame.call if frame is not None else None
        return frame if call is not None and call[1] in self.files[call[0]].decorating else None

    def _forgotten(self, frame: Frame | None) -> Frame | None:
        """Return the merged activation that stands for one without its context. In a decorator's wrapper, the wrapped
        function stays known."""
        closure = self.decorating(frame.closure) if frame is not None else None
        return self.enclosed(closure) if closure is not None else None

    def enclosed(self, closure: Frame) -> Frame:
        """Return an activation that knows only the enclosing function's activation."""
        key = (("enclosed", closure), False)
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = Frame(None, None, None, closure, False)
        return found

    def forgets(self, frame: Frame) -> bool:
        """Whether an activation is merged: it stands for many contexts at once."""
        return frame in self._forgetful

    def intern(
        self,
        key: tuple[object, ...],
        actuals: Actuals | None,
        function: Function,
        parent: Frame | None,
        chain: bool = False,
    ) -> Frame:
        """Return the unique Frame of a key."""
        found = self._frames.get((key, chain))
        if found is None:
            found = self._frames[key, chain] = Frame(actuals, function.receiver, parent, function.frame, chain)
        return found

    def receiver_frame(self, receiver: Instance) -> Frame:
        """Return an activation that knows only its receiver."""
        key = (("receiver", receiver), False)
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = Frame(None, receiver, None, None, False)
        return found

    def impossible(self, site: Site) -> bool:
        """Whether a condition around the site is certainly false in its activation."""
        return bool(site.region) and self.decisions.impossible(site)

    def untaken(self, site: Site) -> bool:
        """Whether a place stands in a branch that is certainly not taken, in the known activation around it or, if it
        asks for what the command line refuses, in any."""
        if not site.region:
            return False
        return self.decisions.refused(site) if site.frame is None else self.decisions.untaken(site)

    def refused(self, site: Site) -> bool:
        """Whether a condition around a place asks for a choice that the command line refuses."""
        return bool(site.region) and self.decisions.refused(site)

    def unreached(self, site: Site) -> bool:
        """Whether no call of the enclosing function reaches a place: there are known callers, and the context of each
        excludes it. Outside of functions: whether a condition around it is certainly false."""
        if not site.region:
            return False
        if site.file.scopes[site.scope].kind != "function":
            return self.impossible(site)
        callers = self.calls.callers(Function(site.file, site.scope))
        return bool(callers) and all(self.impossible(site._replace(frame=caller.frame)) for caller in callers)

    def classes_of(self, module: Module) -> Values:
        """Return the classes of a module that an unknown name can select, with `CHOSEN`, unless there are too many.

        They are those that it defines or, as in a package's `__init__.py`, imports.
        """
        classes = [member for member in self.members_like(module, Pattern("", "")) if isinstance(member, Class)]
        defined = [member for member in classes if member.file.path == module.path] or classes
        return (*defined, CHOSEN) if defined and not limits.CHOICES.exceeded(len(defined)) else ()

    def members_like(self, base: Value, pattern: Pattern) -> Values:
        """Return the values of the members of a module, or of an object of the project, whose names match a pattern."""
        found: list[Value] = []
        if isinstance(base, Module):
            for name in self.imports.names(base.path):
                if pattern.fits(name):
                    found += self.imports.member(base.path, name)
        elif isinstance(base, Instance) and isinstance(base.of, Class):
            for owner in self.hierarchy.line(base.of):
                if isinstance(owner, Class):
                    for name in {**self.hierarchy.own_methods(owner), **self.stores.own_stores(owner)}:
                        if pattern.fits(name):
                            found += self.values.attribute(base, name)
        return tuple(dict.fromkeys(found))
