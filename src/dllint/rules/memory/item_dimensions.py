"""How many dimensions the arrays in the items of datasets have at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import List, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import NONE, Display, External, Instance, Site, Value
from dllint.libraries.index import MAKERS, TENSOR_ITEMS, canonical
from dllint.project.loaders import Loader
from dllint.rules.memory.item_fields import fields

if TYPE_CHECKING:
    from dllint.project.model import Project

_PICTURES = frozenset(
    {
        "cv2.imread",
        "torchvision.io.read_image",
        "torchvision.transforms.functional.pil_to_tensor",
        "torchvision.transforms.functional.to_tensor",
        "torchvision.transforms.PILToTensor()",
        "torchvision.transforms.ToTensor()",
    }
)
"""Calls that return a picture: its rows and columns are two dimensions."""


def least_dimensions(project: Project, loader: Loader, position: int | str | None) -> int:
    """How many dimensions beside that of the batch an array surely has which torch makes of what the items of a loader
    have at a position or under a key; 0 if that is not known."""
    given = loader.argument("collate_fn")
    if position is None or not given.absent or given.values or NONE in loader.argument("batch_size").values:
        return 0
    values = loader.datasets()
    if values and position == 0 and all(map(_has_pictures, values)):
        return 2
    found = [_of_part(project, expr, site) for expr, site in fields(project, loader, position)]
    return min(found, default=0)


def _has_pictures(value: Value) -> bool:
    name = canonical(value.of.name) if isinstance(value, Instance) and isinstance(value.of, External) else ""
    return name in TENSOR_ITEMS and name.startswith("torchvision.")


def _of_part(project: Project, expr: Expr, site: Site) -> int:
    values = project.world.values.evaluate(expr, site)
    return min((_of_value(project, one) for one in values), default=0)


def _of_value(project: Project, value: Value) -> int:
    if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is None or value.call < 0:
        return 0
    name = canonical(value.of.name)
    if name in _PICTURES or name.removesuffix("()") in _PICTURES:
        return 2
    maker = MAKERS.get(name.removesuffix("()"))
    if maker is None or maker.shape not in ("dims", "first"):
        return 0
    plain = [one.value for one in value.file.calls[value.call].args if one.keyword is None][maker.position :]
    site = project.world.call_site(value.file, value.call, value.frame)
    sizes = project.world.values.evaluate(plain[0], site) if plain else ()
    if len(sizes) == 1 and isinstance(sizes[0], Display) and isinstance(sizes[0].written.expr, (Tuple, List)):
        return len(sizes[0].written.expr.elements)
    return len(plain) if maker.shape == "dims" else len(plain[:1])
