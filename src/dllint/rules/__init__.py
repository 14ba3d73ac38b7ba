"""One module per rule, named after the defect; it has a page in `rules/`, a `check` and, for runs, a `judge`."""
