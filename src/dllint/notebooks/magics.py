"""Lines that only IPython understands: magics, shell commands, help, commands without `%`.

Source: ipython.readthedocs.io, "IPython reference" and "Built-in magic commands". Only whole logical lines are
replaced: `% y` in brackets or in a string is Python.
"""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple

_PYTHON_CELLS = frozenset(
    {"capture", "debug", "ipytest", "memit", "memray_flamegraph", "mprun", "prun", "scalene", "time", "timeit"}
)
"""Cell magics whose body runs in the notebook's own namespace. `%%python`, in contrast, starts a separate process."""
_CELL_MAGIC = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*%%(\w+)[ \t]*([^\r\n]*)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)'
    r"|'''(?:[^\\]|\\.)*?(?:'''|\Z)"
    r'|"(?:[^"\\\r\n]|\\(?:\r\n|.))*"?'
    r"|'(?:[^'\\\r\n]|\\(?:\r\n|.))*'?"
    r"|\#[^\r\n]*"
    r"|\\[ \t]*(?:\r\n|\r|\n)"
    r"|(?P<open>[\[({])|(?P<close>[\])}])|(?P<end>\r\n|\r|\n)|[^\"'#\\\[\](){}\r\n]+|.",
    re.DOTALL,
)
_ESCAPE = re.compile(r"[%!?]|[/,;][A-Za-z_]")
_HELP = re.compile(r"%{0,2}[\w.*]+(?:\[[^\]\r\n]*\])*[ \t]*\?{1,2}[ \t]*(?:#.*)?\Z")
_ASSIGNED = re.compile(r"([ \t]*[^=#'\"!%<>:+\-/&|^@()]+=[ \t]*)[!%](?!=)")
_WITHOUT_SIGN = re.compile(
    r"(?:pip|pip3|conda|mamba|uv|cd|ls|ll|cat|cp|mv|rm|mkdir|rmdir|pwd|env|who|whos|matplotlib|load_ext)\b"
    r"(?![ \t]*[=.(\[,:])"
)
_TIMED = re.compile(r"([ \t]*)%time[ \t]+(?!-)")
_CONTINUED = re.compile(r"\\[ \t]*\Z")


class CellMagic(NamedTuple):
    """A magic on the first line of a cell, which determines how the whole cell is read.

    Attributes:
        line: the line of the magic, from 1; 0 if there is none.
        python: whether the rest is Python code of the notebook.
        writes: the file that the rest is written to; `None` if it is not written.
        appends: whether it is appended to the file.
    """

    line: int = 0
    python: bool = True
    writes: str | None = None
    appends: bool = False


def cell_magic(source: str) -> CellMagic:
    """Return the magic of a whole cell, which is on its first line that is not blank."""
    found = _CELL_MAGIC.match(source)
    if found is None:
        return CellMagic()
    line = len(_LINE_END.findall(source, 0, found.start(1))) + 1
    if found[1] in ("writefile", "file"):
        words = found[2].split()
        appends = bool({"-a", "--append"} & set(words))
        names = [word.strip("\"'") for word in words if not word.startswith("-")]
        return CellMagic(line, False, names[0] if names else "", appends)
    return CellMagic(line, found[1] in _PYTHON_CELLS)


def masked(source: str, magic: CellMagic) -> str:
    """Return the source as Python, line by line, with `pass` for lines that are not Python."""
    lines = _split(source)
    if not magic.python:
        return "".join(_end(line) for line in lines)
    lead = [_end(line) for line in lines[: magic.line]]
    return "".join([*lead, *_python_lines(lines[magic.line :])])


def _python_lines(lines: list[str]) -> list[str]:
    found: list[str] = []
    text = "".join(lines)
    offset = number = 0
    while number < len(lines):
        line = lines[number]
        replacement = _replacement(line.rstrip("\r\n"))
        if replacement is None:
            until = _logical_end(text, offset)
            while offset < until and number < len(lines):
                found.append(lines[number])
                offset += len(lines[number])
                number += 1
            continue
        found.append(replacement + _end(line))
        while True:
            offset += len(line)
            number += 1
            if number >= len(lines) or not _CONTINUED.search(line.rstrip("\r\n")):
                break
            line = lines[number]
            found.append(_end(line))
    return found


def _replacement(line: str) -> str | None:
    """Return the replacement for a line at which a statement begins; `None` if it is Python."""
    plain = line.lstrip(" \t")
    indent = line[: len(line) - len(plain)]
    if timed := _TIMED.match(line):
        # Padded to the width of the magic, so that columns do not change.
        code = f"{indent}pass;{' ' * (timed.end() - len(indent) - 5)}{line[timed.end() :]}"
        if _is_python(code.strip()):
            return code
    if _ESCAPE.match(plain) or _HELP.match(plain):
        return f"{indent}pass"
    if assigned := _ASSIGNED.match(line):
        return f"{assigned[1]}get_ipython()"
    if _WITHOUT_SIGN.match(plain) and not _is_python(plain):
        return f"{indent}pass"
    return None


def _logical_end(text: str, start: int) -> int:
    """Return the offset after the logical line that begins at `start`, including its line end."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth = max(depth - 1, 0)
        elif token.lastgroup == "end" and not depth:
            return token.end()
    return len(text)


def _is_python(code: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<cell>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _split(source: str) -> list[str]:
    """Split into lines, keeping line ends."""
    lines, done = [], 0
    for end in _LINE_END.finditer(source):
        lines.append(source[done : end.end()])
        done = end.end()
    return [*lines, source[done:]] if done < len(source) else lines


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
