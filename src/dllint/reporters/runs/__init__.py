"""Reports of `dllint run`."""
