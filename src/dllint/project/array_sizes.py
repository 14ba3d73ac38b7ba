"""The number and the size in bytes of an array's elements, as the arguments of the call that makes it give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dllint.facts.nodes import List, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Const, Display, External, Site
from dllint.libraries.facets import Maker
from dllint.libraries.numpy import ITEM_BYTES
from dllint.libraries.paths import project_file
from dllint.libraries.torch import ITEM_BYTES as TORCH_ITEM_BYTES
from dllint.project.counting import whole_number
from dllint.reading import size as file_size

if TYPE_CHECKING:
    from dllint.inference.engine import World


class ArraySizes:
    """Works out the sizes of arrays from the arguments of calls: `plain` by position, `by_name` by keyword."""

    def __init__(self, world: World) -> None:
        self.world = world

    def of_file(self, plain: list[Expr], by_name: dict[str | None, Expr], site: Site) -> int | None:
        """Size of the file where its path is written out and it is a file of the project."""
        path = plain[0] if plain else by_name.get("file") or by_name.get("fname") or by_name.get("file_name")
        if path is None:
            return None
        for value in self.world.values.evaluate(path, site):
            found = project_file(self.world, site.file.path, value)
            if found is not None:
                return file_size(found)
        return None

    def count(self, maker: Maker, plain: list[Expr], by_name: dict[str | None, Expr], site: Site) -> int | None:
        """The number of elements of a whole array; None where it is not known."""
        if maker.shape == "count":
            numbers = [whole_number(self.world, expr, site) for expr in plain[:3]]
            if not numbers or any(number is None for number in numbers):
                return None
            known = [number for number in numbers if number is not None]
            start, stop, step = (
                (0, known[0], 1) if len(known) == 1 else (known[0], known[1], known[2] if len(known) > 2 else 1)
            )
            return max(0, (stop - start) // step) if step else None
        named = by_name.get(maker.size) or by_name.get("shape")
        if named is not None:
            return self._dimensions([named], site)
        if maker.shape == "dims":
            return self._dimensions(plain, site)
        if len(plain) > maker.position:
            return self._dimensions([plain[maker.position]], site)
        return None

    def _dimensions(self, exprs: Sequence[Expr], site: Site) -> int | None:
        """The product of dimensions, given one by one or as one sequence."""
        total = 1
        for expr in exprs:
            values = self.world.values.evaluate(expr, site)
            if (
                len(values) == 1
                and isinstance(values[0], Display)
                and isinstance(values[0].written.expr, (Tuple, List))
            ):
                inner = self._dimensions(values[0].written.expr.elements, values[0].written.site)
                if inner is None:
                    return None
                total *= inner
                continue
            number = whole_number(self.world, expr, site)
            if number is None:
                return None
            total *= number
        return total if exprs else None

    def item_bytes(self, maker: Maker, plain: list[Expr], by_name: dict[str | None, Expr], site: Site) -> int | None:
        """The bytes of one element; None where the type is not known."""
        dtype = by_name.get("dtype")
        if dtype is None and 0 <= maker.dtype_at < len(plain):
            dtype = plain[maker.dtype_at]
        return maker.item if dtype is None else self.bytes_of(dtype, maker.library, site)

    def bytes_of(self, dtype: Expr, library: str, site: Site) -> int | None:
        """The bytes of an element of a type such as `np.float32`, `torch.uint8` or "int16"."""
        for value in self.world.values.evaluate(dtype, site):
            label = ""
            if isinstance(value, External):
                label = value.name.rsplit(".", 1)[-1]
            elif isinstance(value, Const) and isinstance(value.value, str):
                label = value.value
            if library == "torch" and label in TORCH_ITEM_BYTES:
                return TORCH_ITEM_BYTES[label]
            if label in ITEM_BYTES:
                return ITEM_BYTES[label]
        return None


def mib(size: int) -> str:
    """A size in bytes as messages show it: "512 MiB", "1.5 GiB"."""
    if size >= 1 << 30:
        number = size / (1 << 30)
        return f"{number:.0f} GiB" if number == int(number) else f"{number:.1f} GiB"
    return f"{size / (1 << 20):.0f} MiB"
