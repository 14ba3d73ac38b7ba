"""Clients of remote stores: boto3 1.44, redis 8.1, pymongo 4.20, google-cloud-core 2 (their documentation)."""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import LOCK, RLOCK, Refusal, always, local
from dllint.screen import Words


def _unfound(what: str, module: str) -> Refusal:
    return Refusal(
        what, always(f"PicklingError: Can't pickle <class '{module}.…'>: attribute lookup … on {module} failed")
    )


_AWS_SESSION = Refusal("an AWS session", local("lazy_call.<locals>._handler"))
_REDIS = Refusal("a Redis client", RLOCK)
_MONGO = Refusal("a MongoDB client", LOCK)

LIBRARY = Library(
    refusals={
        **dict.fromkeys(
            ("boto3.client", "boto3.session.Session().client"), _unfound("an AWS client", "botocore.client")
        ),
        "boto3.resource": _unfound("an AWS resource", "boto3.resources.factory"),
        **dict.fromkeys(("boto3.Session", "boto3.session.Session"), _AWS_SESSION),
        **dict.fromkeys(("redis.Redis", "redis.StrictRedis", "redis.from_url", "redis.Redis.from_url"), _REDIS),
        **dict.fromkeys(("pymongo.MongoClient", "pymongo.mongo_client.MongoClient"), _MONGO),
        "google.cloud.storage.Client": Refusal(
            "a Google Cloud client",
            always("PicklingError: Pickling client objects is explicitly not supported.…"),
        ),
    },
    words=Words(nearby=(b"boto3", b"redis", b"MongoClient")),
)
