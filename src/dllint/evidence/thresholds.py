"""The thresholds of the judges: how much growth, time or repetition confirms a finding."""

MIB = 1 << 20
NOTICEABLE = 10 * MIB
"""A healthy forked worker gains up to 1.5 MiB, and once about 7 MiB when the garbage collector first runs: growth below
this confirms nothing."""
STEP = MIB // 2
"""Growth of a worker between two samples that is more than noise."""
NEAR, FAR = 0.8, 0.5
"""Parts of a limit: a count confirms from the first on, and refutes below the second."""
