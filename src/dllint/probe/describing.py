"""Describe a loader's arguments, dataset and context for records, without fixing an undecided start method."""

from __future__ import annotations

import sys
from typing import Any


def length(loader: Any) -> int | None:
    """Return the batches per epoch. An IterableDataset is not asked, because the loader would warn about its answer."""
    if is_iterable(loader.dataset):
        return None
    try:
        return len(loader._index_sampler)
    except Exception:
        return None


def is_iterable(dataset: Any) -> bool:
    data = sys.modules.get("torch.utils.data.dataset")
    return data is not None and isinstance(dataset, data.IterableDataset)


def context_method(context: Any) -> str | None:
    """Return the start method of a multiprocessing context, without fixing one that is still undecided."""
    if context is None:
        return None
    if isinstance(context, str):
        return context
    name = getattr(context, "_name", None)
    return name if isinstance(name, str) and name else None


def default_method() -> str | None:
    import multiprocessing

    return multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]


def qualified(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def described(value: Any) -> Any:
    """Return a value as JSON: scalars and short lists unchanged, functions and classes by name, the rest by class."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value[:200]
    if isinstance(value, (list, tuple)) and len(value) <= 8:
        return [described(one) for one in value]
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return f"{getattr(value, '__module__', '')}.{name}"
    return context_method(value) or qualified(type(value))
