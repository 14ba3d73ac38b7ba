"""Files and names: what each file binds, imports and tests, with nothing evaluated."""
