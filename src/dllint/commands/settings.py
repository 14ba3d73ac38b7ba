"""The settings of a command: its options override the project's configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dllint import config, registry
from dllint.config import KEYS, Settings
from dllint.setting_values import ConfigError


@dataclass(frozen=True)
class Choice:
    """The command line options that override settings.

    Attributes:
        config: a TOML file to read instead of pyproject.toml.
        isolated: read no configuration file.
        overrides: values by key of `[tool.dllint]`.
    """

    config: str | None = None
    isolated: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def load(self, paths: Sequence[str]) -> Settings:
        """Return the settings for a command on `paths`.

        Raises:
            ConfigError: an option or a configuration file is invalid.
        """
        options = {rule.code: rule.options({}) for rule in registry.rules()}
        return config.load(
            paths,
            config=self.config,
            isolated=self.isolated,
            overrides=self.overrides,
            options=options,
            names=registry.names(),
        )


def split(options: Mapping[str, Any]) -> tuple[Choice, dict[str, Any]]:
    """Separate the options about settings from the others.

    Args:
        options: values by parameter: `None` was not given, and each element of a list may hold several values,
            separated by commas. A setting is named like its key of `[tool.dllint]`, with underscores.

    Raises:
        ConfigError: a value of `per_file_ignores` is not PATTERN:CODE.
    """
    others = dict(options)
    config, isolated = others.pop("config"), others.pop("isolated")
    given = {key: others.pop(key.replace("-", "_"), None) for key in KEYS}
    overrides = {
        key: listed(value) if isinstance(value, list) else value for key, value in given.items() if value is not None
    }
    if "per-file-ignores" in overrides:
        overrides["per-file-ignores"] = _by_pattern(overrides["per-file-ignores"])
    return Choice(config, isolated, overrides), others


def listed(values: list[str]) -> list[str]:
    """Return the values of an option that may be repeated or contain commas."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _by_pattern(values: list[str]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for pair in values:
        pattern, colon, code = pair.rpartition(":")
        if not colon or not pattern:
            raise ConfigError(f'--per-file-ignores: "{pair}" is not PATTERN:CODE')
        table.setdefault(pattern, []).append(code)
    return table
