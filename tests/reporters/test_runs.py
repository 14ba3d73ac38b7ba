"""Reports of runs: given what a run gave, the text, the object and the page."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dllint.finding import Finding, Fix, Place, SetArgument
from dllint.reporters import Style, render
from dllint.reporters.runs.html import CannotDraw
from dllint.reporters.runs.html import render as render_page
from dllint.run_report import Exit, LoaderReport, Prediction, ProcessReport, RunReport, Sample, Wait, Written

MIB = 1 << 20
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture
def report(finding: Finding, directory: Path) -> RunReport:
    """A loader with two forked workers, one confirmed finding, one refuted, one that was not reached."""
    site = Place(finding.path, finding.span, "the loader")
    confirmed = replace(finding, verdict="confirmed", evidence=("the 2 workers started by spawn, 1.9 s each time",))
    refuted = replace(finding, code="DLL303", name="many-tensors-in-dataset", verdict="refuted", evidence=("3 of 245",))
    unreached = replace(refuted, code="DLL402", verdict="not reached", evidence=("its loader ran without workers",))
    workers = [
        ProcessReport(
            pid,
            f"worker {pid - 71} of loaders.py:5",
            "spawn",
            70,
            True,
            site,
            0,
            tuple(
                Sample(at / 2, (100 + grown * at) * MIB, (120 + grown * at) * MIB, 300 * MIB, 2 + at, 30)
                for at in range(8)
            ),
        )
        for pid, grown in ((71, 9), (72, 12))
    ]
    main = ProcessReport(
        70, "main", samples=(Sample(0.1, 250 * MIB, 260 * MIB, 310 * MIB, 9, 40), Sample(4.0, rss=MIB))
    )
    return RunReport(
        ("train.py", "--name", "two words"),
        str(directory),
        Exit("shortened", 0, 4.25),
        {"python": "3.11.7", "limits": {"nofile": 1024, "none": None}, "cores": [0, 1]},
        (
            LoaderReport(
                site,
                "DataLoader",
                "data.Records",
                {"num_workers": 2, "batch_size": 8},
                "spawn",
                {"storages": 3},
                (
                    Prediction("SCM_MAX_FD", "fails at 246 storages; you have 300", True, 300, 245, "", "forkserver"),
                    Prediction("memory", "takes 1 GiB of 24", False, 1 << 30, 24 << 30, "bytes"),
                ),
                ({"worker": 0, "pid": 71},),
                tuple(Wait(at / 10, 0.02 if at else 0.4, 0.05 if at < 30 else None) for at in range(31)),
                ("loading is not the bottleneck: 20 ms of wait for 50 ms of work",),
            ),
        ),
        (main, *workers),
        ("73 (subprocess at train.py:4): it was started with -I",),
        {"/home/me/best.pt": "/tmp/scratch/best.pt"},
        (unreached, refuted, confirmed),
        ("measured by a first note",),
        {finding.path: "import torch\n\n\ndef build(ds):\n    return DataLoader(ds, num_workers=4)\n"},
    )


def text(report: RunReport, **style: Any) -> str:
    return render("text", report, Style(directory=report.directory, **style), "runs.")


def page(report: RunReport) -> str:
    return render_page(report, Style(directory=report.directory))


# Text


def test_what_was_put_aside_is_listed(report: RunReport) -> None:
    many = tuple(Written(f"/home/me/epoch_{number:02}.pt", "new", 4) for number in range(25))
    told = text(replace(report, written=(Written("/home/me/best.pt", "changed", 4), *many)))
    assert "your files are as they were (--keep-writes DIR keeps copies)\n  changed " in told
    assert "epoch_18.pt" in told and "epoch_19.pt" not in told and "and 6 more" in told
    assert "copies are in kept" in text(replace(report, written=many, kept_in="kept"))


def test_confirmed_findings_come_first_with_their_source(report: RunReport) -> None:
    told = text(report)
    assert told.startswith("DLL101 loader-inherits-start-method warning: ")
    assert "  = run: confirmed: the 2 workers started by spawn, 1.9 s each time\n" in told
    assert "5 |     return DataLoader(ds, num_workers=4)\n" in told


def test_what_only_the_run_saw_is_marked(report: RunReport) -> None:
    found = replace(report.findings[2], origin="runtime")
    assert "  = run: confirmed, found by the run only: the 2 workers" in text(replace(report, findings=(found,)))


def test_others_take_a_line(report: RunReport) -> None:
    lines = text(report).splitlines()
    at = lines.index("refuted DLL303 many-tensors-in-dataset loaders.py:5:12: 3 of 245")
    assert lines[at + 1] == "not reached DLL402 many-tensors-in-dataset loaders.py:5:12: its loader ran without workers"


def test_a_project_of_many_programs_is_told_in_short(report: RunReport) -> None:
    told = text(replace(report, findings=report.findings[:1] * 40))
    assert told.count("not reached DLL402") == 12
    assert "not reached and 28 more (JSON lists them)\n" in told


def test_loaders_say_what_runs_out(report: RunReport) -> None:
    told = text(report)
    assert "loaders.py:5:12 DataLoader of data.Records, 2 workers by spawn\n" in told
    assert "  loading is not the bottleneck: 20 ms of wait for 50 ms of work\n" in told
    assert "  SCM_MAX_FD (forkserver) fails: fails at 246 storages; you have 300\n" in told
    assert "  below half of the limit: memory\n" in told
    near = replace(report.loaders[0].predictions[1], need=13 << 30)
    near_too = replace(report, loaders=(replace(report.loaders[0], predictions=(near,)),))
    assert "  memory holds: takes 1 GiB of 24\n" in text(near_too)


def test_a_loader_that_was_never_iterated_has_started_no_workers(report: RunReport) -> None:
    idle = replace(report.loaders[0], start_method="")
    assert "data.Records, 2 workers, which were never started\n" in text(replace(report, loaders=(idle,)))


def test_what_was_not_watched_and_written_elsewhere_is_said(report: RunReport) -> None:
    told = text(report)
    assert "Not watched\n  73 (subprocess at train.py:4): it was started with -I\n" in told
    assert "  /home/me/best.pt → /tmp/scratch/best.pt\n" in told


def test_the_end(report: RunReport) -> None:
    assert text(report).endswith(
        "$ train.py --name 'two words'\n"
        "dllint ended the program after 4.2 s: it had seen enough.\n"
        "3 findings: 1 confirmed, 1 refuted, 1 not reached.\n"
    )


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (Exit("finished", 0, 1), "The program ended with exit code 0 after 1.0 s."),
        (Exit("failed", 2, 1), "The program ended with exit code 2 after 1.0 s."),
        (Exit("killed", -9, 1), "The program was killed by signal 9 after 1.0 s."),
        (
            Exit("shortened", 0, 9, out_of_time=True),
            "dllint ended the program after 9.0 s: the time limit was reached.",
        ),
        (Exit("hung", None, 20), "The program hung, and dllint ended it after 20.0 s."),
    ],
)
def test_each_way_to_end(report: RunReport, end: Exit, line: str) -> None:
    assert line in text(replace(report, exit=end)).splitlines()


def test_a_death_has_its_cause(report: RunReport) -> None:
    end = Exit("failed", 1, 3, "ValueError: too many fds", "DLL303", "the dataset holds 300 storages")
    assert "  ValueError: too many fds\n  DLL303: the dataset holds 300 storages\n" in text(replace(report, exit=end))


def test_a_hang_shows_stacks(report: RunReport) -> None:
    stack = "\n".join(f"line {number}" for number in range(40))
    told = text(replace(report, exit=Exit("hung", None, 20, stacks={71: stack})))
    assert "  process 71:\n    line 0\n" in told
    assert "line 12" not in told


def test_quiet_is_findings_and_the_end(report: RunReport) -> None:
    told = text(report, quiet=True)
    assert "Not watched" not in told
    assert "SCM_MAX_FD" not in told
    assert "1 confirmed" in told


# Exit codes


@pytest.mark.parametrize(
    ("verdicts", "end", "status"),
    [
        ([], Exit("finished", 0), 0),
        (["refuted", "inconclusive", "not reached"], Exit("shortened", 0), 0),
        (["confirmed"], Exit("finished", 0), 1),
        (["refuted", "latent"], Exit("finished", 0), 1),
        (["confirmed"], Exit("failed", 1, explained="DLL201"), 1),
        (["confirmed"], Exit("hung", None, explained="DLL205"), 1),
        (["confirmed"], Exit("failed", 1), 3),
        ([], Exit("failed", 2), 3),
        ([], Exit("killed", -9), 3),
        (["refuted"], Exit("hung", None), 3),
    ],
)
def test_status(report: RunReport, finding: Finding, verdicts: list[Any], end: Exit, status: int) -> None:
    findings = tuple(replace(finding, verdict=verdict) for verdict in verdicts)
    assert replace(report, findings=findings, exit=end).status == status


# JSON


def test_the_object(report: RunReport) -> None:
    told = json.loads(render("json", report, Style(), "runs."))
    assert set(told) >= {
        "command",
        "exit",
        "environment",
        "loaders",
        "processes",
        "uninstrumented",
        "findings",
        "version",
    }
    assert told["exit"]["ending"] == "shortened"
    loader = told["loaders"][0]
    assert (loader["class"], loader["start_method"], loader["storages"]) == ("DataLoader", "spawn", {"storages": 3})
    assert loader["site"]["location"] == {"row": 5, "column": 12}
    assert [one["fails"] for one in loader["predictions"]] == [True, False]
    assert told["processes"][1]["samples"][1] == {
        "at": 0.5,
        "uss": 109 * MIB,
        "pss": 129 * MIB,
        "rss": 300 * MIB,
        "threads": 3,
        "descriptors": 30,
    }
    assert [(one["verdict"], one["origin"]) for one in told["findings"]] == [
        ("not reached", "static"),
        ("refuted", "static"),
        ("confirmed", "static"),
    ]


# The page


def test_the_page_opens_offline(report: RunReport) -> None:
    outside = re.sub(r'<script id="(plotly|data)".*?</script>', "", page(report), flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#)|url\(|@import|https?:""", outside)


