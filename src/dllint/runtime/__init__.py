"""The parent's side of `dllint run`: starts the program, measures limits, predicts failures, judges findings."""
