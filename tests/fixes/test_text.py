"""Lines end where Python's do, columns count code points, and edits of a text keep their order."""

import pytest

from dllint.fixes.text import Lines, TextEdit, Unresolvable, apply
from dllint.span import Span

TEXT = "a𝄞\tb\r\nc\x0b\u2028\x1cd\re\x0cf\n\ng"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_places_and_offsets_agree(mark):
    lines = Lines(mark + TEXT)
    assert len(lines.starts) == 5
    places = {
        (1, 1): "a",
        (1, 2): "𝄞",
        (1, 4): "b",
        (1, 5): "\r",
        (2, 1): "c",
        (2, 5): "d",
        (3, 3): "f",
        (4, 1): "\n",
        (5, 1): "g",
    }
    for (line, column), char in places.items():
        offset = lines.offset(line, column)
        assert lines.text[offset] == char
        assert lines.span(offset, offset) == Span(line, column, line, column)


@pytest.mark.parametrize("place", [(0, 1), (1, 0), (1, 6), (4, 2), (5, 3), (6, 1)])
def test_places_outside_of_the_text(place):
    with pytest.raises(Unresolvable):
        Lines(TEXT).offset(*place)


def test_apply_takes_edits_in_any_order_and_insertions_at_one_place_in_theirs():
    edits = [
        TextEdit("a", Span(1, 3, 1, 4), "C"),
        TextEdit("a", Span(1, 1, 1, 1), "1"),
        TextEdit("a", Span(1, 3, 1, 3), "x"),
        TextEdit("a", Span(1, 1, 1, 1), "2"),
        TextEdit("a", Span(1, 2, 1, 3), ""),
    ]
    assert apply("abcd", edits) == "12axCd"


@pytest.mark.parametrize("spans", [[(1, 3), (2, 4)], [(1, 4), (2, 2)], [(3, 1)]])
def test_edits_that_cannot_be_applied(spans):
    with pytest.raises(Unresolvable):
        apply("abcd", [TextEdit("a", Span(1, first, 1, last), "") for first, last in spans])
