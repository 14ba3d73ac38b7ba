"""What repositories did to a check before it was made safe, one row per trigger: each is harmless within 5 s of
processor time and 1 GiB of memory, and ends with a clear line and the right exit code.

The other modules of this directory test the parts: more ways to write each trigger, what is kept, what git says.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.pace import slowness

pytestmark = pytest.mark.slow

SECONDS, MEBIBYTES = 5, 1024
HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)
FOUND = "DLL204"
CLEAN = "No findings in 1 file."
LAUNCH = "import torch.multiprocessing as mp\n\n\ndef work(rank):\n    pass\n\n\nmp.spawn(work, nprocs=2)\n"
GUARDED = LAUNCH.replace("\nmp.spawn", '\nif __name__ == "__main__":\n    mp.spawn')


class Row(NamedTuple):
    """A trigger.

    Attributes:
        item: the trigger in plain words.
        build: makes its files; `train.py` with a hazard and an empty `pyproject.toml` are there already.
        status, line: the exit code, and what the output must say.
        arguments: of the command; `check .` where it is empty, `check . …` where it begins with an option.
        options: how the command is run: standard input, environment, code that is run before.
        unharmed: what must be so afterwards.
    """

    item: str
    build: Callable[[Path], object]
    status: int = 1
    line: str = FOUND
    arguments: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}
    unharmed: Callable[[Path], bool] = lambda project: True


def write(name: str, text: str | bytes) -> Callable[[Path], None]:
    def build(project: Path) -> None:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    return build


def several(*builders: Callable[[Path], object]) -> Callable[[Path], None]:
    def build(project: Path) -> None:
        for one in builders:
            one(project)

    return build


def pipe(name: str) -> Callable[[Path], None]:
    def build(project: Path) -> None:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).unlink(missing_ok=True)
        os.mkfifo(project / name)

    return build


def link(name: str, target: str) -> Callable[[Path], None]:
    def build(project: Path) -> None:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(target)

    return build


def git(project: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments]
    subprocess.run(command, cwd=project, env=environment, capture_output=True)


def commands_in_git(project: Path) -> None:
    """A configuration that has git run a command as soon as it lacks an object."""
    write("data/b.py", HAZARD)(project)
    write(".gitignore", "data/\n")(project)
    for command in (("init", "-q"), ("add", "-f", "."), ("commit", "-qm", "x")):
        git(project, *command)
    for key, value in {
        "extensions.partialClone": "origin",
        "core.repositoryformatversion": "1",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"touch {project}/PWNED; false",
        "core.fsmonitor": f"touch {project}/PWNED",
        "index.sparse": "true",
    }.items():
        git(project, "config", key, value)
    for path in sorted((project / ".git/objects").rglob("*")):
        if path.is_file():
            path.unlink()


def commands_in_git_above(project: Path) -> None:
    commands_in_git(project)
    (project / ".git").rename(project.parent / ".git")


def ignored_and_tracked(project: Path) -> None:
    write("data/b.py", HAZARD)(project)
    write("train.py", "x = 1\n")(project)
    write(".gitignore", "data/\n")(project)
    git(project, "init", "-q")
    git(project, "add", "-f", ".")


def entry(content: bytes | str | None, linked: bool = False) -> Callable[[Path], None]:
    """A cache in the project with an entry for `train.py`: these bytes, facts of another text, or a pipe."""

    def build(project: Path) -> None:
        from dllint import __version__
        from dllint.cache_directory import _TAG_TEXT
        from dllint.facts.cache import FACTS_VERSION, to_json
        from dllint.facts.extract import extract

        write("pyproject.toml", '[tool.dllint]\ncache-dir = ".dllint_cache"\n')(project)
        write(".dllint_cache/CACHEDIR.TAG", _TAG_TEXT)(project)
        key = blake2b(f"{FACTS_VERSION} {__version__}\n{HAZARD}".encode(), digest_size=20).hexdigest()
        path = f".dllint_cache/{key[:2]}/{key[2:]}.facts"
        if content is None:
            pipe(path)(project)
        elif linked:
            link(path, str(content))(project)
        else:
            data = content if isinstance(content, bytes) else json.dumps(to_json(extract(content))).encode()
            payload = zlib.compress(data, 9)
            write(path, blake2b(payload, digest_size=16).digest() + payload)(project)

    return build


def victim(project: Path) -> None:
    (project.parent / "victim").write_text("precious")
    write("pyproject.toml", '[tool.dllint]\ncache-dir = ".dllint_cache"\n')(project)
    (project / ".dllint_cache").mkdir()


def launchers(number: int) -> str:
    functions = (
        f"def f{one}(rank, rows):\n"
        + "".join(f"    mp.spawn(f{other}, args=(rows,))\n" for other in range(number))
        + "    DataLoader(rows, num_workers=2)\n"
        for one in range(number)
    )
    head = "import torch.multiprocessing as mp\nfrom torch.utils.data import DataLoader\n"
    return head + "".join(functions) + "if __name__ == '__main__':\n    f0(0, [])\n"


def loading(call: str) -> str:
    return f"import json, yaml\nfrom torch.utils.data import DataLoader\nC = {call}\ndef f(rows):\n" + "".join(
        f"    DataLoader(rows, num_workers=C[{key!r}], prefetch_factor=C[{key!r}], batch_size=int(C[{key!r}]))\n"
        for key in ("nan", "large")
    )


def values(name: str, text: str) -> Callable[[Path], None]:
    call = "json.load" if name.endswith("json") else "yaml.safe_load"
    return several(write(name, text), write("use.py", loading(f"{call}(open({name!r}))")))


LOADERS = "from torch.utils.data import DataLoader\n"
NEVER = (
    "False",
    "not True",
    "1 > 2",
    "len(())",
    "__debug__ is None",
    "os.environ is None",
    "typing.TYPE_CHECKING",
    "isinstance(1, str)",
    "not callable(print)",
    "''.join([])",
    "not work",
    "__file__ is None",
    "(lambda: 0)()",
    "[x for x in ()]",
    "{'run': 0}.get('run')",
    "(1, 0)[1:][0]",
    "list(zip())",
    "never()",
)
PARTIALS = """\
import functools
import torch.multiprocessing as mp

