"""Functions and classes that loaders send and that cannot be pickled: shared by the rules DLL201, DLL202 and DLL204."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.finding import Finding
from dllint.rules.pickling.hoisting import default_factory, hoisting
from dllint.rules.pickling.local_objects import LocalObjects, UnpicklableFunction, is_guarded
from dllint.rules.pickling.sent_to_workers import Told, unpicklable

if TYPE_CHECKING:
    from dllint.project.loaders import Loader
    from dllint.project.model import Project


def unpicklable_functions(project: Project, code: str) -> Iterator[Finding]:
    """The findings of one of these rules, by its code."""

    pythons = project.targets.pythons

    def tell(one: UnpicklableFunction, message: str) -> Told:
        name = one.file.scopes[one.scope].name
        # A latent finding concerns the newest Python, whose default start method is not fork.
        asked = (max(pythons),) if message == "latent" else pythons
        values = {"argument": one.holder, "what": one.words, "name": name, "error": one.error(asked)}
        if is_guarded(one.file, one.scope):
            values["error"] = f"AttributeError: Can't get attribute '{name}'"
        fix = hoisting(project, one)
        replacement = default_factory(one) if one.is_lambda else None
        if replacement is not None:
            values |= {"factory": replacement, "remedy": "default"}
        elif one.file.is_notebook:
            values |= {"remedy": "notebook"}
        if code == "DLL202" and message != "fork_only":
            message = "guarded" if is_guarded(one.file, one.scope) else one.role or message
            if message == "guarded" and one.file.is_notebook:
                message = "notebook"
        return Told(message, values, fix)

    found = project.ask(LocalObjects)

    def of_rule(loader: Loader) -> Iterator[UnpicklableFunction]:
        """What the loader calls itself is DLL204's alone: one edit mends it."""
        every = list(found.of(loader))
        called = {(one.file.path, one.scope) for one in every if one.code == "DLL204"} if code != "DLL204" else set()
        return (one for one in every if one.code == code and (one.file.path, one.scope) not in called)

    return unpicklable(project, code, lambda loader, _: of_rule(loader), tell)
