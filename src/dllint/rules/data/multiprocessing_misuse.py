"""DLL608: members and arguments that multiprocessing does not have, and functions that are called where they should be
passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import said
from dllint.facts.nodes import Constant
from dllint.finding import AddImport, Finding, Fix, ReplaceExpression
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.rules.data.missing_members import Misuse, Misuses

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL608"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for misuse in Misuses(project).all():
        yield Finding(
            CODE,
            misuse.file.path,
            misuse.span,
            misuse.kind,
            {"what": render(misuse.what, misuse.file), "name": misuse.name},
            fixes=_fixes(misuse),
            severity="warning" if misuse.kind == "seeding" else "error",
            statement=misuse.statement,
        )


def _fixes(misuse: Misuse) -> tuple[Fix, ...]:
    file = misuse.file
    if misuse.kind == "array":
        code = f"[0] * {render(misuse.what, file)}"
        edit = ReplaceExpression(file.path, misuse.span, code)
        return (Fix("Pass a sequence of that length", "unsafe", (edit,)),) if isinstance(misuse.what, Constant) else ()
    if misuse.kind != "exception" or not misuse.exact:
        return ()
    # Programs often name a variable `queue`, or import a class under that name, which would hide the module.
    hidden = any(
        binding.kind != "import" or binding.event.detail[:2] != ("queue", None)
        for scope in range(len(file.scopes))
        for binding in _bound(file, scope, "queue")
    )
    if hidden and any(_bound(file, scope, misuse.name) for scope in range(len(file.scopes))):
        return ()
    code = misuse.name if hidden else f"queue.{misuse.name}"
    added = AddImport(file.path, "queue", misuse.name if hidden else None)
    edit = ReplaceExpression(file.path, misuse.span, code)
    return (Fix(f"Use the exception that exists: `queue.{misuse.name}`", "safe", (edit, added)),)


def _bound(file: SourceFile, scope: int, name: str) -> list[Any]:
    return list(file.bindings(scope).get(name, []))


def judge(case: Case) -> Judgement:
    """Did the program die at this line?"""
    for end in case.seen.died_at(case.finding):
        return case.confirmed(said(end.exception, end.text))
    return case.inconclusive("the run did not fail there")
