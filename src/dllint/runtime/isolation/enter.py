"""Covers the file system with layers, then executes the user's program: a bare interpreter controlled by a socket.

Its only argument is the JSON of `Asked` in `starting.py`. It reports progress in lines of JSON: `made` (the guard and
the directories of the run exist), `covered` or `failed`, and after `go` either nothing more, because the socket closes
when the program begins, or `exec` with the reason why the program cannot be started.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import types

_DEATHSIG = 1


def main() -> None:
    asked = json.loads(sys.argv[1])
    talk = socket.socket(fileno=asked["talk"])
    os.set_inheritable(asked["talk"], False)
    _import_from(asked["package"])
    from dllint.runtime.isolation import guard, mounts

    mounts._libc.prctl(_DEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != asked["launcher"]:
        os._exit(1)
    life = asked["life"]
    watching = guard.start(life, asked["talk"], os.getpid(), asked["mark"], asked["removed"])
    os.close(life)
    vaults = []
    try:
        for directory in asked["made"]:
            os.makedirs(directory, 0o700, exist_ok=True)
    except OSError as error:
        _say(talk, failed=error.strerror)
        os._exit(1)
    for directory in asked["vaults"]:
        try:
            os.mkdir(directory, 0o700)
            vaults.append(directory)
        except OSError:
            continue
    _say(talk, made=True, guard=watching)
    while (word := _heard(talk)) == "cover":
        try:
            if not vaults:
                raise mounts.Uncovered("no directory for what the program writes can be made")
            needed = [one for one in asked["needed"] if os.path.isdir(one)]
            owned = mounts.own_namespaces(asked["network"], needed)
            cover = mounts.Cover(vaults, needed, asked["shared"], owned)
            cover.run()
            os.chdir(asked["directory"])
            if owned is not None:
                os.environ[asked["user"]] = "1"
            told = {
                "covered": [path for path, _ in cover.layers],
                "read_only": [path for path in cover.read_only if path != "/"],
                "in_memory": cover.in_memory,
            }
            _say(talk, [upper for _, upper in cover.layers], **told)
        except mounts.Uncovered as error:
            _say(talk, failed=str(error))
        except OSError as error:
            _say(talk, failed=f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    if word != "go":
        os._exit(1)
    _become(talk, asked["argv"])


def _import_from(package: str) -> None:
    """Make the modules beside this one importable, without running the packages' `__init__`."""
    for name in ("dllint", "dllint.runtime"):
        module = types.ModuleType(name)
        module.__path__ = [os.path.join(package, *name.split(".")[1:])]
        sys.modules[name] = module


def _say(talk: socket.socket, descriptors: list[int] | None = None, **told: object) -> None:
    socket.send_fds(talk, [json.dumps(told).encode() + b"\n"], (descriptors or [])[:250])


def _heard(talk: socket.socket) -> str:
    return talk.recv(64).decode().strip()


def _become(talk: socket.socket, argv: list[str]) -> None:
    """Become the program. Python ignores two signals, and the program would inherit that, so they are reset."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        _say(talk, exec=(error.strerror or str(error)).lower())
        os._exit(127)


main()
