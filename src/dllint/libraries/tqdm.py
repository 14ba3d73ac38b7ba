"""Progress bars: tqdm and rich (tqdm.github.io, rich.readthedocs.io, "Progress Display")."""

from dllint.libraries.facets import FIRST, Iterates, Library

LIBRARY = Library(
    unsplit_packages=frozenset({"tqdm"}),
    iterates=dict.fromkeys(("tqdm.tqdm", "tqdm.auto.tqdm", "rich.progress.track"), Iterates(FIRST, "same")),
)
