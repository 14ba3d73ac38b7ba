"""Given findings and the records of a run, these verdicts: what holds for every rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dllint import registry
from dllint.finding import Place
from dllint.observation import (
    Blind,
    End,
    Epoch,
    Feeder,
    Iteration,
    Kept,
    Launch,
    Limits,
    Line,
    Loader,
    Process,
    Site,
    Storages,
)
from dllint.span import Span

if TYPE_CHECKING:
    from conftest import Recorded

JUDGED = {rule.code: rule.page.run for rule in registry.rules() if rule.module is not None}
LOCAL = "Can't pickle local object 'Records.__init__.<locals>.<lambda>'"


def test_every_rule_has_a_judge() -> None:
    assert [rule.code for rule in registry.rules() if rule.judge is not None] == list(JUDGED)


@pytest.mark.parametrize("code", JUDGED)
def test_a_run_that_saw_nothing_reaches_nothing(run: Recorded, code: str) -> None:
    verdict, evidence = run.judged(run.finding(code))
    assert (verdict, bool(evidence)) == ("not reached", True)


@pytest.mark.parametrize("code", JUDGED)
def test_every_judge_can_do_with_a_loader_that_left_few_records(run: Recorded, code: str) -> None:
    run.loader()
    assert run.judged(run.finding(code))[0] in ("inconclusive", "refuted", "not reached", "latent")


@pytest.mark.parametrize("code", [code for code in JUDGED if JUDGED[code].subject != "loader"])
def test_without_workers_nothing_is_confirmed(run: Recorded, code: str) -> None:
    run.loader(workers=0)
    assert run.judged(run.finding(code))[0] in ("not reached", "inconclusive")


def test_zero_workers_are_said(run: Recorded) -> None:
    run.loader(workers=0)
    assert run.judged(run.about_loader("DLL201")) == ("not reached", "the loader of train.py:13 ran with 0 workers")


def test_a_loader_that_is_built_and_never_iterated(run: Recorded) -> None:
    run.add(Loader, loader="70.1", site=run.site, workers=2)
    assert run.judged(run.finding("DLL401")) == (
        "not reached",
        "the loader of train.py:13 was built, and never iterated",
    )


def test_a_rule_without_a_judge_goes_by_its_loader(run: Recorded) -> None:
    assert run.judged(run.finding("DLL999"))[0] == "not reached"
    run.loader()
    assert run.judged(run.finding("DLL999")) == (
        "inconclusive",
        "the loader of train.py:13 ran, but no measurement covers this",
    )


# Matching


def test_another_call_on_the_same_line_is_another_loader(run: Recorded) -> None:
    run.loader(method="spawn")
    beside = Span(13, 52, 13, 70)
    assert run.judged(run.finding("DLL101", beside))[0] == "not reached"
    assert run.judged(run.finding("DLL101"))[0] == "confirmed"


def test_without_columns_the_line_counts(run: Recorded) -> None:
    run.site = Site(run.path, 13)
    run.loader(method="spawn")
    assert run.judged(run.finding("DLL101"))[0] == "confirmed"
    assert run.judged(run.finding("DLL101", Span(14, 1, 14, 5)))[0] == "not reached"


def test_a_loader_in_another_file_is_not_meant(run: Recorded) -> None:
    run.site = Site(run.path + ".other", *run.loader_span)
    run.loader(method="spawn", dataset="elsewhere.Others")
    assert run.judged(run.finding("DLL101"))[0] == "not reached"


def test_a_related_place_names_the_loader(run: Recorded) -> None:
    run.loader(method="spawn", dataset="elsewhere.Others", error="AttributeError", text=LOCAL)
    assert run.judged(run.about_loader("DLL201"))[0] == "confirmed"


def test_without_one_the_class_of_the_dataset_does(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    assert run.judged(run.finding("DLL201", run.lambda_span))[0] == "confirmed"


def test_another_class_does_not(run: Recorded) -> None:
    run.loader(method="spawn", dataset="__main__.Others", error="AttributeError", text=LOCAL)
    assert run.judged(run.finding("DLL201", run.lambda_span))[0] == "not reached"


def test_a_loader_that_a_class_of_the_same_file_makes(run: Recorded) -> None:
    path = Path(run.path)
    path.write_text(path.read_text().replace("def main():", "class Trainer:"))
    run.loader(method="spawn")
    assert run.judged(run.finding("DLL101"))[0] == "confirmed"


# Deaths


def died(run: Recorded, exception: str, text: str, line: int = 14, **values: object) -> Recorded:
    site = Site(run.path, line, 5, line, 10, "main")
    return run.add(End, exit=1, exception=exception, text=text, site=site, frames=(site,), **values)


def test_a_death_is_matched_to_its_finding(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    died(run, "AttributeError", LOCAL)
    done = run.confirm(run.about_loader("DLL201"), run.about_loader("DLL203"), failed=True)
    assert done.death is not None
    assert (done.death.finding.code, done.death.message) == ("DLL201", f"AttributeError: {LOCAL}")
    assert done.death.cause == "an object that is sent to workers cannot be pickled"
    assert [one.verdict for one in done.findings] == ["confirmed", "inconclusive"]
    assert done.findings[0].evidence == (f"the program died: AttributeError: {LOCAL}",)


def test_a_death_that_no_finding_speaks_of_becomes_one_at_the_loader(run: Recorded) -> None:
    run.loader(method="spawn", error="TypeError", text="cannot pickle '_thread.lock' object")
    died(run, "TypeError", "cannot pickle '_thread.lock' object")
    done = run.confirm(failed=True)
    (found,) = done.findings
    assert (found.code, found.origin, found.span, found.verdict) == ("DLL203", "runtime", run.loader_span, "confirmed")
    assert done.death is not None


def test_a_programs_own_mistake_is_no_finding(run: Recorded) -> None:
    run.loader()
    died(run, "KeyError", "'missing'")
    done = run.confirm(run.about_loader("DLL201"), failed=True)
    assert done.death is None


def test_a_name_that_is_missing_in_the_main_process_is_no_finding(run: Recorded) -> None:
    """The same exception is how DLL110 ends, elsewhere."""
    run.loader()
    died(run, "NameError", "name 'os' is not defined")
    elsewhere = run.finding("DLL110", run.lambda_span)
    assert run.confirm(failed=True).death is None
    assert run.confirm(elsewhere, failed=True).death is None


def test_a_mistake_in_a_worker_is_no_finding(run: Recorded) -> None:
    run.loader()
    died(run, "KeyError", "Caught KeyError in DataLoader worker process 0.\nOriginal Traceback: ...", traceback="...")
    assert run.confirm(run.about_loader("DLL201"), run.finding("DLL402"), failed=True).death is None


def test_its_argparse_is_no_finding(run: Recorded) -> None:
    run.add(End, exit=2, exception="SystemExit")
    assert run.confirm(run.finding("DLL101"), failed=True).death is None


def test_a_death_in_a_child_that_the_main_process_passes_on(run: Recorded) -> None:
    run.add(Process, 75, role="child", daemon=True, start_method="fork")
    text = "daemonic processes are not allowed to have children"
    run.loader(pid=75, error="AssertionError", text=text)
    run.add(End, 75, exit=1, exception="AssertionError", text=text, site=run.site, frames=(run.site,))
    run.add(End, run.main_pid, exit=1, exception="SystemExit")
    done = run.confirm(run.finding("DLL104"), failed=True)
    assert done.death is not None
    assert done.findings[0].verdict == "confirmed"


def test_an_unguarded_start_is_blamed_before_the_worker_that_went(run: Recorded) -> None:
    run.loader(method="spawn")
    text = "An attempt has been made to start before the\n  current process has finished its bootstrapping phase."
    run.add(Process, 81, role="worker", start_method="spawn")
    run.add(End, 81, exit=1, exception="RuntimeError", text=text, site=run.site, frames=(run.site,))
    died(run, "RuntimeError", "DataLoader worker (pid(s) 81) exited unexpectedly")
    done = run.confirm(run.finding("DLL102"), failed=True)
    assert done.death is not None
    assert (done.death.finding.code, done.findings[0].verdict) == ("DLL102", "confirmed")
    assert "the file has no `__main__` guard" in done.death.cause


def test_a_hang_of_an_item_that_cannot_be_sent(run: Recorded) -> None:
    run.loader()
    run.add(Feeder, 80, exception="AttributeError", text=LOCAL)
    done = run.confirm(run.about_loader("DLL205"), hung=True)
    assert done.death is not None
    assert done.death.how == "hung"
    assert done.findings[0].evidence[0] == f"the program hung: AttributeError: {LOCAL}"


def test_a_hang_with_live_threads(run: Recorded) -> None:
    run.loader()
    done = run.confirm(run.finding("DLL107"), hung=True)
    assert [one.verdict for one in done.findings] == ["confirmed"]
    assert done.death is not None


def test_a_hang_that_nothing_explains(run: Recorded) -> None:
    run.loader()
    done = run.confirm(run.finding("DLL601"), hung=True)
    assert (done.death, [one.verdict for one in done.findings]) == (None, ["inconclusive"])


def test_rules_that_are_not_asked_for_explain_nothing(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    died(run, "AttributeError", LOCAL)
    done = run.confirm(failed=True, selects=lambda code: code != "DLL201")
    assert (done.death, done.findings) == (None, ())


# Only the run


def test_what_the_check_speaks_of_is_not_told_again(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    assert run.discovered() == [("DLL201", "confirmed", 13)]
    assert run.discovered(run.about_loader("DLL201")) == []


def test_a_loader_that_inherits_its_method(run: Recorded) -> None:
    run.add(Process, 75, role="child", start_method="spawn")
    run.loader(method="spawn", pid=75)
    assert run.discovered() == [("DLL101", "confirmed", 13)]


def test_an_explicit_method_is_meant(run: Recorded) -> None:
    run.add(Process, 75, role="child", start_method="spawn")
    run.add(Loader, 75, loader="70.1", site=run.site, workers=2, method="spawn")
    run.add(Iteration, 75, loader="70.1", method="spawn", workers=2)
    assert run.discovered() == []


def test_what_only_the_run_saw_reads_like_a_finding(run: Recorded) -> None:
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    (found,) = run.confirm().findings
    assert (found.name, found.severity) == ("lambda-in-dataset", "warning") or found.severity == "error"
    assert found.text == registry.find("DLL201").page.run.text
    assert found.url.endswith("DLL201-lambda-in-dataset.md")


def test_a_trace_place_names_the_loader_too(run: Recorded) -> None:
    run.loader(method="spawn", dataset="elsewhere.Others")
    finding = run.finding("DLL303", run.lambda_span, trace=(Place(run.path, run.loader_span, "handed on here"),))
    assert run.judged(finding)[0] != "not reached"


@pytest.mark.parametrize(
    ("module", "verdict"), [("train", "confirmed"), ("pkg.train", "not reached"), ("other", "not reached")]
)
def test_a_class_belongs_to_the_module_of_its_file(run: Recorded, module: str, verdict: str) -> None:
    run.loader(method="spawn", dataset=f"{module}.Records", error="AttributeError", text=LOCAL)
    assert run.judged(run.finding("DLL201", run.lambda_span))[0] == verdict


def test_a_class_of_a_program_that_is_started_as_a_module(run: Recorded) -> None:
    run.records = [Process(run.main_pid, 1.0, role="main", argv=("python", "-m", "train"))]
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    assert run.judged(run.finding("DLL201", run.lambda_span))[0] == "confirmed"


def test_main_of_another_program_has_other_classes(run: Recorded) -> None:
    run.records = [Process(run.main_pid, 1.0, role="main", argv=("python", "other.py"))]
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    assert run.judged(run.finding("DLL201", run.lambda_span))[0] == "not reached"


def test_a_loader_that_gives_up_would_have_hung(run: Recorded) -> None:
    text = "DataLoader timed out after 3 seconds"
    run.loader().add(Epoch, loader="70.1", error="RuntimeError", text=text)
    died(run, "RuntimeError", text)
    done = run.confirm(run.finding("DLL107"), failed=True)
    assert done.death is not None
    assert (done.death.finding.code, done.death.message) == ("DLL107", f"RuntimeError: {text}")
    assert run.confirm(failed=True).death is None


def unexecuted(run: Recorded, *executed: int) -> Recorded:
    """The program, of which only these lines were executed."""
    first = run.records[0]
    assert isinstance(first, Process)
    run.records[0] = replace(first, lines=True)
    for line in executed:
        run.add(Line, path=run.path, line=line)
    return run


def test_a_line_that_was_not_executed_is_not_blamed(run: Recorded) -> None:
    unexecuted(run.loader(method="spawn", error="AttributeError", text=LOCAL), 13)
    died(run, "AttributeError", LOCAL)
    done = run.confirm(run.finding("DLL201", run.lambda_span), failed=True)
    assert [one.verdict for one in done.findings if one.origin == "static"] == ["not reached"]


@pytest.mark.parametrize(("executed", "verdict"), [(6, "confirmed"), (13, "not reached")])
def test_one_of_several_places_with_the_same_defect_is_executed(run: Recorded, executed: int, verdict: str) -> None:
    unexecuted(run.loader(method="spawn", error="AttributeError", text=LOCAL), executed)
    other = Place(run.path, run.lambda_span, "this one cannot be pickled either", alike=True)
    told, evidence = run.judged(run.finding("DLL201", Span(9, 9, 9, 20), related=(other,)))
    assert told == verdict
    assert ("this run executed line 6, not line 9" in evidence) is (verdict == "confirmed")


def test_the_hazard_of_a_line_that_was_not_executed_is_found_at_another(run: Recorded) -> None:
    """A finding is at the first of several calls, and the run may execute another one."""
    unexecuted(run.loader(method="spawn", error="AttributeError", text=LOCAL), 13)
    done = run.confirm(run.finding("DLL201", Span(9, 9, 9, 20)))
    assert [(one.origin, one.verdict) for one in done.findings if one.code == "DLL201"] == [
        ("static", "not reached"),
        ("runtime", "confirmed"),
    ]


@pytest.mark.parametrize(("loader", "verdict"), [(13, "inconclusive"), (17, "confirmed")])
def test_a_loader_that_was_not_executed_is_no_evidence_of_whose_lambda_it_is(
    run: Recorded, loader: int, verdict: str
) -> None:
    text = LOCAL.replace("Records.__init__", "main")
    run.loader(method="spawn", error="AttributeError", text=text)
    with open(run.path) as file:
        lines = file.read().splitlines()
    lines[11:11] = ["def main():", "    other = DataLoader(Records(), num_workers=2)", ""]
    Path(run.path).write_text("\n".join(lines) + "\n")
    other = Span(13, 13, 13, 49) if loader == 13 else Span(17, 5, 17, 9)
    finding = run.finding("DLL201", run.lambda_span, related=(Place(run.path, other, "here"),))
    assert run.judged(finding)[0] == verdict


def test_a_related_place_of_another_kind_does_not_count_as_executed(run: Recorded) -> None:
    unexecuted(run.loader(method="spawn", error="AttributeError", text=LOCAL), 13)
    other = Place(run.path, run.loader_span, "this DataLoader starts the workers")
    assert run.judged(run.finding("DLL201", run.lambda_span, related=(other,)))[0] == "not reached"


OPEN = "[Errno 24] Too many open files: '/data/7.png'"


def test_forked_workers_are_sent_no_tensors_that_could_take_descriptors(run: Recorded) -> None:
    run.loader().add(Storages, loader="70.1", strategy="file_descriptor", storages=100, fds=100)
    run.add(Epoch, loader="70.1", error="OSError", text=OPEN)
    died(run, "OSError", OPEN)
    done = run.confirm(run.about_loader("DLL303", message="many"), failed=True)
    assert done.death is None
    assert [one.verdict for one in done.findings] == ["inconclusive"]


def test_batches_that_are_kept_take_the_descriptors_of_a_forked_run(run: Recorded) -> None:
    run.loader().add(Epoch, loader="70.1", error="RuntimeError", text="Too many open files. Communication with")
    run.add(Kept, loader="70.1", batches=32, fds_a_batch=1.0, maps_a_batch=1.0)
    died(run, "RuntimeError", "Too many open files. Communication with")
    done = run.confirm(run.about_loader("DLL303"), run.about_loader("DLL306"), failed=True)
    assert done.death is not None and done.death.finding.code == "DLL306"
    assert [one.verdict for one in done.findings] == ["inconclusive", "confirmed"]


@pytest.mark.parametrize(("count", "code"), [(980, "DLL303"), (20, None)])
def test_tensors_that_spawned_workers_were_sent(run: Recorded, count: int, code: str | None) -> None:
    """A program that opens too many files itself looks the same, except for the number of tensors."""
    run.loader(method="spawn").add(Storages, loader="70.1", strategy="file_descriptor", storages=count, fds=count)
    run.add(Limits, loader="70.1", values={"nofile": 1024, "fds": 14, "max_map_count": 65530, "maps": 466})
    died(run, "OSError", OPEN)
    death = run.confirm(run.about_loader("DLL303"), failed=True).death
    assert (death and death.finding.code) == code


def test_a_program_that_only_opens_files(run: Recorded) -> None:
    died(run, "OSError", OPEN)
    assert run.confirm(failed=True).death is None


def test_a_death_keeps_the_numbers_behind_it(run: Recorded) -> None:
    run.loader(method="forkserver", error="ValueError", text="too many fds")
    run.add(Storages, loader="70.1", storages=300, fds=300)
    died(run, "ValueError", "too many fds")
    (found,) = run.confirm(run.about_loader("DLL303"), failed=True).findings
    assert found.evidence[0] == "the program died: ValueError: too many fds"
    assert (
        found.evidence[1]
        == "300 storages of at most 245 (forkserver, the default on Linux from Python 3.14: SCM_MAX_FD)"
    )


@pytest.mark.parametrize(
    ("definition", "verdict"),
    [
        ("class Others:\n    pass\n", "not reached"),
        ("class Others(Records):\n    pass\n", "confirmed"),
        ("class Between(Records):\n    pass\n\n\nclass Others(Between):\n    pass\n", "confirmed"),
        ("class Others:\n    def __init__(self):\n        self.inner = Records()\n", "confirmed"),
    ],
)
def test_one_call_makes_the_loaders_of_several_datasets(run: Recorded, definition: str, verdict: str) -> None:
    with open(run.path, "a") as file:
        file.write(f"\n\n{definition}")
    run.loader(method="spawn", dataset="train.Others", error="AttributeError", text=LOCAL)
    assert run.judged(run.about_loader("DLL201"))[0] == verdict


def test_a_line_that_was_not_executed_is_not_reached(run: Recorded) -> None:
    """Whatever the loader did: what the finding speaks of never happened."""
    watched(run)
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    verdict, evidence = run.judged(run.about_loader("DLL201"))
    assert (verdict, evidence) == ("not reached", "line 6 was not executed in this run")
    run.add(Line, path=run.path, line=6)
    assert run.judged(run.about_loader("DLL201"))[0] == "confirmed"


def test_a_process_that_does_not_record_lines_may_have_executed_any(run: Recorded) -> None:
    watched(run)
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    run.add(Process, 91, role="command", lines=False)
    assert run.judged(run.about_loader("DLL201"))[0] == "confirmed"


def test_a_line_that_was_executed_is_reached(run: Recorded) -> None:
    watched(run)
    run.loader()
    finding = run.finding("DLL502", span=Span(9, 9, 9, 20))
    assert run.judged(finding)[0] == "not reached"
    run.add(Line, path=run.path, line=9)
    assert run.judged(finding)[0] != "not reached"


def watched(run: Recorded) -> None:
    run.records = [replace(one, lines=True) if isinstance(one, Process) else one for one in run.records]


@pytest.mark.parametrize("code", [rule.code for rule in registry.rules()])
def test_no_rule_judges_what_was_not_executed(run: Recorded, code: str) -> None:
    """A branch that is dead in this run, in the program's own file: whatever else its loaders show."""
    with Path(run.path).open("a") as file:
        file.write("if None:\n    loader = DataLoader(Records(), num_workers=2)\n")
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    died(run, "AttributeError", LOCAL)
    watched(run)
    dead = run.finding(code, span=Span(20, 14, 20, 50))
    assert run.judged(dead, failed=True) == ("not reached", "line 20 was not executed in this run")


