"""The call sites in the user's code: frames, with the columns of the call in each.

A frame is the user's if its file is not part of the standard library, of torch or of this package. Columns come from
`co_positions()` (Python 3.11 and newer), which counts UTF-8 bytes from 0; sites count code points from 1.
"""

from __future__ import annotations

import os
import sys
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, TypeVar

    Failure = TypeVar("Failure", bound=BaseException)

_STDLIB = os.path.dirname(os.__file__) + os.sep
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MOST = 24

_users: dict[str, bool] = {}


def is_users(filename: str) -> bool:
    """Whether a file belongs to the user: the program and the packages that it uses, except torch."""
    known = _users.get(filename)
    if known is None:
        known = _users[filename] = _decide(filename)
    return known


def _decide(filename: str) -> bool:
    if filename.startswith("<"):
        return False
    path = os.path.abspath(filename)
    if path.startswith(_OWN):
        return False
    parts = path.split(os.sep)
    for index, part in enumerate(parts):
        if part in ("site-packages", "dist-packages"):
            return parts[index + 1 : index + 2] not in (["torch"], ["torch.py"])
    torch = sys.modules.get("torch")
    for root in getattr(torch, "__path__", ()):
        if path.startswith(root + os.sep):
            return False
    return not path.startswith(_STDLIB)


def chain(frame: FrameType | None, most: int = _MOST) -> list[dict[str, Any]]:
    """Return the user's calls that led to a frame, innermost first."""
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < most:
        if is_users(frame.f_code.co_filename):
            found.append(site(frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    return found


def place(found: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the call to report for a chain: one in the program itself, else the innermost; `None` if it is empty."""
    return next((one for one in found if not is_installed(one["path"])), found[0] if found else None)


def is_installed(path: str) -> bool:
    """Whether a file belongs to an installed package."""
    return f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}dist-packages{os.sep}" in path


def caller(frame: FrameType | None) -> dict[str, Any] | None:
    """Return the innermost of the user's calls that led to a frame; `None` if there is none."""
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return site(frame.f_code, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return None


def identity(frame: FrameType | None) -> tuple[tuple[CodeType, int], ...]:
    """Return a key of the call path to a frame: equal for repetitions in a loop, different for different callers."""
    found: list[tuple[CodeType, int]] = []
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


def site(code: CodeType, instruction: int, line: int | None) -> dict[str, Any]:
    """Return a site as stored in records: path, line and function, and columns if known."""
    path = os.path.abspath(code.co_filename)
    told: dict[str, Any] = {"path": path, "line": line or code.co_firstlineno, "function": code.co_name}
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return told
    first, last, start, end = next(islice(positions(), instruction // 2, None), (None, None, None, None))
    if first is None or last is None or start is None or end is None:
        return told
    told["line"] = first
    told["column"] = _code_points(path, first, start) + 1
    told["end_line"] = last
    told["end_column"] = _code_points(path, last, end) + 1
    return told


def _code_points(path: str, line: int, count: int) -> int:
    """Return the number of code points in the first `count` UTF-8 bytes of a line."""
    import linecache

    text = linecache.getline(path, line)
    if text.isascii():
        return count
    return len(text.encode("utf-8", "surrogatepass")[:count].decode("utf-8", "replace"))


def unseen(error: Failure) -> Failure:
    """Remove the frame of the function that caught an exception from its traceback, before a bare `raise`.

    A program's traceback must not show instrumentation between its calls. Python 3.10 adds the frame again.
    """
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
    return error


class _Transparent:
    """Context of a call on behalf of the program: exceptions leave it as if the wrapper did not exist."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            unseen(error)


class _Hidden:
    """Context of instrumentation: an interrupt that arrives in it leaves it as if it had arrived in the program's call.

    Python 3.10 adds the frame with the context again.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            error.__traceback__ = None


transparent = _Transparent()
hidden = _Hidden()
