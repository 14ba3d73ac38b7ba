"""Name resolution: the bindings that a name can have at a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dllint.facts.schema import Event, Expr
from dllint.inference.module_stores import ModuleStores
from dllint.inference.values import Frame, Site
from dllint.linking.bindings import Binding
from dllint.linking.conditions import Atom, may_change, path_atoms
from dllint.linking.contradictions import contradictions
from dllint.linking.source import SourceFile
from dllint.modules import ModuleIndex

_plain = tuple.__new__
"""Makes a named tuple in half the time that its class takes."""


class Meaning:
    """The bindings that a name can have at a place, in any activation.

    There is one object per meaning, compared by identity.

    Attributes:
        bindings: the bindings, each with its site.
        own: how many of the first bindings belong to an enclosing scope; the others are by functions that declare the
            name global or nonlocal, or by code that sets the module's attribute.
        closures: how many functions outward that scope is.
        fixed: whether the module's own scope binds the name, so that it has the same meaning in all functions that do
            not bind it, and in all of their activations.
    """

    __slots__ = ("bindings", "closures", "fixed", "own")

    def __init__(self, bindings: list[tuple[Binding, Site]], own: int, closures: int, fixed: bool) -> None:
        self.bindings = bindings
        self.own = own
        self.closures = closures
        self.fixed = fixed

    def within(self, frame: Frame | None) -> Sequence[tuple[Binding, Site]]:
        """Return the bindings, each with its site in an activation of the function around the place."""
        for _ in range(self.closures):
            frame = frame.closure if frame is not None else None
        if frame is None:
            return self.bindings
        bindings, own = self.bindings, self.own
        if own == len(bindings) == 1:
            binding, where = bindings[0]
            return [(binding, _plain(Site, (*where[:4], frame)))]
        found = [(binding, _plain(Site, (*where[:4], frame))) for binding, where in bindings[:own]]
        return found + bindings[own:]


class Symbols:
    """Name lookup over linked files."""

    def __init__(self, files: dict[str, SourceFile], index: ModuleIndex) -> None:
        self.files = files
        self.index = index
        self._atoms: dict[tuple[str, int, int], list[Atom]] = {}
        self._meanings: dict[tuple[str, int, int, tuple[int, int], str], Meaning] = {}
        self._of_modules: dict[tuple[str, int, str], Meaning] = {}
        self.module_stores = ModuleStores(files, index)

    def atoms(self, file: SourceFile, scope: int, region: int) -> list[Atom]:
        """Return the conditions in force in a region (memoized)."""
        if not region:
            return []
        key = (file.path, scope, region)
        found = self._atoms.get(key)
        if found is None:
            found = self._atoms[key] = path_atoms(file, scope, region)
        return found

    def lookup(self, name: str, site: Site) -> Sequence[tuple[Binding, Site]]:
        """Return the bindings that `name` may refer to at `site`, each with the site at which to evaluate it."""
        return self.meaning(name, site).within(site.frame)

    def meaning(self, name: str, site: Site) -> Meaning:
        file, scope, region, at, _ = site
        key = (file.path, scope, region, at, name)
        found = self._meanings.get(key)
        if found is None:
            found = self._meanings[key] = self._mean(name, file, scope, region, at)
        return found

    def binds(self, file: SourceFile, name: str) -> bool:
        """Whether a module binds a name itself, or other code sets it there."""
        return name in file.bindings(0) or bool(self._elsewhere(name, file, 0))

    def _mean(self, name: str, file: SourceFile, scope: int, region: int, at: tuple[int, int]) -> Meaning:
        """Return the bindings of the scope that binds the name, and those by functions that declare it global or
        nonlocal."""
        closures = 0
        first, around = True, region
        while scope > 0 or (scope == 0 and first):
            kind = file.scopes[scope].kind
            if kind != "class" or first:
                found = file.bindings(scope).get(name)
                if found and any(_is_clause(binding) for binding in found):
                    found = self._of_clauses(file, found, around, at if first else None)
                if found and kind == "class" and any(one in file.clauses for one in file.regions(region)):
                    # Comprehension elements do not see the names of the class body around them.
                    found = [binding for binding in found if _is_clause(binding)]
                if found:
                    reached, always = self.reaching(file, scope, found, region, at) if first else (found, True)
                    if kind == "class" and not always:
                        own = self._at(reached, file, scope)
                        outer = self._mean(name, file, file.scopes[scope].parent, file.scopes[scope].region, (0, 0))
                        return Meaning(own + outer.bindings, len(own), closures, fixed=False)
                    own = self._at(reached or found, file, scope)
                    return Meaning(own + self._elsewhere(name, file, scope), len(own), closures, fixed=False)
            if scope == 0:
                return Meaning(self._elsewhere(name, file, 0), 0, closures, fixed=False)
            declared = file.declared(scope).get(name)
            if declared and first and at != (0, 0):
                anywhere = file.bindings_within(file.owner(name, scope), name)
                mine = [binding for index, binding in anywhere if index == scope]
                reached, always = self.reaching(file, scope, mine, region, at)
                if always:
                    own = self._at(reached, file, scope)
                    return Meaning(own, len(own), closures, fixed=False)
            if declared == "global":
                break
            if kind in ("function", "lambda"):
                closures += 1
            first = False
            around = file.scopes[scope].region
            scope = file.scopes[scope].parent
        return self._in_module(name, file, around)

    def _in_module(self, name: str, file: SourceFile, region: int) -> Meaning:
        """Return the meaning of a name in functions of a module that do not bind it; inside a comprehension it depends
        on the region."""
        bound = _without_replaced(file.bindings(0).get(name, []))
        clauses = any(_is_clause(binding) for binding in bound)
        key = (file.path, region if clauses else 0, name)
        found = self._of_modules.get(key)
        if found is None:
            if clauses:
                bound = self._of_clauses(file, bound, region, None)
            everywhere = self._at(bound, file, 0) + self._elsewhere(name, file, 0)
            found = self._of_modules[key] = Meaning(everywhere, 0, 0, fixed=True)
        return found

    @staticmethod
    def _of_clauses(
        file: SourceFile, bindings: list[Binding], region: int, at: tuple[int, int] | None
    ) -> list[Binding]:
        """Return the bindings of one scope that are visible in a region: comprehension targets are visible only inside
        it.

        `at` is the statement there, which may contain the comprehension.
        """
        for around in file.regions(region):
            clause = file.clauses.get(around)
            own = [binding for binding in bindings if binding.event is clause] if clause is not None else []
            if own:
                return own
        others = [binding for binding in bindings if not _is_clause(binding)]
        return others or [binding for binding in bindings if _begins(binding, at)]

    def _at(self, bindings: list[Binding], file: SourceFile, scope: int) -> list[tuple[Binding, Site]]:
        return [(binding, self.binding_site(binding, file, scope)) for binding in bindings]

    def _elsewhere(self, name: str, file: SourceFile, scope: int) -> list[tuple[Binding, Site]]:
        """Return the bindings of a scope's name by code outside of it: functions that declare it global or nonlocal,
        and for a module, code that sets it as the module's attribute."""
        found = [
            (binding, self.binding_site(binding, file, inner)) for inner, binding in file.bindings_within(scope, name)
        ]
        if scope == 0:
            found += self.module_stores.of(file, name)
            if file.rewrites(name) and any(one.kind == "value" for one in file.bindings(0).get(name, ())):
                found.append((Binding("opaque", None, None, -1), Site(file, 0, 0, (0, 0), None)))
        return found

    @staticmethod
    def binding_site(binding: Binding, file: SourceFile, scope: int) -> Site:
        event = binding.event
        if event is None:
            return Site(file, scope, 0, (0, 0), None)
        return Site(file, scope, event.region, event.span.start, None)

    def reaching(
        self, file: SourceFile, scope: int, bindings: list[Binding], region: int, at: tuple[int, int]
    ) -> tuple[list[Binding], bool]:
        """Return the reaching definitions at a place of the same scope, and whether one of them is always executed.

        Later bindings do not reach unless a loop leads back; one that always executes kills those before it.
        """
        only = bindings[0] if len(bindings) == 1 else None
        if at == (0, 0) or (only is not None and (only.event is None or _is_clause(only))):
            return bindings, True
        here = self.atoms(file, scope, region)
        found: list[Binding] = []
        halves: dict[tuple[int, Expr | None], bool] = {}
        always = False
        before: set[int] | None = None
        for binding in reversed(bindings):
            event = binding.event
            if event is None:
                found.append(binding)
                always = True
                continue
            if event.span.start >= at:
                loop = self.shared_loop(file, event.region, region)
                if loop and before is None:
                    before = set(self._always_before(file, bindings, region, at))
                # What each iteration binds again hides what comes later in the body of the loop.
                if loop and not any(file.encloses(loop, one) for one in before or ()):
                    found.append(binding)
                continue
            if here and event.region and self._excludes(file, scope, event, region, at, here):
                continue
            found.append(binding)
            passed = file.encloses(event.region, region) and not self._may_not_begin(file, event, region)
            if passed or self._completes(file, event, region, halves):
                always = True
                break
        found.reverse()
        return found, always

    @staticmethod
    def _may_not_begin(file: SourceFile, event: Event, region: int) -> bool:
        """Whether it is the target of a loop that ends before the place: the loop may have had no iterations."""
        if event.kind != "for" or event.detail == "comp":
            return False
        around = (file.facts.regions[index] for index in file.regions(region))
        return not any(one.kind == "for" and one.parent == event.region and one.expr == event.value for one in around)

    def _excludes(
        self, file: SourceFile, scope: int, event: Event, region: int, at: tuple[int, int], here: list[Atom]
    ) -> bool:
        """Whether the conditions at a place contradict those of an earlier statement, unless something between the two
        tests changes what they read."""
        told = list(contradictions(here, self.atoms(file, scope, event.region)))
        if not told:
            return False
        tested = file.facts.regions[event.region].span
        first = tested.start
        again = self.shared_loop(file, event.region, region) > 0
        return any(not may_change(text, file, scope, lambda one: again or first < one.span.start < at) for text in told)

    @staticmethod
    def shared_loop(file: SourceFile, left: int, right: int) -> int:
        """Return the innermost loop around two regions; 0 if none is."""
        regions = file.raw.facts.regions
        around = {index for index in file.regions(left) if regions[index].kind in ("for", "while")}
        return next((index for index in file.regions(right) if index in around), 0) if around else 0

    def _always_before(
        self, file: SourceFile, bindings: list[Binding], region: int, at: tuple[int, int]
    ) -> Iterator[int]:
        """Yield the regions of the bindings that are always executed before a place is reached."""
        for binding in bindings:
            event = binding.event
            if (
                event is not None
                and event.span.start < at
                and file.encloses(event.region, region)
                and not self._may_not_begin(file, event, region)
            ):
                yield event.region

    def _completes(
        self, file: SourceFile, event: Event, region: int, halves: dict[tuple[int, Expr | None], bool]
    ) -> bool:
        """Whether this assignment is in one branch of an `if` whose other branch was already seen."""
        if file.raw.facts.regions[event.region].kind != "if":
            return False
        entry = file.facts.regions[event.region]
        if not file.encloses(entry.parent, region):
            return False
        key = (entry.parent, entry.expr)
        if key in halves and halves[key] != entry.holds:
            return True
        halves[key] = entry.holds
        return False


def _without_replaced(bindings: list[Binding]) -> list[Binding]:
    """Return the bindings of a module's name without the imports that a class or function replaces at once:
    `class Rows(Rows)`."""
    made = (binding for binding in reversed(bindings) if binding.kind in ("class", "def"))
    last = next((one for one in made if one.event is not None and not one.event.region), None)
    return [one for one in bindings if last is None or one.kind != "import" or not _precedes(one, last)]


def _precedes(one: Binding, other: Binding) -> bool:
    return one.event is not None and other.event is not None and one.event.span.start < other.event.span.start


def _is_clause(binding: Binding) -> bool:
    """Whether it is the target of a comprehension."""
    return binding.event is not None and binding.event.kind == "for" and binding.event.detail == "comp"


def _begins(binding: Binding, at: tuple[int, int] | None) -> bool:
    """Whether the statement of a binding begins at a place."""
    event = binding.event
    return event is not None and event.span.start == at
