"""Linking stays bounded: programs whose calls, contexts or containers multiply are still checked in little time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.pace import slowness

from dllint import linter, modules
from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.inference import limits
from dllint.inference.callbacks import Passing
from dllint.inference.callgraph import CallGraph
from dllint.inference.changes import Changes
from dllint.inference.engine import World
from dllint.inference.evaluate import Evaluator
from dllint.inference.objects import Objects
from dllint.inference.origins import Origins
from dllint.inference.values import Class, Const, Display, Function, Site, const
from dllint.libraries.knowledge import Libraries
from dllint.linking.import_graph import ImportGraph
from dllint.linking.source import SourceFile
from dllint.modules import ModuleIndex
from dllint.project import Project, datasets
from dllint.project.launches import Launches
from dllint.project.same_process import Reached
from dllint.registry import rules
from dllint.rules.start_methods import top_level_starts

pytestmark = pytest.mark.slow

MUCH_S = 20.0
"""Processor seconds that no bounded analysis of these few lines takes, and that an exponential one exceeds at once."""


def many_ways() -> dict[str, str]:
    """Forty functions, each of which calls the next one three times with another object."""
    lines = ["import torch.multiprocessing as mp", "from torch.utils.data import DataLoader", ""]
    for number in range(40):
        calls = [f"    step{number + 1}(Box(box, {which}))" for which in range(3)]
        lines += [f"def step{number}(box):", *calls, ""]
    lines += [
        "class Box:",
        "    def __init__(self, inner, key):",
        "        self.inner = inner",
        "        self.key = key",
        "",
        "def step40(box):",
        "    return DataLoader(box.inner.inner.key, num_workers=4)  # the end",
        "",
        "def main(rank):",
        "    step0(None)",
        "",
        "if __name__ == '__main__':",
        "    mp.spawn(main, nprocs=2)",
    ]
    return {"train.py": "\n".join(lines) + "\n"}


def lists_of_themselves() -> dict[str, str]:
    body = ["from torch.utils.data import DataLoader", "", "def build(parts):", "    items = []"]
    body += ["    for part in parts:", "        items = [*items, part, items[0], items[-1]]"] * 10
    body += ["    return DataLoader([*items, *build(items)], num_workers=2)", ""]
    return {"data.py": "\n".join(body)}


def wide_polymorphism() -> dict[str, str]:
    lines = ["from torch.utils.data import DataLoader, Dataset", "", "class Base(Dataset):"]
    lines += ["    def __init__(self, inner=None):", "        self.inner = inner", "    def __getitem__(self, index):"]
    lines += ["        return self.inner.read(self.inner, index)", ""]
    for number in range(60):
        lines += [
            f"class Kind{number}(Base):",
            "    def read(self, other, index):",
            "        return other.read(self, index)",
            "",
        ]
    lines += ["KINDS = {" + ", ".join(f"'{n}': Kind{n}" for n in range(60)) + "}", ""]
    lines += ["def make(name, depth):", "    if depth == 0:", "        return KINDS[name]()"]
    lines += ["    return KINDS[name](make(name, depth - 1))", "", "def build(name):"]
    lines += ["    return DataLoader(make(name, 9), num_workers=2)", ""]
    return {"data.py": "\n".join(lines)}


def long_pipelines() -> dict[str, str]:
    """A pipeline with thirty stages, of which each may be left out."""
    lines = ["import webdataset as wds", "from torch.utils.data import DataLoader", "", "def stage(row):"]
    lines += ["    return row", "", "def build(urls, wanted):", "    pipeline = wds.WebDataset(urls)"]
    for number in range(30):
        lines += [f"    if {number} in wanted:", "        pipeline = pipeline.map(stage)"]
    lines += ["    return DataLoader(pipeline, num_workers=2)", ""]
    return {"data.py": "\n".join(lines)}


@pytest.mark.parametrize(
    "files",
    [many_ways(), lists_of_themselves(), wide_polymorphism(), long_pipelines()],
    ids=["ways", "lists", "kinds", "pipelines"],
)
def test_a_program_that_multiplies_is_checked_in_bounded_time(files: dict[str, str]) -> None:
    before = time.process_time()
    report = linter.check_sources(files, Settings())
    assert report.problems == ()
    assert time.process_time() - before < MUCH_S * slowness()


def test_the_loader_behind_many_ways_is_still_found() -> None:
    report = linter.check_sources(many_ways(), Settings())
    assert {finding.code for finding in report.findings} == {"DLL101"}


def linked(files: dict[str, str]) -> World:
    return World({path: extract(text) for path, text in files.items()}, Settings(), Libraries)


def counting(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[object]:
    """What a method is called with from here on."""
    asked: list[object] = []
    plain = getattr(owner, name)

    def counted(self: object, *given: object) -> object:
        asked.append(given)
        return plain(self, *given)

    monkeypatch.setattr(owner, name, counted)
    return asked


def import_chain(length: int) -> dict[str, str]:
    """Modules of which each imports the next, and the last imports a ring of three."""
    files = {f"step{number}.py": f"import step{number + 1}\n" for number in range(length)}
    files[f"step{length}.py"] = "import ring0\nimport importlib\nother = importlib.import_module('ring1')\n"
    files |= {f"ring{number}.py": f"import ring{(number + 1) % 3}\n" for number in range(3)}
    files["step5.py"] += "if __name__ == '__main__':\n    print()\n"
    return files


def test_the_programs_of_all_files_are_found_in_one_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    world = linked(import_chain(60))
    asked = counting(monkeypatch, ImportGraph, "is_program")
    assert {path: set(world.import_graph.roots(path)) for path in world.files} == {
        **{f"step{number}.py": {"step0.py"} for number in range(5)},
        **{f"step{number}.py": {"step0.py", "step5.py"} for number in range(5, 61)},
        **{f"ring{number}.py": {"step0.py", "step5.py"} for number in range(3)},
    }
    assert len(asked) <= len(world.files)


@pytest.mark.parametrize(
    ("call", "imported"),
    [
        ("import_module('sets.digits')", {"sets/digits.py"}),
        ("import_module(f'sets.{name}')", {"sets/digits.py", "sets/faces.py"}),
        ("import_module('sets.' + name)", {"sets/digits.py", "sets/faces.py"}),
        ("import_module('.other', __package__)", {"top/other.py"}),
        ("import_module(name)", set()),
    ],
)
def test_modules_that_are_imported_by_a_written_name(call: str, imported: set[str]) -> None:
    files = dict.fromkeys(("sets/digits.py", "sets/faces.py", "other.py", "top/__init__.py", "top/other.py"), "")
    world = linked({**files, "top/main.py": f"from importlib import import_module\nname = input()\n{call}\n"})

    assert set(world.import_graph.imports("top/main.py")) == imported


def test_files_that_import_by_name_are_found_in_one_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    world = linked(import_chain(60))
    asked = counting(monkeypatch, ImportGraph, "imports")
    by_name = {path for path in world.files if world.import_graph.imports_by_name(path)}
    assert by_name == {f"step{number}.py" for number in range(61)}
    assert len(asked) <= len(world.files)


def test_an_import_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world = linked(import_chain(10))
    asked = counting(monkeypatch, ModuleIndex, "_find")
    for _ in range(3):
        for path, file in world.files.items():
            world.import_graph.imports(path)
            world.imports.importers(file)
    assert len(asked) == len(set(asked))


def callers_of_all(world: World) -> None:
    Launches(world).all()
    for file in world.files.values():
        for number, scope in enumerate(file.scopes):
            if scope.kind == "function":
                world.calls.callers(Function(file, number))


def test_calls_by_getattr_are_looked_into_once_for_all_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["import hooks", ""]
    for number in range(30):
        lines += [f"def run{number}(name):", f"    hook = getattr(hooks, 'hook{number}')", "    return hook()", ""]
    hooks = [line for number in range(30) for line in (f"def hook{number}():", "    return None", "")]
    world = linked({"run.py": "\n".join(lines), "hooks.py": "\n".join(hooks)})
    asked = counting(monkeypatch, CallGraph, "targets")
    callers_of_all(world)
    file = world.files["hooks.py"]
    assert [len(world.calls.callers(Function(file, number))) for number in range(1, 31)] == [1] * 30
    assert len(asked) < 150


def test_what_merely_bears_the_name_of_a_method_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "class Model:",
        "    def sample(self):",
        "        return 1",
        "",
        "def show(sample):",
        "    print(sample)",
        "",
    ]
    for number in range(30):
        lines += [f"def use{number}(loader):", "    for sample in loader:", "        show(sample)", ""]
    lines += ["def start(model):", "    show(model.sample)", ""]
    world = linked({"run.py": "\n".join(lines)})
    asked = counting(monkeypatch, Passing, "_is_one_of")
    callers_of_all(world)
    assert 1 <= len(asked) <= 2


def test_the_calls_of_a_name_are_looked_into_once_for_all_methods_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = []
    for number in range(30):
        lines += [f"class Model{number}:", "    def sample(self):", "        return 1", ""]
    for number in range(30):
        lines += [f"def use{number}():", f"    Model{number}().sample()", ""]
    world = linked({"run.py": "\n".join(lines)})
    asked = counting(monkeypatch, CallGraph, "targets")
    callers_of_all(world)
    file = world.files["run.py"]
    methods = [Function(file, number) for number, scope in enumerate(file.scopes) if scope.name == "sample"]
    assert [len(world.calls.callers(method)) for method in methods] == [1] * 30
    assert len(asked) < 150


def handed_down(callers: int) -> dict[str, str]:
    """A loader two calls below as many functions, of which the last alone has it start workers."""
    lines = ["from torch.utils.data import DataLoader", "from rows import Rows", ""]
    lines += ["def make(rows, workers):", "    return DataLoader(rows, num_workers=workers)", ""]
    lines += ["def build(rows, workers):", "    return make(rows, workers)", ""]
    for number in range(callers):
        workers = 4 if number == callers - 1 else 0
        lines += [f"def use{number}():", f"    return build(Rows(), {workers})", ""]
    rows = ["from torch.utils.data import Dataset", "", "class Rows(Dataset):", "    def __init__(self):"]
    rows += ["        self.scale = lambda row: row", "    def __getitem__(self, index):", "        return index", ""]
    return {"use.py": "\n".join(lines), "rows.py": "\n".join(rows)}


@pytest.mark.parametrize("callers", [2, 5, 12])
def test_what_few_of_many_callers_hand_down_two_calls_is_known(callers: int) -> None:
    """Beyond the activations that are told apart by two calls, one call still tells them apart."""
    report = linter.check_sources(handed_down(callers), Settings())
    assert "DLL201" in {finding.code for finding in report.findings}


def test_activations_beyond_the_nested_ones_are_told_apart_by_their_call() -> None:
    more = limits.NESTED_CONTEXTS.most + 4
    lines = ["def leaf(value):", "    return value", "", "def twice(value):", "    return leaf(value), leaf(value)", ""]
    lines += [f"first{number}, second{number} = twice({number})" for number in range(more)]
    world = linked({"run.py": "\n".join(lines) + "\n"})
    file = world.files["run.py"]
    leaf, twice = Function(file, 1), Function(file, 2)
    inner = file.calls_of(2)[0]
    outer = [world.told_apart(file, call, twice, world.frame(file, call, None, twice)) for call in file.calls_of(0)]
    frames = [world.frame(file, inner, frame, leaf) for frame in outer]
    assert [frame.parent is not None for frame in frames] == [True] * limits.NESTED_CONTEXTS.most + [False] * 4
    assert len(set(frames)) == limits.NESTED_CONTEXTS.most + 1
    assert not any(world.forgets(frame) for frame in frames)


def variable(world: World, path: str, name: str) -> tuple[object, ...]:
    """The values of a variable of a module, at its end."""
    return world.values.name(name, Site(world.files[path], 0, 0, (1 << 31, 0), None))


def test_what_is_set_in_a_list_from_its_own_elements_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["rows = [1, 2, 3]", "for at in (0, 1, 2):", *["    rows[at] = rows[at]"] * 4]
    world = linked({"run.py": "\n".join([*lines, "first = rows[0]", ""])})
    plain, asked = Evaluator.evaluate, []

    def counted(self: Evaluator, *given: object) -> object:
        asked.append(given)
        assert len(asked) < 2000
        return plain(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Evaluator, "evaluate", counted)
    assert {value.value for value in variable(world, "run.py", "first") if isinstance(value, Const)} == {1, 2, 3}


def test_changes_of_containers_that_share_a_name_are_asked_of_each_change_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[str] = []
    for number in range(60):
        lines += [f"class Rows{number}:", "    def __init__(self):", "        self.items = []"]
        lines += [
            "    def add(self, row):",
            "        self.items.append(row)",
            "",
            f"rows{number} = Rows{number}().items",
        ]
    world = linked({"run.py": "\n".join([*lines, ""])})
    asked = counting(monkeypatch, Changes, "_find_runs")
    lists = [value for number in range(60) for value in variable(world, "run.py", f"rows{number}")]
    assert len(lists) == 60
    changes = [world.mappings.changes.of(value) for value in lists if isinstance(value, Display)]
    assert [[one.file.scopes[one.scope].name for one in found] for found in changes] == [["add"]] * 60
    assert len(asked) <= 120


def test_the_modules_of_packages_are_looked_up_in_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    index = ModuleIndex(f"top/part{number % 9}/module{number}.py" for number in range(90))
    ordered: list[int] = []

    def counted(names: Iterable[str]) -> list[str]:
        ordered.append(1)
        return sorted(names)

    monkeypatch.setattr(modules, "sorted", counted, raising=False)
    found = [index.beginning("main.py", f"top.part{number}.") for number in range(9)]
    assert [sorted(one) for one in found] == [
        sorted(f"top.part{part}.module{number}" for number in range(part, 90, 9)) for part in range(9)
    ]
    assert len(ordered) == 1


@pytest.mark.parametrize(("dicts", "known"), [(10, True), (400, False)])
def test_dicts_that_are_merged_into_one_another_take_little_of_the_stack(dicts: int, known: bool) -> None:
    lines = ["rows0 = {'a': 1}"]
    for number in range(1, dicts):
        lines += [f"rows{number} = {{}}", f"rows{number}.update(rows{number - 1})"]
    lines += [f"for row in rows{dicts - 1}.values():", "    last = row", ""]
    world = linked({"run.py": "\n".join(lines)})
    assert (const(1) in variable(world, "run.py", "last")) is known


def test_what_a_star_import_gives_is_known_without_a_question_about_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(Changes, "of", lambda self, value: asked.append(value) or [])
    files = {f"part{number}.py": f"__all__ = ['f{number}']\n\ndef f{number}():\n    pass\n" for number in range(20)}
    files["package.py"] = "".join(f"from part{number} import *\n" for number in range(20))
    files["use.py"] = "import package\n\n\nclass Part(package.f19):\n    pass\n"
    world = linked(files)
    world.hierarchy.bases(next(iter(world.classes())))
    assert asked == []


@pytest.mark.parametrize(("most", "known"), [(200, True), (20, False)])
def test_what_one_question_leads_to_is_bounded(monkeypatch: pytest.MonkeyPatch, most: int, known: bool) -> None:
    """A value that is handed through ten functions, each of which is several questions."""
    monkeypatch.setattr(limits, "QUESTIONS", replace(limits.QUESTIONS, most=most))
    lines = ["def step0():", "    return 2", ""]
    for number in range(1, 10):
        lines += [f"def step{number}():", f"    workers = step{number - 1}()", "    return workers", ""]
    world = linked({"run.py": "\n".join([*lines, "workers = step9()", ""])})
    last = Site(world.files["run.py"], 0, 0, (len(lines) + 2, 1), None)
    assert (const(2) in world.values.name("workers", last)) is known
    assert (limits.QUESTIONS.name in world.limits) is not known


def test_what_is_nested_too_deep_is_known_once_it_is_asked_from_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUESTION_DEPTH", replace(limits.QUESTION_DEPTH, most=30))
    lines = ["v0 = 2", *(f"v{number} = v{number - 1}" for number in range(1, 60))]
    world = linked({"run.py": "\n".join(lines)})
    last = Site(world.files["run.py"], 0, 0, (100, 1), None)

    assert const(2) not in world.values.name("v59", last)
    assert world.limits[limits.QUESTION_DEPTH.name]
    assert [const(2) in world.values.name(f"v{number}", last) for number in (20, 40, 59)] == [True, True, True]


def test_bases_that_were_cut_short_are_asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BASE_QUESTIONS", replace(limits.BASE_QUESTIONS, most=8))
    lines = ["class Base:", "    pass", "", "def step0():", "    return Base", ""]
    for number in range(1, 6):
        lines += [f"def step{number}():", f"    found = step{number - 1}()", "    return found", ""]
    world = linked({"run.py": "\n".join([*lines, "class Rows(step5()):", "    pass", ""])})
    file = world.files["run.py"]
    base, rows = (Class(file, index) for index, scope in enumerate(file.scopes) if scope.kind == "class")

    assert world.hierarchy.line(rows) == (rows,)
    last = Site(file, 0, 0, (100, 1), None)
    for index, call in enumerate(file.calls):
        world.values.evaluate(CallRef(index), last._replace(scope=call.scope))
    assert world.hierarchy.line(rows) == (rows, base)
    assert world.hierarchy.subclasses(base) == [rows]


@pytest.mark.parametrize(("most", "found"), [(40, 1), (20, 0)])
def test_what_the_top_level_of_one_file_leads_to_is_bounded(
    monkeypatch: pytest.MonkeyPatch, most: int, found: int
) -> None:
    """Thirty calls, and then one of a function that starts processes."""
    monkeypatch.setattr(limits, "TOP_LEVEL_FUNCTIONS", replace(limits.TOP_LEVEL_FUNCTIONS, most=most))
    lines = ["import multiprocessing as mp", "def work(): pass", "def note(done): done()"]
    lines += ["note(work)"] * 30
    lines += ["def main():", '    mp.get_context("spawn").Process(target=work).start()', "main()", ""]
    report = linter.check_sources({"run.py": "\n".join(lines)}, Settings(root="", select=("DLL102",)))
    assert len(report.findings) == found
    assert (limits.TOP_LEVEL_FUNCTIONS.name in report.limits) is not found


def test_functions_that_start_nothing_are_looked_into_once_for_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty scripts call the same thirty functions, and one of them also starts a process."""
    entered: list[str] = []
    here = top_level_starts._here

    def counted(project: Project, reached: Reached, script: SourceFile) -> Iterator[top_level_starts.TopLevelStart]:
        entered.append(reached.file.path)
        return here(project, reached, script)

    monkeypatch.setattr(top_level_starts, "_here", counted)
    steps = [f"def step{one}(rows): return step{one + 1}([*rows, {one}])\n" for one in range(30)]
    files = {f"run{one}.py": f"from steps import step0\nstep0([{one}])\n" for one in range(20)}
    files["steps.py"] = "".join(steps) + "def step30(rows): return rows\n"
    files["run7.py"] += "import multiprocessing as mp\ndef work(): pass\n"
    files["run7.py"] += "def main(): mp.get_context('spawn').Process(target=work).start()\nstep0([main()])\n"
    report = linter.check_sources(files, Settings(root="", select=("DLL102",)))
    assert [(one.path, one.span.line) for one in report.findings] == [("run7.py", 6)]
    assert entered.count("steps.py") <= 1


