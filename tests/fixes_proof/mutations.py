"""Changes of real sources that keep what they do: each turns the text of a file into another one.

A mutation is a function of the text and of a source of chance. It gives the new text, or raises `DoesNotApply`. Several
can follow one another. In contrast to the variants, they do not look at a finding: they change any place of the file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from random import Random

from dllint.span import Span

from .variants import VARIANTS, DoesNotApply, Source

NAMES = ("_collate_fn", "_scale", "_initial_seed", "renamed", "value_1", "données")
"""New names: some are those that fixes would take themselves."""
LINE_ENDS = re.compile(r"\r\n|\r|\n")
UNIMPORTANT = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


def tokens_of(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, IndentationError) as error:
        raise DoesNotApply("it cannot be split into tokens") from error


def plain(text: str) -> str:
    """A text whose lines end in line feeds, without byte-order mark: offsets of tokens and of trees count these."""
    if text.startswith("\ufeff") or "\r" in text or "\f" in text:
        raise DoesNotApply("only in a text with plain line ends")
    return text


def places(text: str) -> Callable[[tuple[int, int]], int]:
    """The offset of the place of a token."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return lambda place: starts[place[0] - 1] + place[1]


def some(chance: Random, values: list[tuple[int, int, str]], most: int = 3) -> list[tuple[int, int, str]]:
    if not values:
        raise DoesNotApply("there is no place for it")
    return chance.sample(values, min(len(values), chance.randint(1, most)))


