"""The tables of `dllint check --profile-rules`."""

from __future__ import annotations

from collections.abc import Mapping

from dllint.profiling import Profile

_SHOWN_S = 0.005
"""Steps and queries that took less are omitted, because they would be shown as 0.00 s."""


def profile_lines(profile: Profile, names: Mapping[str, str]) -> list[str]:
    """Return processor time by step and rule, then by kind of query, longest first; `names` maps codes to names."""
    steps = sorted(profile.steps.items(), key=lambda one: -one[1])
    lines = [f"processor time by step and rule, {sum(profile.steps.values()):.2f} s in all:"]
    lines += [
        f"{seconds:8.2f} s  {name} {names.get(name, '')}".rstrip() for name, seconds in steps if seconds > _SHOWN_S
    ]
    asked = sorted(profile.questions.items(), key=lambda one: -one[1].seconds)
    lines.append("processor time by question, without the questions that it asks in turn:")
    lines += [
        f"{one.seconds:8.2f} s  {name}, worked out {one.times.total()} times for {len(one.times)} different questions"
        for name, one in asked
        if one.seconds > _SHOWN_S
    ]
    return lines
