"""What a run does to the user's files, and what it leaves behind: nothing."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dllint.runtime import population
from dllint.runtime.isolation.starting import FORBIDDEN, Asked, CannotStart, Program, scratch_place
from dllint.runtime.launch import environment, mark
from dllint.runtime.trackers import OFFLINE

SOURCES = str(Path(__file__).parents[2] / "src")
WAYS = Path(__file__).parent / "programs" / "ways"
TORCH_PYTHON = os.environ.get("DLLINT_TORCH_PYTHON") or sys.executable
GOOD = {
    "last.pt": b"good weights",
    "best.ckpt": b"good and best",
    "metrics.json": b'{"loss": "good"}',
    "data.npy": b"good numbers",
    "data.npz": b"good arrays",
    "data.h5": b"good store",
    "table.csv": b"a,b\n1,2\n",
    "model.safetensors": b"good tensors",
    "pytorch_model.bin": b"good state",
    "image.png": b"good image",
    "sub/inner.bin": b"good inner",
}
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="Linux only")]


def why_no_overlay() -> str:
    """Why this machine makes no overlays; "" where it does."""
    scratch = scratch_place()
    population.adopt(True)
    try:
        program = Program(Asked(("true",), environment(scratch), mark(scratch), scratch, True, needed=(os.getcwd(),)))
        try:
            return program.cover()
        finally:
            program.done()
    finally:
        population.adopt(False)


@pytest.fixture(scope="module")
def overlay() -> None:
    reason = why_no_overlay()
    if reason:
        pytest.skip(f"this machine makes no overlays: {reason}")


def run(
    directory: Path, *words: str, python: str = sys.executable, before: tuple[str, ...] = (), **extra: str
) -> subprocess.CompletedProcess[str]:
    """Runs dllint on a program in a directory; the report goes to report.json beside it."""
    report = directory.parent / "report.json"
    ours = ("-m", "dllint", "run", "--isolated", "--try", "none", "--output-format", "json", "-o", str(report))
    return subprocess.run(
        [*before, python, *ours, *words],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": SOURCES, "XDG_CACHE_HOME": str(directory.parent), **extra},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


def told(directory: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((directory.parent / "report.json").read_text())
    return report


def hashes(directory: Path) -> dict[str, str]:
    """Every path with its contents, its kind and its mode."""
    found = {}
    for place, inner, files in os.walk(directory):
        for name in (*inner, *files):
            path = Path(place, name)
            about = path.lstat()
            content = os.readlink(path) if path.is_symlink() else "" if path.is_dir() else path.read_bytes().hex()
            text = f"{about.st_mode} {about.st_mtime_ns if not path.is_dir() else 0} {content}"
            found[str(path.relative_to(directory))] = hashlib.sha256(text.encode()).hexdigest()
    return found


def with_good_files(directory: Path) -> None:
    for name, content in GOOD.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    (directory / "latest.pt").symlink_to("last.pt")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A directory with good files, in which a program is started."""
    (tmp_path / "work").mkdir()
    with_good_files(tmp_path / "work")
    return tmp_path / "work"


LESS_RIGHTS = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")
"""As a user of a machine has them: mounts need a user namespace then."""


