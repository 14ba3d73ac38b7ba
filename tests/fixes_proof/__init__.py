"""Proof of the fixes: every one is carried out on a bad example, and both programs are run under torch."""
