"""lmdb 1.4.1, 1.7.3 and 3.0.0 (its documentation; measured as described in `io.py`)."""

from dllint.libraries.facets import Library, Opener, When
from dllint.libraries.pickling import Refusal, instance
from dllint.screen import Words

_ENVIRONMENTS = ("lmdb.open", "lmdb.Environment")
_ITERATING = ("iternext", "iterprev", "iternext_nodup")
_PARTS = frozenset({"begin", "cursor"})
# Measured with 500 items, 4 forked workers, with and without locks, read in the parent before and not: a transaction of
# the parent, its cursors and new cursors of it gave each value right on 1.0.0, 1.3.0, 1.4.1, 1.6.2, 1.7.3, 2.0.0, 2.3.0
# and 3.0.0, where a transaction that the workers began on the parent's environment failed from 1.7.3 on.
_INHERITED = frozenset({"begin"})
_SHARED = (
    Opener(
        "an lmdb environment",
        "warning",
        "lmdb 1.7.3 crashes if the parent has read before",
        mapped="the lmdb environment",
        parts=_PARTS,
        inherited=_INHERITED,
        when=When("lock", -1, "off"),
        once_read=True,
    ),
    Opener(
        "an lmdb environment with locks",
        "error",
        "reads raise `ReadersFullError`, or `BadRslotError` if the parent has read before",
        mapped="the lmdb environment",
        parts=_PARTS,
        inherited=_INHERITED,
    ),
)
_TRANSACTION = Refusal("an lmdb transaction", instance("Transaction"))

LIBRARY = Library(
    openers=dict.fromkeys(_ENVIRONMENTS, _SHARED),
    refusals={
        **dict.fromkeys(_ENVIRONMENTS, Refusal("an lmdb environment", instance("Environment"))),
        "lmdb.Transaction": _TRANSACTION,
        **{f"{name}().begin": _TRANSACTION for name in _ENVIRONMENTS},
        **{f"{name}().begin().cursor": Refusal("an lmdb cursor", instance("Cursor")) for name in _ENVIRONMENTS},
    },
    readers={
        **{f"{name}().begin().get": "text" for name in _ENVIRONMENTS},
        **{f"{name}().begin().cursor": "records" for name in _ENVIRONMENTS},
        **{f"{name}().begin().cursor().{method}": "records" for name in _ENVIRONMENTS for method in _ITERATING},
    },
    unsplit_packages=frozenset({"lmdb"}),
    words=Words(in_workers=(b"lmdb", b"LMDB")),
)
