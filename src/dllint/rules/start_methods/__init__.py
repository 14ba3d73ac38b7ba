"""Rules about start methods and launching."""
