"""The thresholds of the judges: how much growth, time or repetition confirms a finding."""

MIB = 1 << 20
NOTICEABLE = 10 * MIB
"""Bytes of growth below which nothing is confirmed: a healthy forked worker gains up to 1.5 MiB, and once about 7 MiB
when the garbage collector first runs."""
STEP = MIB // 2
"""Bytes that a worker may gain between two samples by noise."""
NEAR, FAR = 0.8, 0.5
"""Fractions of a limit: a count confirms a finding above the first, and refutes it below the second."""
