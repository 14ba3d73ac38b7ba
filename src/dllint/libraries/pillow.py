"""Pillow (pillow.readthedocs.io)."""

from dllint.libraries.facets import DECODED, UNREAD, Library, Opener

_MAKERS = ("fromarray", "frombytes", "frombuffer")
_STEPS = (".convert", ".copy", ".resize", ".crop", ".rotate", ".transpose")

LIBRARY = Library(
    openers={
        "PIL.Image.open": (
            Opener(
                "an image that is read lazily",
                "warning",
                "some reads fail (`OSError: image file is truncated`)",
                ends=frozenset({"close", "load"}),
            ),
        ),
    },
    # Nothing is read before the image is converted or turned into an array (`Image.load`, `Image.__array_interface__`)
    arrays={
        "PIL.Image.open": UNREAD,
        **{f"PIL.Image.open(){step}": DECODED for step in _STEPS},
        **{f"PIL.Image.open().convert(){step}": DECODED for step in _STEPS},
        **{f"PIL.Image.{maker}": DECODED for maker in _MAKERS},
        **{f"PIL.Image.{maker}(){step}": DECODED for maker in _MAKERS for step in _STEPS},
    },
    unsplit_packages=frozenset({"PIL"}),
)