@pytest.mark.parametrize("rights", ["ours", "less"])
def test_nothing_that_was_there_is_changed_in_any_way(rights: str, overlay: None, tmp_path: Path) -> None:
    """All ways to write that `ways/` knows, from the program itself, from a worker and from a command."""
    if rights == "less" and (os.getuid() != 0 or shutil.which("setpriv") is None):
        pytest.skip("we have no more rights than any user, or no setpriv to give them up")
    kinds = ("main", "worker", "command") if rights == "ours" else ("worker",)
    work = tmp_path / "work"
    shutil.copytree(WAYS, work, ignore=shutil.ignore_patterns("__pycache__"))
    listed = [TORCH_PYTHON, work / "ways.py", "list"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    for kind in kinds:
        for name in names:
            with_good_files(work / "good" / kind / name)
    compiler = shutil.which("cc")
    if compiler:
        for program, options in (("write", ()), ("write_static", ("-static",))):
            words = [compiler, "write.c", "-o", program, *options, "-lpthread"]
            # The static library of C is not everywhere.
            subprocess.run(words, cwd=work, check=not options, capture_output=bool(options))
    given = {"WAYS_HOME": str(work), "WAYS_KINDS": " ".join(kinds)}
    subprocess.run([TORCH_PYTHON, work / "ways.py", "prepare"], env={**os.environ, **given}, check=True)
    before = hashes(work)
    less = LESS_RIGHTS if rights == "less" else ()
    done = run(work, "ways.py", python=TORCH_PYTHON, before=less, **given)
    seen = json.loads(done.stdout.splitlines()[-1] if done.stdout.strip() else done.stderr.splitlines()[-1])
    assert seen["failed"] == {}
    assert seen["distinct"] >= 200
    print(seen["distinct"], "ways,", seen["tried"], "times; not there:", seen["missing"])
    assert hashes(work) == before
    assert told(work)["isolation"]["kind"] == "overlay"


ROTATES = """\
import os
import pty
if os.path.exists("last.pt"):
    os.replace("last.pt", "previous.pt")
open("last.pt", "w").write("half trained")
os.remove("best.ckpt")
print(sorted(name for name in os.listdir(".") if "." in name))
"""


def test_what_was_written_is_listed_and_given_out(overlay: None, work: Path, tmp_path: Path) -> None:
    (work / "train.py").write_text(ROTATES)
    before = hashes(work)
    done = run(work, "--keep-writes", str(tmp_path / "kept"), "train.py")
    assert done.returncode == 0, done.stderr
    assert "previous.pt" in done.stdout and "best.ckpt" not in done.stdout
    assert hashes(work) == before
    listed = {(one["how"], Path(one["path"]).name) for one in told(work)["written"]}
    assert listed == {("changed", "last.pt"), ("new", "previous.pt"), ("deleted", "best.ckpt")}
    kept = tmp_path / "kept" / str(work).lstrip("/")
    assert (kept / "last.pt").read_text() == "half trained"
    assert (kept / "previous.pt").read_bytes() == GOOD["last.pt"]


def test_saves_can_be_allowed(work: Path) -> None:
    (work / "train.py").write_text(ROTATES)
    assert run(work, "--allow-saves", "train.py").returncode == 0
    assert (work / "last.pt").read_text() == "half trained" and not (work / "best.ckpt").exists()
    assert told(work)["isolation"]["kind"] == "none"


@pytest.mark.parametrize(
    ("option", "given", "expected"),
    [((), {}, "offline 1"), ((), {"WANDB_MODE": "online"}, "online 1"), (("--allow-saves",), {}, "unset unset")],
)
def test_trackers_are_kept_offline(
    work: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], given: dict[str, str], expected: str
) -> None:
    for name, _ in OFFLINE.values():
        monkeypatch.delenv(name, raising=False)
    names = ("WANDB_MODE", "CLEARML_OFFLINE_MODE")
    (work / "train.py").write_text(f"import os\nprint(*(os.environ.get(name, 'unset') for name in {names}))\n")
    assert run(work, *option, "train.py", **given).stdout.splitlines()[-1:] == [expected]


