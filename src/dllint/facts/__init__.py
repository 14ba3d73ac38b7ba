"""What one file says: `extract` reads it, `schema` is the vocabulary, `cache` keeps it."""
