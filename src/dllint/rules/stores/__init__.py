"""Rules about handles and memory-mapped stores."""
