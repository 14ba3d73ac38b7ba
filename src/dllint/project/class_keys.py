"""The class of an item: look-ups by it, whose entries are few and shared by many items, and the attributes that hold it
for each item."""

from __future__ import annotations

import re

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.linking.source import last_name
from dllint.project.folders import is_folder
from dllint.project.item_run import ItemRun

_CLASSES = re.compile(
    r"label|class|cls|categor|(?:^|_)(?:cat|target|y|task|domain|lang|language|speaker|spk)(?:_|$)", re.I
)
"""Names of variables and keys that hold the class of an item, or what many items share."""
_OF_ITEMS = re.compile(r"(?:\A|_)(?:labels?|targets?|class(?:es)?|folds?|splits?|y)\d*(?:_[a-z]+)?\Z")
"""Names of attributes that hold a number for each item: its class, or the part of the data set that it belongs to."""


def holds_classes(attr: str) -> bool:
    """Whether an attribute holds the classes of the items, by its name: `self.targets`. They are numbers, and small
    beside the data."""
    return _OF_ITEMS.search(attr) is not None


def is_of_class(run: ItemRun, item: Expr) -> bool:
    """Whether an entry is looked up by the class of an item, or by the folder that it is in, as an embedding of a label
    is: `prompts[label]`, `prompts[self.labels[index]]`, `prompts[path.parent.name]`."""
    key: Expr | None = item.index if isinstance(item, Subscript) else None
    if isinstance(item, CallRef) and run.file.calls[item.index].args:
        key = run.file.calls[item.index].args[0].value
    if key is not None and is_folder(run.answers.world, key, run.file, run.scope):
        return True
    name = _name_of(run, key)
    return isinstance(name, str) and _CLASSES.search(name) is not None


def is_beside_constants(run: ItemRun, item: Expr) -> bool:
    """Whether the function also takes an entry from the same dict under a name that it knows: `ids[emotion]` beside
    `ids["neutral"]`. Its keys are names then, which many items share."""
    if not isinstance(item, Subscript):
        return False
    others = (one.index for one in run.expressions if isinstance(one, Subscript) and one.value == item.value)
    return any(isinstance(one, Constant) and isinstance(one.value, str) for each in others for one in _keys(run, each))


def _keys(run: ItemRun, key: Expr) -> list[Expr]:
    """A key, or what the function assigns to the name of it."""
    if not isinstance(key, Name):
        return [key]
    assigned = [one.value for one in run.events if one.kind == "assign" and one.target == key and one.value is not None]
    return assigned or [key]


def _name_of(run: ItemRun, key: Expr | None) -> object:
    """The name or the key that says what a key is: "label" for `str(row["label"])`, "labels" for
    `self.labels[index].item()`."""
    while True:
        if isinstance(key, CallRef):
            call = run.file.calls[key.index]
            converted = [one.value for one in call.args] if isinstance(call.func, Name) else []
            key = call.func.value if isinstance(call.func, Attribute) else converted[0] if converted else None
        elif isinstance(key, Subscript) and isinstance(key.index, Constant) and isinstance(key.index.value, str):
            return key.index.value
        elif isinstance(key, Subscript):
            key = key.value
        else:
            return key.value if isinstance(key, Constant) else last_name(key) if key is not None else None
