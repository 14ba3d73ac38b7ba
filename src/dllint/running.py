"""`dllint run`: a program under instrumentation, and what its run says of the project."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dllint.runtime.run import Command, LaunchError, Options, Run, run

COULD_NOT, CLEAN, FAILED = 2, 0, 3

RunFormat = Literal["text", "json"]


@dataclass(frozen=True)
class Request:
    """What was asked on the command line.

    Attributes:
        options: how to run the program.
        overrides: settings that replace those of the configuration.
        report: a file for the page, if one is wanted.
    """

    options: Options
    overrides: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    isolated: bool = False
    report: str | None = None
    output_format: RunFormat = "text"
    output_file: str | None = None
    color: str = "auto"


def command(words: Sequence[str], raw: Sequence[str], module: bool) -> Command:
    """What is to be run, from the words that are no options of ours.

    Args:
        words: the positional words; options of the program among them.
        raw: the whole command line, to see whether a `--` stood before the words.
        module: whether `-m` was given.
    """
    before = len(raw) - len(words) - 1
    if words and not module and 0 <= before < len(raw) and raw[before] == "--":
        return Command("command", tuple(words))
    return Command("module" if module else "script", tuple(words))


def execute(request: Request) -> int:
    """Runs the program and reports; the exit code: 0 nothing, 1 findings, 2 our own failure, 3 the program's."""
    try:
        seen = run(request.options)
    except LaunchError as error:
        print(f"error: {error}", file=sys.stderr)
        return COULD_NOT
    for line in told(seen):
        print(line, file=sys.stderr)
    return FAILED if failed(seen) else CLEAN


def failed(seen: Run) -> bool:
    """Whether the program failed or hung by itself."""
    return seen.stalled or (seen.ended == "itself" and (seen.exit != 0 or seen.signal is not None))


def told(seen: Run) -> list[str]:
    """The run in a few lines."""
    ended = {
        "itself": "ended by itself",
        "max-epochs": "was ended after the epochs that were asked for",
        "time-limit": "hung until the time limit" if seen.stalled else "was ended at the time limit",
        "interrupt": "was interrupted",
    }[seen.ended]
    how = f"signal {seen.signal}" if seen.signal is not None else f"exit code {seen.exit}"
    lines = [f"The program {ended} after {seen.seconds:.1f} s ({how})."]
    lines += [
        f"Not instrumented: process {one.pid} ({' '.join(one.command)[:80]}): {one.why}" for one in seen.uninstrumented
    ]
    return [*lines, *(f"note: {problem}" for problem in seen.problems)]
