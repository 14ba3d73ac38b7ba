"""sqlite3 (docs.python.org; sqlite.org/howtocorrupt.html, "Carrying an open database connection across a fork")."""

from dllint.libraries.facets import Library, Opener
from dllint.libraries.pickling import Refusal, instance
from dllint.screen import Words

_QUERIES = ("execute().fetchall", "execute().fetchmany", "cursor().execute().fetchall", "cursor().fetchall")

LIBRARY = Library(
    readers=dict.fromkeys((f"sqlite3.connect().{query}" for query in _QUERIES), "rows"),
    openers={
        # 0 of 10,000 reads were wrong
        "sqlite3.connect": (
            Opener(
                "an SQLite connection",
                "warning",
                "SQLite forbids it, as it can corrupt the database",
                parts=frozenset({"cursor"}),
            ),
        ),
    },
    refusals={
        "sqlite3.connect": Refusal("an SQLite connection", instance("sqlite3.Connection")),
        "sqlite3.connect().cursor": Refusal("an SQLite cursor", instance("sqlite3.Cursor")),
    },
    unsplit_packages=frozenset({"sqlite3"}),
    words=Words(nearby=(b"sqlite3",)),
)