def test_a_verdict_names_the_launcher(run: Recorded) -> None:
    site = Site(run.path, *run.loop_span)
    run.add(Launch, api="mp.spawn", site=site, method="spawn", child=91)
    run.add(Process, 91, role="child", start_method="spawn", parent=run.main_pid)
    run.loader("spawn", pid=91)
    verdict, evidence = run.judged(run.finding("DLL101"))
    assert verdict == "confirmed"
    assert evidence.endswith("the DataLoader is in a process that mp.spawn at train.py:14 started by spawn")


def test_a_verdict_names_the_loader_where_the_finding_names_another(run: Recorded, tmp_path: Path) -> None:
    other = tmp_path / "eval.py"
    other.write_text("from train import *\nloader = DataLoader(Records(), num_workers=2)\n")
    first = Place(str(other), Span(2, 10, 2, 46), "its DataLoader")
    own = Place(run.path, run.loader_span, "its DataLoader")
    run.loader()
    said = "in this run, the DataLoader is that of train.py:13"
    for related in ((first, own), (first,)):
        verdict, evidence = run.judged(run.finding("DLL302", run.lambda_span, related=related))
        assert verdict == "inconclusive" and evidence.endswith(said)
    assert said not in run.judged(run.finding("DLL302", run.lambda_span, related=(own, first)))[1]


def test_what_a_process_cannot_tell_is_no_line_that_was_not_executed(run: Recorded) -> None:
    """Python 3.10 and 3.11 do not tell the top level of the program's own file."""
    run.loader().add(Epoch, loader="70.1", batches=4)
    watched(run)
    other = run.about_loader("DLL205", span=Span(6, 9, 6, 33))
    assert run.judged(other)[0] == "not reached"
    run.add(Blind, path=run.path, lines=(6,))
    assert run.judged(other) == ("refuted", "the workers sent 4 batches")


def test_a_loader_that_was_not_built_is_not_judged_by_another_of_its_dataset(run: Recorded) -> None:
    lines = Path(run.path).read_text().splitlines()
    lines.insert(13, "    other = DataLoader(Records(), num_workers=3)")
    Path(run.path).write_text("\n".join(lines))
    run.loader(method="spawn", error="AttributeError", text=LOCAL)
    assert run.judged(run.finding("DLL201", span=Span(14, 13, 14, 49)))[0] == "not reached"
