"""The `with` blocks that close what a call opens."""

from __future__ import annotations

from dllint.facts.nodes import CallRef
from dllint.linking.source import SourceFile


def opens_block(file: SourceFile, call: int) -> bool:
    """Whether a call opens what a `with` statement closes: `with open(path) as file:`."""
    events = file.scopes[file.calls[call].scope].events_of("with")
    return any(event.value == CallRef(call) for event in events)


def in_block_of(file: SourceFile, call: int, opener: int) -> bool:
    """Whether a call is made inside the `with` block that another call of the same function opens."""
    around = (file.facts.regions[one] for one in file.regions(file.calls[call].region))
    return any(region.kind == "with" and region.expr == CallRef(opener) for region in around)
