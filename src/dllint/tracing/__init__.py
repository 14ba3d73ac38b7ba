"""The reasoning behind findings: where start methods come from, and where a loader's arguments come from."""

from dllint.inference.origins.sources import Source
from dllint.tracing.arguments import Argument, DatasetTrace, KeptTrace
from dllint.tracing.launches import LaunchTrace
from dllint.tracing.places import (
    Excluded,
    InForce,
    LoaderTrace,
    Trace,
    WayIn,
    parse_place,
    trace_file,
    trace_line,
)

__all__ = [
    "Argument",
    "DatasetTrace",
    "Excluded",
    "InForce",
    "KeptTrace",
    "LaunchTrace",
    "LoaderTrace",
    "Source",
    "Trace",
    "WayIn",
    "parse_place",
    "trace_file",
    "trace_line",
]