def launch(f):
    return functools.partial(mp.spawn, f, nprocs=2)

@launch
def work(rank):
    pass
"""


def never(project: Path) -> None:
    head = (
        "import os, typing\nimport torch.multiprocessing as mp\ndef never():\n    return 0\ndef work(rank):\n    pass\n"
    )
    for number, test in enumerate(NEVER):
        write(
            "train.py" if not number else f"a{number}.py", f"{head}if {test}:\n    mp.spawn(work, nprocs={number})\n"
        )(project)


MERGES = "a0: &a0 {k: 1, l: 2}\n" + "".join(f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 28))
VALID = "(x): int = 1\na = b = 1\ndef f():\n    return.5\ny = a if b else.5\ns = " + " + ".join(["1"] * 2500) + "\n"
REFUSING = """\
import math
import os
scandir = os.scandir
def refuse(path):
    if os.fspath(path).endswith('locked'):
        raise PermissionError(13, 'Permission denied')
    return scandir(path)
os.scandir = refuse
"""
VANISHING = """\
import math
import os
from dllint.commands import fix
mend = fix.fix_until_stable
def vanished(*given, **more):
    os.unlink('a2.py')
    return mend(*given, **more)
fix.fix_until_stable = vanished
"""
FEW_FILES = """\
import resource
from dllint.facts import parse
parse.WORTH_PROCESSES = 1
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
"""
SOURCE = "# é\nfrom torch.utils.data import DataLoader\nDataLoader([1])\nx = 1  # dllint: ignore[DLL101]\n"
FIXED = SOURCE.replace("  # dllint: ignore[DLL101]", "")
STDIN = ("check", "-", "--fix")


def text(name: str, content: str, **others: Any) -> dict[str, Any]:
    return {"build": write(name, content), **others}


def precious(project: Path) -> bool:
    return (project.parent / "victim").read_text() == "precious" and not (project.parent / "made").exists()


def untouched(name: str, content: str) -> Callable[[Path], bool]:
    return lambda project: (project / name).read_text() == content


def attribute(project: Path) -> None:
    with suppress(OSError, AttributeError):
        os.setxattr(project / "train.py", "user.note", b"kept")


def keeps_attribute(project: Path) -> bool:
    try:
        return os.getxattr(project / "train.py", "user.note") == b"kept"
    except (OSError, AttributeError):
        # This file system keeps none.
        return True


def sparse(project: Path) -> None:
    for name in ("big.py", "c.json", "b.ipynb"):
        with open(project / name, "wb") as file:
            file.truncate(10 << 30)
    write("use.py", loading("json.load(open('c.json'))"))(project)


OTHER = "it is not empty and no cache of dllint"
ROWS = [
    # Commands, and files outside
    Row("`.git/config` names commands", commands_in_git, unharmed=lambda project: not (project / "PWNED").exists()),
    Row("so does that of a directory above", commands_in_git_above, unharmed=lambda one: not (one / "PWNED").exists()),
    Row("`.gitignore` of a cache links to a file", several(victim, link(".dllint_cache/.gitignore", "../../victim")), 2,
        OTHER, unharmed=precious),
    Row("`CACHEDIR.TAG` links to nothing", several(victim, link(".dllint_cache/CACHEDIR.TAG", "../../made")), 2, OTHER,
        unharmed=precious),
    Row("the cache directory is a link", several(
        victim, lambda project: (project / ".dllint_cache").rmdir(), link(".dllint_cache", "..")), 2,
        "cache-dir must lie inside of the project",
        unharmed=lambda project: precious(project) and not (project.parent / "CACHEDIR.TAG").exists()),
    Row("`--cache-dir .`", write(".gitignore", "secret.py\n"), 2, OTHER, ("--cache-dir", "."),
        unharmed=untouched(".gitignore", "secret.py\n")),
    Row('`cache-dir = ""`', write("pyproject.toml", '[tool.dllint]\ncache-dir = ""\n'), 2,
        "cache-dir must name a directory", unharmed=lambda project: not (project / ".gitignore").exists()),
    Row("`cache-dir` names a directory of sources", several(
        write("pyproject.toml", '[tool.dllint]\ncache-dir = "src"\n'), write("src/.gitignore", "x\n")), 2, OTHER,
        unharmed=untouched("src/.gitignore", "x\n")),
    *(Row(f"the file of `{option}` is a link", several(
        lambda project: (project.parent / "victim").write_text("precious"), link("out", "../victim")), 2,
        "not written, because a link leads out of the working directory", (option, f"{name}out"), unharmed=precious)
        for option, name in (("--output-file", ""), ("--output", "sarif="), ("--write-baseline", ""))),
    Row("the directory of a report is a link", link("out", "../.."), 2, "a link leads out of the working directory",
        ("--output-file", "out/made"), unharmed=lambda project: not (project.parents[1] / "made").exists()),
    # What is true
    Row("starts behind conditions that never hold", never, 0, f"No findings in {len(NEVER)} files.",
        ("--select", "DLL102")),
    Row("starts after the end of a program", several(
        write("train.py", LAUNCH.replace("mp.spawn", "import sys\nsys.exit()\nmp.spawn")),
        write("a.py", LAUNCH.replace("mp.spawn", "while True:\n    pass\nmp.spawn")),
        write("b.py", "async def go():\n    mp.spawn(work, nprocs=2)\ngo()\n".join((LAUNCH.rsplit("mp", 1)[0], "")))),
        0, "No findings in 3 files.", ("--select", "DLL102")),
    Row("a decorator returns a partial that nobody calls", write("train.py", PARTIALS), 0, CLEAN,
        ("--select", "DLL102")),
    Row("tracked but ignored files, no git to ask", ignored_and_tracked),
    Row("a directory that cannot be listed", write("locked/a.py", HAZARD), 2, "cannot list this directory",
        options={"patch": REFUSING}),
    Row("a link to what lies behind it", several(write("locked/a.py", HAZARD), link("b.py", "locked/a.py")), 2,
        "cannot list this directory", options={"patch": REFUSING}),
    Row('`--select ""`', write("a.py", ""), 2, "select names no rule", ("--select", "")),
    # Standard input
    Row("a byte-order mark on standard input", write("a.py", ""), 0, "\ufeff" + FIXED, STDIN,
        {"given": codecs.BOM_UTF8 + SOURCE.encode()}),
    Row("Latin-1 on standard input", write("a.py", ""), 0, "# coding: latin-1 \xe9", STDIN,
        {"given": f"# coding: latin-1 {SOURCE[2:]}".encode("latin-1")}),
    Row("another PYTHONIOENCODING", write("a.py", ""), 0, FIXED, STDIN,
        {"given": SOURCE.encode(), "PYTHONIOENCODING": "cp1252"}),
    Row("undecodable standard input", write("a.py", ""), 2, "x = '\udcff'", STDIN, {"given": b"x = '\xff'\n"}),
    # Time and memory
    Row("`.gitignore` with many stars", several(
        write(".git/HEAD", ""), write(".gitignore", "*a*a*a*a*a*a*a*ab\n"), write("a" * 200 + ".py", HAZARD))),
    Row("`from` and 2,000 blanks", write("train.py", HAZARD + "x = '''\nfrom" + " " * 2000 + "\n'''\n")),
    Row("`noqa` and 32,000 blanks", write("train.py", f"{HAZARD}x = 1  # noqa: DLL101{' ' * 32_000}\n")),
    Row("merge keys of YAML", values("c.yaml", MERGES)),
    Row("a dotted key of 80 KB", write("pyproject.toml", "a." * 40_000 + "a = 1\n"), 2,
        "a key has more than 64 parts"),
    Row("a pipe as `.gitignore`", several(write(".git/HEAD", ""), pipe(".gitignore"))),
    Row("a pipe as `.git/index`", several(pipe(".git/index"), write(".gitignore", "d/\n"), write("d/a.py", "")), 2,
        "cannot read `.git/index`"),
    Row("a pipe as `pyproject.toml`", pipe("pyproject.toml"), 2, "not a regular file"),
    Row("a pipe as a cache entry", entry(None)),
    Row("a pipe as `x.py`", pipe("x.py")),
    Row("`/dev/zero` behind `.gitignore`", several(write(".git/HEAD", ""), link(".gitignore", "/dev/zero"))),
    *(Row(f"{kind} as the file of `{option}`", build, 2, "not a regular file", (option, "b.json"))
        for option in ("--baseline", "--with-run")
        for kind, build in (("a pipe", pipe("b.json")), ("`/dev/zero`", link("b.json", "/dev/zero")))),
    Row("`/dev/zero` behind a cache entry", entry("/dev/zero", linked=True)),
    Row("a cache entry that unpacks to 120 MB", entry(b"[" + b"[[]]," * (20 << 20) + b"[]]")),
    Row("20 functions that each start all 20", write("train.py", launchers(20)), line="DLL101"),
    Row("a line of 1 MB of ints", write("train.py", f"{HAZARD}x = [{'1, ' * 330_000}]\n")),
    Row("600 findings on one line", write("train.py", LOADERS + "; ".join(["DataLoader([1], timeout=3)"] * 600)),
        line="600 findings"),
    Row("600 lambdas on one line", write("train.py", LOADERS + "; ".join([HAZARD.splitlines()[1]] * 600)),
        line="600 findings"),
    Row("1 MB of statements", write("train.py", HAZARD + "1;" * 500_000 + "\n"), 2,
        "too large to be parsed: more than 320,000 tokens"),
    Row("100,000 short lines", write("train.py", HAZARD + "a\n" * 100_000), 2,
        " tokens in 100,00"),
    Row("operators inside one another, 5,000 deep", write("train.py", f"{HAZARD}x = {'not ' * 5000}1\n"), 2,
        "operators nest too deeply"),
    Row("powers of powers on 50 lines", write("train.py", HAZARD + f"x = {'2**' * 1000}1\n" * 50), 2,
        "operators nest too deeply"),
    Row("signs in the field of an f-string", write("train.py", HAZARD + f"x = f'{{{'- ' * 2500}1}}'\n" * 3), 2,
        "operators nest too deeply"),
    Row("operators side by side", write("train.py", HAZARD + "x = " + " + ".join(["-a[-1]**2"] * 300) + "\n")),
    Row("an f-string of 300,000 fields", write("train.py", f"{HAZARD}x = f'{'{a}' * 300_000}'\n"), 2,
        "more than 320,000 tokens"),
    Row("8,000 suppressions in one comment", write("train.py", f"{HAZARD}x = 1  {'# noqa: DLL101 ' * 8000}\n")),
    Row("30,000 codes in one suppression", write(
        "train.py", f"{HAZARD}x = 1  # dllint: ignore[{'DLL101,' * 30_000}]\n")),
    Row("4,000 functions with loaders", several(
        write("train.py", LOADERS + "".join(
            f"def f{one}(d):\n    return DataLoader(d, num_workers=2)\n" for one in range(4000))),
        write("more.py", "import train\ntrain.f1([])\n")), 0, "No findings in 2 files."),
    Row("2,000 classes, each derived from the one before", write("train.py", LOADERS + "class C0: pass\n" + "".join(
        f"class C{one}(C{one - 1}): pass\n" for one in range(1, 2000)) + "DataLoader(C1999(), num_workers=2)\n"), 0,
        CLEAN),
    Row("2,000 ways out, side by side and inside one another", write("train.py", HAZARD + "".join(
        "try:\n    raise ValueError\nexcept KeyError:\n    pass\nif a:\n    exit()\nelse:\n    f()\n"
        for _ in range(1000))
        + "".join(f"{' ' * one}try:\n" for one in range(80)) + " " * 80 + "exit()\n"
        + "".join(f"{' ' * one}except KeyError: exit()\n" for one in reversed(range(80)))
        + "def f(x=0):\n" + "    if x: return f(x)\n    if f(x) > 1: x = f(x)\n" * 500)),
    Row("comprehensions inside one another in a test", write("train.py", HAZARD + "if " + "any(" * 7 + "x" + "".join(
        f" for x{n} in range(40))" for n in range(7)) + ":\n    pass\n")),
    # Values
    Row("NaN and 1e400 in JSON", values("c.json", '{"nan": NaN, "large": 1e400}')),
    Row("`!!bool foo` in YAML", values("c.yaml", "nan: !!bool foo\n")),
    Row('`!!int ""` in YAML', values("c.yaml", 'nan: !!int ""\n')),
    Row("`num_workers=float('inf')`", write("use.py", f"{LOADERS}DataLoader([], num_workers=float('inf'))\n")),
    Row("`range(99999999999999999999)`", write(
        "use.py", f"{LOADERS}rows = [i for i in range(99999999999999999999)]\nDataLoader(rows, num_workers=1)\n")),
    # Less
    Row("a planted cache entry with a valid checksum", entry("x = 1\n")),
    Row("a file name that is not UTF-8", lambda project: (project / os.fsdecode(b"b\xff.py")).write_text(HAZARD),
        line="", arguments=("--output-file", "out.txt"),
        unharmed=lambda project: FOUND in (project / "out.txt").read_text()),
    Row("a file vanishes during `--fix`", lambda project: [
        write(f"a{number}.py", LAUNCH)(project) for number in range(4)], 0, "Fixed 4 findings in 4 files", ("--fix",),
        {"patch": VANISHING}, lambda project: (project / "a3.py").read_text() == GUARDED),
    Row("standard output is closed", write("a.py", ""), 1, "", (), {"patch": "import sys; sys.stdout = None"}),
    Row("a file with hard links and `--fix`", several(
        write("train.py", LAUNCH), lambda project: os.link(project / "train.py", project / "b.txt")), 2,
        "not fixed, because it has 2 hard links", ("--fix",),
        unharmed=lambda project: os.path.samefile(project / "train.py", project / "b.txt")),
    Row("extended attributes and `--fix`", several(write("train.py", LAUNCH), attribute), 0, "Fixed 1 finding",
        ("--fix",), unharmed=keeps_attribute),
    Row("temporary files of others and `--fix`", several(
        write("train.py", LAUNCH), write("train.py.tmp", "theirs"), write("tmp.py~", "theirs")), 0, "Fixed 1 finding",
        ("--fix",), unharmed=lambda project: sorted(os.listdir(project)) == [
            "pyproject.toml", "tmp.py~", "train.py", "train.py.tmp"]),
    Row("a link out of the project and `--fix`", several(
        lambda project: (project.parent / "victim").write_text("precious"), link("l.py", "../victim")), 2,
        "a link that leads out of the project", ("--fix",), unharmed=precious),
    Row("valid Python that libcst refuses", several(
        write("use.py", VALID), write("text.py", f"{LOADERS}z = f'{{3!s }}'\n"),
        write("all.py", f"{VALID}{LOADERS}z = f'{{3!s }}'\n"))),
    *(Row(f'`open("{path}")` of a file outside', several(
        lambda project: (project.parent / "x.json").write_text('{"w": 4}'),
        write("train.py", "x = 1\n"),
        write("a/b.py", f"import json\n{LOADERS}DataLoader([], num_workers=json.load(open('{path}'))['w'])\n")), 0,
        "No findings in 2 files.") for path in ("../x.json", "../../x.json")),
    Row("an escape sequence in a file name", write("a\x1b[31m\n.py", HAZARD), line=r"a\x1b[31m\n.py"),
    Row("`--target-python 3.99`", write("a.py", ""), 2, "3.99", ("--target-python", "3.99")),
    # More that is large or deep
    Row("files of 10 GB that hold nothing", sparse, 2, "larger than 16 MiB"),
    Row("JSON of 150,000 levels", values("c.json", '{"nan":' * 150_000 + "1" + "}" * 150_000)),
    Row("a notebook of 3,000,000 brackets", write("n.ipynb", "[" * 3_000_000), 2, "n.ipynb"),
    Row("aliases of YAML that multiply", values("c.yaml", "a0: &a0 [x]\n" + "".join(
        f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 12)))),
    Row("16 open files and 4 processes", lambda project: [
        write(f"a{number}.py", HAZARD + f"x = {number}\n")(project) for number in range(6)],
        arguments=("check", ".", "-j", "4", "--no-cache"), options={"patch": FEW_FILES}),
]  # fmt: skip


@pytest.mark.parametrize("row", [pytest.param(row, id=row.item) for row in ROWS])
def test_a_trigger_is_harmless(tmp_path: Path, dllint: Callable[..., Any], row: Row) -> None:
    project = tmp_path / "project"
    project.mkdir()
    write("train.py", HAZARD)(project)
    write("pyproject.toml", "")(project)
    row.build(project)
    plain = not row.arguments or row.arguments[0].startswith("-")
    arguments = ("check", ".", "--jobs", "1", *row.arguments) if plain else row.arguments
    done = dllint(project, *arguments, **row.options)
    coding = "latin-1" if "latin-1" in row.line else "utf-8"
    told = done.stdout + done.stderr
    assert row.line.encode(coding, "surrogateescape") in told, told[-2000:]
    assert done.returncode == row.status, told[-2000:]
    assert b"\x1b" not in told and (project.parent / "PWNED").exists() is False
    assert done.seconds < SECONDS * slowness() and done.mebibytes < MEBIBYTES
    assert row.unharmed(project)


def test_python_imports_no_module_of_the_working_directory(tmp_path: Path) -> None:
    write("train.py", HAZARD)(tmp_path)
    for name in ("typer", "libcst", "json", "yaml"):
        write(f"{name}.py", "open('PWNED', 'w')\n")(tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(tmp_path / "home")}
    limited = "import os, resource, sys\n" + "".join(
        f"resource.setrlimit(resource.RLIMIT_{name}, ({most}, {most}))\n"
        for name, most in (("CPU", math.ceil(SECONDS * slowness())), ("AS", MEBIBYTES << 20))
    )
    arguments = [sys.executable, "-m", "dllint", "check", "train.py", "--jobs", "1"]
    command = [sys.executable, "-c", f"{limited}os.execv({sys.executable!r}, {arguments!r})"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 1, done.stderr
    assert not (tmp_path / "PWNED").exists()
