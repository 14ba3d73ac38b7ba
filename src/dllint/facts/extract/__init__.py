"""Source text to `FileFacts`: one libcst parse and one walk over its nodes in source order.

This package is the only reader of a syntax tree besides the fixer. `tokens` finds positions; `walk`, `literals`,
`expressions`, `simple_statements` and `statements` build on each other; `extract` below combines them.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import libcst as cst

from dllint.facts.aliases import aliases
from dllint.facts.collector import collection_paused
from dllint.facts.extract.cutting import cut
from dllint.facts.extract.respelling import respelled
from dllint.facts.extract.shortening import MOST_CHARACTERS, REST, shortened, too_large
from dllint.facts.extract.statements import Statements
from dllint.facts.extract.tokens import Tokens, tokens_around
from dllint.facts.extract.walk import OutOfStep
from dllint.facts.nodes import Base
from dllint.facts.schema import Argument, FileFacts

_MOST_BRACKETS = 200
"""The most open brackets that Python's own tokenizer accepts (MAXLEVEL of CPython's Parser/lexer/state.h)."""
_LONGEST_CHAIN = 5200
"""The most operands, attributes or `elif`s in a row; each level takes libcst 1.9 at most 8 KiB of stack (measured)."""
_DEEP_BRACKETS, _DEEP_CHAIN = 30, 100
"""Above these limits a thread with a large stack does the work, and nested expressions are cut at
`_DEEPEST_EXPRESSION`."""
_DEEPEST_EXPRESSION = 60
_STACK_BYTES = 128 << 20
_FRAMES = 40_000


class SyntaxProblem(Exception):
    """A text that is not valid Python. `message` is one line; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{message} (line {line}, column {column})")
        self.message = message
        self.line = line
        self.column = column


def extract(source: str) -> FileFacts:
    """Extract the facts of a source text, with any line endings and with or without a byte-order mark.

    Raises:
        SyntaxProblem: if it is not valid Python, or nested beyond what Python itself accepts.
    """
    source = source.removeprefix("\ufeff")
    null = source.find("\0")
    if null >= 0:
        before = Tokens(source[:null]).lines
        raise SyntaxProblem("null byte in the source", len(before), null - before[-1] + 1)
    if source and not source.endswith(("\n", "\r")):
        # libcst attaches a comment at the very end, without a line end, to no statement.
        source += "\n"
    if len(source) > MOST_CHARACTERS:
        raise SyntaxProblem(f"too large to be parsed: more than {MOST_CHARACTERS:,} characters", 1, 1)
    tokens = Tokens(source)
    if tokens.brackets > _MOST_BRACKETS or tokens.chain > _LONGEST_CHAIN:
        place = tokens.span(tokens.deepest, tokens.deepest)
        raise SyntaxProblem("nested too deeply to be parsed", place.line, place.column)
    whole, source = source, shortened(source, tokens)
    if reason := too_large(whole, tokens):
        raise SyntaxProblem(f"too large to be parsed: {reason}", 1, 1)
    deep = tokens.brackets > _DEEP_BRACKETS or tokens.chain > _DEEP_CHAIN
    with collection_paused():
        if deep or threading.current_thread() is not threading.main_thread():
            return _on_a_large_stack(lambda: _facts(source, tokens, deep))
        try:
            return _facts(source, tokens, deep)
        except RecursionError:
            return _on_a_large_stack(lambda: _facts(source, tokens, True))


def _facts(source: str, tokens: Tokens, deep: bool) -> FileFacts:
    original = source
    try:
        tree = cst.parse_module(source)
    except (cst.ParserSyntaxError, cst.CSTValidationError, TypeError) as problem:
        readable = respelled(source, tokens)
        if readable is None:
            raise _problem(source, problem) from None
        try:
            tree = cst.parse_module(readable)
        except (cst.ParserSyntaxError, cst.CSTValidationError, TypeError):
            raise _problem(source, problem) from None
        source = readable
    try:
        walk = Statements(tokens)
        walk.module(tree)
    except (OutOfStep, IndexError):
        if source is not original or REST in source:
            raise SyntaxProblem("the text and its syntax tree disagree", 1, 1) from None
        walk = Statements(_tokens_by_libcst(source, tree))
        try:
            walk.module(tree)
        except (OutOfStep, IndexError):
            raise SyntaxProblem("the text and its syntax tree disagree", 1, 1) from None
    facts = FileFacts(
        walk.scopes,
        walk.calls,
        walk.regions,
        walk.called,
        {name: list(scopes) for name, scopes in walk.loaded.items()},
        list(dict.fromkeys(aliases(walk.scopes, walk.calls))),
        len(tokens.lines) - (tokens.lines[-1] == len(source)),
    )
    if deep:
        _cut_deep_expressions(facts)
    return facts


