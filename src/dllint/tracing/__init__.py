"""The provenance of start methods and of a loader's arguments: the reasoning that `dllint trace` shows."""

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
