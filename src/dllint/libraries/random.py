"""random (CPython 3.14, `Lib/random.py`)."""

from dllint.libraries.facets import FIRST, Generator, Iterates, Library, Seeder
from dllint.screen import Words

LIBRARY = Library(
    # seed(a=None, version=2)
    seeders={"random.seed": Seeder(("random",), "a")},
    # SystemRandom draws from the operating system and has no state
    generators={"random.Random": Generator("Random", "random", frozenset({"seed", "setstate"}))},
    undrawing=frozenset({"getstate"}),
    drawing=("random.",),
    reordering=frozenset({"random.shuffle", "random.seed", "random.getstate", "random.setstate", "random.Random"}),
    iterates=dict.fromkeys(("random.sample", "random.choices"), Iterates(FIRST, "some", lazily=False)),
    unsplit_packages=frozenset({"random"}),
    words=Words(in_workers=(b"random.Random",), nearby=(b"seed(",)),
)
