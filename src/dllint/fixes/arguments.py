"""Set, replace and remove keyword arguments of a call, in the style of the existing call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Union

import libcst as cst

from dllint.finding import RemoveArgument, SetArgument
from dllint.fixes.parser import parse_expression
from dllint.fixes.text import BLANKS, LINE_END, Change, Unresolvable
from dllint.fixes.tree import QUOTING, Tree

USUAL_LINE, LONGEST_LINE = 120, 160
"""A new argument gets its own line if its line would otherwise exceed both the first limit and all other lines of the
file, or exceed the second limit."""


class _Arg(NamedTuple):
    """An argument of the call. `comma` is the offset after its comma, -1 if there is none."""

    node: cst.Arg
    start: int
    end: int
    comma: int


class _Call(NamedTuple):
    """A call. `opening` is the offset after "(", `closing` the offset of ")"."""

    tree: Tree
    args: list[_Arg]
    opening: int
    closing: int


def change_arguments(tree: Tree, edits: Sequence[Union[SetArgument, RemoveArgument]]) -> Iterator[Change]:
    """Yield the changes that all edits of one call make together.

    A new argument replaces a removed one if there is one; otherwise it follows the last argument, but precedes a final
    `**kwargs`.

    Raises:
        Unresolvable: there is no such call, or a value does not parse.
    """
    node = tree.call(edits[0].call)
    call = _read_call(tree, node)
    quoted = tree.is_in_string(node)
    wanted: dict[str, str | None] = {}
    for edit in edits:
        wanted.pop(edit.keyword, None)
        wanted[edit.keyword] = edit.value if isinstance(edit, SetArgument) else None
    present = {arg.node.keyword.value: index for index, arg in enumerate(call.args) if arg.node.keyword is not None}
    added = []
    removed = []
    replaced = []
    for keyword, value in wanted.items():
        if value is not None:
            value = _checked(tree, keyword, value, quoted)
        if value is None:
            removed += [present[keyword]] if keyword in present else []
        elif keyword in present:
            start, end = tree.outer(call.args[present[keyword]].node.value)
            if tree.text[start:end] != value:
                replaced.append((present[keyword], Change(start, end, value)))
        else:
            added.append(f"{keyword}={value}")
    while added and removed:
        arg = call.args[removed.pop(0)]
        yield Change(arg.start, arg.end, added.pop(0))
    yield from (change for _, change in replaced)
    if replaced and not removed:
        yield from _break_before(
            call, *min(replaced), sum(len(one.content) - one.end + one.start for _, one in replaced)
        )
    if added:
        yield from _add(call, added)
    yield from _remove(call, sorted(removed))


def _checked(tree: Tree, keyword: str, value: str, quoted: bool) -> str:
    if not keyword.isidentifier():
        raise Unresolvable(f"{keyword!r} is no keyword")
    parsed = parse_expression(value)
    if quoted and not QUOTING.isdisjoint(value):
        raise Unresolvable("a call in a string takes no quotes")
    value = LINE_END.sub(tree.module.default_newline, value.strip())
    if isinstance(parsed, (cst.Tuple, cst.NamedExpr, cst.Yield)) and not parsed.lpar:
        return f"({value})"
    return value


def _read_call(tree: Tree, node: cst.Call) -> _Call:
    opening = tree.range(node.func)[1]
    for _ in node.func.rpar:
        opening = tree.skip(opening) + 1
    opening = tree.skip(opening) + 1
    closing = tree.range(node)[1] - 1
    args = []
    for arg in node.args:
        start, end = tree.range(arg)
        after = tree.skip(end)
        args.append(_Arg(arg, start, end, after + 1 if tree.text[after] == "," else -1))
    return _Call(tree, args, opening, closing)


def _add(call: _Call, added: Sequence[str]) -> Iterator[Change]:
    tree = call.tree
    place = len(call.args)
    while place and call.args[place - 1].node.star == "**":
        place -= 1
    if not call.args:
        yield _fill(call, added)
    elif place < len(call.args):
        yield _add_between(call, place, added)
    elif _is_bare_generator(call):
        arg = call.args[0]
        yield Change(arg.start, arg.start, "(")
        yield Change(arg.end, arg.end, "), " + ", ".join(added))
    else:
        last = call.args[-1]
        line_end = _own_line_end(tree, max(last.comma, last.end))
        if not (_one_a_line(call) and (line_end >= 0 or last.comma < 0)):
            if (lead := _lead_of_long_line(call, last, sum(len(text) + 2 for text in added))) is not None:
                place = max(last.end, last.comma)
                text = ",".join(lead + text for text in added)
                yield Change(place, place, f",{text}" if last.comma < 0 else f"{text},")
            elif last.comma < 0:
                yield Change(last.end, last.end, "".join(f", {text}" for text in added))
            else:
                yield Change(last.comma, last.comma, "".join(f" {text}," for text in added))
            return
        separator = tree.line_end(call.opening) + tree.indentation(last.start)
        text = ",".join(separator + text for text in added) + ("," if last.comma >= 0 else "")
        place = max(line_end, last.comma, last.end)
        if last.comma >= 0:
            yield Change(place, place, text)
        elif place == last.end:
            yield Change(place, place, "," + text)
        else:
            yield Change(last.end, last.end, ",")
            yield Change(place, place, text)


def _break_before(call: _Call, index: int, change: Change, longer: int) -> Iterator[Change]:
    """Yield the line break before the first argument with a new value, if the new values make its line too long."""
    tree, arg = call.tree, call.args[index]
    before = call.args[index - 1].comma if index else -1
    start = tree.lines.start(arg.start)
    if before < start or tree.text[before : arg.start].strip() or start != tree.lines.start(change.start):
        return
    if (lead := _lead_of_long_line(call, arg, longer)) is not None:
        yield Change(before, arg.start, lead)


def _lead_of_long_line(call: _Call, arg: _Arg, longer: int) -> str | None:
    """Return the line end and indentation to put before or after an argument whose line would become too long by so
    many characters; `None` if they fit, or the line cannot be broken there."""
    tree, place = call.tree, max(arg.end, arg.comma)
    line = tree.text[tree.lines.start(place) : tree.lines.end(place)]
    most = min(max(tree.lines.longest, USUAL_LINE), LONGEST_LINE)
    if len(line) + longer <= most or "#" in tree.text[place : tree.lines.end(place)]:
        return None
    if any(tree.is_in_string(one.node) for one in call.args):
        return None
    first = call.args[0]
    if tree.leads_line(first.start) or tree.lines.start(arg.start) != tree.lines.start(call.opening):
        leading = next((one for one in reversed(call.args) if tree.leads_line(one.start)), None)
        if leading is None:
            return None
        return tree.line_end(call.opening) + tree.indentation(leading.start)
    before = tree.text[tree.lines.start(first.start) : first.start]
    if "\t" in before or not before.isascii():
        # The displayed width of a tab or a wide character is unknown, so indent one step more than the statement.
        return tree.line_end(call.opening) + tree.indentation(first.start) + tree.indent
    return tree.line_end(call.opening) + " " * len(before)


def _fill(call: _Call, added: Sequence[str]) -> Change:
    """Return the change that adds arguments to a call without any."""
    tree = call.tree
    inside = tree.text[call.opening : call.closing]
    if not LINE_END.search(inside):
        return Change(call.opening, call.opening, ", ".join(added))
    newline = tree.line_end(call.opening)
    indent = tree.indentation(call.closing) + tree.indent
    place = tree.lines.start(call.closing)
    return Change(place, place, "".join(f"{indent}{text},{newline}" for text in added))


def _add_between(call: _Call, place: int, added: Sequence[str]) -> Change:
    """Return the change that adds arguments before the one at `place`."""
    tree = call.tree
    following = call.args[place]
    before = call.args[place - 1].comma if place else call.opening
    if not tree.leads_line(following.start) or tree.lines.start(following.start) <= before:
        return Change(following.start, following.start, "".join(f"{text}, " for text in added))
    separator = tree.line_end(call.opening) + tree.indentation(following.start)
    line_end = max(_own_line_end(tree, before), before)
    return Change(line_end, line_end, "".join(f"{separator}{text}," for text in added))


def _is_bare_generator(call: _Call) -> bool:
    value = call.args[0].node.value
    return len(call.args) == 1 and isinstance(value, cst.GeneratorExp) and not value.lpar


def _one_a_line(call: _Call) -> bool:
    first = call.tree.leads_line(call.args[0].start) or len(call.args) > 1
    return first and all(call.tree.leads_line(arg.start) for arg in call.args[1:])


def _own_line_end(tree: Tree, offset: int) -> int:
    """Return the offset of the line end after `offset` if only blanks and a comment precede it; else -1."""
    line_end = tree.lines.end(offset)
    rest = tree.text[offset:line_end].lstrip(BLANKS)
    return line_end if not rest or rest.startswith("#") else -1


def _remove(call: _Call, removed: Sequence[int]) -> Iterator[Change]:
    """Remove each run of adjacent arguments with one change."""
    runs: list[tuple[int, int]] = []
    for index in removed:
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    for first, last in runs:
        yield from _remove_run(call, first, last)


def _remove_run(call: _Call, first: int, last: int) -> Iterator[Change]:
    tree, args = call.tree, call.args
    start, end = args[first].start, max(args[last].end, args[last].comma)
    before = args[first - 1] if first else None
    previous = before.comma if before else call.opening
    final = last == len(args) - 1
    following = call.closing if final else args[last + 1].start
    line_end = _own_line_end(tree, end)
    commented = bool(tree.text[end:line_end].strip(BLANKS)) if line_end >= 0 else False
    leads = tree.leads_line(start) and tree.lines.start(start) > previous
    adjoins = not tree.text[previous:start].strip()
    ends_bare = final and before is not None and args[last].comma < 0
    if final and before is None and adjoins and not tree.text[end:following].strip():
        yield Change(previous, following, "")
    elif before is not None and ends_bare and adjoins and not commented:
        yield Change(before.end, end, "")
    elif leads and line_end >= 0:
        if ends_bare:
            yield Change(previous - 1, previous, "")
        if commented:
            yield Change(start, tree.text.index("#", end), "")
        else:
            yield Change(tree.lines.start(start), tree.rest_of_line(line_end)[1], "")
    elif not tree.text[end:following].strip() and (before is None or (line_end < 0 and not final)):
        yield Change(start, following, "")
    else:
        if ends_bare:
            yield Change(previous - 1, previous, "")
        text = tree.text
        while start > previous and text[start - 1] in BLANKS and not tree.leads_line(start):
            start -= 1
        yield Change(start, end, "")
