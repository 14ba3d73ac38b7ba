"""Python's builtin functions for data (docs.python.org, "Built-in Functions", "Built-in Types")."""

from dllint.libraries.facets import ALL, FIRST, FROM_SECOND, HOLDS, SECOND, FileOpener, Iterates, Library, Operation
from dllint.libraries.io import OPEN_FILE, READABLE_FILE
from dllint.libraries.pickling import Refusal, instance, since
from dllint.screen import Words

CLASS_MAKERS = frozenset({"type", "types.new_class"})
"""Functions that create a class from given bases: `type(name, bases, namespace)`."""
OF_STRING = frozenset(
    {"strip", "rstrip", "lstrip", "lower", "upper", "replace", "decode", "encode", "casefold", "removesuffix"}
)
"""Methods of a string that return one string."""
OF_STRINGS = frozenset({"str().join", "re.sub", "re.compile().sub", "unicodedata.normalize", "html.unescape"})
"""Functions that build one string from others."""
SPLITTING = frozenset({"split", "rsplit", "splitlines"})
"""Methods of a string that return several strings."""
PARTING = frozenset({"partition", "rpartition"})
"""Methods of a string that return the parts before and after a separator, and the separator."""

_VIEW = "a view of a dict"

LIBRARY = Library(
    plain_bases=frozenset({"object"}),
    files={"open": FileOpener(OPEN_FILE, READABLE_FILE, lines=True)},
    path_functions=frozenset({"open", "read"}),
    refusals={
        **{f"dict().{part}": Refusal(_VIEW, instance(f"dict_{part}"), "view") for part in ("keys", "values", "items")},
        "memoryview": Refusal(
            "a memoryview",
            since(
                (3, 11),
                "TypeError: cannot pickle 'memoryview' object",
                "TypeError: cannot pickle memoryview objects",
            ),
            "view",
        ),
    },
    tensor_functions={
        "list": Operation(HOLDS, "a list holds its elements"),
        "tuple": Operation(HOLDS, "a tuple holds its elements"),
        "dict": Operation(HOLDS, "a dict holds its values"),
    },
    seed_free=frozenset({"int", "abs", "hash", "round", "max", "min", "sum", "float", "str", "len", "pow", "divmod"}),
    positions=frozenset({"min", "max", "abs", "round", "divmod"}),
    unsplit_packages=frozenset({"builtins"}),
    iterates={
        **dict.fromkeys(("list", "tuple", "set", "sorted", "iter"), Iterates(FIRST, "same", lazily=False)),
        "reversed": Iterates(FIRST, "same"),
        "enumerate": Iterates(FIRST, "indexed", begins=True),
        "zip": Iterates(ALL, "zipped", begins=True),
        "map": Iterates(FROM_SECOND, "other", begins=True),
        "filter": Iterates(SECOND, "some", begins=True),
    },
    words=Words(nearby=(b"lambda", b"open(", b"getattr", b"zip(*", b"(dict)")),
)
