"""Rules about what workers do to the data."""
