"""Rules about what cannot be pickled to workers."""
