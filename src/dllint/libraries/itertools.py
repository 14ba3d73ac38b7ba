"""itertools (docs.python.org, "itertools")."""

from dllint.libraries.facets import ALL, FIRST, SECOND, Iterates, Library

LIBRARY = Library(
    keeps_arguments=frozenset({"itertools.cycle"}),
    unsplit_packages=frozenset({"itertools"}),
    iterates={
        "itertools.islice": Iterates(FIRST, "some"),
        "itertools.chain.from_iterable": Iterates(FIRST, "other", inside=True),
        "itertools.batched": Iterates(FIRST, "other"),
        "itertools.chain": Iterates(ALL, "some"),
        **dict.fromkeys(("itertools.product", "itertools.zip_longest"), Iterates(ALL, "zipped")),
        "itertools.starmap": Iterates(SECOND, "other"),
        **dict.fromkeys(
            ("itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse"), Iterates(SECOND, "some")
        ),
        "itertools.cycle": Iterates(FIRST, "endless"),
        **dict.fromkeys(("itertools.count", "itertools.repeat"), Iterates(slice(0, 0), "endless")),
    },
)