def replaced(text: str, changes: list[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def inside_strings(text: str) -> set[int]:
    """The lines that begin within a string."""
    found = set()
    for token in tokens_of(text):
        if token.type == tokenize.STRING:
            found |= set(range(token.start[0] + 1, token.end[0] + 1))
    return found


def line_ends(text: str, chance: Random) -> str:
    plain(text)
    kind = chance.choice(["\r\n", "\r", "mixed"])
    if kind != "mixed":
        return text.replace("\n", kind)
    kinds = chance.sample(["\r\n", "\r", "\n"], 2)
    # A carriage return before a line feed would be one line end.
    kinds = ["\r\n", "\n"] if set(kinds) == {"\r", "\n"} else kinds
    ends = iter([chance.choice(kinds) for _ in range(text.count("\n"))])
    return re.sub("\n", lambda found: next(ends), text)


def indents(text: str, chance: Random) -> str:
    text = plain(text)
    strings = inside_strings(text)
    unit = chance.choice(["\t", "  ", "   ", " " * 8])
    lines = text.splitlines(keepends=True)
    return "".join(
        line if number in strings else re.sub(r"^(?: {4})+", lambda found: unit * (len(found[0]) // 4), line)
        for number, line in enumerate(lines, 1)
    )


def comments(text: str, chance: Random) -> str:
    """Comments at the ends of lines, within brackets too."""
    text = plain(text)
    offset = places(text)
    ends = [token for token in tokens_of(text) if token.type in (tokenize.NEWLINE, tokenize.NL) and token.string]
    wanted = [
        (offset(token.start), offset(token.start), chance.choice(["  # why", " # é𝒳: noqa or not", "\t#)", "  "]))
        for token in ends
    ]
    return replaced(text, some(chance, wanted, 6))


def exploded(text: str, chance: Random) -> str:
    """Calls with each argument on a line of its own."""
    text = plain(text)
    offset, tokens = places(text), tokens_of(text)
    changes = []
    for before, bracket, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if bracket.string in "([{" and bracket.type == tokenize.OP and after.type not in UNIMPORTANT:
            if bracket.string == "(" and before.string in ("import", "class", "def"):
                continue
            start = offset(bracket.end)
            changes.append((start, start, chance.choice(["\n        ", "  # first\n  ", " \\\n   "])))
        elif bracket.string == "," and bracket.type == tokenize.OP and inside(tokens, bracket):
            start = offset(bracket.end)
            changes.append((start, start, chance.choice(["\n        ", "  # next\n   "])))
    return replaced(text, some(chance, changes, 5))


def inside(tokens: list[tokenize.TokenInfo], wanted: tokenize.TokenInfo) -> bool:
    depth = 0
    for token in tokens:
        if token is wanted:
            return depth > 0
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
    return False


def renamed(text: str, chance: Random) -> str:
    """A name that the file binds gets another one; names of parameters, attributes and imports stay."""
    text = plain(text)
    tree = parsed(text)
    bound = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    fixed = {one.arg for one in ast.walk(tree) if isinstance(one, (ast.arg, ast.keyword))}
    fixed |= {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            fixed |= {part for one in node.names for part in (one.asname or one.name).split(".")}
        elif isinstance(node, ast.ClassDef):
            fixed |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    candidates = sorted(name for name in bound - fixed if not name.startswith("__"))
    if not candidates:
        raise DoesNotApply("the file binds no name of its own")
    old, new = chance.choice(candidates), chance.choice(NAMES)
    if re.search(rf"\b{new}\b", text):
        raise DoesNotApply("the new name is taken")
    offset = places(text)
    return replaced(
        text,
        [
            (offset(token.start), offset(token.end), new)
            for token in tokens_of(text)
            if token.type == tokenize.NAME and token.string == old
        ],
    )


def parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise DoesNotApply("it does not parse") from error


def wrapped(text: str, chance: Random) -> str:
    """Some statements of the module stand in a block."""
    text = plain(text)
    body = [node for node in parsed(text).body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    body = [node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if not body:
        raise DoesNotApply("the module has no statement")
    first = chance.randrange(len(body))
    last = chance.randrange(first, len(body))
    head, tail = chance.choice(
        [
            ("if True:\n", ""),
            ("try:\n", "finally:\n    pass\n"),
            ("if __name__ == '__main__':\n", ""),
            ("for _ in range(1):\n", ""),
            ("class Space:\n", ""),
            ("def program():\n", "\n\nprogram()\n"),
        ]
    )
    decorators = getattr(body[first], "decorator_list", [])
    start, end = min([body[first].lineno, *(one.lineno for one in decorators)]), body[last].end_lineno
    strings = inside_strings(text)
    lines = text.splitlines(keepends=True)
    assert end is not None
    moved = [
        line if number in strings or not line.strip() else f"    {line}"
        for number, line in enumerate(lines[start - 1 : end], start)
    ]
    if not moved[-1].endswith("\n"):
        moved[-1] += "\n"
    return "".join([*lines[: start - 1], head, *moved, tail, *lines[end:]])


def joined(text: str, chance: Random) -> str:
    """Two statements on one line."""
    text = plain(text)
    changes = []
    offset = places(text)
    for token, after in zip(tokens_of(text), tokens_of(text)[1:], strict=False):
        if token.type == tokenize.NEWLINE and after.type == tokenize.NAME and after.string not in BLOCKS:
            line = token.line.strip()
            if not line.endswith(":") and "#" not in line and not line.startswith("@"):
                changes.append((offset(token.start), offset(after.start), chance.choice(["; ", ";"])))
    return replaced(text, some(chance, changes, 1))


BLOCKS = {
    *("if", "for", "while", "with", "try", "def", "class", "async", "else", "elif", "except", "finally", "match"),
    *("import", "from"),
}


def head(text: str, chance: Random) -> str:
    """What may stand above everything else."""
    text = plain(text)
    if parsed(text).body and ast.get_docstring(parsed(text)) is None and "from __future__" not in text:
        return chance.choice(HEADS) + text
    raise DoesNotApply("the file has a docstring")


HEADS = [
    "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n",
    '"""Trains.\n\n    Indented, with a tab:\t.\n"""\n\n',
    '"""Trains."""; ',
    "from __future__ import annotations\n",
    "'''Trains.''' ; from __future__ import annotations\n\n\n\n",
    "# Licence.\n\n\n",
    "\n\n",
    "import cv2\n",
    "__all__ = []\n",
]


def ending(text: str, chance: Random) -> str:
    body = text.rstrip("\r\n")
    return body + chance.choice(["", "\n\n\n", "  # end", "\n# end", "\n\\\n"])


def mark(text: str, chance: Random) -> str:
    return "\ufeff" + plain(text)


def form_feeds(text: str, chance: Random) -> str:
    """A form feed at the start of a line counts as no indent."""
    text = plain(text)
    offset = places(text)
    wanted = [
        (offset((token.start[0], 0)), offset((token.start[0], 0)), "\f")
        for before, token in zip(tokens_of(text), tokens_of(text)[1:], strict=False)
        if before.type in (tokenize.NEWLINE, tokenize.NL) and token.start[1] == 0 and token.type == tokenize.NAME
    ]
    return replaced(text, some(chance, wanted))


def wide(text: str, chance: Random) -> str:
    """Characters of several bytes before a statement on its line."""
    text = plain(text)
    offset = places(text)
    wanted = [
        (offset(after.start), offset(after.start), "'é𝒳\u0301'; ")
        for token, after in zip(tokens_of(text), tokens_of(text)[1:], strict=False)
        if token.type in (tokenize.NEWLINE, tokenize.INDENT)
        and after.type == tokenize.NAME
        and after.string not in BLOCKS
    ]
    return replaced(text, some(chance, wanted))


def annotated(text: str, chance: Random) -> str:
    text = plain(text)
    wanted = []
    source = Source(text, None)  # type: ignore[arg-type]
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and text.isascii():
            target = node.targets[0]
            if isinstance(target, (ast.Attribute, ast.Name)):
                _, end = source.bounds(target)
                wanted.append((end, end, ": object"))
    return replaced(text, some(chance, wanted))


def taken(text: str, chance: Random) -> str:
    """A definition with a name that a fix may want."""
    name = chance.choice(["_collate_fn", "_scale", "_transform", "_worker_init_fn", "np", "cv2", "queue", "torch_"])
    if re.search(rf"\b{name}\b", plain(text)):
        raise DoesNotApply("the name is there")
    return text.rstrip("\n") + f"\n\n\n{name} = None\n"


def variant(name: str) -> Callable[[str, Random], str]:
    """One of the variants of the proof, about any call of the file."""

    def mutate(text: str, chance: Random) -> str:
        if not plain(text).isascii():
            raise DoesNotApply("columns of trees count bytes")
        calls = [node for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)]
        if not calls:
            raise DoesNotApply("there is no call")
        node = chance.choice(calls)
        assert node.end_lineno is not None and node.end_col_offset is not None
        span = Span(node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)
        return VARIANTS[name](Source(text, span))

    return mutate


MUTATIONS: dict[str, Callable[[str, Random], str]] = {
    "line ends": line_ends,
    "indents": indents,
    "comments": comments,
    "exploded": exploded,
    "renamed": renamed,
    "wrapped": wrapped,
    "joined": joined,
    "head": head,
    "ending": ending,
    "mark": mark,
    "form feeds": form_feeds,
    "wide": wide,
    "annotated": annotated,
    "taken": taken,
    **{
        name: variant(name)
        for name in ("aliases", "other import forms", "star import", "nested call", "twice on a line")
    },
    **{name: variant(name) for name in ("in a method", "decorated", "in a block", "comments in the call")},
}


LAST = ("form feeds", "mark", "line ends")
"""What the other mutations cannot read comes after them."""


def compiles(text: str) -> bool:
    try:
        compile(text.encode(), "mutated.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def mutated(text: str, names: Iterator[str] | list[str], chance: Random) -> str:
    """The text after the mutations that apply; one whose result does not compile is left out."""
    for name in sorted(names, key=LAST.__contains__):
        try:
            new = MUTATIONS[name](text, chance)
        except DoesNotApply:
            continue
        if compiles(new):
            text = new
    return text
