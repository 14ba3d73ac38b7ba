"""Random programs of plain Python, whose runs tell what the interpreter may not rule out.

A line `p7 = §7§value§` is `p7 = value` where it is read, and `p7 = note(7, value)` where it runs.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MARK = re.compile(r"§(?P<number>\d+)§(?P<value>.*)§$", re.MULTILINE)
ATOMS = (
    *("0", "1", "2", "-1", "True", "False", "None", '"a"', '"ab"', '""', "1.5", "(1, 2)", "(3,)", "()", "[1, 2]", "[]"),
    *('{"k": 1}', "{}", '("a", "b")', '["a"]', '{"k": "a", "m": 2}', "{1, 2}"),
)
TYPES = ("int", "str", "tuple", "list", "dict", "set", "bool", "float")
ATTRIBUTES = ("a0", "a1", "a2")
_LONGEST_S = 2
_MOST = 50
"""The values of one line that are noted."""


class _Enough(BaseException):
    """The program has run for long enough."""


class Program:
    """A program, made anew from its seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.probes = 0
        self.functions: list[tuple[str, list[str]]] = []
        self.classes: list[tuple[str, list[str], list[tuple[str, list[str]]]]] = []
        self.names = ["ROWS", "len(ROWS) > 0", "STATE"]
        self._make()

    @property
    def source(self) -> str:
        """The program as the interpreter reads it."""
        return MARK.sub(r"\g<value>", self._text)

    @property
    def probed(self) -> dict[int, int]:
        """The lines whose values are noted, by number."""
        found = {}
        for line, text in enumerate(self._text.splitlines(), 1):
            if mark := MARK.search(text):
                found[line] = int(mark["number"])
        return found

    def run(self) -> dict[int, list[Any]]:
        """Run the program. Return the values of each line that ran, by number."""
        seen: dict[int, list[Any]] = {}

        def note(number: int, value: Any) -> Any:
            values = seen.setdefault(number, [])
            values.append(type(value)(value) if isinstance(value, (list, dict, set)) else value)
            if len(values) > _MOST:
                raise _Enough
            return value

        def end(*_: object) -> None:
            raise _Enough

        before = signal.signal(signal.SIGALRM, end)
        signal.alarm(_LONGEST_S)
        try:
            code = compile(MARK.sub(r"note(\g<number>, \g<value>)", self._text), "program", "exec")
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception, _Enough):
                exec(code, {"note": note, "__name__": "__main__"})
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        return seen

    @property
    def _text(self) -> str:
        return "\n".join(self.lines) + "\n"

    # Expressions

    def _one(self, choices: Sequence[str]) -> str:
        return self.random.choice(choices)

    def _value(self, names: list[str], depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.25:
            return self._one(names) if names and self.random.random() < 0.7 else self._one(ATOMS)

        def part() -> str:
            return self._value(names, depth - 1)

        kind, sort = self._one(TYPES), self._one(TYPES)
        forms: tuple[Callable[[], str], ...] = (
            lambda: f"({part()} {self._one(('==', '!=', 'is', 'is not'))} {part()})",
            lambda: f"isinstance({part()}, {self._one((kind, f'({kind}, {sort})'))})",
            lambda: f"(type({part()}) {self._one(('==', 'is'))} {kind})",
            lambda: f"({part()} {self._one(('in', 'not in'))} [{part()}, {part()}])",
            lambda: f"(not {part()})",
            lambda: f"({part()} and {part()})",
            lambda: f"({part()} or {part()})",
            lambda: f"({part()} if {part()} else {part()})",
            lambda: f'dict(k={part()}).get("{self._one("km")}", {part()})',
            lambda: f'getattr({self._one(names or ["3"])}, "{self._one(ATTRIBUTES)}", {part()})',
            lambda: f"({part()}, {part()}){self._one(('', '[0]', '[-1]', '[:1]'))}",
            lambda: f"[{part()}, {part()}]{self._one(('', '[0]', '[1:]'))}",
            lambda: f'{{"k": {part()}, "m": {part()}}}' + self._one(("", '["k"]', '.get("z", 3)')),
            lambda: f"len([{part()}, {part()}])",
            lambda: f"({part()} + {part()})",
            lambda: f"({part()} > {self._one('012')})",
            lambda: f"{self._one(('list', 'tuple', 'str', 'bool'))}({part()})",
            lambda: f"[x for x in {part()}]",
            lambda: self._call(names, depth - 1) if self.functions else part(),
            lambda: self._method(names, depth - 1) if self.classes else part(),
        )
        return self.random.choice(forms)()

    def _given(self, params: list[str], names: list[str], depth: int) -> str:
        found: list[str] = []
        for param in params:
            name, _, default = param.partition("=")
            if default and self.random.random() < 0.5:
                continue
            keyword = bool(default) or self.random.random() < 0.3 or any("=" in one for one in found)
            value = self._value(names, depth)
            found.append(f"{name}={value}" if keyword else value)
        return ", ".join(found)

    def _call(self, names: list[str], depth: int) -> str:
        name, params = self.random.choice(self.functions)
        return f"{name}({self._given(params, names, depth)})"

    def _method(self, names: list[str], depth: int) -> str:
        name, params, methods = self.random.choice(self.classes)
        method, given = self.random.choice(methods)
        return f"{name}({self._given(params, names, depth)}).{method}({self._given(given, names, depth)})"

    # Statements

    def _add(self, indent: int, *lines: str) -> None:
        self.lines.extend("    " * indent + line for line in lines)

    def _probe(self, indent: int, value: str) -> str:
        self.probes += 1
        self._add(indent, f"p{self.probes} = §{self.probes}§{value}§")
        return f"p{self.probes}"

    def _block(self, indent: int, names: list[str], depth: int, attributes: Sequence[str] = ()) -> None:
        names = list(names)
        for _ in range(self.random.randint(1, 3)):
            names += self._statement(indent, names, depth, attributes)

    def _statement(self, indent: int, names: list[str], depth: int, attributes: Sequence[str]) -> Iterator[str]:
        kind = self.random.randrange(9)
        if kind <= 2 and depth:
            self._add(indent, f"if {self._value(names, 2)}:")
            self._probe(indent + 1, self._value(names, 1))
            self._block(indent + 1, names, depth - 1, attributes)
            self._add(indent, "else:")
            self._block(indent + 1, names, depth - 1, attributes)
        elif kind == 3 and attributes:
            held = f"self.{self._one(attributes)}"
            self._add(indent, f"{held} = {self._one(('[]', '{}', '1', self._value(names, 1)))}")
            self._add(indent, f"fill({held}, {self._value(names, 1)})", f"if {held}:")
            self._probe(indent + 1, held)
            self._add(indent, "else:")
            self._probe(indent + 1, held)
        elif kind == 4 and depth:
            self._add(indent, f"for i{indent} in {self._one(('range(2)', '()', '[1, 2]', self._value(names, 1)))}:")
            self._block(indent + 1, [*names, f"i{indent}"], depth - 1, attributes)
        elif kind == 5 and depth:
            self._add(indent, "try:")
            self._block(indent + 1, names, depth - 1, attributes)
            self._add(indent, "except Exception:")
            self._block(indent + 1, names, depth - 1, attributes)
        elif kind == 6:
            # What state is computed from itself, the interpreter follows to a limit.
            self._add(indent, f"set_state({self._one(ATOMS)})", f"fill(ROWS, {self._one(ATOMS)})")
            yield self._probe(indent, self._one(("STATE", "len(ROWS)")))
        else:
            yield self._probe(indent, self._value(names, 2))

    def _params(self) -> list[str]:
        plain = [f"q{number}" for number in range(self.random.randint(0, 2))]
        return plain + [f"d{number}={self._one(ATOMS)}" for number in range(self.random.randint(0, 2))]

    def _make(self) -> None:
        self._add(0, "ROWS = []", "STATE = 0", "def set_state(value):", "    global STATE", "    STATE = value")
        self._add(0, "def fill(rows, value):", "    if isinstance(rows, list):", "        rows.append(value)")
        self._add(0, "    elif isinstance(rows, dict):", '        rows["k"] = value')
        for number in range(2):
            self._class(number)
        for number in range(2):
            params = self._params()
            names = [one.partition("=")[0] for one in params] + self.names
            self._add(0, f"def f{number}({', '.join(params)}):")
            self._block(1, names, 2)
            self._add(1, f"return {self._value(names, 1)}")
            self.functions.append((f"f{number}", params))
        for _ in range(4):
            self._add(0, "try:")
            self._probe(1, self._call(self.names, 1) if self.random.random() < 0.5 else self._method(self.names, 1))
            self._add(0, "except Exception:", "    pass")

    def _class(self, number: int) -> None:
        base = self.classes[-1] if self.classes and self.random.random() < 0.5 else None
        params = self._params()
        names = [one.partition("=")[0] for one in params] + self.names
        self._add(
            0, f"class C{number}({base[0] if base else ''}):", f"    {self._one(ATTRIBUTES)} = {self._one(ATOMS)}"
        )
        self._add(1, f"def __init__({', '.join(['self', *params])}):")
        if base:
            self._add(2, f"super().__init__({self._given(base[1], names, 1)})")
        for attribute in ATTRIBUTES:
            self._add(2, f"self.{attribute} = {self._value(names, 1)}")
        methods: list[tuple[str, list[str]]] = []
        for _ in range(2):
            given = self._params()
            own = [one.partition("=")[0] for one in given] + self.names + [f"self.{one}" for one in ATTRIBUTES]
            name = f"m{number}{len(methods)}"
            self._add(1, f"def {name}({', '.join(['self', *given])}):")
            self._block(2, own, 2, ATTRIBUTES)
            self._add(2, f"return {self._value(own, 1)}")
            methods.append((name, given))
        self.classes.append((f"C{number}", params, [*methods, *(base[2] if base else ())]))
