"""Experiment trackers, kept from uploading by their own offline modes."""

from __future__ import annotations

from collections.abc import Mapping

OFFLINE = {
    "wandb": ("WANDB_MODE", "offline"),
    "neptune": ("NEPTUNE_MODE", "offline"),
    "clearml": ("CLEARML_OFFLINE_MODE", "1"),
    "swanlab": ("SWANLAB_MODE", "offline"),
}
"""For each library, the variable that its documentation names for logging to local files, and the variable's value."""


def set_offline(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to add to an environment, so that trackers upload nothing; those that are set stay."""
    return {name: value for name, value in OFFLINE.values() if name not in environment}
