"""Finds data loading hazards in PyTorch training programs before they run.

bytes → facts → project → rules → findings → fixes and reports.
"""

__version__ = "0.1.0"
