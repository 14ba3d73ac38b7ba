"""lhotse: `fix_random_seed` (`lhotse/utils.py`) seeds Python's generator, NumPy's and torch's."""

from dllint.libraries.facets import SEEDS_ALL, Library

LIBRARY = Library(seeders={"lhotse.utils.fix_random_seed": SEEDS_ALL})