def _problem(source: str, problem: Exception) -> SyntaxProblem:
    """Describe the error, in Python's own words if Python finds it too: libcst locates only some errors."""
    valid = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        message = error.msg
        line, column = error.lineno or 1, error.offset or 1
    except (ValueError, RecursionError, MemoryError):
        message, line, column = "", 1, 1
    else:
        message, line, column = "", 1, 1
        valid = True
    if not message:
        told = problem.message if isinstance(problem, cst.ParserSyntaxError) else str(problem)
        found = re.search(r"at (\d+):(\d+): (.*)", told)
        message = f"invalid syntax: {found[3]}" if found else told
        if valid:
            message = f"valid Python, but the parser libcst cannot read it: {found[3] if found else told}"
        if found:
            line, column = int(found[1]), int(found[2]) + 1
    lines = re.split(r"\r\n|\r|\n", source)
    last = len(lines[line - 1]) if 1 <= line <= len(lines) else 1
    return SyntaxProblem(" ".join(message.split())[:200], max(line, 1), max(min(column, last), 1))


def _on_a_large_stack(work: Callable[[], FileFacts]) -> FileFacts:
    """Run `work` in a thread with enough stack for deep recursion, in C and in Python.

    Raises:
        SyntaxProblem: the stack overflows even so, or there is no memory for it.
    """
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    frames = sys.getrecursionlimit()
    stack = threading.stack_size(_STACK_BYTES)
    try:
        sys.setrecursionlimit(max(frames, _FRAMES))
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        threading.stack_size(stack)
        thread.join()
    except RuntimeError:
        raise SyntaxProblem("nested too deeply for the memory that is left", 1, 1) from None
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
    if isinstance(outcome[0], RecursionError):
        raise SyntaxProblem("nested too deeply to be parsed", 1, 1)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    result: FileFacts = outcome[0]
    return result


def _tokens_by_libcst(source: str, tree: cst.Module) -> Tokens:
    """Return tokens from libcst's own positions of names and literals: slow, for texts that `Tokens` splits
    differently."""
    from libcst.metadata import MetadataWrapper, PositionProvider

    literals = (cst.Name, cst.BaseNumber, cst.SimpleString, cst.FormattedString, cst.TemplatedString)
    lines = tokens_around(source, []).lines
    places: list[tuple[int, int]] = []
    positions = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    for node, place in positions.items():
        if isinstance(node, literals):
            start, end = place.start, place.end
            places.append((lines[start.line - 1] + start.column, lines[end.line - 1] + end.column))
    places.sort(key=lambda pair: (pair[0], -pair[1]))
    outermost: list[tuple[int, int]] = []
    for pair in places:
        if not outermost or pair[0] >= outermost[-1][1]:
            outermost.append(pair)
    return tokens_around(source, outermost)


def _cut_deep_expressions(facts: FileFacts) -> None:
    """Replace parts nested deeper than `_DEEPEST_EXPRESSION` by "unknown", so that no reader needs a deep stack."""
    tops: list[Any] = [event for scope in facts.scopes for event in scope.events]
    tops += facts.calls
    tops += facts.regions
    tops += [part for scope in facts.scopes for part in (*scope.params, *scope.decorators, *scope.bases)]
    for top in tops:
        for part in top:
            for one in part if isinstance(part, (list, tuple)) else (part,):
                expr = one.value if isinstance(one, Argument) else one
                if isinstance(expr, Base):
                    cut(expr, _DEEPEST_EXPRESSION)
