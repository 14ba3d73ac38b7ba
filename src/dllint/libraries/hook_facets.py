"""The row types of a library's tables that say which methods a framework calls, and when."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_NONE: Mapping[str, Any] = MappingProxyType({})


class Epochs(NamedTuple):
    """The epochs that a framework's method runs: in each of them it iterates the same loaders.

    Attributes:
        number: the parameter, of the method or of the constructor, that takes the number of epochs.
        single: the values of `number` that stand for one epoch.
        default: whether there are several without that argument.
        renewing: the constructor's parameters that make it build its loaders again between the epochs.
        params: the method's positional parameters in order, if `number` is one of them.
        of_options: whether an object of options, which the constructor takes, has been given `number`.
        instead: the parameters beside `number` that end the run earlier where they are above 0.
    """

    number: str
    single: tuple[object, ...] = (1,)
    default: bool = True
    renewing: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    of_options: bool = False
    instead: tuple[str, ...] = ()


class Hooks(NamedTuple):
    """Methods of a framework's class that call methods of the project's objects.

    `iterates` says whether the entries iterate the loaders that they are given, `loads` which methods return loaders
    that an entry iterates, and `holds` by which parameters the constructor takes such loaders; `params` are its
    positional parameters in order. `objects` are those by which it takes objects of the project, and `gives` what the
    methods get of it: their parameter → its own. `epochs` are the entries that run epochs.
    """

    entries: tuple[str, ...]
    methods: tuple[str, ...]
    iterates: bool = False
    loads: Mapping[str, tuple[str, ...]] = _NONE
    holds: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    gives: Mapping[str, str] = _NONE
    epochs: Mapping[str, Epochs] = _NONE


class EachEpoch(NamedTuple):
    """The methods of a project's class that a framework calls in each epoch, while workers may persist.

    Attributes:
        methods: their names.
        loader: the attribute of the framework's own object under which they find the loader of the training data:
            "train_dataloader" in `runner.train_dataloader`.
        entry: the function, variable or argument of this name makes that loader; "" for any.
        apis: the pseudo-APIs of the loaders that the framework iterates in several epochs. Where there are none, the
            calls of its trainer show which loaders those are.
    """

    methods: tuple[str, ...]
    loader: str
    entry: str = ""
    apis: frozenset[str] = frozenset()
