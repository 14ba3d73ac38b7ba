"""A trace for people: the start methods at a place, and the values of a loader's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.finding import Place
from dllint.reporters import Style
from dllint.reporters.frame import Paint
from dllint.reporters.limits import limit_lines
from dllint.reporters.source import counted, shown_path
from dllint.span import WHOLE_FILE, Span
from dllint.tracing import Argument, DatasetTrace, Excluded, InForce, LaunchTrace, LoaderTrace, Source, Trace, WayIn

_SOURCES = {
    "explicit": "the loader's own multiprocessing_context",
    "inherited": "inherited from a launcher",
    "program": "set for the whole program",
}
_METHODS = {"default": "the start method in force", "fresh": "a new interpreter's default start method"}
"""Descriptions of a launch's start method that are not the name of one."""
MOST_SOURCES = 6
"""Maximum number of sources of one argument that are shown."""
MOST_DATASETS = 3
"""Maximum number of datasets of one loader that are shown with their attributes."""
MOST_DOUBTS = 6
MOST_KEPT = 12
"""Maximum number of attributes of one dataset that are shown."""


def render(trace: Trace, style: Style) -> str:
    return "".join(f"{line}\n" for line in _Text(trace, style).lines())


class _Text:
    """The lines of a trace: headings at the margin, details indented."""

    def __init__(self, trace: Trace, style: Style) -> None:
        self.trace = trace
        self.style = style
        self.paint = Paint(style.color)

    def lines(self) -> Iterator[str]:
        trace = self.trace
        if trace.line is not None and trace.statement is not None:
            yield from self._statement(trace, trace.line, trace.statement)
        loader = self._summary if trace.line is None else self._loader
        blocks = [loader(one) for one in trace.loaders] + [self._launch(one) for one in trace.launches]
        for index, block in enumerate(blocks):
            if index or (trace.line is not None and not trace.loaders):
                yield ""
            yield from block
        if not blocks and trace.line is None:
            yield f"No loaders and no launches in {self._path(trace.path)}."
        if trace.doubts:
            yield ""
            yield self.paint.bold("Calls that could not be followed and may lead here")
            yield from self._hops(trace.doubts[:MOST_DOUBTS], "  ")
            if len(trace.doubts) > MOST_DOUBTS:
                yield f"  and {len(trace.doubts) - MOST_DOUBTS} more"
        if told := limit_lines(trace.limits):
            yield ""
            yield self.paint.bold("Limits of the analysis that were met")
            yield from (f"  {line}" for line in told)
        if trace.line is None and blocks:
            yield ""
            launches = "1 launch" if len(trace.launches) == 1 else f"{len(trace.launches)} launches"
            more = f"`dllint trace {self._path(trace.path)}:LINE` shows all about one place."
            yield f"{counted(len(trace.loaders), 'loader')}, {launches}. {more}"

    def _statement(self, trace: Trace, line: int, statement: Span) -> Iterator[str]:
        if not statement.line <= line <= statement.end_line:
            yield f"Line {line} holds no statement; the nearest one is at line {statement.line}."
        if not trace.loaders:
            where = f"{self._path(trace.path)}:{statement.line}"
            yield f"{self.paint.bold(where)} {_within(trace.function)}"
            yield from self._methods(trace.in_force, trace.excluded, trace.way_in, "Start methods in force")

    def _loader(self, loader: LoaderTrace) -> Iterator[str]:
        yield self._heading(loader)
        if loader.in_force:
            own = any(one.source == "explicit" for one in loader.in_force)
            way_in = None if own else loader.way_in
            yield from self._methods(loader.in_force, loader.excluded, way_in, "Start methods of its workers")
        else:
            yield from self._methods(self.trace.in_force, loader.excluded, loader.way_in, "Start methods in force here")
        yield f"  {self.paint.bold('Arguments')}"
        absent = [one.name for one in loader.arguments if not one.given]
        for one in loader.arguments:
            if one.given:
                yield from self._argument(one)
        if absent:
            yield f"    not given: {', '.join(absent)}"
        for dataset in loader.datasets[:MOST_DATASETS]:
            yield from self._dataset(dataset)
        if len(loader.datasets) > MOST_DATASETS:
            others = ", ".join(dict.fromkeys(one.name for one in loader.datasets[MOST_DATASETS:]))
            yield f"  and the datasets {others}"

    def _summary(self, loader: LoaderTrace) -> Iterator[str]:
        yield self._heading(loader)
        for one in loader.in_force:
            ways = [self._at(hop.path, hop.span) for hop in (*one.chain, *([loader.place] if one.chain else []))]
            chain = self.paint.dim(f": {' → '.join(ways)}") if ways else ""
            yield f"  {self._method(one)}{chain}"
        for other in loader.excluded:
            yield f"  not {self.paint.label(other.method)}: {other.reason}"
        for argument in loader.arguments:
            if argument.given and argument.name in ("dataset", "num_workers"):
                yield from (line[2:] for line in self._argument(argument))

    def _heading(self, loader: LoaderTrace) -> str:
        where = self.paint.bold(self._at(loader.place.path, loader.place.span))
        return f"{where} {self.paint.label(loader.name)} {_within(loader.function)}: {loader.verdict}"

    def _method(self, one: InForce) -> str:
        source = f"the default on {one.where}" if one.source == "default" else _SOURCES[one.source]
        return f"{self.paint.label(one.method)}, {source}{_count(one.workers)}"

    def _launch(self, launch: LaunchTrace) -> Iterator[str]:
        where = f"{self._path(launch.place.path)}:{launch.place.span.line}"
        methods = " or ".join(_METHODS.get(one, one) for one in launch.methods)
        text = (
            f"{launch.call} runs {', '.join(launch.runs)} under {methods}"
            if methods
            else f"{launch.call}: {launch.note}"
        )
        yield f"{self.paint.bold(where)} {self.paint.label('launch')} {text}"

    # Start methods

    def _methods(
        self, in_force: Iterable[InForce], excluded: Iterable[Excluded], way_in: WayIn | None, heading: str
    ) -> Iterator[str]:
        yield f"  {self.paint.bold(heading)}"
        found = list(in_force)
        decided = any(one.source != "default" for one in found)
        for one in found:
            elsewhere = ", where no launcher leads here" if one.source == "default" and decided else ""
            yield f"    {self._method(one)}{elsewhere}"
            yield from self._hops(one.chain, "      ")
            if one.others:
                yield f"      and {one.others} other {'chain' if one.others == 1 else 'chains'}"
        others = list(excluded)
        for other in others:
            yield f"    not {self.paint.label(other.method)}: {other.reason}"
            yield from self._hops(other.chain, "      ")
        if way_in is not None:
            none = "Otherwise" if others else "No known launcher or set_start_method leads here:"
            yield f"    {none} it is reached from {self._start(way_in)}"
            yield from self._hops(way_in.hops, "      ")

    def _start(self, way_in: WayIn) -> str:
        if not way_in.path:
            return "an unknown place"
        if way_in.function == "<module>":
            return f"the top level of {self._path(way_in.path)}"
        return f"{way_in.function} in {self._path(way_in.path)}, and no call of it was found"

    def _hops(self, hops: Iterable[Place], indent: str) -> Iterator[str]:
        listed = list(hops)
        names = [self._at(one.path, one.span) for one in listed]
        width = min(max(map(len, names), default=0), 40)
        for name, one in zip(names, listed, strict=True):
            yield f"{indent}{self.paint.dim(f'{name:<{width}}')}  {one.message}"

    # Arguments and datasets

    def _argument(self, argument: Argument) -> Iterator[str]:
        written = f" = {argument.written}" if argument.written else ""
        known = [one for one in argument.sources if one.known]
        reasons = [one for one in argument.sources if not one.known]
        if len(known) == 1 and not reasons:
            written = "" if known[0].text == argument.written else written
            yield f"    {argument.name}{written}{':' if written else ' ='} {self._source(known[0])}"
            return
        yield f"    {argument.name}{written}: {'one of' if known else 'not known'}"
        yield from self._some([self._source(one) for one in known])
        if known and reasons:
            yield "      or an unknown value:"
        yield from self._some([self._source(one) for one in reasons])

    @staticmethod
    def _some(lines: list[str]) -> Iterator[str]:
        yield from (f"      {line}" for line in lines[:MOST_SOURCES])
        if len(lines) > MOST_SOURCES:
            yield f"      and {len(lines) - MOST_SOURCES} more"

    def _source(self, source: Source) -> str:
        where = self.paint.dim(self._at(source.path, source.span))
        how = f"{source.how} at {where}" if source.how else where
        caveat = f"; {source.caveat}" if source.caveat else ""
        return f"{source.text} ({how}{caveat})"

    def _dataset(self, dataset: DatasetTrace) -> Iterator[str]:
        made = f" made at {self.paint.dim(self._at(dataset.place.path, dataset.place.span))}" if dataset.place else ""
        outside = "" if dataset.project else ", from outside the project"
        yield f"  {self.paint.bold('Dataset')} {dataset.name}{made}{outside}"
        plain = [one for one in dataset.kept if one.constant and not one.dropped]
        kept = [one for one in dataset.kept if one not in plain]
        for one in kept[:MOST_KEPT]:
            note = ", dropped when pickled" if one.dropped else f": {one.note}" if one.note else ""
            where = self.paint.dim(self._at(one.place.path, one.place.span))
            yield f"    keeps {one.name} = {one.text} ({where}){note}"
        if len(kept) > MOST_KEPT:
            yield f"    and {len(kept) - MOST_KEPT} more"
        if plain:
            yield f"    keeps constants: {', '.join(dict.fromkeys(one.name for one in plain))}"

    # Places

    def _path(self, path: str) -> str:
        return shown_path(path, self.style.directory)

    def _at(self, path: str, span: Span) -> str:
        return self._path(path) if span == WHOLE_FILE else f"{self._path(path)}:{span.line}"


def _within(function: str) -> str:
    return "at the top level" if function == "<module>" else f"in {function}"


def _count(workers: str) -> str:
    return "" if not workers else ", 1 worker" if workers == "1" else f", {workers} workers"
