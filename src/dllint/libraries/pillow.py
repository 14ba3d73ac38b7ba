"""Pillow (pillow.readthedocs.io)."""

from dllint.libraries.facets import Library, Opener

LIBRARY = Library(
    openers={
        "PIL.Image.open": (
            Opener(
                "an image that is read lazily",
                "warning",
                "now and then `image file is truncated`",
                ends=frozenset({"close", "load"}),
            ),
        ),
    },
    unsplit_packages=frozenset({"PIL"}),
)
