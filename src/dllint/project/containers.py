"""Containers that a project starts with the default 64 MiB of shared memory: by Compose, Kubernetes or `docker run`.

Docker's default is `--shm-size=64m` (https://docs.docker.com/reference/cli/docker/container/run/); containerd gives the
containers of a pod the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from dllint.documents import parse_json
from dllint.inference import limits
from dllint.project.container_commands import Commands, numbered_commands, words_of
from dllint.reading import CONFIG_BYTES, SOURCE_BYTES, CannotRead, read
from dllint.screened_imports import imports
from dllint.span import WHOLE_FILE, Span

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile
    from dllint.project.loaders import Loader
    from dllint.project.model import Project

Kind = Literal["compose", "kubernetes", "docker"]
_SHARED = "/dev/shm"
_SHARING = ("host", "service:", "container:")
_RUNNERS = frozenset({"docker", "nvidia-docker", "podman"})
_SWITCHES = re.compile(
    r"-[itdP]+|--(?:rm|interactive|tty|detach|init|privileged|publish-all|read-only|no-healthcheck|oom-kill-disable)"
)
_WITH_VALUE = frozenset(
    {"-v", "-e", "-p", "-w", "-u", "-m", "-h", "-l", "-c", "--volume", "--env", "--publish", "--workdir", "--user"}
    | {"--memory", "--hostname", "--label", "--cpu-shares", "--name", "--gpus", "--runtime", "--mount", "--network"}
    | {"--net", "--cpus", "--ulimit", "--entrypoint", "--device", "--env-file", "--cap-add", "--cap-drop", "--tmpfs"}
    | {"--security-opt", "--restart", "--log-driver", "--log-opt", "--pid", "--platform", "--add-host", "--group-add"}
    | {"--memory-swap", "--cpuset-cpus", "--pull", "--userns", "--cidfile", "--dns", "--expose", "--ip", "--link"}
    | {"--shm-size", "--ipc"}
)
_KEY = re.compile(r"\s+([^\s:#][^:#]*):")
_NAME = re.compile(r"\s+(?:-\s+)?name\s*:\s*([^#]+)")
_IMAGE_VARIABLE = re.compile(r"\$\{?\w*(?:IMAGE|IMG|CONTAINER|TAG)\w*\}?.*", re.IGNORECASE)


@dataclass(frozen=True)
class Container:
    """A container with the default size of `/dev/shm`.

    Attributes:
        name: of its service, or of the container in a pod; of the image for `docker run`.
        command: as a shell would read it, or its arguments; empty if nothing says it.
        beside: the directory whose files its command names, if not that of `path`.
    """

    kind: Kind
    path: str
    span: Span
    name: str
    command: str | tuple[str, ...] = ()
    beside: str = ""


class Containers:
    """Finds the containers of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.commands = Commands(project.settings.root, project.world.files)

    @cached_property
    def small(self) -> list[tuple[Container, list[str]]]:
        """The containers with the default size of shared memory, each with the programs of the project that it runs,
        which need not be among the files that are analyzed."""
        found = []
        for container in limits.CONTAINERS.first([one for one in self._all() if one.command]):
            folder = container.beside or os.path.dirname(container.path)
            programs = self.commands.programs(container.command, folder)
            if programs:
                found.append((container, programs))
        return found

    def makes(self, program: str, loader: Loader) -> bool:
        """Whether a program makes a loader with workers."""
        if not any(self._reaches(program, loader.file, scope) for scope in self._makers(loader)):
            return False
        return bool(self.project.regimes(loader, (program,)))

    @staticmethod
    def _makers(loader: Loader) -> Iterator[int]:
        """The function that makes a loader, and the constructor of its class: a framework may call the method."""
        scope = loader.site.scope
        yield scope
        around = loader.file.scopes[scope].parent
        if around > 0 and loader.file.scopes[around].kind == "class":
            scopes = enumerate(loader.file.scopes)
            yield from (inner for inner, one in scopes if one.parent == around and one.name == "__init__")

    def _reaches(self, program: str, file: SourceFile, scope: int) -> bool:
        if program in self.project.world.files:
            return program in self.project.programs.above(file, scope)
        # It only hands on what it imports, so that the analysis does not need it.
        reaching = self.project.programs.reaching(file, scope)
        return not reaching.isdisjoint(self._imported(program))

    def _imported(self, program: str) -> Iterator[tuple[str, str]]:
        """The functions that a file imports by name, each with the path of its module."""
        try:
            text = read(program, SOURCE_BYTES, within=self.project.settings.root or None)
        except CannotRead:
            return
        for module, level, names in imports(text):
            for path in self.project.world.index.resolve(program, module, level):
                yield from ((path, name) for name in names)

    def _all(self) -> Iterator[Container]:
        given: dict[tuple[str, str], bool] = {}
        composed: list[Container] = []
        for path in self.project.scripts((".yml", ".yaml", ".sh"), b"services:", b"containers:", b"docker", b"podman"):
            try:
                text = read(path, CONFIG_BYTES, within=self.project.settings.root or None).decode("utf-8", "replace")
            except CannotRead:
                continue
            if path.endswith(".sh"):
                yield from _of_script(path, text)
                continue
            keys, names = _lines(text, "services:", _KEY), _lines(text, "containers:", _NAME)
            for document in _documents(text):
                services = document.get("services")
                if isinstance(services, Mapping):
                    for name, service in services.items():
                        if isinstance(service, Mapping):
                            key = (os.path.dirname(path), str(name))
                            service = _extended(service, services)
                            given[key] = given.get(key, False) or service is None or _is_enlarged(service)
                            composed += self._of_service(path, keys, str(name), service or {})
                else:
                    yield from _of_pods(path, names, document)
        # Compose merges the files of a directory, so that any of them can give a service more.
        yield from (one for one in composed if not given[os.path.dirname(one.path), one.name])

    def _of_service(
        self, path: str, lines: Mapping[str, Span], name: str, service: Mapping[str, Any]
    ) -> Iterator[Container]:
        folder = os.path.dirname(path)
        build = service.get("build")
        context = build.get("context", ".") if isinstance(build, Mapping) else build
        beside = os.path.normpath(os.path.join(folder, context)) if isinstance(context, str) else folder
        first, rest = service.get("entrypoint"), service.get("command")
        if build and first is None:
            dockerfile = build.get("dockerfile") if isinstance(build, Mapping) else None
            own, default = self._dockerfile(os.path.join(beside, str(dockerfile or "Dockerfile")))
            first, rest = own, default if rest is None else rest
        command = _joined(first, rest)
        if command:
            yield Container("compose", path, lines.get(name, WHOLE_FILE), name, command, beside)

    def _dockerfile(self, path: str) -> tuple[Any, Any]:
        """The last `ENTRYPOINT` and `CMD` of a Dockerfile."""
        found: dict[str, Any] = {}
        try:
            text = read(path, CONFIG_BYTES, within=self.project.settings.root or None).decode("utf-8", "replace")
        except CannotRead:
            return None, None
        for line in text.replace("\\\n", " ").splitlines():
            word, _, rest = line.strip().partition(" ")
            if word.upper() in ("ENTRYPOINT", "CMD"):
                try:
                    found[word.upper()] = parse_json(rest)
                except (ValueError, RecursionError):
                    found[word.upper()] = rest
        return found.get("ENTRYPOINT"), found.get("CMD")


