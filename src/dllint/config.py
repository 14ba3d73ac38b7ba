"""Settings: `[tool.dllint]` of the nearest pyproject.toml that has it, validated.

An invalid setting is an error that names the file, the key and, if there is a similar one, the intended key: a misspelt
key must not silently disable a rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from dllint import setting_values
from dllint.documents import parse_toml
from dllint.python_builds import installable
from dllint.python_versions import KNOWN, poetry_specifier
from dllint.reading import SETTINGS_BYTES, CannotRead, lies_within, read
from dllint.setting_values import PYTHONS, ConfigError

LIST_OF_RULES = " (`dllint rule --all` lists them)"
CODE = re.compile(r"DLL[0-9]{0,3}")


@dataclass(frozen=True)
class Targets:
    """The Python versions and platforms that the checked program has to run on.

    `installable` are the versions that the project can be installed on today, by what its files pin. What fails only
    under a newer one is told all the same, as a thing to know before the next upgrade, if no more than the README says
    so. `required` are those that the other files leave.
    """

    pythons: tuple[tuple[int, int], ...] = PYTHONS
    platforms: tuple[str, ...] = ("linux",)
    installable: tuple[tuple[int, int], ...] = ()
    required: tuple[tuple[int, int], ...] = ()

    @property
    def later(self) -> str:
        """Where a default start method is in force that the pinned packages have not been built for, as
        `default_start_methods` names it; "" if there is none."""
        pinned = bool(self.installable) and max(self.installable) < (3, 14) <= max(self.pythons, default=(0, 0))
        return self.default_start_methods().get("forkserver", "") if pinned else ""

    @property
    def postpones(self) -> bool:
        """Whether what fails only under `later` is not reported: nothing but an upgrade of requirements leads there."""
        return bool(self.later) and bool(self.required) and max(self.required) < (3, 14)

    def default_start_methods(self) -> dict[str, str]:
        """Return the default start methods of the targets, each with the platforms and Python versions that use it.

        fork on Linux up to 3.13, forkserver on Linux from 3.14 (docs.python.org, multiprocessing, "Contexts and start
        methods"), spawn on macOS and Windows.
        """
        found: dict[str, str] = {}
        if "linux" in self.platforms:
            if min(self.pythons) < (3, 14):
                found["fork"] = "Linux up to Python 3.13"
            if max(self.pythons) >= (3, 14):
                found["forkserver"] = "Linux from Python 3.14"
        others = [name for name in ("macos", "windows") if name in self.platforms]
        if others:
            found["spawn"] = " and ".join({"macos": "macOS", "windows": "Windows"}[name] for name in others)
        return found


BESIDE = ("tests/", "test/", "test_*.py", "*_test.py", "examples/", "tutorials/", "docs/")
"""Directories and files beside a library: tests, examples, tutorials and the scripts of its documentation."""


@dataclass(frozen=True)
class Settings:
    """The settings of a check. Paths are absolute; `rules` maps rule codes to their options.

    `origin` is the file that the settings were read from, `None` if there is none.
    """

    root: str = "."
    targets: Targets = Targets()
    select: tuple[str, ...] = ("DLL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lower_severity: tuple[str, ...] = BESIDE
    exclude: tuple[str, ...] = ()
    extend_exclude: tuple[str, ...] = ()
    preview: bool = False
    loaders: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    launchers: tuple[str, ...] = ()
    mmap_stores: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    unpicklable: tuple[str, ...] = ()
    cuda_calls: tuple[str, ...] = ()
    copying_calls: tuple[str, ...] = ()
    cache_dir: str | None = None
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    origin: str | None = None

    def selects(self, code: str, preview: bool = False) -> bool:
        """Whether a rule is enabled: its longest selecting prefix must be longer than its longest ignoring prefix.

        A rule in preview also needs `preview`, or its full code among the selected ones.
        """
        chosen = [prefix for prefix in (*self.select, *self.extend_select) if code.startswith(prefix)]
        ignored = [prefix for prefix in self.ignore if code.startswith(prefix)]
        if not chosen or (preview and not self.preview and code not in chosen):
            return False
        return max(map(len, chosen)) > max(map(len, ignored), default=-1)

    def fix_kind(self, code: str) -> Literal["safe", "unsafe"] | None:
        """Return the applicability that the settings assign to a rule's fixes, by the longest matching prefix: unsafe
        if both lists match equally, `None` if neither matches."""
        safe = max((len(one) for one in self.extend_safe_fixes if code.startswith(one)), default=-1)
        unsafe = max((len(one) for one in self.extend_unsafe_fixes if code.startswith(one)), default=-1)
        if safe == unsafe == -1:
            return None
        return "safe" if safe > unsafe else "unsafe"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `name`, or `None` if none is similar."""
    near = get_close_matches(name.lower(), {one.lower(): one for one in known}, n=1, cutoff=0.65)
    return next((one for one in known if near and one.lower() == near[0]), None)


_DIGITS = str.maketrans("OIL", "011")
"""Letters that are easily mistaken for digits, with those digits."""


def nearest_code(code: str, known: Iterable[str]) -> str | None:
    """Return the known code or name closest to user input ("DLL1O1" yields "DLL101"); `None` if none is close."""
    names = list(known)
    with_digits = code[:3].upper() + code[3:].upper().translate(_DIGITS)
    return with_digits if with_digits in names else nearest(code, names)


def hint(name: str, known: Iterable[str]) -> str:
    """Return `, did you mean "…"?` if a known name is similar, else ""."""
    near = nearest(name, list(known))
    return f', did you mean "{near}"?' if near else ""


def project_root(paths: Sequence[str]) -> str:
    """Return the nearest directory around the paths with a pyproject.toml or a .git, else their common directory."""
    common = _common_directory(paths)
    return next(filter(has_project_mark, _upward(common)), common)


def has_project_mark(directory: str) -> bool:
    """Whether the directory is the top of a project: it contains a pyproject.toml or a .git."""
    return any(os.path.exists(os.path.join(directory, name)) for name in ("pyproject.toml", ".git"))


def load(
    paths: Sequence[str] = (),
    *,
    config: str | None = None,
    isolated: bool = False,
    overrides: Mapping[str, Any] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    names: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings for a check of `paths`.

    Args:
        paths: the files and directories to check; the search for pyproject.toml goes upward from the first of them.
        config: a TOML file to use instead of the one found: `[tool.dllint]`, or the keys at its top level.
        isolated: read no file at all.
        overrides: keys as in `[tool.dllint]`, from the command line. `select` replaces the file's selection; `ignore`,
            `extend-select`, `extend-exclude` and `per-file-ignores` add to it.
        options: for each known rule code the options that its page declares, with their defaults.
        names: rule codes by rule name; names are accepted wherever codes are.

    Raises:
        ConfigError: a file cannot be read or is not TOML, or a key or value is invalid.
    """
    known = _Rules(options or {}, names or {})
    # No Python versions: nobody has chosen any yet.
    settings = Settings(root=project_root(paths), targets=Targets(pythons=()))
    stated: tuple[tuple[int, int], ...] | None = None
    if config is not None:
        document = _read(config)
        stated = _stated_pythons(document, config)
        settings = _from_file(settings, os.path.abspath(config), document, known, named=True)
    elif not isolated:
        for path, document in _pyprojects(paths):
            stated = stated or _stated_pythons(document, path)
            if "dllint" in _table(document, "tool", path):
                settings = _from_file(settings, path, document, known)
                break
    settings = _with_overrides(settings, overrides or {}, known)
    if settings.targets.pythons:
        return settings
    pythons = setting_values.judged(stated) if stated is not None else PYTHONS
    allowed = stated or KNOWN
    usable = () if isolated else installable(settings.root, allowed, stated is not None)
    targets = replace(settings.targets, pythons=pythons, installable=usable)
    if targets.later:
        targets = replace(targets, required=installable(settings.root, allowed, stated is not None, advised=False))
    return replace(settings, targets=targets)


class _Rules(NamedTuple):
    """The existing rules: the options of each by code, and the codes by name."""

    options: Mapping[str, Mapping[str, Any]]
    names: Mapping[str, str]

    def codes(self, given: Iterable[str], where: str) -> tuple[str, ...]:
        """Convert codes, prefixes and names of rules to codes and prefixes.

        Raises:
            ConfigError: there is no such rule.
        """
        return tuple(self._code(one, where) for one in given)

    def _code(self, given: str, where: str) -> str:
        code = self.names.get(given, given)
        if self.options and not (CODE.fullmatch(code) and any(one.startswith(code) for one in self.options)):
            raise self.unknown(given, where)
        return code

    def unknown(self, given: str, where: str) -> ConfigError:
        """Return the error for a rule that does not exist, with the most similar name."""
        near = nearest_code(given, [*sorted(self.options), *self.names])
        suggestion = f', did you mean "{near}"?' if near else LIST_OF_RULES
        return ConfigError(f'{where}: there is no rule "{given}"{suggestion}')


def _common_directory(paths: Sequence[str]) -> str:
    directories = [path if os.path.isdir(path) else os.path.dirname(path) for path in map(os.path.abspath, paths)]
    try:
        return os.path.commonpath(directories) if directories else os.getcwd()
    except ValueError:  # Windows: paths on several drives
        return directories[0]


def _upward(directory: str) -> Iterator[str]:
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _pyprojects(paths: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for directory in _upward(_common_directory(paths[:1])):
        path = os.path.join(directory, "pyproject.toml")
        if os.path.lexists(path) and not os.path.isdir(path):
            yield path, _read(path)


def _read(path: str) -> dict[str, Any]:
    try:
        return parse_toml(read(path, SETTINGS_BYTES).decode("utf-8-sig"))
    except CannotRead as error:
        raise ConfigError(f"{path}: cannot be read: {error.reason}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 (byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not valid TOML: {' '.join(str(error).split())}") from None


def _table(document: Mapping[str, Any], key: str, path: str) -> Mapping[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: [{key}] must be a table")
    return table


def _from_file(
    settings: Settings,
    path: str,
    document: Mapping[str, Any],
    known: _Rules,
    named: bool = False,
) -> Settings:
    """Return the settings updated from a file. Only a file named by the user may put the cache outside the project."""
    tool = _table(document, "tool", path)
    if "dllint" in tool:
        table = _table(tool, "dllint", path)
    elif os.path.basename(path) == "pyproject.toml":
        table = {}
    else:
        table = document
    settings = replace(settings, origin=path)
    values = _parse(table, path, known)
    if isinstance(values.get("cache_dir"), str):
        directory = os.path.dirname(path)
        values["cache_dir"] = os.path.normpath(os.path.join(directory, os.path.expanduser(values["cache_dir"])))
        if not named and not lies_within(values["cache_dir"], directory):
            raise ConfigError(f"{path}: cache-dir must lie inside of the project (--cache-dir takes any directory)")
    return _with_targets(settings, values)


def _with_overrides(settings: Settings, table: Mapping[str, Any], known: _Rules) -> Settings:
    values = _parse(table, "command line", known)
    if "select" not in values:
        values["ignore"] = (*settings.ignore, *values.get("ignore", ()))
        values["extend_select"] = (*settings.extend_select, *values.get("extend_select", ()))
    else:
        values.setdefault("ignore", ())
        values.setdefault("extend_select", ())
    values["extend_exclude"] = (*settings.extend_exclude, *values.get("extend_exclude", ()))
    values["per_file_ignores"] = {**settings.per_file_ignores, **values.get("per_file_ignores", {})}
    if isinstance(values.get("cache_dir"), str):
        values["cache_dir"] = os.path.abspath(values["cache_dir"])
    return _with_targets(settings, values)


def _with_targets(settings: Settings, values: dict[str, Any]) -> Settings:
    targets = settings.targets
    targets = replace(targets, pythons=values.pop("target_python", targets.pythons))
    targets = replace(targets, platforms=values.pop("target_platform", targets.platforms))
    return replace(settings, targets=targets, **values)


def _stated_pythons(document: Mapping[str, Any], path: str) -> tuple[tuple[int, int], ...] | None:
    """Return the versions that `[project] requires-python` or Poetry's `python` allows, `None` if there is neither; an
    invalid specifier is ignored."""
    requires = _table(document, "project", path).get("requires-python")
    try:
        if requires is None:
            poetry = _table(_table(document, "tool", path), "poetry", path)
            requires = poetry_specifier(setting_values.string(_table(poetry, "dependencies", path).get("python"), path))
        return setting_values.pythons(requires, path)
    except ConfigError:
        return None


def _parse(table: Mapping[str, Any], path: str, known: _Rules) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        where = f"{path}: {key}"
        if key == "rules":
            values["rules"] = _rule_options(value, where, known)
            continue
        if key not in KEYS:
            raise ConfigError(f'{path}: unknown setting "{key}"{hint(key, [*KEYS, "rules"])}')
        values[key.replace("-", "_")] = KEYS[key](value, where)
        if key == "select" and not value and not table.get("extend-select"):
            raise ConfigError(f"{where} names no rule, so nothing would be checked")
        if key in ("select", "ignore", "extend-select", "extend-safe-fixes", "extend-unsafe-fixes"):
            values[key.replace("-", "_")] = known.codes(values[key.replace("-", "_")], where)
        if key == "per-file-ignores":
            patterns = values["per_file_ignores"].items()
            values["per_file_ignores"] = {pattern: known.codes(codes, where) for pattern, codes in patterns}
    return values


def _rule_options(value: object, where: str, rules: _Rules) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be a table, not {setting_values.kind(value)}")
    tables: dict[str, dict[str, Any]] = {}
    known = rules.options
    for given_code, table in value.items():
        code = rules.names.get(given_code, given_code)
        if code not in known:
            raise rules.unknown(given_code, where)
        if not isinstance(table, dict):
            raise ConfigError(f"{where}.{code} must be a table, not {setting_values.kind(table)}")
        for name, given in table.items():
            if name not in known[code]:
                raise ConfigError(f'{where}.{code}: unknown option "{name}"{hint(name, known[code])}')
            if not _same_kind(given, known[code][name]):
                wanted, got = setting_values.kind(known[code][name]), setting_values.kind(given)
                raise ConfigError(f"{where}.{code}: {name} must be {wanted}, not {got}")
        tables[code] = dict(table)
    return tables


def _same_kind(value: object, default: object) -> bool:
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return True
    return type(value) is type(default)


KEYS: Mapping[str, Callable[[object, str], Any]] = {
    "target-python": lambda value, where: setting_values.judged(setting_values.pythons(value, where)),
    "target-platform": setting_values.platforms,
    "select": setting_values.codes,
    "ignore": setting_values.codes,
    "extend-select": setting_values.codes,
    "extend-safe-fixes": setting_values.codes,
    "extend-unsafe-fixes": setting_values.codes,
    "per-file-ignores": setting_values.codes_by_pattern,
    "lower-severity": setting_values.strings,
    "exclude": setting_values.strings,
    "extend-exclude": setting_values.strings,
    "preview": setting_values.boolean,
    "loaders": setting_values.strings,
    "datasets": setting_values.strings,
    "launchers": setting_values.strings,
    "mmap-stores": setting_values.strings,
    "openers": setting_values.strings,
    "unpicklable": setting_values.strings,
    "cuda-calls": setting_values.strings,
    "copying-calls": setting_values.strings,
    "cache-dir": setting_values.directory,
}
