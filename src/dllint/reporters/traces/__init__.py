"""Reports of `dllint trace`."""
