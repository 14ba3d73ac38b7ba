"""Provenance of values: the one source for rules, reports and `dllint trace`."""

from dllint.inference.origins.follow import Origins as Origins
from dllint.inference.origins.sources import Given as Given
from dllint.inference.origins.sources import Source as Source
from dllint.inference.origins.sources import Step as Step