def test_the_page_is_two_megabytes(report: RunReport) -> None:
    assert 500_000 < len(page(report)) < 2_500_000


def test_the_page_holds_what_the_text_does(report: RunReport) -> None:
    seen = html.unescape(page(report))
    for words in (
        "the 2 workers started by spawn, 1.9 s each time",
        "mp.spawn starts main",
        "train.py --name 'two words'",
        "fails at 246 storages; you have 300",
        "limits: nofile",
        "worker 1 of loaders.py:5",
        "it was started with -I",
        "/tmp/scratch/best.pt",
        "return DataLoader(ds, num_workers=4)",
    ):
        assert words in seen


def test_sizes_among_the_limits_are_in_mib(report: RunReport) -> None:
    seen = page(replace(report, environment={"shm_free": 64 * MIB, "nofile_soft": MIB}))
    assert "<td>64.0 MiB</td>" in seen
    assert f"<td>{MIB}</td>" in seen


def test_limits_have_the_names_that_people_know(report: RunReport) -> None:
    limits = {"nofile_soft": 1024, "cgroup": {"limit": 64 * MIB}, "environment": {"OMP_NUM_THREADS": "1"}}
    seen = page(replace(report, environment=limits))
    for name in ("open files per process (ulimit -n)", "control group: limit", "OMP_NUM_THREADS"):
        assert f'<th scope="row">{name}</th>' in seen
    assert "nofile_soft" not in seen


