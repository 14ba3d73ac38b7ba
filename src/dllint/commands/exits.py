"""The end of a command: its exit code, and an error as one line on stderr."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from dllint.reporters.source import plain
from dllint.setting_values import ConfigError

_OUTPUT_ERRORS = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT})
"""Errors of a full or broken disk behind standard output or standard error."""
CLEAN, FOUND, FAILED = 0, 1, 2
INTERRUPTED = 130


def status_of(work: Callable[[], int]) -> int:
    """Return the exit code of `work`: its own, or the one for the exception that it raises. With DLLINT_DEBUG set, an
    unexpected exception is raised again."""
    try:
        status = work()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except ConfigError as error:
        status = _failed(str(error))
    except BrokenPipeError:
        abandon_output()
        status = FAILED
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_ERRORS:
            status = _unforeseen(error)
        else:
            abandon_output()
            status = _failed(f"the output cannot be written: {(error.strerror or '').lower()}")
    except Exception as error:
        status = _unforeseen(error)
    try:
        # A server closes stdout when its client disconnects.
        if not sys.stdout.closed:
            sys.stdout.flush()
    except BrokenPipeError:
        abandon_output()
    except OSError as error:
        abandon_output()
        status = _failed(f"the output cannot be written: {(error.strerror or '').lower()}")
    return status


def _unforeseen(error: Exception) -> int:
    if os.environ.get("DLLINT_DEBUG"):
        raise error
    told = getattr(error, "format_message", None)
    return _failed(told() if told else f"internal error: {type(error).__name__}: {error} (DLLINT_DEBUG=1 shows where)")


def _failed(message: str) -> int:
    # Pydantic, with which typer validates values, puts "Value error" before the message.
    message = message.replace(": Value error, ", ": ")
    if message.strip():
        with suppress(OSError):
            print(f"error: {plain(' '.join(message.split()))}", file=sys.stderr)
    return FAILED


def abandon_output(*more: TextIO) -> None:
    """Discard buffered output after its reader has gone away, so that no error is printed at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, *more):
        os.dup2(null, stream.fileno())
