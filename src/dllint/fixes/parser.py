"""Parse source text with libcst, within limits on its nesting."""

from __future__ import annotations

import threading
from functools import lru_cache

import libcst as cst

from dllint.facts.collector import collection_paused
from dllint.facts.extract.shortening import too_large
from dllint.facts.extract.tokens import Tokens
from dllint.fixes.text import Unresolvable

_LONGEST_CHAIN = 1000
"""Consecutive operands, calls or subscripts. libcst 1.9 takes quadratic time: up to 10 s for this many (measured)."""
_MOST_WEIGHT = 250_000
"""The largest weight of a text to fix (`too_large`). The tree and the positions of its nodes take up to twice what the
tree alone takes."""
_NOT_PARSED = (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, ValueError, TypeError)
"""libcst 1.9 raises TypeError if a lambda in parentheses directly follows a keyword, without a blank."""
_STACK_BYTES = 128 << 20
_STACK_SIZE_LOCK = threading.Lock()


def parse_module(source: str) -> cst.Module:
    """Parse in a thread with a large stack: libcst recurses in native code, where a stack overflow kills the process.

    Raises:
        Unresolvable: the source does not parse, or not in reasonable time.
    """
    tokens = Tokens(source)
    if tokens.chain > _LONGEST_CHAIN:
        raise Unresolvable("the text nests too deeply")
    if too_large(source, tokens, _MOST_WEIGHT):
        raise Unresolvable("the text is too large")
    outcome: list[cst.Module | BaseException] = []

    def run() -> None:
        try:
            outcome.append(cst.parse_module(source))
        except BaseException as error:
            outcome.append(error)

    with collection_paused(), _STACK_SIZE_LOCK:
        usual = threading.stack_size(_STACK_BYTES)
        try:
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
        except RuntimeError:
            raise Unresolvable("there is no memory left to parse the text") from None
        finally:
            threading.stack_size(usual)
        thread.join()
    result = outcome[0]
    if isinstance(result, cst.ParserSyntaxError):
        raise Unresolvable(f"the text does not parse: line {result.raw_line}")
    if isinstance(result, _NOT_PARSED):
        raise Unresolvable("the text does not parse")
    if isinstance(result, BaseException):
        raise result
    return result


@lru_cache(maxsize=256)
def parse_expression(code: str) -> cst.BaseExpression:
    """Parse an expression.

    Raises:
        Unresolvable: the code is not an expression.
    """
    try:
        return cst.parse_expression(code)
    except _NOT_PARSED:
        raise Unresolvable("the new expression does not parse") from None
