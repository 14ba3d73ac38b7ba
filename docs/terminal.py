"""Writes docs/terminal.svg: what a terminal shows of a real check. `python docs/terminal.py`."""

from __future__ import annotations

import contextlib
import io
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

DOCS = Path(__file__).parent
PICTURE = DOCS / "terminal.svg"
COMMAND = "dllint check fixtures/forkserver-supervisor"
COLUMNS = 104
COLOURS = [(224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194)]
THEME = TerminalTheme(
    (24, 26, 31),
    (220, 223, 228),
    [(40, 44, 52), *COLOURS, (220, 223, 228)],
    [(92, 99, 112), *COLOURS, (255, 255, 255)],
)
"""Background, foreground, and the eight colours of a terminal, normal and bright."""


def terminal_output(columns: int = COLUMNS) -> str:
    """What the command writes to a terminal of that many columns, escape sequences of colours included.

    Raises:
        SystemExit: the command could not check.
    """
    # They are not there on Windows.
    import fcntl
    import pty
    import termios

    environment = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CI", "COLUMNS", "LINES")
    }
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 100, columns, 0, 0))
    done = subprocess.Popen(
        [sys.executable, "-m", *COMMAND.split(), "--no-cache"],
        cwd=DOCS.parent,
        env={**environment, "TERM": "xterm-256color", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        # Not to the terminal: a machine with other work would show a progress bar.
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    pieces = []
    # The last reader of a terminal gets an error at its end on Linux, and nothing elsewhere.
    with contextlib.suppress(OSError):
        while piece := os.read(screen, 1 << 16):
            pieces.append(piece)
    os.close(screen)
    output = b"".join(pieces).decode("utf-8").replace("\r\n", "\n")
    errors = done.communicate()[1].decode("utf-8")
    if done.returncode not in (0, 1):
        raise SystemExit(f"error: {COMMAND}: exit code {done.returncode}\n{errors}")
    return output


def picture(output: str) -> str:
    """The output as SVG: no font and nothing else is loaded from another host."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "bold green"), COMMAND))
    # Links become ids of their own in every picture, and a picture shows none.
    console.print(Text.from_ansi(re.sub(r"\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)", "", output)))
    svg = console.export_svg(title="dllint", theme=THEME, unique_id="dllint")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    PICTURE.write_text(picture(terminal_output()), encoding="utf-8")
