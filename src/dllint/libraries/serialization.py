"""Parsers and picklers besides those of the standard library: PyYAML 6.0, ujson 5.10, orjson 3.10, simplejson,
rapidjson, jsonlines 4.0, msgpack 1.1, joblib 1.4, cloudpickle, dill, pathos, loky."""

from dllint.libraries.facets import Library, Opener, When

LIBRARY = Library(
    openers={
        # joblib 1.6: the arrays in an uncompressed file become `numpy.memmap`, whose pickle holds all of their data
        "joblib.load": (
            Opener(
                "memory-mapped arrays",
                mapped="the memory-mapped arrays",
                array=True,
                when=When("mmap_mode", 1, "on"),
            ),
        ),
    },
    pickles_by_value=frozenset({"cloudpickle.dumps", "dill.dumps", "joblib.externals.cloudpickle.dumps"}),
    replaces_pickle=frozenset({"pathos", "dill", "cloudpickle", "loky"}),
    # YAML is left out: training projects keep their settings in it, and hardly ever their data.
    readers={
        **{f"{name}.{load}": "records" for name in ("ujson", "simplejson", "rapidjson") for load in ("load", "loads")},
        **dict.fromkeys(("orjson.loads", "jsonlines.open"), "records"),
        "lxml.etree.parse": "records",
        **dict.fromkeys(("msgpack.load", "msgpack.loads", "msgpack.unpack", "msgpack.unpackb"), "records"),
        **dict.fromkeys(("dill.load", "joblib.load"), "opaque"),
    },
)
