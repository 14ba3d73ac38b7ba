"""A trace as one JSON object.

Rows and columns count from 1, columns in code points, ends are exclusive. A place is `{filename, location,
end_location}`, a hop of a chain a place with a `message`.

    filename, line              the requested place; `line` is null for a whole file
    statement, function         the examined statement (a place) and the function around it; null for a file
    start_methods[]             in force at the statement:
        method                  "fork", "spawn" or "forkserver"
        source                  "explicit", "inherited", "program" (set_start_method) or "default"
        targets                 for a default, the targets that have it; else null
        chain[]                 hops of the shortest chain, from the launching call on; empty for "explicit" and
        "default"
        other_chains            number of other chains; 99 stands for 99 or more
        workers                 for a loader, its worker count along the chain if it is a single number; else null
    excluded[]                  chains that lead there but do not count: method, reason, chain[]
    way_in                      if no launcher leads there: filename and function where the calls begin ("<module>"
                                is the top level; else a function without a known call), chain[]; else null
    loaders[]                   class, function, a place, workers ("none", "some", "unknown", "opaque"), verdict,
                                start_methods[], excluded[], way_in, and
        arguments[]             name, given, written, place (or null), values[] (text, how, caveat, known and a place)
        datasets[]              name, in_project, place (or null), kept[] (name, text, note,
                                constant, dropped and a place)
    launches[]                  call, function, a place, methods[], runs[], note
    doubts[]                    hops: calls that could not be followed and may matter
    limits                      how often each limit of the analysis was reached, by its name
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from dllint.finding import Place
from dllint.reporters import Style
from dllint.reporters.source import located, placed
from dllint.tracing import DatasetTrace, Excluded, InForce, LoaderTrace, Source, Trace, WayIn


def render(trace: Trace, style: Style) -> str:
    told = {
        "filename": trace.path,
        "line": trace.line,
        "statement": None if trace.statement is None else located(trace.path, trace.statement),
        "function": trace.function or None,
        "start_methods": [_in_force_object(one) for one in trace.in_force],
        "excluded": [_excluded_object(one) for one in trace.excluded],
        "way_in": _way_in_object(trace.way_in),
        "loaders": [_loader_object(one) for one in trace.loaders],
        "launches": [
            {
                "call": one.call,
                "function": one.function,
                **located(one.place.path, one.place.span),
                "methods": list(one.methods),
                "runs": list(one.runs),
                "note": one.note or None,
            }
            for one in trace.launches
        ],
        "doubts": _chain_object(trace.doubts),
        "limits": dict(trace.limits),
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _chain_object(hops: Iterable[Place]) -> list[dict[str, Any]]:
    return [{"message": one.message, **located(one.path, one.span)} for one in hops]


def _in_force_object(one: InForce) -> dict[str, Any]:
    return {
        "method": one.method,
        "source": one.source,
        "targets": one.where or None,
        "chain": _chain_object(one.chain),
        "other_chains": one.others,
        "workers": one.workers or None,
    }


def _excluded_object(one: Excluded) -> dict[str, Any]:
    return {"method": one.method, "reason": one.reason, "chain": _chain_object(one.chain)}


def _way_in_object(way_in: WayIn | None) -> dict[str, Any] | None:
    if way_in is None:
        return None
    return {
        "filename": way_in.path or None,
        "function": way_in.function or None,
        "chain": _chain_object(way_in.hops),
    }


def _loader_object(loader: LoaderTrace) -> dict[str, Any]:
    return {
        "class": loader.name,
        "function": loader.function,
        **located(loader.place.path, loader.place.span),
        "workers": loader.workers,
        "verdict": loader.verdict,
        "start_methods": [_in_force_object(one) for one in loader.in_force],
        "excluded": [_excluded_object(one) for one in loader.excluded],
        "way_in": _way_in_object(loader.way_in),
        "arguments": [
            {
                "name": one.name,
                "given": one.given,
                "written": one.written or None,
                "place": placed(one.place),
                "values": [_source_object(source) for source in one.sources],
            }
            for one in loader.arguments
        ],
        "datasets": [_dataset_object(one) for one in loader.datasets],
    }


def _source_object(source: Source) -> dict[str, Any]:
    return {
        "text": source.text,
        "how": source.how or None,
        "caveat": source.caveat or None,
        "known": source.known,
        **located(source.path, source.span),
    }


def _dataset_object(dataset: DatasetTrace) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "in_project": dataset.project,
        "place": placed(dataset.place),
        "kept": [
            {
                "name": one.name,
                "text": one.text,
                "note": one.note or None,
                "constant": one.constant,
                "dropped": one.dropped,
                **located(one.place.path, one.place.span),
            }
            for one in dataset.kept
        ],
    }