def many_functions(number: int) -> dict[str, str]:
    """A module with so many functions that make a loader, loop over it and start processes."""
    lines = ["import torch.multiprocessing as mp", "from torch.utils.data import DataLoader", ""]
    for one in range(number):
        lines += [f"def make{one}(rows, workers=2):", "    return DataLoader(rows, num_workers=workers)", ""]
        lines += [f"def train{one}(rank, rows):", f"    for batch in make{one}(rows):", "        keep(batch)", ""]
    lines += ["def keep(batch, kept=[]):", "    kept.append(batch)", "", "if __name__ == '__main__':"]
    lines += [f"    mp.spawn(train{one}, args=([1],))" for one in range(0, number, 10)]
    return {"train.py": "\n".join(lines) + "\n"}


class Passed(list[Any]):
    """A list that counts how often all of it is gone through."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        type(self).times += 1
        return super().__iter__()


def passes(monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> int:
    """How often the rules go through all calls or all regions of a file."""
    monkeypatch.setattr(Passed, "times", 0)
    project = Project.load({path: extract(text) for path, text in files.items()}, Settings())
    for file in project.files:
        file.calls = Passed(file.calls)
        object.__setattr__(file.facts, "regions", Passed(file.facts.regions))
    assert [finding for rule in rules() if rule.check for finding in rule.check(project, rule.options({}))]
    return Passed.times


def test_no_rule_goes_through_a_file_once_for_each_of_its_loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (passes(monkeypatch, many_functions(number)) for number in (20, 40))
    assert many <= few + 2


def test_what_gives_a_value_is_found_without_the_reasons_for_what_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counting(monkeypatch, Origins, "_explain")
    world = linked({"run.py": "import model\n\nnet = rows = model.load()\nif rows.few:\n    net = rows\nsize = -net\n"})
    file, origins = world.files["run.py"], Origins(world)
    end = Site(file, 0, 0, (6, 1), None)
    assert [step.expr for step in origins.expressions(Name("net"), end)] == [CallRef(0), Name("rows")]
    assert list(origins.expressions(Attribute(Name("missing"), "rows"), end)) == []
    assert asked == []
    assert list(origins.gives(Attribute(Name("missing"), "rows"), end))
    assert asked


def launchers(starts: int) -> dict[str, str]:
    """Eight functions, each of which starts processes that run others of them, and passes on what it was given."""
    lines = ["import torch.multiprocessing as mp", ""]
    for number in range(8):
        lines += [f"def work{number}(rank, rows):", "    print(len(rows))"]
        others = [(number * step + 1) % 8 for step in range(1, starts + 1)]
        lines += [f"    mp.Process(target=work{other}, args=(rank, rows)).start()" for other in others]
    return {"train.py": "\n".join([*lines, "if __name__ == '__main__':", "    work0(0, [])", ""])}


def test_what_launchers_pass_on_in_circles_is_followed_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counting(monkeypatch, Origins, "expressions")
    counts = []
    for starts in (2, 4):
        linter.check_sources(launchers(starts), Settings())
        counts.append(len(asked))
        asked.clear()
    assert counts[1] < 8 * counts[0], counts


@pytest.mark.parametrize(("number", "known"), [(1, True), (limits.SPREADS.most, False)])
def test_names_that_only_a_run_tells_are_followed_in_small_numbers(number: int, known: bool) -> None:
    lines = ["class Options:", "    pass", "", "options = Options()", "for name in ('workers', 'rank'):"]
    lines += ["    setattr(options, name, 4)"] * (number + (not known)) + ["copy = options.workers"]
    world = linked({"run.py": "\n".join(lines) + "\n"})
    values = world.values.name("copy", Site(world.files["run.py"], 0, 0, (len(lines) + 1, 0), None))
    assert (const(4) in values) is known


def indexed(number: int) -> dict[str, str]:
    """An expression of which the object and the key have many values each."""
    lines = ["from other import Key", ""]
    for kind in range(number):
        lines += [f"class Kind{kind}:", "    def __getitem__(self, key):", f"        return {kind}", ""]
    lines += ["def read(which):", "    rows = key = None"]
    for kind in range(number):
        lines += [f"    if which == {kind}:", f"        rows, key = Kind{kind}(), Key({kind})"]
    return {"run.py": "\n".join([*lines, "    return rows[key]", "", "found = read(Key())", ""])}


def test_an_object_with_many_keys_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counting(monkeypatch, Objects, "call_method")
    world = linked(indexed(20))
    lines = indexed(20)["run.py"].count("\n") + 1
    values = world.values.name("found", Site(world.files["run.py"], 0, 0, (lines, 0), None))
    assert {const(number) for number in range(20)} <= set(values)
    assert len(asked) == 20


def test_what_many_objects_hold_together_is_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["from torch.utils.data import DataLoader, Dataset", "", "class Table:", "    pass", "", "TABLES = ["]
    lines += ["    Table(),"] * 20
    lines += ["]", "", "class Part:", "    def __init__(self):", "        self.tables = TABLES", ""]
    lines += ["class Rows(Dataset):", "    def __init__(self):", "        self.parts = ["]
    lines += ["            Part(),"] * 20
    lines += ["        ]", "", "    def __getitem__(self, index):", "        return self.parts[index]", ""]
    lines += ["loader = DataLoader(Rows(), num_workers=2)", ""]
    project = Project.load({"run.py": extract("\n".join(lines))}, Settings())
    made: list[datasets.Piece] = []

    def counted(*given: Any, **named: Any) -> datasets.Piece:
        made.append(Piece(*given, **named))
        return made[-1]

    Piece = datasets.Piece
    monkeypatch.setattr(datasets, "Piece", counted)
    pieces = project.datasets.pieces(project.dataset_objects(project.loaders[0])[0])
    assert [sum(one.path == path for one in pieces) for path in ("parts", "parts.tables")] == [20, 20]
    assert len(made) < 100
