"""Calls of OpenCV on images that are too small for its thread pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.inference import limits
from dllint.inference.values import Const, Display, External, Instance, Site, Value
from dllint.libraries.index import canonical
from dllint.libraries.opencv import ALONE_IF_SMALL, SMALL
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.inference.values import Frame

_CUBIC = "INTER_CUBIC"


def is_small(world: World, file: SourceFile, index: int, name: str, frame: Frame | None, depth: int = 0) -> bool:
    """Whether a call of cv2 works in the calling thread alone, because its image is small: the size that it resizes to,
    or the result of such a call."""
    function = name.rpartition(".")[2]
    site = world.call_site(file, index, frame)
    if function == "resize":
        return _resizes_to_few(world, file, index, site)
    if function not in ALONE_IF_SMALL or limits.OPENCV_STEPS.exceeded(depth):
        return False
    args = file.calls[index].args
    image = args[0].value if args and args[0].keyword in (None, "src") else None
    values = world.values.evaluate(image, site) if image is not None else ()
    return bool(values) and all(_is_small_result(world, value, depth) for value in values)


def _is_small_result(world: World, value: Value, depth: int) -> bool:
    if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is None or value.call < 0:
        return False
    name = canonical(value.of.name)
    return name.startswith("cv2.") and is_small(world, value.file, value.call, name, value.frame, depth + 1)


def _resizes_to_few(world: World, file: SourceFile, index: int, site: Site) -> bool:
    args = file.calls[index].args
    if any(isinstance(one.value, (Name, Attribute)) and last_name(one.value) == _CUBIC for one in args):
        return False
    size = next((one.value for one in args if one.keyword == "dsize"), None)
    if size is None and len(args) > 1 and args[0].keyword is None and args[1].keyword is None:
        size = args[1].value
    if size is None or isinstance(size, CallRef):
        return False
    values = world.values.evaluate(size, site)
    return bool(values) and all(_has_few_pixels(world, value) for value in values)


def _has_few_pixels(world: World, value: Value) -> bool:
    slots = world.mappings.slots(value) if isinstance(value, Display) else None
    return slots is not None and len(slots) == 2 and are_few(*(world.values.evaluate(*slot) for slot in slots))


def are_few(*sides: tuple[Value, ...]) -> bool:
    """Whether all sizes that an image can have are too small for the thread pool."""
    pixels = 1
    for values in sides:
        counts = [one.value for one in values if isinstance(one, Const) and type(one.value) is int]
        if not counts or len(counts) != len(values):
            return False
        pixels *= max(counts)
    return pixels <= SMALL
