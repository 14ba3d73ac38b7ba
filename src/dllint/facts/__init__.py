"""The facts of one file: `extract` reads them from source, `schema` defines them, `cache` stores them between
checks."""
