"""Programs that fail, leave or misbehave: each comes to an end, as it would alone, and leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.launched.conftest import SOURCES, Start

from dllint.observation import End, Launch, Process, Stack

pytestmark = pytest.mark.slow

linux = pytest.mark.skipif(sys.platform != "linux", reason="procfs")


def test_a_script_that_does_not_exist(start: Start) -> None:
    ran = start("", "missing.py")
    assert (ran.status, ran.err) == (2, "error: no such script: missing.py\n")


def test_a_command_that_does_not_exist(start: Start) -> None:
    ran = start("", "--", "no-such-command")
    assert (ran.status, ran.err) == (2, "error: cannot start no-such-command: no such file or directory\n")


def test_nothing_to_run(start: Start) -> None:
    ran = start("", "--")
    assert ran.status == 2
    assert ran.err.startswith("error: nothing to run") and ran.err.count("\n") == 1


def test_its_own_bug_ends_it_with_its_own_traceback(start: Start, tmp_path: Path) -> None:
    program = "def work(x):\n    return 1 / x\n\nwork(0)\n"
    ran = start(program)
    alone = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.status == 3
    assert ran.err.startswith(alone.stderr) and "ZeroDivisionError" in alone.stderr
    (end,) = ran.seen.of(End)
    assert end.exception == "ZeroDivisionError" and end.text == "division by zero"
    assert [(site.line, site.function) for site in end.frames] == [(4, "<module>"), (2, "work")]
    assert end.site == end.frames[-1]


def test_arguments_that_are_missing(start: Start) -> None:
    program = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('data')\nparser.parse_args()\n"
    ran = start(program)
    assert ran.status == 3
    assert "the following arguments are required: data" in ran.err and ran.report["exit"]["code"] == 2


def test_its_arguments_are_its_own(start: Start) -> None:
    ran = start("import sys; print(sys.argv)", "train.py", "--max-batches", "-m", "--", "-h")
    assert (ran.status, ran.out) == (0, "['train.py', '--max-batches', '-m', '--', '-h']\n")


def test_it_runs_as_itself(start: Start, tmp_path: Path) -> None:
    program = (
        "import os, sys, __main__\n"
        "print(__name__, __file__, sys.path, sys.argv, os.getcwd(), sys.flags.safe_path if hasattr(sys.flags, "
        "'safe_path') else 0, __spec__, __main__.__dict__ is globals(), 'sitecustomize' in sys.path)\n"
    )
    ran = start(program, "train.py", "1")
    alone = subprocess.run(
        [sys.executable, "train.py", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.out == alone.stdout


def test_a_module_with_its_arguments(start: Start) -> None:
    ran = start("", "-m", "pkg.train", "--lr", "1", files={"pkg/train.py": "import sys; print(__name__, sys.argv[1:])"})
    assert (ran.status, ran.out) == (0, "__main__ ['--lr', '1']\n")


def test_it_reads_standard_input(start: Start) -> None:
    assert start("print(input() + '!')", stdin="hello\n").out == "hello!\n"


def test_it_changes_the_directory_and_goes_on_recording(start: Start) -> None:
    program = "import os, subprocess, sys\nos.chdir('/')\nsubprocess.run([sys.executable, '-c', 'pass'], check=True)\n"
    ran = start(program)
    assert [launch.api for launch in ran.seen.of(Launch)] == ["subprocess"]
    assert len({one.pid for one in ran.seen.of(Process)}) == 2


def test_it_closes_all_descriptors_and_goes_on_recording(start: Start) -> None:
    program = (
        "import os, subprocess, sys\n"
        "os.closerange(3, 4096)\n"
        "files = [open('own%d.txt' % n, 'w') for n in range(3)]\n"
        "subprocess.run([sys.executable, '-c', 'pass'], check=True)\n"
        "raise KeyError('late')\n"
    )
    ran = start(program)
    assert ran.status == 3
    assert [end.text for end in ran.seen.of(End) if end.pid == ran.main.pid] == ["'late'"]
    assert len(list(ran.seen.of(Launch))) == 1


@linux
def test_no_stack_is_written_into_a_file_of_the_program(start: Start, tmp_path: Path) -> None:
    """It took the number of our descriptor for a file of its own, and hangs."""
    program = (
        "import os, time\n"
        "os.closerange(3, 4096)\n"
        "for held in range(3, 1000): os.open('own.txt', os.O_WRONLY | os.O_CREAT)\n"
        "time.sleep(60)\n"
    )
    (tmp_path / "own.txt").write_text("")
    ran = start(program, options=("--time-limit", "3"))
    assert ran.status == 3
    assert not ran.report["written"]
    assert (tmp_path / "own.txt").read_text() == ""


def test_it_replaces_the_excepthook(start: Start) -> None:
    ran = start("import sys\nsys.excepthook = lambda *error: print('mine')\n[][1]\n")
    assert (ran.status, ran.out) == (3, "mine\n")
    assert [end.exception for end in ran.seen.of(End)] == ["IndexError"]


def test_it_leaves_by_os_exit(start: Start) -> None:
    ran = start("import os\nos._exit(7)\n")
    assert (ran.status, ran.report["exit"]["code"]) == (3, 7)
    (end,) = ran.seen.of(End)
    assert (end.exit, end.by, end.site and end.site.line) == (7, "os._exit", 2)


def test_it_becomes_another_program(start: Start) -> None:
    ran = start("import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(1 + 1)'])\n")
    assert (ran.status, ran.out) == (0, "2\n"), (ran.err, ran.report)
    (launch,) = ran.seen.of(Launch)
    assert (launch.api, launch.child, launch.site and launch.site.line) == ("os.execv", launch.pid, 2)
    assert ran.main.argv[1:] == ("-c", "print(1 + 1)")


def test_it_is_killed(start: Start) -> None:
    ran = start("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert (ran.status, ran.report["exit"]["code"]) == (3, -signal.SIGKILL)
    assert ran.main.python


@linux
def test_it_crashes_and_leaves_its_stack(start: Start) -> None:
    ran = start("import ctypes\ndef reader():\n    ctypes.string_at(0)\nreader()\n")
    assert ran.status == 3
    (stack,) = ran.seen.of(Stack)
    assert "line 3 in reader" in stack.text


@linux
def test_a_hang_is_ended_and_every_stack_is_kept(start: Start) -> None:
    program = (
        "import multiprocessing, time\n"
        "def wait_for_ever():\n"
        "    time.sleep(600)\n"
        "if __name__ == '__main__':\n"
        "    child = multiprocessing.get_context('fork').Process(target=wait_for_ever)\n"
        "    child.start()\n"
        "    child.join()\n"
    )
    since = time.monotonic()
    ran = start(program, options=("--time-limit", "3"))
    assert ran.status == 3 and time.monotonic() - since < 30
    (launch,) = ran.seen.of(Launch)
    stacks = {stack.pid: stack.text for stack in ran.seen.of(Stack)}
    assert "wait_for_ever" in stacks[launch.child or 0]
    assert "join" in stacks[ran.main.pid]
    assert not alive(launch.child or 0)


@linux
@pytest.mark.parametrize("how", ["", "os.setsid()", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_what_it_leaves_behind_is_ended(start: Start, how: str) -> None:
    """Orphans, also those that moved to a session of their own or do not listen."""
    program = (
        "import os, signal, sys, time\n"
        "if os.fork() == 0:\n"
        "    if os.fork() == 0:\n"
        f"        {how or 'pass'}\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "time.sleep(0.5)\n"
    )
    ran = start(program)
    assert ran.status == 0
    pids = {one.pid for one in ran.seen.of(Process)}
    assert len(pids) == 3 and not any(map(alive, pids))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_its_own_sitecustomize_runs_too(start: Start) -> None:
    ran = start(
        "import sys; print(sys.modules['sitecustomize'].__file__.endswith('mine/sitecustomize.py'), sys.mine)",
        "--",
        "env",
        f"PYTHONPATH={Path(SOURCES) / 'dllint' / 'probe' / 'site'}:mine",
        sys.executable,
        "train.py",
        files={"mine/sitecustomize.py": "import sys; sys.mine = 7\n"},
    )
    assert (ran.status, ran.out) == (0, "True 7\n")
    assert len(list(ran.seen.of(Process))) == 1


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_a_process_that_cannot_be_instrumented_is_listed(start: Start, flag: str) -> None:
    ran = start(f"import subprocess, sys\nsubprocess.run([sys.executable, '{flag}', '-c', 'pass'])\n")
    assert f"started with {flag}" in str(ran.report["uninstrumented"])
    assert len({one.pid for one in ran.seen.of(Process)}) == 1


@linux
def test_a_full_directory_loses_records_and_nothing_else(start: Start) -> None:
    """/dev/full takes nothing: each record fails to be written."""
    program = (
        "import glob, os, subprocess, sys\n"
        "for path in glob.glob('scratch/records/*'):\n"
        "    os.remove(path)\n"
        "    os.symlink('/dev/full', path)\n"
        "subprocess.run([sys.executable, '-c', 'pass'])\n"
        "print('done')\n"
    )
    ran = start(program)
    assert (ran.status, ran.out) == (0, "done\n")


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0 or sys.platform != "linux", reason="drops its rights")
def test_a_directory_that_it_may_not_write_to(start: Start) -> None:
    """It gives up the rights that its launcher has."""
    program = "import os\nos.setuid(65534)\nif os.fork() == 0:\n    os._exit(3)\nprint(os.wait()[1] >> 8)\n"
    ran = start(program)
    assert (ran.status, ran.out) == (0, "3\n")


def test_a_scratch_directory_that_cannot_be_made(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = start("", options=("--scratch", str(tmp_path / "file" / "inner")))
    assert ran.status == 2
    assert ran.err.startswith("error: cannot make a scratch directory") and ran.err.count("\n") == 1


def test_a_command_that_is_no_python(start: Start) -> None:
    ran = start("", "--", "sh", "-c", "echo hello; exit 4")
    assert (ran.status, ran.out) == (3, "hello\n")
    assert "could not be instrumented" in str(ran.report["notes"])


def test_torch_is_missing(start: Start) -> None:
    ran = start("import sys\nsys.modules['torch'] = None\nimport torch\n")
    assert ran.status == 3
    assert [end.exception for end in ran.seen.of(End)] == ["ModuleNotFoundError"]


def test_psutil_is_missing(start: Start, tmp_path: Path) -> None:
    (tmp_path / "psutil.py").write_text("raise ImportError('no psutil here')\n")
    ran = start("print('ran')\n")
    assert (ran.status, ran.out) == (0, "ran\n")


@linux
def test_interrupting_interrupts_the_program(start: Start, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import time\ntry:\n    print('up', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "dllint", "run", "--isolated", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCES},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what it puts in the background with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.startswith("interrupted\n") and "Traceback" not in err
    assert "was interrupted" in out
