"""pymongo 4.20."""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import LOCK, Refusal
from dllint.screen import Words

LIBRARY = Library(
    refusals=dict.fromkeys(
        ("pymongo.MongoClient", "pymongo.mongo_client.MongoClient"), Refusal("a MongoDB client", LOCK)
    ),
    words=Words(nearby=(b"MongoClient",)),
)