def test_the_page_lists_what_was_put_aside(report: RunReport) -> None:
    many = tuple(Written(f"/home/me/epoch_{number:03}.pt", "new", 3 * MIB) for number in range(201))
    seen = page(replace(report, written=many))
    assert "epoch_199.pt</code></td>" in seen and "3.0 MiB" in seen and "And 1 more" in seen
    assert "epoch_200" not in seen and "<code>--keep-writes DIR</code> keeps copies" in seen


def test_the_page_quotes_what_a_program_says(report: RunReport) -> None:
    hostile = "</script><script>document.title = 'taken'</script>"
    process = replace(report.processes[0], name=hostile)
    told = page(replace(report, exit=Exit("failed", 1, 0, hostile), processes=(process,)))
    assert hostile not in told


def drawn_processes(report: RunReport, *seconds: tuple[float, float]) -> list[tuple[list[str], list[float | None]]]:
    """What the page draws of processes of one name that lived from one second to another."""
    processes = tuple(
        ProcessReport(70 + number, "worker 0 of a.py:1", samples=(Sample(start, uss=MIB), Sample(end, uss=MIB)))
        for number, (start, end) in enumerate(seconds)
    )
    data = re.search(
        r'<script id="data" type="application/json">(.*?)</script>', page(replace(report, processes=processes))
    )
    assert data is not None
    return [(one["process"], one["uss"]) for one in json.loads(data[1])["processes"]]


def test_workers_of_one_epoch_after_another_are_one_line(report: RunReport) -> None:
    (line,) = drawn_processes(report, (0, 1), (2, 3))
    assert line == (["process 70"] * 2 + ["process 71"] * 3, [1, 1, None, 1, 1])


def test_workers_that_live_at_once_are_lines_of_their_own(report: RunReport) -> None:
    assert len(drawn_processes(report, (0, 3), (2, 4))) == 2


def test_a_missing_package_is_named(report: RunReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly", None)
    with pytest.raises(CannotDraw, match=r"--report needs the package plotly: pip install 'dllint\[runtime\]'"):
        page(report)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_a_browser_draws_every_chart(report: RunReport, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page(report))
    drawn = dom(tmp_path / "report.html", tmp_path)
    assert 'data-drawn="yes"' in drawn
    for chart in ("memory", "threads", "descriptors", "waits"):
        assert re.search(rf'id="{chart}" class="chart js-plotly-plot"', drawn), chart
    assert drawn.count("worker 1 of loaders.py:5") >= 3


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_a_browser_shows_a_run_without_anything(tmp_path: Path) -> None:
    empty = RunReport(("train.py",), str(tmp_path), Exit("failed", 1, 0.1))
    (tmp_path / "report.html").write_text(page(empty))
    drawn = dom(tmp_path / "report.html", tmp_path)
    assert drawn.count("No measurements.") >= 4
    assert "The program made no DataLoader." in drawn


def dom(file: Path, scratch: Path) -> str:
    """The page's elements after its scripts ran."""
    assert BROWSER
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={scratch / 'profile'}",
            "--virtual-time-budget=20000",
            "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_the_page_marks_code_and_shows_what_a_fix_changes(report: RunReport) -> None:
    found = report.findings[2]
    edit = SetArgument(found.path, found.span, "num_workers", "0")
    fixed = replace(found, text="`A<B>` fails, `C` too", fixes=(Fix("Set `num_workers` to 0", "unsafe", (edit,)),))
    told = page(replace(report, findings=(fixed,)))
    assert "<code>A&lt;B&gt;</code> fails, <code>C</code> too" in told
    assert "Set <code>num_workers</code> to 0 (unsafe)" in told
    assert "+     return DataLoader(ds, num_workers=0)" in told