def _documents(text: str) -> Iterator[Mapping[str, Any]]:
    from dllint.yaml_loader import parse_yaml

    for part in re.split(r"(?m)^---\s*$", text):
        try:
            document = parse_yaml(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, Mapping):
            yield document


def _extended(service: Mapping[str, Any], services: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A service with what it extends; None if that is in another file."""
    extends = service.get("extends")
    if extends is None:
        return service
    base = extends.get("service") if isinstance(extends, Mapping) and "file" not in extends else extends
    other = services.get(base) if isinstance(base, str) else None
    if not isinstance(other, Mapping) or "extends" in other:
        return None
    return {**other, **service}


def _is_enlarged(service: Mapping[str, Any]) -> bool:
    if "shm_size" in service or str(service.get("ipc", "")).startswith(_SHARING):
        return True
    return _is_mounted(service.get("tmpfs")) or _is_mounted(service.get("volumes"))


def _is_mounted(mounts: Any) -> bool:
    """Whether something is mounted at `/dev/shm`, by a text ("/dev/shm:/dev/shm") or a table."""
    for one in mounts if isinstance(mounts, list) else [mounts]:
        values = one.values() if isinstance(one, Mapping) else [one]
        if any(isinstance(value, str) and _SHARED in value for value in values):
            return True
    return False


def _of_pods(path: str, lines: Mapping[str, Span], document: Mapping[str, Any]) -> Iterator[Container]:
    """The containers of all pods in a document of Kubernetes."""
    todo: list[tuple[Any, bool]] = [(document, False)]
    seen: set[tuple[int, bool]] = set()
    for part, shared in todo:
        # Anchors can make a document of a few lines an enormous tree.
        if (id(part), shared) in seen:
            continue
        seen.add((id(part), shared))
        if isinstance(part, list):
            todo += [(one, shared) for one in part]
        elif isinstance(part, Mapping):
            shared = shared or part.get("hostIPC") is True
            todo += [
                (one, shared) for key, one in part.items() if key != "containers" and isinstance(one, (list, dict))
            ]
            listed = part.get("containers")
            for one in listed if isinstance(listed, list) and not shared else ():
                if isinstance(one, Mapping) and not _is_mounted(one.get("volumeMounts")):
                    name = str(one.get("name", ""))
                    command = _joined(one.get("command"), one.get("args"))
                    yield Container("kubernetes", path, lines.get(name, WHOLE_FILE), name, command)


def _of_script(path: str, text: str) -> Iterator[Container]:
    lines = text.splitlines()
    for number, words in numbered_commands(text):
        first = next((at for at, word in enumerate(words) if word in _RUNNERS), len(words))
        following = [word for at, word in enumerate(words[first + 1 :]) if at or word != "container"]
        if following[:1] == ["run"]:
            container = _of_run(path, _whole(number, lines[number - 1]), following[1:])
            if container is not None:
                yield container


def _of_run(path: str, span: Span, words: list[str]) -> Container | None:
    """The container of the arguments of `docker run`; None if they give it more memory, or cannot be read."""
    first: list[str] = []
    while words:
        word = words[0]
        option, _, value = word.partition("=")
        if not word.startswith("-"):
            if word.startswith("$") and not _IMAGE_VARIABLE.fullmatch(word):
                return None
            return Container("docker", path, span, word, (*first, *words[1:]))
        if option in _WITH_VALUE:
            if not value:
                value, words = (words[1] if len(words) > 1 else ""), words[1:]
            if option == "--shm-size" or (option == "--ipc" and value.startswith(_SHARING)) or _SHARED in value:
                return None
            first = [value] if option == "--entrypoint" else first
        elif not _SWITCHES.fullmatch(word):
            return None
        words = words[1:]
    return None


def _joined(first: Any, rest: Any) -> str | tuple[str, ...]:
    """An entry point and its arguments, each as a text or a list."""
    parts: list[str] = []
    for one in (first, rest):
        if isinstance(one, str):
            words = words_of(one)
            if first is None or rest is None or words is None:
                return one
            parts += words
        elif isinstance(one, list):
            parts += [str(word) for word in one if isinstance(word, (str, int, float))]
    return tuple(parts)


def _lines(text: str, heading: str, pattern: re.Pattern[str]) -> dict[str, Span]:
    """The first line for each name below a heading."""
    found: dict[str, Span] = {}
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = inside or line.strip().startswith(heading)
        named = pattern.match(line) if inside else None
        if named is not None:
            found.setdefault(named[1].strip("\"' "), _whole(number, line))
    return found


def _whole(number: int, line: str) -> Span:
    return Span(number, len(line) - len(line.lstrip()) + 1, number, len(line.rstrip()) + 1)