def test_without_namespaces_good_results_in_reach_keep_the_program_from_starting(work: Path) -> None:
    (work / "train.py").write_text(ROTATES)
    before = hashes(work)
    done = run(work, "train.py", **{FORBIDDEN: "1"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "--in-place" in done.stderr and str(work) in done.stderr
    assert hashes(work) == before


def test_without_namespaces_it_says_so_before_the_program_starts(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text("print('began')\n")
    done = run(work, "train.py", **{FORBIDDEN: "1"})
    assert done.returncode == 0
    assert done.stderr.startswith("warning: no overlay can be made here") and done.stdout == "began\n"
    assert told(work)["isolation"]["kind"] == "hooks"


def test_without_namespaces_the_network_cannot_be_cut(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text("print('began')\n")
    done = run(work, "--no-network", "train.py", **{FORBIDDEN: "1"})
    assert done.returncode == 2 and "began" not in done.stdout + done.stderr


@pytest.mark.skipif(not os.environ.get("DLLINT_TORCH_PYTHON"), reason="DLLINT_TORCH_PYTHON names no interpreter")
def test_without_namespaces_a_good_checkpoint_is_not_moved(work: Path) -> None:
    (work / "train.py").write_text("import torch\n" + ROTATES)
    before = hashes(work)
    done = run(work, "--in-place", "train.py", python=TORCH_PYTHON, **{FORBIDDEN: "1"})
    assert done.returncode == 0, done.stderr
    assert hashes(work) == before


def test_the_network_is_cut_except_localhost(overlay: None, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text(
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
        "print([name for _, name in socket.if_nameindex()])\n"
    )
    for option in ((), ("--no-network",)):
        done = run(work, *option, "train.py")
        assert done.returncode == 0 and done.stdout == "['lo']\n", done.stderr


@pytest.mark.parametrize("option", ["--network", "--allow-saves"])
def test_who_asks_for_the_network_has_it(overlay: None, tmp_path: Path, option: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text("import os\nprint(os.readlink('/proc/self/ns/net'))\n")
    done = run(work, option, "train.py")
    assert (done.returncode, done.stdout) == (0, os.readlink("/proc/self/ns/net") + "\n"), done.stderr


def test_a_program_that_misses_the_network_is_told_why(overlay: None, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text("import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=9)\n")
    done = run(work, "train.py")
    assert done.returncode == 3 and "Network is unreachable" in done.stderr
    assert any(one.startswith("the program had no network") for one in told(work)["notes"])


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    done = run(tmp_path, "--", "no-such-program")
    assert done.returncode == 2
    assert done.stderr.endswith("error: cannot start no-such-program: no such file or directory\n")
    assert "Traceback" not in done.stderr


LEAVES = """\
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "300"], start_new_session=True, env={})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(300)
    os._exit(0)
open("/dev/shm/" + os.environ["LEFT"], "w").write("left")
print("up", flush=True)
time.sleep(300)
"""
WAIT = 5.0


def _listening() -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(
    directory: Path, mark: str, program: str = LEAVES, python: str = sys.executable, **extra: str
) -> subprocess.Popen[str]:
    (directory / "train.py").write_text(program)
    return subprocess.Popen(
        [python, "-m", "dllint", "run", "--isolated", "train.py"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": SOURCES, "LEFT": mark, "TMPDIR": str(directory / "tmp"), **extra},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell starts what it puts in the background with interrupts ignored.
        preexec_fn=_listening,
    )


def left(directory: Path) -> list[str]:
    """Processes that work in a directory: those of the program, its children, and the guard's of its vaults."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/cwd") == str(directory):
                found.append(Path(f"/proc/{name}/cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def nothing_left(directory: Path) -> list[str]:
    """What is left after five seconds."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        remains = left(directory) + os.listdir(directory / "tmp")
        if not remains:
            return []
        time.sleep(0.05)
    return remains


@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize("wait", ["up", ""])
def test_a_signal_leaves_nothing_behind(ending: str, wait: str, overlay: None, tmp_path: Path) -> None:
    """Before the program has begun, and while it runs."""
    (tmp_path / "tmp").mkdir()
    name = f"dllint-test-{os.getpid()}-{time.monotonic_ns()}"
    process = started(tmp_path, name)
    assert process.stdout is not None
    if wait:
        assert process.stdout.readline() == "up\n"
    else:
        until = time.monotonic() + 30
        # A file is there for an instant before: the standard library tries whether it can write.
        while not any(one.is_dir() for one in (tmp_path / "tmp").iterdir()) and time.monotonic() < until:
            time.sleep(0.01)
    number = getattr(signal, ending)
    process.send_signal(number)
    since = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert process.returncode == (-number if ending == "SIGKILL" else 128 + number), err
    assert nothing_left(tmp_path) == []
    assert time.monotonic() - since < WAIT + 1
    assert not os.path.exists(f"/dev/shm/{name}")
    if ending != "SIGKILL":
        assert "was interrupted" in out and f"{SOURCES}/dllint/" not in err


LOADS = """import os, time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        if index >= 8:
            time.sleep(300)
        return torch.zeros(1 << 16)

if __name__ == "__main__":
    open("/dev/shm/" + os.environ["LEFT"], "w").write("left")
    kept = []
    for batch in DataLoader(Slow(), batch_size=4, num_workers=2, multiprocessing_context="{method}"):
        kept.append(batch)
        if len(kept) == 2:
            print("up", flush=True)
"""


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory whose name leaves room for the sockets of `multiprocessing`: 108 bytes at most (unix(7))."""
    with tempfile.TemporaryDirectory(prefix="dllint-") as made:
        yield Path(os.path.realpath(made))


@pytest.mark.parametrize(
    ("ending", "method"),
    [
        *(("SIGINT", "fork"), ("SIGTERM", "spawn"), ("SIGHUP", "forkserver")),
        *(("SIGKILL", method) for method in ("fork", "spawn", "forkserver")),
    ],
)
def test_a_signal_leaves_no_workers_behind(ending: str, method: str, overlay: None, short_path: Path) -> None:
    """While workers hang in an item, with batches in shared memory."""
    python = os.environ.get("DLLINT_TORCH_PYTHON", "")
    if not python:
        pytest.skip("DLLINT_TORCH_PYTHON names no interpreter")
    (short_path / "tmp").mkdir()
    name = f"dllint-test-{os.getpid()}-{time.monotonic_ns()}"
    process = started(short_path, name, LOADS.format(method=method), python)
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    number = getattr(signal, ending)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (-number if ending == "SIGKILL" else 128 + number), err
    assert nothing_left(short_path) == []
    assert not os.path.exists(f"/dev/shm/{name}")
    assert f"{SOURCES}/dllint/" not in err


def test_a_socket_that_goes_while_directories_are_covered(overlay: None, tmp_path: Path) -> None:
    source = """
import os, socket, sys
from dllint.runtime.isolation import mounts

vault, work = sys.argv[1:]
listening = socket.socket(socket.AF_UNIX)
listening.bind(work + "/gone")
listed = mounts._sockets
lists = []

def sockets():
    lists.append(listed())
    if len(lists) > 1:
        os.unlink(work + "/gone")
    return lists[-1]

mounts._sockets = sockets
found = mounts.Cover([vault], [work], [], mounts.own_namespaces(True, [work]))
found.run()
assert len(lists) == 2 and all(work + "/gone" in one for one in lists)
print([path for path, _ in found.layers if mounts.is_below(work, path)])
"""
    vault, place = tmp_path / "vault", Path(tempfile.mkdtemp(prefix="dllint-", dir="/tmp"))
    vault.mkdir()
    try:
        done = subprocess.run(
            [sys.executable, "-c", source, str(vault), str(place)],
            env={**os.environ, "PYTHONPATH": SOURCES},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(place)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() != "[]"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write to the root directory")
def test_a_program_that_could_be_covered_in_part_only_starts_with_nothing_covered(
    overlay: None, tmp_path: Path
) -> None:
    """The root directory itself cannot have a layer, which shows when all others have theirs."""
    scratch = scratch_place()
    written = tmp_path / "written"
    population.adopt(True)
    try:
        command = ("sh", "-c", f"echo > {scratch}/record && echo > {written}")
        program = Program(Asked(command, environment(scratch), mark(scratch), scratch, True, needed=("/",)))
        try:
            assert program.cover() == "/ could not be written to in it: Read-only file system"
            assert program.go().wait(10) == 0
            assert os.path.exists(f"{scratch}/record")
        finally:
            program.done()
        assert not os.path.exists(scratch)
    finally:
        population.adopt(False)
    assert written.exists()


def test_what_is_asked_of_a_program_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that makes the overlay may be killed from outside."""
    monkeypatch.delenv(FORBIDDEN, raising=False)
    scratch = scratch_place()
    population.adopt(True)
    try:
        program = Program(Asked(("true",), environment(scratch), mark(scratch), scratch, True))
        program.process.kill()
        program.process.wait()
        assert "ended" in program.cover()
        program.done()
        assert not os.path.exists(scratch)
    except CannotStart as error:
        pytest.fail(str(error))
    finally:
        population.adopt(False)


def test_a_terminal_that_is_closed_leaves_nothing_behind(overlay: None, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "train.py").write_text(LEAVES)
    name = f"dllint-test-{os.getpid()}-{time.monotonic_ns()}"
    variables = {**os.environ, "PYTHONPATH": SOURCES, "LEFT": name, "TMPDIR": str(tmp_path / "tmp")}
    pid, terminal = pty.fork()
    if pid == 0:
        # nohup has it ignored
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.chdir(tmp_path)
        os.execve(sys.executable, [sys.executable, "-m", "dllint", "run", "--isolated", "train.py"], variables)
    shown = b""
    while b"up" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 128 + signal.SIGHUP
    assert nothing_left(tmp_path) == []
