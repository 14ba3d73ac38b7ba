"""YAML of a repository as plain data, in bounded time and memory: merge keys can double the size with every line.

Importing this module imports PyYAML.
"""

from __future__ import annotations

from typing import Any

import yaml

from dllint.documents import LONGEST_NUMBER, Malformed

MOST_MERGED = 20_000
"""Total number of pairs that the merge keys (`<<: *anchor`) of a YAML document may copy."""
MOST_MERGED_AT_ONCE = 100
"""Tables in the list of one merge key (`<<: [*a, *b]`)."""
LARGEST_YAML = 128 * 1024
"""Characters. The largest configuration in the projects that dllint is tested on has 83,000."""
DEEPEST = 100
"""Depth of nested lists and tables."""
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> Any:
    """Parse a YAML document to plain types.

    Raises:
        ValueError: it is malformed or exceeds a limit.
        RecursionError: it is nested too deeply.
    """
    if len(text) > LARGEST_YAML:
        raise Malformed(f"larger than {LARGEST_YAML // 1024} KiB")
    try:
        if _is_deeper(text, DEEPEST):
            raise Malformed(f"nested more than {DEEPEST} deep")
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, TypeError) as error:
        # `!!bool foo` and `!!int ""` raise the errors of the conversion itself.
        raise Malformed(" ".join(str(error).split())) from None


class _Loader(_Base):  # type: ignore[misc]
    """`yaml.SafeLoader` with limits, in C if available."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        for key, value in node.value:
            if key.tag == "tag:yaml.org,2002:merge" and len(value.value) > MOST_MERGED_AT_ONCE:
                raise Malformed(f"a merge key names more than {MOST_MERGED_AT_ONCE} tables")
        before = len(node.value)
        super().flatten_mapping(node)
        self.merged += max(len(node.value) - before, 0)
        if self.merged > MOST_MERGED:
            raise Malformed(f"merge keys copy more than {MOST_MERGED} pairs")

    def construct_scalar(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode) and len(node.value) > LONGEST_NUMBER and node.tag in _NUMBERS:
            raise Malformed(f"a number has more than {LONGEST_NUMBER} characters")
        return super().construct_scalar(node)


_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def _is_deeper(text: str, bound: int) -> bool:
    """Whether lists and tables are nested deeper than a bound; composing takes one Python frame per level."""
    current = 0
    for event in yaml.parse(text, Loader=_Base):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            current += 1
            if current > bound:
                return True
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            current -= 1
    return False
