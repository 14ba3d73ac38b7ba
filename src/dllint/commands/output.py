"""Output other than the report: errors and warnings, colours, output files, and the progress bar."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dllint.reporters.source import plain
from dllint.setting_values import ConfigError

LINKING_TERMINALS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "zed"})
FIRST_LINKING_VTE = 5000
"""VTE 0.50, the library of GNOME's terminals."""


def tell(lines: Iterable[str], label: str = "") -> None:
    """Print lines on stderr, each after the label ("error", "warning") if there is one."""
    for line in lines:
        print(plain(f"{label}: {line}" if label else line), file=sys.stderr)


def write(text: str, option: str, path: str) -> None:
    """Write a file that an option names.

    Raises:
        ConfigError: the file cannot be written, or a link in the working directory leads out of it.
    """
    from dllint.fixes.write import WriteError, write_atomically
    from dllint.reading import lies_within

    here = os.getcwd()
    if os.path.abspath(path).startswith(here.rstrip(os.sep) + os.sep) and not lies_within(path, here):
        raise ConfigError(f"{option}: {path}: not written, because a link leads out of the working directory")
    try:
        write_atomically(path, text.encode("utf-8", "backslashreplace"))
    except WriteError as error:
        raise ConfigError(f"{option}: {error}") from None


def is_terminal(stream: Any) -> bool:
    """Whether a person reads what is written to a stream."""
    return bool(stream.isatty())


def wants_color(choice: str, stream: Any) -> bool:
    """Whether to use colours on a stream. `auto` uses them on a terminal unless NO_COLOR is set (no-color.org), and
    elsewhere if FORCE_COLOR is set."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def terminal_width(stream: Any) -> int:
    """Return the number of columns of the terminal behind a stream; 0 if it is not a terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else 0


def knows_links(stream: Any) -> bool:
    """Whether the terminal behind a stream supports OSC 8 links, judged by the environment variables that such
    terminals set; FORCE_HYPERLINK overrides this."""
    environment = os.environ
    if forced := environment.get("FORCE_HYPERLINK"):
        return forced != "0"
    if not stream.isatty() or environment.get("TERM") == "dumb" or environment.get("CI"):
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        any(environment.get(name) for name in ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "DOMTERM"))
        or environment.get("TERM_PROGRAM") in LINKING_TERMINALS
        or environment.get("TERM", "").startswith(("xterm-kitty", "xterm-ghostty", "alacritty", "foot"))
        or (vte.isdigit() and int(vte) >= FIRST_LINKING_VTE)
    )


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on stderr if that is a terminal, after one second; it is removed at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    """A progress bar without a thread, which forked processes would inherit: the work itself refreshes it."""

    PATIENCE_S = 1.0
    BETWEEN_S = 0.1

    def __init__(self) -> None:
        self.started = self.drawn = time.monotonic()
        self.bar: Any = None

    def update(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.started < self.PATIENCE_S or now - self.drawn < self.BETWEEN_S:
            return
        self.drawn = now
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn())
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self.bar.start()
            self.task = self.bar.add_task("", total=total)
        self.bar.update(self.task, completed=done, total=total, refresh=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
