"""Walks the expressions that are one token: names, numbers and strings; and f-strings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from sys import intern
from typing import Any

import libcst as cst

from dllint.facts.extract.walk import OutOfStep, Walk
from dllint.facts.nodes import Bytes, Constant, FString, Name, Opaque
from dllint.facts.schema import Expr

_CONSTANTS = {"True": True, "False": False, "None": None}
_ESCAPE = re.compile(r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": ""} | dict(
    zip("abfv", "\a\b\f\v", strict=True)
)
_LONGEST_INTEGER = 4096
"""The most bits of a number that is worth keeping (Python would refuse to print a larger one)."""


class _AnyToken(Sequence[str]):
    """Stands for the tokens inside an f-string, which is itself one token."""

    def __getitem__(self, index: Any) -> Any:
        return None

    def __len__(self) -> int:
        return 0


class Literals(Walk):
    """Walks the expressions that are a single token, and f-strings."""

    def name(self, node: cst.Name) -> Expr:
        name = intern(node.value)
        if self.texts[self.at] != name and not self.inside:
            raise OutOfStep(name)
        self.at += 1
        if name in _CONSTANTS:
            return Constant(_CONSTANTS[name])
        known = self.loaded.get(name)
        if known is None:
            self.loaded[name] = {self.scope: None}
        else:
            known[self.scope] = None
        return Name(name)

    def integer(self, node: cst.Integer) -> Expr:
        self.step(node.value)
        try:
            value = int(node.value, 0)
        except ValueError:
            return Opaque()
        return Constant(value) if value.bit_length() <= _LONGEST_INTEGER else Opaque()

    def float(self, node: cst.Float) -> Expr:
        self.step(node.value)
        return Constant(float(node.value.replace("_", "")))

    def imaginary(self, node: cst.Imaginary) -> Expr:
        self.step(node.value)
        return Opaque()

    def ellipsis(self, node: cst.Ellipsis) -> Expr:
        self.step("...")
        return Opaque()

    def string(self, node: cst.SimpleString) -> Expr:
        text = node.value
        self.step(text)
        head = text[:2].lower()
        if text[0] in "'\"":
            prefix = ""
        else:
            prefix = head if head[1] not in "'\"" else head[0]
            text = text[len(prefix) :]
        size = 3 if text[:3] in ("'''", '"""') and len(text) > 5 else 1
        value = text[size:-size]
        if size == 3 and "\r" in value:
            value = value.replace("\r\n", "\n").replace("\r", "\n")
        if "\\" in value and "r" not in prefix:
            value = _unescape(value, "b" in prefix)
        return Bytes(len(value)) if "b" in prefix else Constant(value)

    def concatenated(self, node: Any) -> Expr:
        pieces: list[Expr] = []
        while type(node) is cst.ConcatenatedString:
            pieces.append(self.expr(node.left))
            node = node.right
        pieces.append(self.expr(node))
        if any(type(piece) is Opaque for piece in pieces):
            return Opaque()
        texts = [piece.value for piece in pieces if type(piece) is Constant]
        if len(texts) == len(pieces):
            return Constant("".join(texts))
        lengths = [piece.length for piece in pieces if type(piece) is Bytes]
        if len(lengths) == len(pieces):
            return Bytes(sum(lengths))
        merged: list[Expr] = []
        for piece in pieces:
            merged += piece.values if type(piece) is FString else [piece]
        return FString(tuple(merged))

    def fstring(self, node: Any) -> Expr:
        at, inside, texts = self.at, self.inside, self.texts
        self.inside = inside or self.tokens.span(at, at)
        self.texts = _AnyToken()
        pieces = self._fstring_parts(node.parts, "r" in node.start.lower())
        self.at, self.inside, self.texts = at + 1, inside, texts
        return FString(tuple(pieces)) if type(node) is cst.FormattedString else Opaque()

    def _fstring_parts(self, parts: Sequence[Any], raw: bool) -> list[Expr]:
        pieces: list[Expr] = []
        for part in parts:
            text = getattr(part, "value", None)
            if isinstance(text, str):
                text = text.replace("{{", "{").replace("}}", "}")
                pieces.append(Constant(text if raw or "\\" not in text else _unescape(text, False)))
            else:
                pieces.append(self.expr(part.expression))
                if part.format_spec:
                    inner = self._fstring_parts(part.format_spec, raw)
                    pieces += [piece for piece in inner if type(piece) is not Constant]
        return pieces


def _unescape(text: str, in_bytes: bool) -> str:
    def plain(match: re.Match[str]) -> str:
        escape = match[1]
        if escape in _PLAIN_ESCAPES:
            return _PLAIN_ESCAPES[escape]
        if escape[0] in "01234567":
            return chr(int(escape, 8) & 255) if in_bytes else chr(int(escape, 8))
        if escape[0] == "x" and len(escape) == 3:
            return chr(int(escape[1:], 16))
        if not in_bytes:
            try:
                if escape[0] in "uU" and len(escape) > 1:
                    return chr(int(escape[1:], 16))
                if escape.startswith("N{"):
                    return unicodedata.lookup(escape[2:-1])
            except (ValueError, KeyError):
                return "\ufffd"
        return match[0]

    return _ESCAPE.sub(plain, text)
