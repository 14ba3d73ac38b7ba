"""One module a rule, named after the defect; each has a page in `rules/` and a `check(project, options)`."""
