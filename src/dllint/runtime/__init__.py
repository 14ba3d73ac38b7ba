"""The parent's side of a probed run: limits, predictions, verdicts."""
