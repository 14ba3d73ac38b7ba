"""Files and names: what each file binds, imports and tests, without evaluating anything."""
