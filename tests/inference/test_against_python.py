"""Random programs: what Python runs is reachable to the interpreter, and what it computes is among its values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.inference.programs import Program

from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.inference.engine import World
from dllint.inference.values import Class, Const, Display, External, Frame, Function, Mapping, Site, Unknown, Value
from dllint.libraries.knowledge import Libraries
from dllint.linking.source import SourceFile
from dllint.project.launches import Launches

pytestmark = pytest.mark.slow

SEEDS = 200
_MOST = 3000
"""The activations that are walked through."""


class Asked:
    """What the interpreter says of a program."""

    def __init__(self, program: Program, top: Path) -> None:
        self.world = World({"main.py": extract(program.source)}, Settings(root=str(top)), Libraries)
        Launches(self.world).all()
        self.file: SourceFile = self.world.files["main.py"]
        self.frames: dict[int, list[Frame | None]] = {}
        waiting: list[tuple[int, Frame | None]] = [(0, None)]
        seen = set(waiting)
        while waiting and len(seen) < _MOST:
            scope, frame = waiting.pop()
            self.frames.setdefault(scope, []).append(frame)
            for index in self.file.calls_of(scope):
                if not self.world.impossible(self.world.call_site(self.file, index, frame)):
                    found = self.world.calls.targets(self.file, index, frame)
                    new = {(one.function.scope, one.frame) for one in found} - seen
                    seen |= new
                    waiting += new

    def told(self, program: Program) -> Iterator[tuple[int, int, set[Value] | None]]:
        """The line and the number of each probe, with its values; None where no activation reaches it."""
        probed = program.probed
        for scope, entry in enumerate(self.file.scopes):
            for event in entry.events_of("assign"):
                if event.span.line not in probed or event.value is None:
                    continue
                at = (event.span.line, event.span.column)
                sites = [Site(self.file, scope, event.region, at, frame) for frame in self.frames.get(scope, ())]
                reached = [site for site in sites if not self.world.impossible(site)]
                values = {one for site in reached for one in self.world.values.evaluate(event.value, site)}
                yield event.span.line, probed[event.span.line], values if reached else None


def covers(values: set[Value], real: Any) -> bool:
    """Whether one of several values may be what the program has computed."""
    if any(not isinstance(one, (Const, Display, Mapping, Function, Class, External)) for one in values):
        return True
    if real is None or isinstance(real, (bool, int, float, str)):
        return any(isinstance(one, Const) and type(one.value) is type(real) and one.value == real for one in values)
    if isinstance(real, (tuple, list)):
        kinds = {type(real).__name__, "comp"}
        return any(isinstance(one, Display) and one.kind in kinds for one in values)
    return any(not isinstance(one, Const) for one in values)


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_what_runs_is_not_ruled_out(first: int, tmp_path: Path) -> None:
    checked = 0
    for seed in range(first, first + 50):
        program = Program(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            ran = program.run()
        for line, number, values in Asked(program, tmp_path).told(program):
            where = f"seed {seed}, line {line} of\n{program.source}"
            for real in ran.get(number, ()):
                checked += 1
                assert values is not None, f"not reached: {where}"
                known = values if not any(isinstance(one, Unknown) for one in values) else set()
                assert not known or covers(known, real), f"{real!r} is none of {known}: {where}"
    assert checked > 50
